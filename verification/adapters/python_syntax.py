"""Python by a current grammar, whatever interpreter runs here: ruff's parser, one call a batch."""

from __future__ import annotations

import codecs
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from verification.adapters.probe_wire import scratch_prefix, scratch_root
from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars import Parsed

GRAMMAR_VERSION = "py314"
TIMEOUT_SECONDS = 20
_OPTIONS = (
    "check", "--isolated", "--no-cache", "--quiet", "--exit-zero", "--ignore-noqa",
    "--no-respect-gitignore", "--select", "E9", "--target-version", GRAMMAR_VERSION,
    "--output-format", "json",
)  # fmt: skip
_SYNTAX = frozenset({None, "invalid-syntax", "E999"})
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


def parse_python(sources: Sequence[tuple[str, bytes]]) -> list[Parsed]:
    """Parse (path, content) pairs, answered in their order."""
    texts = [_as_utf8(content) for _, content in sources]
    names = [f"{number}{_suffix(path)}" for number, (path, _) in enumerate(sources)]
    readable = {
        name: text for name, text in zip(names, texts, strict=True) if isinstance(text, bytes)
    }
    found = _run(readable) if readable else {}
    if isinstance(found, NotInspected):
        return [found if isinstance(text, bytes) else (text,) for text in texts]
    return [
        tuple(found.get(name, ())) if isinstance(text, bytes) else (text,)
        for name, text in zip(names, texts, strict=True)
    ]


def _suffix(path: str) -> str:
    return ".pyi" if path.lower().endswith(".pyi") else ".py"


def _as_utf8(content: bytes) -> bytes | SyntaxProblem:
    """Python's own rule: UTF-8, unless one of the first two lines names another encoding."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        undecodable = error
    else:
        return content
    for line in content.split(b"\n", 2)[:2]:
        named = _CODING.match(line)
        if named:
            try:
                return codecs.lookup(named[1].decode()).decode(content)[0].encode()
            except (LookupError, UnicodeError):
                return SyntaxProblem("The file is not in the encoding that it names.", 1)
    line_number = content.count(b"\n", 0, undecodable.start) + 1
    return SyntaxProblem("The file is not valid UTF-8.", line_number)


def _run(sources: dict[str, bytes]) -> dict[str, list[SyntaxProblem]] | NotInspected:
    if len(sources) == 1:
        [(name, content)] = sources.items()
        return _read(_call("--stdin-filename", name, "-", content=content))
    prefix, root = scratch_prefix(os.getpid()), scratch_root()
    with tempfile.TemporaryDirectory(prefix=prefix, dir=root) as folder:
        _write(folder, sources)
        return _read(_call(folder))


def _write(folder: str, sources: dict[str, bytes]) -> None:
    for name, content in sources.items():
        # A thousand files: a buffer and a Path for each would cost as much as parsing them.
        with open(f"{folder}/{name}", "wb", buffering=0) as file:  # noqa: PTH123
            file.write(content)


def _call(*arguments: str, content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - our own binary, no shell
        [_ruff(), *_OPTIONS, *arguments],
        input=content,
        capture_output=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


@cache
def _ruff() -> str:
    from ruff import find_ruff_bin  # type: ignore[import-untyped]

    return str(find_ruff_bin())


def _read(
    ended: subprocess.CompletedProcess[bytes],
) -> dict[str, list[SyntaxProblem]] | NotInspected:
    if ended.returncode:
        return NotInspected(f"The Python parser ended with code {ended.returncode}.")
    found: dict[str, list[SyntaxProblem]] = {}
    for one in json.loads(ended.stdout):
        if one["code"] not in _SYNTAX:
            return NotInspected("The Python parser could not read it.")
        message = one["message"].removeprefix("SyntaxError: ").rstrip(".")
        place = one["location"]
        problem = SyntaxProblem(
            f"{message[:1].upper()}{message[1:]}.", place["row"], place["column"]
        )
        found.setdefault(Path(one["filename"]).name, []).append(problem)
    return found
