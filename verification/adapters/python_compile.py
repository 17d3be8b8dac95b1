"""What the running interpreter's compiler says of a source. Nothing of the source is run."""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass
from itertools import accumulate

import re2

from verification.engine.evidence import SyntaxProblem
from verification.engine.grammars.text import BYTE_ORDER_MARK, sentence

MAX_COMPILED_BYTES = 1_000_000
"""A dense source of this size takes the compiler a second and 400 MB."""
MAX_DEPTH = 18
"""Brackets in brackets. CPython 3.12 and 3.13 crash on 22 comprehensions in each other."""
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
_OUT_OF_THE_ORDINARY = re2.compile(
    r"(?m)global|nonlocal|__debug__|async|await|yield|:=| {100}|\t{100}|^[ \t]*match\b[^\n=]*:"
    # Behind these a star may stand where none can.
    r"|(?:^|[=:;]|except|return| in|del)[ \t]*\*"
)
"""Without any of these, ruff refuses all that a compiler does. A linear search, at a gigabyte a second."""
_BRACKETS = b"()[]{}"
_NOT_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_STEPS = {ord(bracket): 1 if bracket in "([{" else -1 for bracket in "()[]{}"}
_IN_EVERY_VERSION = re.compile(
    "|".join(
        (
            r"'return' with value in async generator",
            r"annotated name '.*' can't be (?:global|nonlocal)",
            r"name '.*' is (?:used|assigned to) (?:prior to|before) (?:global|nonlocal) declaration",
            r"name '.*' is (?:parameter and (?:global|nonlocal)|nonlocal and global)",
            r"no binding for nonlocal '.*' found",
            r"nonlocal declaration not allowed at module level",
            r"nonlocal binding not allowed for type parameter '.*'",
            r"cannot (?:assign to|delete) __debug__",
            r"can't use starred expression here",
            r"too many expressions in star-unpacking assignment",
            r"multiple starred expressions in assignment",
            r"'break', 'continue' and 'return' cannot appear in an except\* block",
            r"(?:wildcard|name capture '.*') makes remaining patterns unreachable",
            r"patterns may only match literals and attribute lookups",
            r"duplicate argument '.*' in function definition",
            r"import \* only allowed at module level",
            r"default 'except:' must be last",
            r"'(?:return|yield|yield from|await)' outside (?:async )?function",
            r"'yield(?: from)?' inside .*",
            r"'break' outside loop",
            r"'continue' not properly in loop",
            r"too many levels of indentation",
        )
    )
)
"""Messages of what all versions from 3.11 to 3.14 refuse."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """`problem` None: this interpreter reads the source."""

    problem: SyntaxProblem | None = None


def compile_python(text: str) -> Compiled | None:
    """Compile a source in this interpreter; None: it is not known what that would come to.

    A problem is certain where every version of Python has it; else it names this version.
    """
    content = text.encode(errors="replace")
    if len(content) > MAX_COMPILED_BYTES or _depth(content) > MAX_DEPTH:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text.removeprefix(BYTE_ORDER_MARK), "source", "exec", dont_inherit=True)
    except SyntaxError as error:
        return Compiled(_problem(error))
    except (ValueError, OverflowError, RecursionError, MemoryError, SystemError):
        return None
    return Compiled()


def may_be_refused(content: bytes) -> bool:
    """Whether a compiler may refuse a source that ruff reads, for all that its words say.

    Compiling takes ten times as long as ruff does.
    """
    return _OUT_OF_THE_ORDINARY.search(content) is not None


def _problem(error: SyntaxError) -> SyntaxProblem:
    line, column = max(error.lineno or 0, 0), max(error.offset or 0, 0)
    is_certain = bool(_IN_EVERY_VERSION.fullmatch(error.msg))
    message = error.msg if is_certain else f"Python {VERSION} refuses it: {error.msg}"
    return SyntaxProblem(sentence(message), line, column, certain=is_certain)


def _depth(content: bytes) -> int:
    """How deep brackets stand in each other at most. Those in texts count too: it is a bound."""
    steps = map(_STEPS.__getitem__, content.translate(None, _NOT_BRACKETS))
    return max(accumulate(steps, lambda depth, step: max(depth + step, 0), initial=0))
