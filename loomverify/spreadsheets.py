from __future__ import annotations

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def plain_cell(value: object) -> str:
    """A cell that no spreadsheet takes for a formula."""
    text = str(value).replace("\x00", "")
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_STARTS) else text
