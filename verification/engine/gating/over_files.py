"""A command over the files of a language, where no manifest names them."""

from __future__ import annotations

_ASIDE = (".*", "vendor/*", "node_modules/*", "fixtures/*", "templates/*", "testdata/*")
"""Files that are not the work's own, or are there to be broken."""


def over_files(ending: str, command: str) -> str:
    """A shell's text: the command is given all of them, none where there is none."""
    aside = " ".join(f"! -path '*/{one}'" for one in _ASIDE)
    return f"find . -name '*.{ending}' {aside} -print0 | xargs -0 -r {command}"
