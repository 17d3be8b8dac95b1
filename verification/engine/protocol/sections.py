"""The material of a submission, part by part, shared out over what a prompt may hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from verification.engine.case import Case, Ports
from verification.engine.checks.materials import is_binary, searched_files
from verification.engine.evidence import Claim, EvidenceItem, SubmittedFile, ToolCall
from verification.engine.gating.findings import told
from verification.engine.grammars.text import Decoded, decoded
from verification.engine.protocol.framing import cut, framed, halved, one_line, shown

MAX_PIECES = 60
"""Files, evidence items, or claims that are shown; tool calls: as many from either end."""
MAX_PIECE_CHARS = 200_000
"""More of one text than a prompt has room for."""
MAX_CALL_CHARS = 2_000
MAX_READ_BYTES = 5_000_000
MAX_ALL_READ_BYTES = 30_000_000
MAX_NAMES_CHARS = 4_000
ENDINGS = {True: "well", False: "badly", None: "not stated"}
_FRAME_CHARS = 120


@dataclass(frozen=True, slots=True)
class Piece:
    """One framed text. `name` is ours; what the work calls it stands in `title`, inside.

    `gone` counts the characters that were taken out of its middle before.
    """

    name: str
    text: str
    title: str = ""
    gone: int = 0

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.text}" if self.title else self.text


def rendered(case: Case, ports: Ports, all_room: int) -> tuple[str, tuple[str, ...]]:
    """Frame all that was submitted within `all_room` characters; and say what was left out.

    Sections share the room so that short ones stay whole, and so do the pieces of each.
    """
    sections = [[*pieces] for pieces in _sections(case, ports)]
    rooms = levels([_size(pieces) for pieces in sections], all_room)
    notes: list[str] = []
    texts = []
    for pieces, share in zip(sections, rooms, strict=True):
        limits = levels([_size([piece]) for piece in pieces], share)
        for piece, limit in zip(pieces, limits, strict=True):
            whole, room = piece.whole, max(0, limit - _FRAME_CHARS)
            text = cut(whole, min(room, len(whole) - bool(piece.gone)), gone=piece.gone)
            if text != whole:
                notes.append(f"{piece.name} was shown in part")
            texts.append(framed(case.fence, piece.name, text))
    return "\n\n".join(texts), tuple(notes)


def levels(sizes: Sequence[int], room: int) -> list[int]:
    """Share `room` so that no size is cut while a larger one is not cut to the same level.

    >>> levels([10, 50, 90], 100)
    [10, 45, 45]
    """
    level, left = 0, room
    for taken, size in enumerate(sorted(sizes)):
        level = left // (len(sizes) - taken)
        if size > level:
            break
        left -= size
    else:
        return list(sizes)
    return [min(size, level) for size in sizes]


def call_text(call: ToolCall) -> str:
    """One tool call as the judge sees it."""
    lines = [f"tool: {one_line(call.tool, 200)}", f"ended: {ENDINGS[call.success]}"]
    for name, value in (("error", call.error), ("args", call.args), ("result", call.result)):
        if value not in (None, "", [], {}):
            lines.append(f"{name}: {shown(_json(value), MAX_CALL_CHARS)}")
    return "\n".join(lines)


def _size(pieces: Sequence[Piece]) -> int:
    return sum(len(piece.whole) + _FRAME_CHARS for piece in pieces)


def _sections(case: Case, ports: Ports) -> Iterator[Iterator[Piece]]:
    work = case.submission
    yield iter([_piece("output", work.output)])
    yield _diff(work.diff)
    yield _gates(case)
    yield _files(case, ports)
    yield _evidence(work.evidence)
    yield _calls(work.tool_calls)
    yield _claims(work.claims)


def _piece(name: str, text: str, title: str = "") -> Piece:
    kept, gone = halved(text, MAX_PIECE_CHARS)
    return Piece(name, kept, title, gone)


def _diff(diff: str) -> Iterator[Piece]:
    if diff.strip():
        yield _piece("diff", diff)


def _gates(case: Case) -> Iterator[Piece]:
    """Whole: a judge that is told half of an error message makes up the rest."""
    for number, report in enumerate(case.gated, start=1):
        yield _piece(f"gate {number}", told(report))


def _files(case: Case, ports: Ports) -> Iterator[Piece]:
    files = searched_files(case)
    left = MAX_ALL_READ_BYTES
    for number, file in enumerate(files[:MAX_PIECES], start=1):
        title = f"path: {one_line(file.path, 500)}"
        if file.size > min(left, MAX_READ_BYTES):
            yield Piece(f"file {number}", f"Too large to be shown: {file.size:,} bytes.", title)
            continue
        left -= file.size
        yield _piece(f"file {number}", _content(file, ports), title)
    if more := files[MAX_PIECES:]:
        names = ", ".join(one_line(file.path, 200) for file in more[:200])
        text = f"{len(more)} more files, their contents not shown: {names}"
        yield Piece("further files", cut(text, MAX_NAMES_CHARS))


def _content(file: SubmittedFile, ports: Ports) -> str:
    content = ports.workspace.read(file.path)
    if is_binary(file.path, content):
        return f"No text: {file.size:,} bytes, SHA-256 {file.sha256}."
    return text_of(content)


def text_of(content: bytes) -> str:
    """The content as text; what cannot be decoded becomes U+FFFD."""
    read = decoded(content)
    return read.text if isinstance(read, Decoded) else content.decode(errors="replace")


def _evidence(items: Sequence[EvidenceItem]) -> Iterator[Piece]:
    for number, item in enumerate(items[:MAX_PIECES], start=1):
        about = [("id", item.id), ("tool", item.tool), ("source", item.source_url)]
        title = "\n".join(f"{name}: {one_line(value, 300)}" for name, value in about if value)
        yield _piece(f"evidence {number}", item.text, title)
    if more := items[MAX_PIECES:]:
        names = ", ".join(one_line(item.id, 100) for item in more[:400])
        text = f"{len(more)} more items, their texts not shown: {names}"
        yield Piece("further evidence", cut(text, MAX_NAMES_CHARS))


def _calls(calls: Sequence[ToolCall]) -> Iterator[Piece]:
    left_out = max(0, len(calls) - 2 * MAX_PIECES)
    for number, call in enumerate(calls, start=1):
        if not left_out or number <= MAX_PIECES or number > len(calls) - MAX_PIECES:
            yield Piece(f"tool call {number}", call_text(call))
    if left_out:
        yield Piece("further tool calls", f"{left_out} calls in between are not shown.")


def _claims(claims: Sequence[Claim]) -> Iterator[Piece]:
    if not claims:
        return
    lines = [_claim(claim) for claim in claims[:MAX_PIECES]]
    if more := len(claims) - MAX_PIECES:
        lines += [f"{more} more claims are not shown."] if more > 0 else []
    yield Piece("claims", "\n".join(lines))


def _claim(claim: Claim) -> str:
    said = {
        "text": one_line(claim.text, 600),
        "label": one_line(claim.label, 40),
        "section": one_line(claim.section, 80),
        "evidence": [one_line(one, 100) for one in claim.evidence[:20]],
    }
    return json.dumps(said, ensure_ascii=False)


def _json(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (RecursionError, TypeError, ValueError):
        return "[too deep to be shown]"
