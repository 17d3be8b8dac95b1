"""Grammars by suffix. A further language is a module of its own and an import."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps

from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars.contents import BINARY, held
from verification.engine.grammars.contents import HTML as HTML_PAGE

PYTHON, XML, HTML = "Python", "XML", "HTML"
_MAY_BE_PAGES = frozenset({XML, HTML, "PHP"})
_FENCE = re.compile(rb"(?:\xef\xbb\xbf)?\s*```")
_FENCED = "The file starts with a Markdown fence, which is not {}."
MAX_SOURCE_BYTES = 5_000_000
MAX_DATA_BYTES = 50_000_000
BASE_SECONDS = 2.0
MAX_SECONDS = 30.0

TOO_DEEP = "It is nested too deeply to be parsed."
TOO_MUCH_MEMORY = "It takes too much memory to be parsed."
PYTHON_GAVE_UP = "The Python parser ended with code -6."
"""What ruff does where its stack or its memory is used up."""
BEYOND_BOUNDS = frozenset({TOO_DEEP, TOO_MUCH_MEMORY, PYTHON_GAVE_UP})
"""Why a file could not be parsed that is too large or too deep for its parser."""

Parsed = tuple[SyntaxProblem, ...] | NotInspected
Parse = Callable[[str, bytes], Parsed]


@dataclass(frozen=True, slots=True)
class Grammar:
    """`parse` takes path and content; None: a program outside parses this language.

    Where `is_certain` is false, no answer of the grammar is ever held against the work.
    """

    language: str
    max_bytes: int
    parse: Parse | None = None
    is_certain: bool = True
    bytes_per_second: int = 2_000_000
    """The slowest pace that is waited for: machines are busy, and that is no fault of the work."""
    start_seconds: float = 0.0
    """How long it may take, once in a request, to load the parser or to start it."""


GRAMMARS: dict[str, Grammar] = {}


def register(grammar: Grammar, *suffixes: str) -> None:
    for suffix in suffixes:
        if suffix in GRAMMARS:
            raise ValueError(f"two grammars for {suffix}")
        GRAMMARS[suffix] = grammar


def grammar(
    language: str,
    *suffixes: str,
    max_bytes: int = MAX_SOURCE_BYTES,
    is_certain: bool = True,
    bytes_per_second: int = 2_000_000,
    start_seconds: float = 0.0,
) -> Callable[[Parse], Parse]:
    def decorate(parse: Parse) -> Parse:
        parse = _spared(parse, language, is_certain)
        found = Grammar(language, max_bytes, parse, is_certain, bytes_per_second, start_seconds)
        register(found, *suffixes)
        return parse

    return decorate


def grammar_of(path: str) -> Grammar | None:
    name = path.rsplit("/", 1)[-1].lower()
    return GRAMMARS.get(f".{name.rsplit('.', 1)[-1]}") if "." in name else None


def seconds_for(files: Iterable[tuple[str, int]]) -> float:
    """How long the parsing of (path, size) pairs in one request may take."""
    seconds = BASE_SECONDS
    starts: dict[str, float] = {}
    for path, size in files:
        if found := grammar_of(path):
            seconds += size / found.bytes_per_second
            starts[found.language] = found.start_seconds
    return min(seconds + sum(starts.values()), MAX_SECONDS)


def foreign(language: str, content: bytes, *, is_certain: bool = True) -> Parsed | None:
    """The answer about content that is no text of any language; None: it is for the parser.

    Where nothing is certain, the check of file types speaks: one finding per problem.
    """
    if _FENCE.match(content):
        return (SyntaxProblem(_FENCED.format(language), 1, 1, is_certain),)
    holds = held(content)
    if not holds or (holds == HTML_PAGE and language in _MAY_BE_PAGES):
        return None
    if not is_certain:
        return ()
    # A stray NUL has a place, which the parser tells.
    return None if holds == BINARY else (SyntaxProblem(f"It holds {holds}, not {language}.", 1, 1),)


def _spared(parse: Parse, language: str, is_certain: bool) -> Parse:
    """The parser is asked only for text, and its own limits are no fault of the work."""

    @wraps(parse)
    def spared(path: str, content: bytes) -> Parsed:
        answer = foreign(language, content, is_certain=is_certain)
        if answer is not None:
            return answer
        try:
            return parse(path, content)
        except RecursionError:
            return NotInspected(TOO_DEEP)
        except MemoryError:
            return NotInspected(TOO_MUCH_MEMORY)

    return spared
