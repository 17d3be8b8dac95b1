"""A file holds what its name promises: told by its first bytes, and never more than a remark."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from processes.definition.model import Target
from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.materials import MAX_FILE_BYTES, searched_files
from verification.engine.checks.registry import Observation, check
from verification.engine.evidence import SubmittedFile
from verification.engine.grammars import grammar_of
from verification.engine.grammars.contents import (
    BINARY,
    HTML,
    LOOKED_AT_BYTES,
    PAGES,
    TEXTS,
    held,
    is_transport_stream,
)

ID = "file-types"
PDF_MAY_START_WITHIN_BYTES = 1_024
_ERROR_PAGE = ", perhaps the error page of a site that it was fetched from"
_SUGGESTION = "Fetch or write it anew, and look into it before you submit it."
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# A document with a password is wrapped in the format of old.
_OLD_OFFICE = (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",)
BEGINNINGS: dict[str, tuple[bytes, ...]] = {
    "png": (b"\x89PNG\r\n\x1a\n",),
    "jpg": (b"\xff\xd8\xff",),
    "jpeg": (b"\xff\xd8\xff",),
    "gif": (b"GIF87a", b"GIF89a"),
    "bmp": (b"BM",),
    "tif": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "tiff": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "webp": (b"RIFF",),
    "wav": (b"RIFF", b"RF64"),
    "gz": (b"\x1f\x8b",),
    "tgz": (b"\x1f\x8b",),
    "bz2": (b"BZh",),
    "xz": (b"\xfd7zXZ\0",),
    "zst": (b"\x28\xb5\x2f\xfd",),
    "7z": (b"7z\xbc\xaf\x27\x1c",),
    "zip": (*_ZIP, b"PK\x07\x08"),
    "epub": _ZIP,
    "odt": _ZIP,
    "ods": _ZIP,
    "odp": _ZIP,
    "whl": _ZIP,
    "jar": _ZIP,
    "docx": _ZIP + _OLD_OFFICE,
    "xlsx": _ZIP + _OLD_OFFICE,
    "pptx": _ZIP + _OLD_OFFICE,
    "doc": (*_OLD_OFFICE, b"{\\rtf", *_ZIP),
    "ppt": _OLD_OFFICE,
    "rtf": (b"{\\rtf",),
    "parquet": (b"PAR1", b"PARE"),
    "sqlite": (b"SQLite format 3\0",),
    "sqlite3": (b"SQLite format 3\0",),
    "woff": (b"wOFF",),
    "woff2": (b"wOF2",),
    "wasm": (b"\0asm",),
}
_LOOKS: dict[str, Callable[[bytes], bool]] = {
    "pdf": lambda start: b"%PDF-" in start[:PDF_MAY_START_WITHIN_BYTES],
    "tar": lambda start: start[257:262] == b"ustar" or not start.strip(b"\0"),
    "mp4": lambda start: start[4:8] in {b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide"},
    "heic": lambda start: start[4:8] == b"ftyp",
    "avif": lambda start: start[4:8] == b"ftyp",
}


@check(ID)
def file_types(case: Case, ports: Ports) -> Iterator[Observation]:
    for file in searched_files(case):
        suffix = file.path.rsplit(".", 1)[-1].lower()
        if not _is_known(suffix, file) or not 0 < file.size <= MAX_FILE_BYTES:
            continue
        start = ports.workspace.read(file.path)[:LOOKED_AT_BYTES]
        if message := mismatch(suffix, start):
            yield violated(
                ID,
                "file_type_mismatch",
                message,
                target=Target.DELIVERABLES,
                path=file.path,
                suggestion=_SUGGESTION,
            )


def mismatch(suffix: str, start: bytes) -> str:
    """Say how the first bytes break the promise of a suffix; "": they do not."""
    holds = held(start)
    if suffix in BEGINNINGS or suffix in _LOOKS:
        fits = start.startswith(BEGINNINGS.get(suffix, ())) or _LOOKS.get(suffix, _no)(start)
        return "" if fits else _told(suffix, holds)
    if suffix in PAGES and holds == HTML:
        return ""
    if suffix in {"ts", "mts"} and is_transport_stream(start):
        return ""
    return _told(suffix, holds) if holds else ""


def _is_known(suffix: str, file: SubmittedFile) -> bool:
    """The rest is left to the check of syntax, which says the same with more weight."""
    grammar = grammar_of(file.path)
    if grammar is None:
        return suffix in BEGINNINGS or suffix in _LOOKS or suffix in TEXTS | PAGES
    return not grammar.is_certain or file.size > grammar.max_bytes


def _told(suffix: str, holds: str) -> str:
    if not holds or (holds == BINARY and suffix in BEGINNINGS):
        return f"Named .{suffix}, but does not start like one."
    return f"Named .{suffix}, but holds {holds}{_ERROR_PAGE if holds == HTML else ''}."


def _no(_start: bytes) -> bool:
    return False
