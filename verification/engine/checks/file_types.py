"""A file holds what its name promises: told by its first bytes, and never more than a remark."""

from __future__ import annotations

from collections.abc import Iterator

from processes.definition.model import Target
from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.materials import MAX_FILE_BYTES, searched_files
from verification.engine.checks.registry import Observation, check
from verification.engine.grammars import grammar_of

ID = "file-types"
LOOKED_AT_BYTES = 8_192
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
BEGINNINGS: dict[str, tuple[bytes, ...]] = {
    "png": (b"\x89PNG\r\n\x1a\n",),
    "jpg": (b"\xff\xd8\xff",),
    "jpeg": (b"\xff\xd8\xff",),
    "gif": (b"GIF87a", b"GIF89a"),
    "pdf": (b"%PDF-",),
    "gz": (b"\x1f\x8b",),
    "zip": _ZIP,
    "docx": _ZIP,
    "xlsx": _ZIP,
    "pptx": _ZIP,
}
TEXTS = frozenset({"txt", "md", "rst", "csv", "tsv", "html", "css", "js", "ts", "sql", "toml"})
_WIDE_TEXT = (b"\xff\xfe", b"\xfe\xff")


@check(ID)
def file_types(case: Case, ports: Ports) -> Iterator[Observation]:
    for file in searched_files(case):
        suffix = file.path.rsplit(".", 1)[-1].lower()
        known = suffix in BEGINNINGS or suffix in TEXTS or grammar_of(file.path) is not None
        if not known or not 0 < file.size <= MAX_FILE_BYTES:
            continue
        start = ports.workspace.read(file.path)[:LOOKED_AT_BYTES]
        if message := _mismatch(suffix, start):
            yield violated(
                ID, "file_type_mismatch", message, target=Target.DELIVERABLES, path=file.path
            )


def _mismatch(suffix: str, start: bytes) -> str:
    if suffix in BEGINNINGS:
        fits = start.startswith(BEGINNINGS[suffix])
        return "" if fits else f"Named .{suffix}, but does not start like one."
    is_binary = b"\0" in start and not start.startswith(_WIDE_TEXT)
    return f"Named .{suffix}, but holds binary content." if is_binary else ""
