"""Looks for dangers, secrets and bad patterns, and writes one SARIF report of all: look.py FOLDER.

Further folders are left out: others look at them. Exit code 0: nothing; 1: the report says what;
any other: nothing is known, and there is no report. No text of the work is printed.
"""

import io
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from verification.adapters.sandbox.tools.look_languages import (
        PYTHON,
        is_passed_over,
        language_of,
    )
    from verification.adapters.sandbox.tools.look_levels import (
        ERROR,
        NOTE,
        WARNING,
        danger_level,
        secret_level,
    )
else:
    from look_languages import PYTHON, is_passed_over, language_of
    from look_levels import ERROR, NOTE, WARNING, danger_level, secret_level

HERE = Path(__file__).resolve().parent
RUFF = HERE / "bin/ruff"
SEMGREP = HERE / "look/semgrep/bin/semgrep-core"
KINGFISHER = HERE / "look/kingfisher/bin/kingfisher"
RULES = HERE / "rules"

MARGIN_SECONDS, MARGIN_SHARE = 10, 0.2
"""So much of the gate's time, or such a share of it, is left to tell that a tool took too long."""
RULE_SECONDS = 5
MEMORY_MEGABYTES = 1_200
MAX_OUTPUT_BYTES = 60_000_000
MAX_CODE_BYTES = 1_000_000
MAX_PACKED_BYTES, MAX_LINE_BYTES = 200_000, 5_000
"""Code with longer lines than this was written by a program; above this size it is not looked at."""
MAX_FILE_BYTES = 10_000_000
BATCH_BYTES = 60_000_000
MAX_SCRIPTS = 200
MAX_RESULTS = 5_000
MAX_MESSAGE_CHARS = 400

NOT_READ = (
    "Syntax error",
    "Lexical error",
    "Other syntax error",
    "AST builder error",
    "PartialParsing",
)

LEVELS = {"ERROR": ERROR, "WARNING": WARNING, "INFO": NOTE}


class Broken(Exception):
    """A tool did not do what it is there for: says which, without what the work says."""


@dataclass(frozen=True)
class Found:
    """`path` is whole; `line` and `column` count from 1, and 0 is none."""

    level: str
    rule: str
    message: str
    path: str
    line: int = 0
    column: int = 0


@dataclass(frozen=True)
class Place:
    """What is looked at, and by when."""

    folder: Path
    left_out: tuple[str, ...]
    until: float

    def has(self, path: str) -> bool:
        return not path.startswith(self.left_out) if self.left_out else True

    def files(self) -> Iterator[tuple[str, int]]:
        """Each plain file with its size; what the work says is to be ignored is not."""
        for folder, _, names in os.walk(self.folder, onerror=_refuse):
            for name in sorted(names):
                path = Path(folder, name)
                if self.has(str(path)) and path.is_file() and not path.is_symlink():
                    yield str(path), path.stat().st_size


def _refuse(error: OSError) -> None:
    raise error


def main(folder: str, *left_out: str) -> int:
    apart = tuple(f"{one.rstrip('/')}/" for one in left_out)
    place = Place(Path(folder).resolve(), apart, time.monotonic() + seconds())
    try:
        files = list(place.files())
        runs = {
            "ruff": list(dangers(place, files)),
            "kingfisher": list(secrets(place, files)),
            "semgrep": list(patterns(place, files)),
        }
        write(runs)
    except (Broken, OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        why = str(error) if isinstance(error, Broken) else type(error).__name__
        sys.stderr.write(f"What is dangerous could not be looked for: {why}\n")
        return 3
    is_clean = all(one.rule.startswith("look:") for many in runs.values() for one in many)
    return 0 if is_clean else 1


def seconds() -> float:
    """For all three together: less than the gate has."""
    gate = float(os.environ["LV_SECONDS"])
    return gate - min(MARGIN_SECONDS, gate * MARGIN_SHARE)


def dangers(place: Place, files: Sequence[tuple[str, int]]) -> Iterator[Found]:
    """Ruff's S rules; nothing in the work says what is looked at. Scripts are named one by one."""
    python = [path for path, _ in files if language_of(path) == "python"]
    for path in python:
        if not is_read_alike(Path(path).read_bytes()):
            raise Broken(f"{path} is Python in another encoding than UTF-8.")
    scripts = [path for path in python if not path.endswith(PYTHON)]
    yield from dangers_below(place, [str(place.folder)])
    for start in range(0, len(scripts), MAX_SCRIPTS):
        yield from dangers_below(place, scripts[start : start + MAX_SCRIPTS])


def dangers_below(place: Place, named: Sequence[str]) -> Iterator[Found]:
    said = (
        "check --isolated --no-respect-gitignore --ignore-noqa --no-cache "
        "--select S --ignore S101 --output-format json --config"
    )
    words = [*said.split(), "exclude = []", *named]
    for one in listed(run(RUFF, words, place, codes=(0, 1))):
        if place.has(one["filename"]):
            code, at = one["code"] or "", one["location"]
            yield Found(
                danger_level(code, one["message"]),
                code,
                one["message"],
                one["filename"],
                at["row"],
                at["column"],
            )


def is_read_alike(content: bytes) -> bool:
    """Whether ruff, which knows UTF-8 alone, reads the code that Python would run."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        run, looked_at = content.decode(encoding), content.decode()
    except (SyntaxError, UnicodeError, LookupError):
        return False
    return run.encode("ascii", "ignore") == looked_at.encode("ascii", "ignore")


def secrets(place: Place, files: Sequence[tuple[str, int]]) -> Iterator[Found]:
    """Under names of our own: some that the work may choose are passed over by the tool."""
    batch: list[str] = []
    size = 0
    for path, length in files:
        if length > MAX_FILE_BYTES:
            yield Found(NOTE, "look:too-large", "It is too large to be searched for secrets.", path)
            continue
        if size + length > BATCH_BYTES:
            yield from batch_secrets(place, batch)
            batch, size = [], 0
        batch.append(path)
        size += length
    yield from batch_secrets(place, batch)


def batch_secrets(place: Place, batch: Sequence[str]) -> Iterator[Found]:
    said = (
        "scan --no-validate --no-update-check --no-ignore --no-dedup --no-extract-archives "
        "--git-history none --confidence low --jobs 1 --format json --quiet --rule-cache-dir"
    )
    if not batch:
        return
    with TemporaryDirectory() as folder, TemporaryDirectory() as cache:
        # What the tool searches by takes long to be made anew, and must be its user's own.
        shutil.copytree(HERE / "look/cache", cache, dirs_exist_ok=True)
        for number, path in enumerate(batch):
            shutil.copyfile(path, Path(folder, f"{number}.txt"))
        words = [*said.split(), cache, folder]
        report = run(KINGFISHER, words, place, codes=(0, 200))
    told = report["audit"]["summary"]
    if told["scan_failed"] or told["scan_partial"] or not told["scan_succeeded"]:
        raise Broken("kingfisher did not look at everything.")
    seen = set()
    for one in listed(report["findings"]):
        at, value = one["finding"], str(one["finding"]["snippet"])
        path = batch[int(Path(at["path"]).stem)]
        if (key := (path, at["line"], value)) not in seen:
            seen.add(key)
            yield secret(path, int(at["line"]), one["rule"], value)


def secret(path: str, line: int, rule: Mapping[str, Any], value: str) -> Found:
    """No more of it is told than its first characters, where these say nothing of the rest."""
    name = re.sub(r"^(betterleaks\.|veles\.secrets/)", "", str(rule["id"]))
    begins = (
        f" It begins with {value[:4]}…" if len(value) >= 20 and "private-key" not in name else ""
    )
    why = str(rule.get("description") or "This looks like a secret").rstrip(".") + "."
    return Found(secret_level(name, value), f"secret:{name}", f"{why}{begins}", path, line)


def patterns(place: Place, files: Sequence[tuple[str, int]]) -> Iterator[Found]:
    """Our own rules, over files that are named one by one, so that none can be ignored."""
    targets = []
    for path, size in files:
        language = language_of(path)
        if not language and is_passed_over(path):
            said = "It holds code that is searched for secrets, and not for bad patterns."
            yield Found(NOTE, "look:not-searched", said, path)
        elif language and is_packed(path, size):
            said = "It is too large, or its lines are too long, to be searched for bad patterns."
            yield Found(NOTE, "look:too-large", said, path)
        elif language:
            names = {"fpath": path, "ppath": path}
            targets.append(
                ["CodeTarget", {"path": names, "analyzer": language, "products": ["sast"]}]
            )
    with TemporaryDirectory() as folder:
        rules, named = Path(folder, "rules.yaml"), Path(folder, "targets.json")
        lists = (one.read_text().removeprefix("rules:\n") for one in sorted(RULES.glob("*.yaml")))
        rules.write_text("rules:\n" + "\n".join(lists))
        named.write_text(json.dumps(["Targets", targets]))
        words = ["-rules", rules, "-targets", named, "-json_nodots", "-j", 1, "-disable_rule_paths",
                 "-timeout", RULE_SECONDS, "-timeout_threshold", 1, "-max_memory", MEMORY_MEGABYTES]  # fmt: skip
        report = run(SEMGREP, [str(one) for one in words], place, codes=(0,))
    yield from not_read(report, len(targets))
    for one in listed(report["results"]):
        # Whether the work wants it to be ignored (`is_ignored`) is not asked.
        said, start = one["extra"], one["start"]
        level = LEVELS[said["severity"]]
        yield Found(
            level, one["check_id"], said["message"], one["path"], start["line"], start["col"]
        )


def is_packed(path: str, size: int) -> bool:
    if size <= MAX_PACKED_BYTES or size > MAX_CODE_BYTES:
        return size > MAX_CODE_BYTES
    return any(len(line) > MAX_LINE_BYTES for line in Path(path).read_bytes().split(b"\n"))


def not_read(report: Mapping[str, Any], count: int) -> Iterator[Found]:
    """What could not be parsed is told; all else that went wrong leaves nothing known."""
    if report["skipped_rules"] or len(listed(report["paths"]["scanned"])) != count:
        raise Broken("semgrep did not look at everything.")
    for one in listed(report["errors"]):
        kind = one["error_type"] if isinstance(one["error_type"], str) else one["error_type"][0]
        if kind not in NOT_READ:
            raise Broken(f"semgrep told of an error: {kind}.")
        yield Found(NOTE, "look:not-read", "Not all of it could be read.", one["location"]["path"])


def run(tool: Path, words: Sequence[str], place: Place, codes: Sequence[int]) -> Any:
    """What a tool wrote, as JSON; what it says of itself may quote the work, and is dropped."""

    def held_in() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES))
        # Where memory ends, the tool ends, and not who notices it.
        Path("/proc/self/oom_score_adj").write_text("1000")

    with TemporaryDirectory() as folder, Path(folder, "out").open("w+b") as out:
        try:
            ended = subprocess.run(  # noqa: S603 - our own tools
                [str(tool), *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.DEVNULL,
                timeout=max(0.1, place.until - time.monotonic()),
                env={"HOME": folder, "PATH": "/usr/bin:/bin"},
                preexec_fn=held_in,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Broken(f"{tool.name} took too long.") from None
        except (OSError, subprocess.SubprocessError):
            raise Broken(f"{tool.name} could not be run.") from None
        if ended.returncode not in codes:
            raise Broken(f"{tool.name} ended with exit code {ended.returncode}.")
        out.seek(0)
        try:
            return json.loads(out.read().decode(errors="replace"))
        except (ValueError, RecursionError):
            raise Broken(f"What {tool.name} wrote could not be read.") from None


def listed(value: Any) -> list[Any]:
    """What is something else could be gone through as if it were an empty one."""
    if not isinstance(value, list):
        raise Broken("A report is not of its tool's form.")
    return value


def write(runs: Mapping[str, Sequence[Found]]) -> None:
    """The most severe first: there is a bound to what is read."""
    order = (ERROR, WARNING, NOTE)
    report = {
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": tool}},
                "results": [
                    result(one)
                    for one in sorted(found, key=lambda one: order.index(one.level))[:MAX_RESULTS]
                ],
            }
            for tool, found in runs.items()
        ],
    }
    Path(os.environ["LV_REPORT"]).write_text(json.dumps(report))


def result(found: Found) -> Mapping[str, Any]:
    at: dict[str, Any] = {"artifactLocation": {"uri": f"file://{quote(found.path)}"}}
    if found.line:
        at["region"] = {"startLine": found.line} | (
            {"startColumn": found.column} if found.column else {}
        )
    return {
        "ruleId": found.rule or "look:not-read",
        "level": found.level,
        "message": {"text": found.message[:MAX_MESSAGE_CHARS]},
        "locations": [{"physicalLocation": at}],
    }


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
