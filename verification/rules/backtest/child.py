"""The limited child process that reads past runs and searches them, side by side with another.

Run as `python -m verification.rules.backtest.child`. Each line of standard input is a JSON object: first
how to reach the database, then a job and its batches, in turn. Each batch is answered by a line; the end
of the input, or a long silence, is the end of the process. It never writes anything.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import psycopg

from processes.definition.load import load
from processes.definition.model import Definition, Target
from verification.adapters.limits import limit_cpu, limit_memory
from verification.engine.case import Case
from verification.engine.checks.conflict_examples import mask_conflict_examples
from verification.engine.checks.materials import MAX_FILE_BYTES, is_binary, searched_files
from verification.engine.evidence import Matches, Pattern
from verification.engine.matching import Texts, search
from verification.engine.verifier import VerifierSpec
from verification.runs.submission import named_paths, submission_of_paths

JOB_CPU_SECONDS = 120
IDLE_SECONDS = 300
MAX_RUN_BYTES = 100_000_000
CONTEXT_CHARS = 24, 90
ROWS_AT_ONCE = 50
FEW_PATHS = 50
AHEAD = 8
SLOW_SECONDS = 0.00006
"""A file that the system has at hand takes a third of it."""
TOO_LARGE = "Too large to be searched."
LOST = "A file of it is not stored any more, or was changed."
PHASE_GONE = "The process has no such phase any more."

OUTPUTS = """
    select run_id, convert_to(coalesce(body->>'output', ''), 'UTF8')
    from runs_submission where run_id = any(%s)
"""
EVIDENCE = """
    select run_id, coalesce(body->'evidence', '[]') from runs_submission where run_id = any(%s)
"""
PATHS = """
    select run_id, named_paths,
           case when named_paths is null
           then body - '{output,claims,evidence,alternatives,diff}'::text[] end
    from runs_submission where run_id = any(%s)
"""
FILES = """
    select file.run_id, file.path, blob.sha256, file.size
    from runs_runfile file join runs_blob blob on blob.id = file.blob_id
    where file.run_id = any(%s)
"""


@dataclass(frozen=True, slots=True)
class Text:
    """`path` of a file, or the id of a piece of evidence."""

    content: bytes
    path: str = ""
    evidence: str = ""


@dataclass(frozen=True)
class Job:
    """One rule. `source` is the process file that says which files are a phase's.

    `masks_examples`: it does not see conflicts that a text shows as an example.
    """

    pattern: str
    limit: int
    target: Target
    source: str
    in_visible_text: bool = False
    masks_examples: bool = False

    @cached_property
    def definition(self) -> Definition:
        definition = load(self.source, is_stored=True).definition
        if definition is None:
            raise ValueError("the process does not load")
        return definition

    def pattern_of(self) -> Pattern:
        return Pattern(self.pattern, self.limit, 30.0, self.in_visible_text)


@dataclass(slots=True)
class Disk:
    """The folder of files. A disk that was slow last time is asked for several at once, ahead."""

    folder: Path
    seconds: float = 0.0
    read: int = 0
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(AHEAD))

    def content(self, sha256: str) -> bytes:
        """Raises: OSError, it is not there, or is not what was stored."""
        started = time.monotonic()
        with open(self._path(sha256), "rb", buffering=0) as file:  # noqa: PTH123 - half the time of a Path
            content = file.read()
        self.seconds += time.monotonic() - started
        self.read += 1
        if hashlib.sha256(content).hexdigest() != sha256:
            raise OSError("changed")
        return content

    def announce(self, digests: Sequence[str]) -> None:
        """Soon these are read, in this order."""
        is_slow = self.seconds > SLOW_SECONDS * self.read
        self.seconds, self.read = 0.0, 0
        if is_slow and hasattr(os, "posix_fadvise"):
            for number in range(AHEAD):
                self.threads.submit(self._read_ahead, digests[number::AHEAD])

    def _read_ahead(self, digests: Sequence[str]) -> None:
        for sha256 in digests:
            with suppress(OSError), open(self._path(sha256), "rb", buffering=0) as file:  # noqa: PTH123
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)

    def _path(self, sha256: str) -> str:
        return f"{self.folder}/{sha256[:2]}/{sha256}"


@dataclass(frozen=True, slots=True)
class Store:
    """Where runs are kept: the database, and the disk with their files."""

    connection: psycopg.Connection[Any]
    disk: Disk

    def texts(
        self, job: Job, runs: Mapping[int, str]
    ) -> Iterator[tuple[int, Sequence[Text] | str]]:
        """The texts of each run, `{run: phase}`; or why there are none."""
        if job.target is Target.DELIVERABLES:
            yield from self._files(job, runs)
            return
        query = OUTPUTS if job.target is Target.OUTPUT else EVIDENCE
        with self.connection.cursor(binary=True) as cursor:
            for run, said in cursor.stream(query, (list(runs),), size=ROWS_AT_ONCE):
                yield run, [Text(said)] if job.target is Target.OUTPUT else _evidence(said)

    def _files(
        self, job: Job, runs: Mapping[int, str]
    ) -> Iterator[tuple[int, Sequence[Text] | str]]:
        listed: dict[int, dict[str, tuple[str, int]]] = {run: {} for run in runs}
        for run, path, sha256, size in self.connection.execute(FILES, (list(runs),)):
            listed[run][path] = (sha256, size)
        self.disk.announce([sha256 for files in listed.values() for sha256, _ in files.values()])
        for run, named, body in self.connection.execute(PATHS, (list(runs),)):
            files = listed[run]
            searched = _searched(job, runs[run], named or named_paths(body), sorted(files))
            if searched is None:
                yield run, PHASE_GONE
            else:
                yield run, self._read({path: files[path] for path in searched})

    def _read(self, files: Mapping[str, tuple[str, int]]) -> Sequence[Text] | str:
        sizes = [size for _, size in files.values()]
        if max(sizes, default=0) > MAX_FILE_BYTES or sum(sizes) > MAX_RUN_BYTES:
            return TOO_LARGE
        try:
            contents = [(path, self.disk.content(sha256)) for path, (sha256, _) in files.items()]
        except OSError:
            return LOST
        return [Text(found, path) for path, found in contents if not is_binary(path, found)]


def _searched(
    job: Job, phase_id: str, named: Mapping[str, Sequence[str]], paths: Sequence[str]
) -> Sequence[str] | None:
    """Those of a run's paths that the target means; None: the process has no such phase any more.

    Many runs of a phase name and hold the same paths: what they mean is found once.
    """
    expected, changed = tuple(named["expected_outputs"]), tuple(named["files_changed"])
    has_few = len(expected) + len(changed) + len(paths) <= FEW_PATHS
    meant = _meant if has_few else _meant.__wrapped__
    return meant(job, phase_id, expected, changed, tuple(paths))


@lru_cache(maxsize=1_000)
def _meant(
    job: Job,
    phase_id: str,
    expected_outputs: Sequence[str],
    files_changed: Sequence[str],
    paths: Sequence[str],
) -> Sequence[str] | None:
    phase = job.definition.phase(phase_id)
    if phase is None:
        return None
    named = {"expected_outputs": expected_outputs, "files_changed": files_changed}
    submission = submission_of_paths(named, dict.fromkeys(paths, ("", 0)))
    case = Case(job.definition, phase, submission, VerifierSpec(), tier=1)
    return [file.path for file in searched_files(case)]


def _evidence(items: Sequence[Mapping[str, Any]]) -> list[Text]:
    return [
        Text(str(one.get("text") or "").encode(errors="replace"), evidence=str(one.get("id") or ""))
        for one in items
    ]


def answer(store: Store, job: Job, runs: Mapping[int, str]) -> Iterator[list[Any]]:
    """Yield `[run, count, place or None]` or, where nothing can be told, `[run, None, why]`."""
    pattern = job.pattern_of()
    for run, texts in store.texts(job, runs):
        if isinstance(texts, str):
            yield [run, None, texts]
            continue
        contents = [text.content for text in texts]
        if job.masks_examples:
            contents = [mask_conflict_examples(text.path, text.content) for text in texts]
        searched = Texts(contents)
        found = next(search([pattern], searched, clock=time.monotonic))
        if not isinstance(found, Matches):
            yield [run, None, found.why]
        elif found.places:
            first = found.places[0]
            place = {**_place(texts[first.text]), "line": first.line, "column": first.column}
            around = _around(searched.each[first.text], first.line, first.column, first.quote)
            yield [run, found.count, {**place, "quote": first.quote, **around}]
        else:
            yield [run, found.count, None]


def _place(text: Text) -> dict[str, str]:
    return {"path": text.path, "evidence": text.evidence}


def _around(content: bytes, line: int, column: int, quote: str) -> dict[str, str]:
    """What stands before and after a match on its line."""
    start = 0
    for _ in range(line - 1):
        start = content.index(b"\n", start) + 1
    end = content.find(b"\n", start)
    before, after = CONTEXT_CHARS
    limit = start + 4 * (column + len(quote) + after)
    shown = content[start : limit if end < 0 else min(end, limit)].decode(errors="replace")
    first = column - 1
    last = first + len(quote.split("\n", 1)[0])
    return {
        "before": ("…" if first > before else "") + shown[max(0, first - before) : first],
        "after": shown[last : last + after],
    }


def main() -> None:
    limit_memory()
    kept = _asked()
    store = Store(
        psycopg.connect(
            **kept["database"], autocommit=True, options="-c default_transaction_read_only=on"
        ),
        Disk(Path()),
    )
    job: Job | None = None
    while asked := _asked():
        if "job" in asked:
            limit_cpu(JOB_CPU_SECONDS)
            fields = asked["job"]
            _meant.cache_clear()  # it would keep each job with its process
            store.disk.folder = Path(fields.pop("folder"))
            job = Job(**{**fields, "target": Target(fields["target"])})
        elif job is not None:
            runs = {int(run): phase for run, phase in asked["runs"]}
            sys.stdout.write(json.dumps(list(answer(store, job, runs))) + "\n")
            sys.stdout.flush()


def _asked() -> Any:
    """The next line; None at the end. A long silence ends the process."""
    signal.alarm(IDLE_SECONDS)
    line = sys.stdin.readline()
    signal.alarm(0)
    return json.loads(line) if line else None


if __name__ == "__main__":
    main()
