"""From the bytes of a file of cases to their documents, every error with its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loomverify.errors import InputError, Issue, Loc
from verification.golden.documents.older import from_older, is_older
from verification.golden.documents.yaml_values import places, read_yaml
from verification.runs.intake.reading import (
    MAX_DEPTH,
    MAX_SHOWN_ISSUES,
    refuse_constant,
    refuse_duplicate_keys,
    refuse_too_many_values,
)

MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_CASES = 1_000
BODY = "body"
_WHITE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class CaseFile:
    """Documents in their order, none of them checked yet. `text` is what they were read from.

    `starts` is where each begins in the text, where the file is JSON.
    """

    documents: Sequence[Mapping[str, Any]]
    text: str
    is_list: bool
    starts: Sequence[int] = ()

    def placed(self, error: InputError) -> InputError:
        """The same error, with line and column before each message.

        Its places begin with `body` and the document's number.
        """
        found = self._places(error.issues)
        issues = [
            Issue(one.code, f"{found.get(one.loc, '')}{one.msg}", one.loc) for one in error.issues
        ]
        return InputError.of(issues, status=error.status)

    def _places(self, issues: Sequence[Issue]) -> dict[Loc, str]:
        if self.starts:
            marks = {one.loc: self._start(one.loc) for one in issues}
        else:
            below = {one.loc: self._below(one.loc) for one in issues}
            known = places(
                self.text, {loc[:n] for loc in below.values() for n in range(1, len(loc) + 1)}
            )
            marks = {one: _nearest(loc, known) for one, loc in below.items()}
        return {loc: f"Line {at[0]}, column {at[1]}: " for loc, at in marks.items() if at}

    def _below(self, loc: Loc) -> Loc:
        inner = loc[1:] if loc[:1] == (BODY,) else loc
        return inner if self.is_list else inner[1:]

    def _start(self, loc: Loc) -> tuple[int, int] | None:
        number = loc[1] if len(loc) > 1 else None
        if not isinstance(number, int) or number >= len(self.starts):
            return None
        return _line_and_column(self.text, self.starts[number])


def parse_cases(raw: bytes) -> CaseFile:
    """Read a case, a list of cases, or a case a line (JSON); YAML or JSON, older shapes too.

    Raises:
        InputError: 413 too large, too many; 422 with its place, not readable.
    """
    if len(raw) > MAX_FILE_BYTES:
        raise InputError(
            "file.too_large", f"At most {MAX_FILE_BYTES} bytes.", loc=(BODY,), status=413
        )
    text = _decoded(raw)
    if text.lstrip(_WHITE)[:1] in ("{", "["):
        refuse_too_many_values(raw, (BODY,))
        found, starts = _read_json(text)
        return CaseFile(_documents(found), text, is_list=True, starts=starts)
    value = read_yaml(text)
    is_list = isinstance(value, list)
    return CaseFile(_documents(value if is_list else [value]), text, is_list)


def _decoded(raw: bytes) -> str:
    try:
        return raw.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError(
            "file.encoding", f"Line {line}: the file is not UTF-8 text.", loc=(BODY,)
        ) from error


def _documents(values: Sequence[Any]) -> Sequence[Mapping[str, Any]]:
    """With the older shape made into today's. What is wrong with any of them is told of all."""
    if len(values) > MAX_CASES:
        raise InputError(
            "cases.too_many", f"At most {MAX_CASES} cases a file.", loc=(BODY,), status=413
        )
    return collected(values, lambda value, loc: _document(value, loc))


def collected(values: Sequence[Any], read: Callable[[Any, Loc], Any]) -> list[Any]:
    """Read each at its place, and raise what is wrong with all of them together."""
    found: list[Any] = []
    issues: list[Issue] = []
    for number, value in enumerate(values):
        try:
            found.append(read(value, (BODY, number)))
        except InputError as error:
            issues += error.issues
    if issues:
        raise InputError.of(issues[:MAX_SHOWN_ISSUES])
    return found


def _document(value: Any, loc: Loc) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError("case.kind", "A case is a mapping of names to values.", loc=loc)
    return from_older(value, loc=loc) if is_older(value) else value


def _read_json(text: str) -> tuple[list[Any], list[int]]:
    decoder = json.JSONDecoder(
        parse_constant=refuse_constant, object_pairs_hook=refuse_duplicate_keys
    )
    at = _after_white(text, 0)
    is_list = text[at] == "["
    if is_list:
        at = _after_white(text, at + 1)
    found: list[Any] = []
    starts: list[int] = []
    while at < len(text) and not (is_list and text[at] == "]"):
        value, end = _one(decoder, text, at)
        found.append(value)
        starts.append(at)
        at = _after_white(text, end)
        if is_list:
            at = _after_comma(text, at)
    if is_list and (at >= len(text) or text[_after_white(text, at + 1) :]):
        raise _no_json("the list does not end where the file ends", text, at)
    return found, starts


def _one(decoder: json.JSONDecoder, text: str, at: int) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise _no_json(error.msg, text, error.pos) from error
    except RecursionError as error:
        raise _no_json(f"more than {MAX_DEPTH} levels", text, at) from error
    except ValueError as error:
        raise _no_json(f"in the case that begins here, {error}", text, at) from error


def _after_comma(text: str, at: int) -> int:
    if text[at : at + 1] == ",":
        after = _after_white(text, at + 1)
        if text[after : after + 1] in ("]", ""):
            raise _no_json("a value should follow the comma", text, at)
        return after
    if text[at : at + 1] != "]":
        raise _no_json("expecting ',' or ']'", text, at)
    return at


def _after_white(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITE:
        at += 1
    return at


def _no_json(why: str, text: str, at: int) -> InputError:
    line, column = _line_and_column(text, at)
    msg = f"Line {line}, column {column}: this is not JSON: {why}."
    return InputError("json.invalid", msg, loc=(BODY,))


def _line_and_column(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _nearest(loc: Loc, known: Mapping[Loc, tuple[int, int]]) -> tuple[int, int] | None:
    for length in range(len(loc), 0, -1):
        if loc[:length] in known:
            return known[loc[:length]]
    return known.get(())
