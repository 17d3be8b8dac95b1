"""When two outputs say the same by their form alone."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verification.engine.exact_json import exact_decimal, refuse_constant, without_twins

MAX_STRUCTURED_CHARS = 200_000
"""What is longer is compared as text: to read a character of a table takes a microsecond."""
MAX_NUMBER_CHARS = 200
_DELIMITERS = ",;\t|"
_BLANK_START = re.compile(r"\A\ufeff?(?:[ \t]*\n)*")
_FENCED = re.compile(r"(```+|~~~+)[\w+-]*[ \t]*\n(.*)\n\1", re.DOTALL)
_INDENTED = re.compile(r"^[ \t]", re.MULTILINE)
_RULE_OF_TABLE = re.compile(r":?-+:?")
_PIPE = re.compile(r"(?<!\\)\|")
_NO_HEADING = re.compile(r"[(){}\[\]=<>\"'`]")
_UNIT = r"[$€£¥₹]|[A-Z]{3}"
_SIGN = r"[+\-\N{MINUS SIGN}]?"
_NUMBER = re.compile(
    rf"(?P<sign>{_SIGN})(?:(?P<before>{_UNIT})[ \xa0]?)?"
    r"(?:(?P<english>[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?)"
    r"|(?P<continental>[1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]+)"
    r"|(?P<spaced>[1-9][0-9]{0,2}(?:[ \xa0\u2009\u202f'][0-9]{3})+(?:\.[0-9]+)?)"
    r"|(?P<plain>(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,9})?|\.[0-9]+))"
    rf"(?:[ \xa0]?(?P<after>%|{_UNIT}))?"
)
_DECIMAL = re.compile(r"-?[0-9]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,9})?")


def form_of(text: str, *, structured_chars: int = MAX_STRUCTURED_CHARS) -> str:
    """Bring an output into a form that equal ones share. Never raises.

    JSON: order of keys, blanks and ways to write a number play no part. One number: thousands
    separators, trailing zeros and the side of its unit play none, the unit itself does. Tables:
    blanks around cells play none, nor does the order of a Markdown table's named columns; the
    order of rows does. Other text: blanks at the ends of lines play no part, nor do runs of them
    where nothing is indented or fenced. Case counts everywhere.

    Source: docs/engine.md, "Alternatives".
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    whole = _BLANK_START.sub("", lines).rstrip()
    fenced = _FENCED.fullmatch(whole)
    bare = (fenced[2] if fenced and fenced[1] not in fenced[2] else whole).strip(" \t\n")
    readers = _READERS if len(bare) <= structured_chars else {}
    for kind, read in readers.items():
        form = read(bare)
        if form is not None:
            return f"{kind} {form}"
    return f"text {_text(whole)}"


class _Number(str):
    __slots__ = ()


def _json(text: str) -> str | None:
    if text[:1] not in ("{", "["):
        return None
    try:
        document = json.loads(
            text,
            parse_int=_exact,
            parse_float=_exact,
            parse_constant=refuse_constant,
            object_pairs_hook=without_twins,
        )
        parts: list[str] = []
        _write(document, parts)
    except (ValueError, RecursionError):
        return None
    return "".join(parts)


def _exact(number: str) -> _Number:
    if not _DECIMAL.fullmatch(number):
        raise ValueError(number)
    digits, power = exact_decimal(number)
    return _Number("0" if digits == "0" else f"{digits}e{power}")


def _write(value: Any, parts: list[str]) -> None:
    if isinstance(value, dict):
        parts.append("{")
        for key in sorted(value):
            parts.append(f"{json.dumps(key)}:")
            _write(value[key], parts)
            parts.append(",")
        parts.append("}")
    elif isinstance(value, list):
        parts.append("[")
        for one in value:
            _write(one, parts)
            parts.append(",")
        parts.append("]")
    else:
        parts.append(value if isinstance(value, _Number) else json.dumps(value))


def _number(text: str) -> str | None:
    parts = _NUMBER.fullmatch(text) if len(text) <= MAX_NUMBER_CHARS else None
    if parts is None or (parts["before"] and parts["after"]):
        return None
    english, continental, spaced = parts["english"], parts["continental"], parts["spaced"]
    if english:
        amount = english.replace(",", "")
    elif continental:
        amount = continental.replace(".", "").replace(",", ".")
    elif spaced:
        amount = re.sub(r"[^0-9.]", "", spaced)
    else:
        amount = parts["plain"]
    sign = "" if parts["sign"] in ("", "+") else "-"
    return f"{parts['before'] or parts['after'] or ''} {_exact(sign + amount)}"


def _table(text: str) -> str | None:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or "|" not in lines[0]:
        return None
    header, ruled, *rows = ([_cell(one) for one in _cells(line)] for line in lines)
    widths = {len(header), len(ruled), *map(len, rows)}
    if len(widths) > 1 or not all(map(_RULE_OF_TABLE.fullmatch, ruled)):
        return None
    order = list(range(len(header)))
    if len({*header}) == len(header) and all(header):
        order.sort(key=header.__getitem__)
    return json.dumps([[row[column] for column in order] for row in (header, *rows)])


def _cells(line: str) -> list[str]:
    inner = line.removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return _PIPE.split(inner)


def _csv(text: str) -> str | None:
    first, _, rest = text.partition("\n")
    # What is indented is code, or text of another kind.
    if not rest or _NO_HEADING.search(first) or _INDENTED.search(text):
        return None
    readings = [rows for one in _DELIMITERS if one in first and (rows := _rows(text, one))]
    widest = max((len(rows[0]) for rows in readings), default=0)
    best = [rows for rows in readings if len(rows[0]) == widest]
    if len(best) != 1:
        return None
    return json.dumps([[_cell(cell) for cell in row] for row in best[0]])


def _rows(text: str, delimiter: str) -> Sequence[Sequence[str]]:
    """Rows of one width and at least two columns; none where it is no such table."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows = [row for row in reader if row]
    except csv.Error:
        return []
    return rows if len({*map(len, rows)}) == 1 and len(rows[0]) > 1 < len(rows) else []


def _cell(text: str) -> str:
    plain = " ".join(text.split())
    number = _number(plain)
    return plain if number is None else f"\0{number}"


def _text(text: str) -> str:
    lines = [line.rstrip() for line in text.split("\n")]
    if _INDENTED.search(text) or "```" in text or "~~~" in text:
        return "\n".join(lines)
    return "\n".join(" ".join(line.split()) for line in lines if line)


_READERS: Mapping[str, Callable[[str], str | None]] = {
    "json": _json,
    "number": _number,
    "table": _table,
    "csv": _csv,
}
