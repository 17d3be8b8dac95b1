from __future__ import annotations

import re
from numbers import Number

MAX_CELL_CHARS = 32_000
"""Spreadsheets take 32,767."""
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_BREAKS = re.compile("[\t\n\x0b\x0c\r\x85\u2028\u2029]+")
# What a spreadsheet skips at the start of a cell, and then takes for a formula: some turn
# full-width signs into plain ones first. Where ; parts the cells, each part is a cell.
_SIGNS = "-=+@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
_PLAIN = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9 _.:+-]{0,1000})?")
_FORMULA = re.compile(rf"(^|;)([\s\u200b-\u200f\u2060\ufeff\"']*)(?=[{_SIGNS}])")


def plain_cell(value: object) -> str:
    """One line that no spreadsheet takes for a formula. Numbers stay numbers."""
    if isinstance(value, Number):
        return str(value)
    text = str(value)[: MAX_CELL_CHARS + 1]
    if _PLAIN.fullmatch(text):  # most cells of a long table
        return text
    text = _BREAKS.sub(" ", _CONTROL.sub("", text))
    if len(text) > MAX_CELL_CHARS:
        text = f"{text[: MAX_CELL_CHARS - 1]}…"
    return _FORMULA.sub(r"\1'\2", text)
