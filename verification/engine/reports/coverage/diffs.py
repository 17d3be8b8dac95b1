"""The lines that a unified diff adds, and what stood there before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from verification.engine.patches import read_patch
from verification.engine.reports.model import (
    MAX_LINE,
    MAX_NAME_CHARS,
    MAX_REPORT_BYTES,
    Unreadable,
    inner_path,
)

_HUNK = re.compile(
    r"@@ -\d{1,10}(?:,(?P<old>\d{1,10}))? \+(?P<start>\d{1,10})(?:,(?P<new>\d{1,10}))? @@"
)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {
    b"a": b"\a",
    b"b": b"\b",
    b"t": b"\t",
    b"n": b"\n",
    b"v": b"\v",
    b"f": b"\f",
    b"r": b"\r",
}
_NO_FILE = "/dev/null"
# What stands before the old and the new path; git is told so by `diff.mnemonicPrefix`.
_PREFIXES = frozenset({"a/b/", "i/w/", "c/i/", "c/w/", "o/w/", "1/2/"})


@dataclass(slots=True)
class Hunk:
    """One place of a file: its lines before and after, context and all. `start` counts from 1."""

    start: int
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    @property
    def index(self) -> int:
        """Where `after` begins among the new file's lines, from 0; of no lines, the place behind."""
        return self.start - 1 if self.after else self.start


def lines_of_diff(diff: str) -> Mapping[str, frozenset[int]]:
    """By path, as the new files have it, the lines that are new or differ; counted from 1.

    Of a file that is only renamed, or deleted, there are none; one that leads out is left out.

    Raises:
        Unreadable: a hunk is cut short or is of no file, or the diff is one of a merge.
    """
    return _read(diff).changed()


def hunks_of_diff(diff: str) -> Mapping[str, Sequence[Hunk]]:
    """By path, as the new files have it, what the diff replaces; of a renamed file it may be nothing.

    Raises:
        Unreadable: as `lines_of_diff`.
    """
    return _read(diff).hunks()


def _read(diff: str) -> _Reader:
    if len(diff) > MAX_REPORT_BYTES:
        raise Unreadable("The diff is too large.")
    reader = _Reader()
    text = read_patch(diff.encode(errors="replace")).text.decode()
    # Other line ends than this one stand within the lines of the files.
    for line in text.removesuffix("\n").split("\n"):
        reader.take(line)
    return reader


class _Reader:
    """Counts along each hunk: lines within it are of a file, whatever they look like."""

    def __init__(self) -> None:
        self._changed: dict[str, set[int]] = {}
        self._hunks: dict[str, list[Hunk]] = {}
        self._mark = ""
        self._old_path = ""
        self._path: str | None = None
        self._old_left = self._new_left = 0
        self._line = 0

    def take(self, line: str) -> None:
        if self._old_left or self._new_left:
            self._inside(line)
        elif line.startswith("diff --git "):
            self._mark = line.removeprefix("diff --git ").removeprefix('"')[:2]
            self._path = None
        elif line.startswith("--- "):
            self._old_path = _unquoted(line[4:])
        elif line.startswith("+++ "):
            self._path = self._new_path(_unquoted(line[4:]))
        elif line.startswith("@@@ "):
            raise Unreadable("The diff is one of a merge.")
        elif line.startswith("@@ "):
            self._begin(line)

    def changed(self) -> Mapping[str, frozenset[int]]:
        self._close()
        return {path: frozenset(lines) for path, lines in self._changed.items() if path}

    def hunks(self) -> Mapping[str, Sequence[Hunk]]:
        self._close()
        return {path: hunks for path, hunks in self._hunks.items() if path}

    def _close(self) -> None:
        if self._old_left or self._new_left:
            raise Unreadable("The diff is cut short.")

    def _begin(self, line: str) -> None:
        found = _HUNK.match(line)
        if found is None or self._path is None:
            raise Unreadable("A hunk of the diff is of no file, or of no lines.")
        self._old_left, self._new_left = int(found["old"] or "1"), int(found["new"] or "1")
        self._line = int(found["start"])
        self._hunks.setdefault(self._path, []).append(Hunk(self._line))

    def _inside(self, line: str) -> None:
        kind = line[:1]
        if kind == "\\":
            return
        # Mailers strip the blank of an empty line.
        is_old, is_new = kind in ("-", " ", ""), kind in ("+", " ", "")
        self._old_left -= is_old
        self._new_left -= is_new
        if not (is_old or is_new) or self._old_left < 0 or self._new_left < 0:
            raise Unreadable("A hunk of the diff does not hold what its head says.")
        if self._path:
            hunk = self._hunks[self._path][-1]
            hunk.before += [line[1:]] * is_old
            hunk.after += [line[1:]] * is_new
        if kind == "+" and self._path and 0 < self._line <= MAX_LINE:
            self._changed.setdefault(self._path, set()).add(self._line)
        self._line += is_new

    def _new_path(self, path: str) -> str:
        """'' for a file that is deleted, or leads out."""
        if path == _NO_FILE:
            return ""
        old = self._mark or ("a/" if self._old_path == _NO_FILE else self._old_path[:2])
        return inner_path(path[2:] if old + path[:2] in _PREFIXES else path)


def _unquoted(path: str) -> str:
    """Git quotes what is not ASCII as C does; a tab ends what it does not quote."""
    found = _QUOTED.match(path[: 4 * MAX_NAME_CHARS + 2])
    if found is None:
        return path.partition("\t")[0].rstrip("\r")
    raw = found[1].encode(errors="replace")
    return _ESCAPE.sub(lambda escape: _byte(escape[1]), raw).decode(errors="replace")


def _byte(escape: bytes) -> bytes:
    if escape.isdigit() and len(escape) == 3:
        return bytes([int(escape, 8) & 0xFF])
    return _ESCAPED.get(escape, escape)
