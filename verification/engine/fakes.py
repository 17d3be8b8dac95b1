"""The ports, in process and in memory: for tests and for trying things out."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from verification.engine import evidence
from verification.engine.case import Case
from verification.engine.evidence import (
    NotInspected,
    Pattern,
    SubmittedFile,
    SyntaxProblem,
)
from verification.engine.grammars import Parsed, grammar_of
from verification.engine.grammars.code_lines import code_lines
from verification.engine.judges.asking import Answer, CustomAnswer, Question
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

    def holds(self, sha256: str) -> bool:
        return any(file.sha256 == sha256 for file in self.files)

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

    def code_lines(self, sources: Sequence[tuple[str, bytes]]) -> Sequence[frozenset[int] | None]:
        return [code_lines(path, content) for path, content in sources]

    def start(self) -> None:
        """There is nothing to start."""

    def search(
        self, patterns: Sequence[Pattern], texts: Sequence[bytes], *, seconds: float
    ) -> Sequence[evidence.Answer]:
        return list(search(patterns, Texts(texts), clock=time.monotonic))


class FixedClock:
    """Monotonic seconds that pass only when told to."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class ScriptedJudge:
    """Answers by script, by turn, the last one again and again; keeps what it was asked.

    A script entry is a text, a whole `Answer`, or a function of the question.
    """

    script: list[str | Answer | Callable[[Question], str | Answer]]
    asked: list[Question] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)

    def ask(self, questions: Sequence[Question]) -> Sequence[Answer]:
        return [self._answer(question) for question in questions]

    def note(self, ref: int, recovery: str) -> None:
        self.noted.append(recovery)

    def _answer(self, question: Question) -> Answer:
        self.asked.append(question)
        said = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if callable(said):
            said = said(question)
        if isinstance(said, Answer):
            return said
        return Answer(text=said, model=question.judge, ref=len(self.asked))


@dataclass
class ScriptedVerifiers:
    """Custom verifiers by name, each with the answer that it always gives; keeps what was called."""

    answers: Mapping[str, CustomAnswer]
    called: list[tuple[str, Case]] = field(default_factory=list)

    def names(self) -> Collection[str]:
        return self.answers.keys()

    def call(self, name: str, case: Case, workspace: evidence.Workspace) -> CustomAnswer:
        self.called.append((name, case))
        return self.answers[name]


def _parsed(path: str, content: bytes) -> Parsed:
    grammar = grammar_of(path)
    if grammar is None:
        return ()
    if grammar.parse:
        return grammar.parse(path, content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(content, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        return (SyntaxProblem(f"{error.msg}.", error.lineno or 0, error.offset or 0),)
    except (ValueError, RecursionError) as error:
        return NotInspected(str(error))
    return ()
