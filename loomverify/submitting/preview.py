"""What would be sent, and what is left out and why, before any of it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from loomverify.submitting.packing import MAX_BYTES, MAX_FILES, explain_size
from loomverify.submitting.report import plain
from loomverify.submitting.selecting import LeftOut, Reason, Selection

MAX_SHOWN_FILES = MAX_FILES
MAX_SHOWN_LEFT_OUT = 20
MAX_NAMED = 3
INCLUDE_SECRETS = "--include-secrets"


def preview_text(selections: Mapping[str, Selection]) -> str:
    """Return what would be sent in each part, with sizes."""
    lines: list[str] = []
    for part, selection in selections.items():
        sizes = {path: selection.folder.size(path) for path in selection.files}
        lines += (
            f"{part}, from {selection.folder.root}: would send {len(sizes):,} "
            f"file{'s'[: len(sizes) != 1]}, {size_words(sum(sizes.values()))}",
            *(
                f"  {size_words(size):>10}  {path}"
                for path, size in islice(sizes.items(), MAX_SHOWN_FILES)
            ),
            *_more(len(sizes), MAX_SHOWN_FILES),
        )
        for reason, left_out in _by_reason(selection.left_out).items():
            lines += (
                f"left out, {reason.value}: {len(left_out)}",
                *(f"  {_describe(entry)}" for entry in left_out[:MAX_SHOWN_LEFT_OUT]),
                *_more(len(left_out), MAX_SHOWN_LEFT_OUT),
            )
        lines += (
            f"asks before it sends {_describe(entry)}" for entry in selection.declared_secrets
        )
        lines.append("")
    lines.append("Nothing was sent.")
    return "\n".join(plain(line.replace("\n", "�")) for line in lines) + "\n"


def preview_json(selections: Mapping[str, Selection]) -> dict[str, Any]:
    return {
        part: {
            "folder": str(selection.folder.root),
            "files": [
                {"path": path, "bytes": selection.folder.size(path)} for path in selection.files
            ],
            "bytes": sum(map(selection.folder.size, selection.files)),
            "left_out": [
                {"path": entry.path, "reason": entry.reason.name.lower(), "detail": entry.words}
                for entry in selection.left_out
            ],
            "asks": [
                {"path": entry.path, "detail": entry.words} for entry in selection.declared_secrets
            ],
        }
        for part, selection in selections.items()
    }


def find_excess(selection: Selection) -> str:
    """Return why the files cannot be sent; '': they can."""
    size = sum(map(selection.folder.size, selection.files))
    is_too_much = len(selection.files) > MAX_FILES or size > MAX_BYTES
    return explain_size(selection) if is_too_much else ""


def notice_lines(selection: Selection) -> list[str]:
    """Return one line for each kind of files that the caller may have meant to send."""
    left_out = _by_reason(selection.left_out)
    lines = []
    for reason in (Reason.LINK, Reason.SPECIAL, Reason.SECRET):
        if entries := left_out.get(reason, []):
            advice = f" {INCLUDE_SECRETS} sends them." if reason is Reason.SECRET else ""
            lines.append(f"Not sent, {reason.value}: {_list_first(entries)}.{advice}")
    if not selection.files and left_out:
        lines.append(f"Nothing of {selection.folder.root} is sent; --dry-run tells why.")
    return lines


def question_line(secrets: Sequence[LeftOut]) -> str:
    return f"Declared as outputs, and look like secrets: {_list_first(secrets)}."


def size_words(count: int) -> str:
    if count < 1024:
        return f"{count} B"
    size, unit = count / 1024, "KiB"
    if size >= 1024:
        size, unit = size / 1024, "MiB"
    return f"{size:,.1f} {unit}"


def _by_reason(left_out: Iterable[LeftOut]) -> dict[Reason, list[LeftOut]]:
    by_reason: dict[Reason, list[LeftOut]] = {}
    for entry in left_out:
        by_reason.setdefault(entry.reason, []).append(entry)
    return by_reason


def _list_first(entries: Sequence[LeftOut]) -> str:
    names = ", ".join(map(_describe, entries[:MAX_NAMED]))
    more = f" and {len(entries) - MAX_NAMED} more" if len(entries) > MAX_NAMED else ""
    return f"{names}{more}"


def _describe(entry: LeftOut) -> str:
    return f"{entry.path} ({entry.words})" if entry.words else entry.path


def _more(count: int, shown: int) -> list[str]:
    return [f"  and {count - shown:,} more"] if count > shown else []
