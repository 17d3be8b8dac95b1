"""Read a patch as people and programs pass it on: with other line ends, or cut at its end.

Who reads a patch or a diff reads it here first, so that all of them read the same.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

MAX_HEADER_LINES = 50
MAX_BLANK_LINES = 3
"""That many lines stand behind the last change of a patch: whoever strips it may take as many."""

_HUNK = re.compile(rb"@@ -\d{1,10}(?:,(\d{1,10}))? \+\d{1,10}(?:,(\d{1,10}))? @@")
_BLOBS = re.compile(rb"index ([0-9a-f]{7,64})\.\.([0-9a-f]{7,64})(?: \d{6})?$")
_CARRIAGE_RETURN = b"\r"


class LineEnds(StrEnum):
    """The line ends of the files that a patch is of."""

    AS_SENT = "as sent"
    LF = "LF"
    CRLF = "CRLF"


class LineKind(IntEnum):
    OUTSIDE = 0
    """Of the patch, not of a file."""
    CONTENT = 1
    UNENDED = 2
    """Of a file, the last line of which has no line end."""


@dataclass(slots=True)
class PatchSection:
    """What a patch says of one file, line by line without line feeds."""

    lines: list[bytes] = field(default_factory=list)
    kinds: bytearray = field(default_factory=bytearray)
    """A `LineKind` for each line; a patch may have millions."""
    is_converted: bool = False
    """Git writes its own lines with LF, whatever the files have: something converted them."""
    has_cr: bool = False
    """Lines of the file end with CR LF."""
    names_file: bool = False
    has_hunk: bool = False

    def text(self, ends: LineEnds) -> bytes:
        if ends is LineEnds.AS_SENT:
            return b"\n".join([*self.lines, b""])
        return b"".join(
            _end_line(line, kind, ends) + b"\n"
            for line, kind in zip(self.lines, self.kinds, strict=True)
        )

    def readings(self) -> tuple[LineEnds, ...]:
        """Return the line ends that the file may have, the likeliest first.

        Only the base can tell which: lines of context must be the same there.
        """
        if self.is_converted:
            readings = [LineEnds.LF, LineEnds.CRLF]
        elif self.has_cr:
            readings = [LineEnds.AS_SENT, LineEnds.LF, LineEnds.CRLF]
        else:
            readings = [LineEnds.AS_SENT, LineEnds.CRLF]
        # A new file is in no base, but git writes the name of its content.
        before, after = self.blob_names()
        if after and not before.strip("0"):
            readings.sort(key=lambda ends: not _is_name_of(after, self._new_content(ends)))
        return tuple(readings)

    def blob_names(self) -> tuple[str, str]:
        """Return how git abbreviates the content before and after; both empty: it is not stated.

        Zeros: there is none.
        """
        for line in self.lines[:MAX_HEADER_LINES]:
            if names := _BLOBS.match(line):
                return names[1].decode(), names[2].decode()
        return "", ""

    def _new_content(self, ends: LineEnds) -> bytes:
        return b"".join(
            _end_line(line, kind, ends)[1:] + b"\n" * (kind == LineKind.CONTENT)
            for line, kind in zip(self.lines, self.kinds, strict=True)
            if kind != LineKind.OUTSIDE
        )


@dataclass(frozen=True, slots=True)
class Patch:
    """`cut_at` is the line, from 1, that is missing of the last hunk; None: nothing is."""

    sections: tuple[PatchSection, ...]
    cut_at: int | None

    @property
    def text(self) -> bytes:
        """The likeliest reading of all sections."""
        return b"".join(section.text(section.readings()[0]) for section in self.sections)

    @property
    def has_cr(self) -> bool:
        return any(section.has_cr or section.is_converted for section in self.sections)


def read_patch(patch: bytes) -> Patch:
    """Read a patch: without byte order marks, with its last line end, whatever it is cut by.

    Blank lines of context that a `strip` has taken from the end are put back.
    """
    reader = _Reader()
    lines = patch.split(b"\n")
    has_last_end = not lines[-1]
    if has_last_end:
        del lines[-1]
    for line in lines:
        reader.take(line)
    return reader.end(len(lines), has_last_end=has_last_end)


class _Reader:
    """Counts along each hunk: lines within it are of a file, whatever they look like."""

    def __init__(self) -> None:
        self._sections = [PatchSection()]
        self._old_left = self._new_left = 0
        self._is_binary = False

    def take(self, line: bytes) -> None:
        kind = line[:1]
        if not (self._old_left or self._new_left):
            self._outside(line)
        elif kind == b"\\":
            self._add(line.removesuffix(_CARRIAGE_RETURN), LineKind.OUTSIDE)
            self._unend()
        elif kind in (b" ", b"-", b"+", b"", _CARRIAGE_RETURN) and self._counts(kind):
            # An editor may have taken the blank that stands before an empty line of context.
            self._content(b" \r" if line == _CARRIAGE_RETURN else line)
        else:
            self._old_left = self._new_left = 0
            self._outside(line)

    def _counts(self, kind: bytes) -> bool:
        """Count a line; False: its hunk states fewer."""
        self._old_left -= kind != b"+"
        self._new_left -= kind != b"-"
        return self._old_left >= 0 and self._new_left >= 0

    def end(self, line_count: int, *, has_last_end: bool) -> Patch:
        section = self._sections[-1]
        if not has_last_end and section.kinds[-1:] == bytes([LineKind.CONTENT]):
            self._restore_cr(section)
        missing = max(self._old_left, self._new_left)
        if 0 < missing <= MAX_BLANK_LINES and self._old_left == self._new_left:
            for _ in range(missing):
                self._content(b" ")
        if self._is_binary and section.lines[-1]:
            self._add(b"", LineKind.OUTSIDE)
        return Patch(tuple(self._sections), line_count + 1 if missing else None)

    def _restore_cr(self, section: PatchSection) -> None:
        """Give the last line back what went with its line feed, where all others have it."""
        pairs = zip(section.lines[:-1], section.kinds, strict=False)
        content = [line for line, kind in pairs if kind == LineKind.CONTENT]
        if content and all(line.endswith(_CARRIAGE_RETURN) for line in content):
            section.lines[-1] = section.lines[-1].removesuffix(_CARRIAGE_RETURN) + _CARRIAGE_RETURN

    def _outside(self, line: bytes) -> None:
        bare = line.removesuffix(_CARRIAGE_RETURN).removeprefix(codecs.BOM_UTF8)
        section = self._sections[-1]
        if bare.startswith(b"diff --git ") or (bare.startswith(b"--- ") and section.has_hunk):
            if section.names_file:
                section = PatchSection()
                self._sections.append(section)
            section.names_file = True
            self._is_binary = False
        if bare.startswith((b"diff --git ", b"+++ ")):
            section.names_file = True
            section.is_converted |= line.endswith(_CARRIAGE_RETURN)
        if bare.startswith(b"GIT binary patch"):
            self._is_binary = True
        if bare.startswith(b"\\"):
            self._unend()
        if hunk := _HUNK.match(bare):
            section.has_hunk = True
            self._old_left, self._new_left = int(hunk[1] or b"1"), int(hunk[2] or b"1")
        self._add(bare, LineKind.OUTSIDE)

    def _content(self, line: bytes) -> None:
        self._sections[-1].has_cr |= line.endswith(_CARRIAGE_RETURN)
        self._add(line, LineKind.CONTENT)

    def _unend(self) -> None:
        """Mark the line that the line before this one is of a file without a last line end."""
        kinds = self._sections[-1].kinds
        for position in range(len(kinds) - 1, max(len(kinds) - 3, -1), -1):
            if kinds[position] == LineKind.CONTENT:
                kinds[position] = LineKind.UNENDED
                return

    def _add(self, line: bytes, kind: LineKind) -> None:
        self._sections[-1].lines.append(line)
        self._sections[-1].kinds.append(kind)


def _is_name_of(name: str, content: bytes) -> bool:
    """Whether git abbreviates the name of this content so, in either format of its objects."""
    blob = b"blob %d\0%b" % (len(content), content)
    sha1 = hashlib.sha1(blob, usedforsecurity=False).hexdigest()
    return sha1.startswith(name) or hashlib.sha256(blob).hexdigest().startswith(name)


def _end_line(line: bytes, kind: int, ends: LineEnds) -> bytes:
    if kind == LineKind.OUTSIDE or ends is LineEnds.AS_SENT:
        return line
    bare = line.removesuffix(_CARRIAGE_RETURN)
    if ends is LineEnds.LF or kind == LineKind.UNENDED:
        return bare
    return (bare or b" ") + _CARRIAGE_RETURN
