"""The ports, in process and in memory: for tests and for trying things out."""

from __future__ import annotations

import ast
import hashlib
import time
from collections.abc import Mapping, Sequence

from verification.engine.evidence import (
    Answer,
    NotInspected,
    Pattern,
    SubmittedFile,
    SyntaxProblem,
)
from verification.engine.grammars import Parsed, grammar_of
from verification.engine.matching import Texts, search


class MemoryWorkspace:
    """Submitted files in a dictionary."""

    def __init__(self, files: Mapping[str, str | bytes] | None = None) -> None:
        self.contents = {
            path: content.encode() if isinstance(content, str) else content
            for path, content in (files or {}).items()
        }

    def read(self, path: str) -> bytes:
        return self.contents[path]

    @property
    def files(self) -> tuple[SubmittedFile, ...]:
        """As a submission names them."""
        return tuple(
            SubmittedFile(path, hashlib.sha256(content).hexdigest(), len(content))
            for path, content in sorted(self.contents.items())
        )


class InProcessProbe:
    """Looks without a child's bounds: only for material of one's own."""

    def syntax(
        self, sources: Sequence[tuple[str, bytes]]
    ) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
        return [_parsed(path, content) for path, content in sources]

    def start(self) -> None:
        """There is nothing to start."""

    def search(
        self, patterns: Sequence[Pattern], texts: Sequence[bytes], *, seconds: float
    ) -> Sequence[Answer]:
        return list(search(patterns, Texts(texts), clock=time.monotonic))


class FixedClock:
    """Monotonic seconds that pass only when told to."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def _parsed(path: str, content: bytes) -> Parsed:
    grammar = grammar_of(path)
    if grammar is None:
        return ()
    if grammar.parse:
        return grammar.parse(path, content)
    try:
        ast.parse(content)
    except SyntaxError as error:
        return (SyntaxProblem(f"{error.msg}.", error.lineno or 0, error.offset or 0),)
    except (ValueError, RecursionError) as error:
        return NotInspected(str(error))
    return ()
