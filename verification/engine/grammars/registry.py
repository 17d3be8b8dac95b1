"""Grammars by suffix. A further language is a module of its own and an import."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from verification.engine.evidence import NotInspected, SyntaxProblem

MAX_SOURCE_BYTES = 5_000_000
MAX_DATA_BYTES = 50_000_000

Parsed = tuple[SyntaxProblem, ...] | NotInspected
Parse = Callable[[str, bytes], Parsed]


@dataclass(frozen=True, slots=True)
class Grammar:
    """`parse` takes path and content; None: a program outside parses this language."""

    language: str
    max_bytes: int
    parse: Parse | None = None


GRAMMARS: dict[str, Grammar] = {}


def register(grammar: Grammar, *suffixes: str) -> None:
    for suffix in suffixes:
        if suffix in GRAMMARS:
            raise ValueError(f"two grammars for {suffix}")
        GRAMMARS[suffix] = grammar


def grammar(
    language: str, *suffixes: str, max_bytes: int = MAX_SOURCE_BYTES
) -> Callable[[Parse], Parse]:
    def decorate(parse: Parse) -> Parse:
        register(Grammar(language, max_bytes, parse), *suffixes)
        return parse

    return decorate


def grammar_of(path: str) -> Grammar | None:
    name = path.rsplit("/", 1)[-1].lower()
    return GRAMMARS.get(f".{name.rsplit('.', 1)[-1]}") if "." in name else None
