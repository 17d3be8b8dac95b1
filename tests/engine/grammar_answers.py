"""What a grammar says of a file, in one line for each problem."""

from __future__ import annotations

from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars import Parsed, grammar_of


def answers(path: str, content: str | bytes) -> list[str]:
    """Lines like `hard 2:6 Message.`: what it counts if declared, line and column if known."""
    grammar = grammar_of(path)
    assert grammar is not None
    assert grammar.parse is not None
    return shown(
        grammar.parse(path, content.encode() if isinstance(content, str) else content),
        is_certain=grammar.is_certain,
    )


def shown(parsed: Parsed, *, is_certain: bool = True) -> list[str]:
    if isinstance(parsed, NotInspected):
        return [f"unknown {parsed.why}"]
    assert is_certain or not any(one.certain for one in parsed)
    return [_line(problem) for problem in parsed]


def _line(problem: SyntaxProblem) -> str:
    counts = "note" if problem.note else "hard" if problem.certain else "advisory"
    places = ":".join(str(one) for one in (problem.line, problem.column) if one)
    return " ".join(filter(None, (counts, places, problem.message)))
