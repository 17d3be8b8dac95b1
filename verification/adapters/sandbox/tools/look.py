"""Looks for dangers, secrets and bad patterns, and writes one SARIF report of all: look.py FOLDER.

Further folders are left out: others look at them. Exit code 0: nothing; 1: the report says what;
any other: nothing is known, and there is no report. No text of the work is printed.
"""

import io
import json
import os
import re
import shutil
import sys
import time
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verification.adapters.sandbox.tools.look_languages import PYTHON, is_passed_over, is_run
    from verification.adapters.sandbox.tools.look_levels import (
        ERROR,
        NOTE,
        WARNING,
        danger_level,
        is_danger,
        secret_level,
    )
    from verification.adapters.sandbox.tools.look_report import Found, write
    from verification.adapters.sandbox.tools.look_tool import Broken, File, Place, listed, run
else:
    from look_languages import PYTHON, is_passed_over, is_run
    from look_levels import ERROR, NOTE, WARNING, danger_level, is_danger, secret_level
    from look_report import Found, write
    from look_tool import Broken, File, Place, listed, run

HERE = Path(__file__).resolve().parent
RUFF = HERE / "bin/ruff"
SEMGREP = HERE / "look/semgrep/bin/semgrep-core"
KINGFISHER = HERE / "look/kingfisher/bin/kingfisher"
RULES = HERE / "rules"

MARGIN_SECONDS, MARGIN_SHARE = 10, 0.2
"""So much of the gate's time, or such a share of it, is left to tell that a tool took too long."""
RULE_SECONDS = 5
MEMORY_MEGABYTES = 1_200
MAX_CODE_BYTES = 1_000_000
MAX_PACKED_BYTES, MAX_LINE_BYTES = 200_000, 5_000
"""Code with longer lines than this was written by a program; above this size it is not looked at."""
MAX_FILE_BYTES = 10_000_000
BATCH_BYTES = 60_000_000
MAX_SCRIPTS = 200

NOT_READ = (
    "Syntax error",
    "Lexical error",
    "Other syntax error",
    "AST builder error",
    "PartialParsing",
)

LEVELS = {"ERROR": ERROR, "WARNING": WARNING, "INFO": NOTE}


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


def dangers(place: Place, files: Sequence[File]) -> Iterator[Found]:
    """Ruff's S rules; nothing in the work says what is looked at. Scripts are named one by one."""
    python = [one.path for one in files if one.language == "python"]
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
    told = [
        one for one in listed(run(RUFF, words, place, codes=(0, 1))) if place.has(one["filename"])
    ]
    unread = {one["filename"] for one in told if not is_danger(one["code"] or "")}
    never = {path for path in unread if not is_run(path)}
    for path in sorted(never):
        yield Found(
            NOTE, "look:not-read", "Python itself cannot read it: it was not searched.", path
        )
    for one in told:
        if one["filename"] not in never:
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


def secrets(place: Place, files: Sequence[File]) -> Iterator[Found]:
    """Under names of our own: some that the work may choose are passed over by the tool."""
    batch: list[str] = []
    size = 0
    for one in files:
        if one.size > MAX_FILE_BYTES:
            said = "It is too large to be searched for secrets."
            yield Found(NOTE, "look:too-large", said, one.path)
            continue
        if size + one.size > BATCH_BYTES:
            yield from batch_secrets(place, batch)
            batch, size = [], 0
        batch.append(one.path)
        size += one.size
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


def patterns(place: Place, files: Sequence[File]) -> Iterator[Found]:
    """Our own rules, over files that are named one by one, so that none can be ignored."""
    targets = []
    for one in files:
        if not one.language and is_passed_over(one.path):
            said = "It holds code that is searched for secrets, and not for bad patterns."
            yield Found(NOTE, "look:not-searched", said, one.path)
        elif one.language and is_packed(one):
            said = "It is too large, or its lines are too long, to be searched for bad patterns."
            yield Found(NOTE, "look:too-large", said, one.path)
        elif one.language:
            names = {"fpath": one.path, "ppath": one.path}
            wanted = {"path": names, "analyzer": one.language, "products": ["sast"]}
            targets.append(["CodeTarget", wanted])
    with TemporaryDirectory() as folder:
        rules, named = Path(folder, "rules.yaml"), Path(folder, "targets.json")
        lists = (one.read_text().removeprefix("rules:\n") for one in sorted(RULES.glob("*.yaml")))
        rules.write_text("rules:\n" + "\n".join(lists))
        named.write_text(json.dumps(["Targets", targets]))
        words = ["-rules", rules, "-targets", named, "-json_nodots", "-j", 1, "-disable_rule_paths",
                 "-timeout", RULE_SECONDS, "-timeout_threshold", 1, "-max_memory", MEMORY_MEGABYTES]  # fmt: skip
        report = run(SEMGREP, [str(one) for one in words], place, codes=(0,))
    yield from not_read(report, len(targets))
    for told in listed(report["results"]):
        # Whether the work wants it to be ignored (`is_ignored`) is not asked.
        extra, start = told["extra"], told["start"]
        level = LEVELS[extra["severity"]]
        yield Found(
            level, told["check_id"], extra["message"], told["path"], start["line"], start["col"]
        )


def is_packed(file: File) -> bool:
    if file.size <= MAX_PACKED_BYTES or file.size > MAX_CODE_BYTES:
        return file.size > MAX_CODE_BYTES
    return any(len(line) > MAX_LINE_BYTES for line in Path(file.path).read_bytes().split(b"\n"))


def not_read(report: Mapping[str, Any], count: int) -> Iterator[Found]:
    """What could not be parsed is told; all else that went wrong leaves nothing known."""
    if report["skipped_rules"] or len(listed(report["paths"]["scanned"])) != count:
        raise Broken("semgrep did not look at everything.")
    for one in listed(report["errors"]):
        kind = one["error_type"] if isinstance(one["error_type"], str) else one["error_type"][0]
        if kind not in NOT_READ:
            raise Broken(f"semgrep told of an error: {kind}.")
        yield Found(NOTE, "look:not-read", "Not all of it could be read.", one["location"]["path"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
