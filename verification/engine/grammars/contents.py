"""What a file holds, told by its first bytes."""

from __future__ import annotations

import re

from verification.engine.grammars.text import wide_encoding

LOOKED_AT_BYTES = 8_192
HTML = "an HTML page"
BINARY = "binary content"
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.{0,1000}?-->\s*)?<(?:!doctype\s+html|html)\b", re.I | re.S
)
_BEGINNINGS: tuple[tuple[str, bytes], ...] = (
    ("a PNG image", b"\x89PNG\r\n\x1a\n"),
    ("a JPEG image", b"\xff\xd8\xff"),
    ("a GIF image", b"GIF87a"),
    ("a GIF image", b"GIF89a"),
    ("a PDF document", b"%PDF-"),
    ("a gzip archive", b"\x1f\x8b\x08"),
    ("a ZIP archive", b"PK\x03\x04"),
    ("a ZIP archive", b"PK\x05\x06"),
    ("a bzip2 archive", b"BZh"),
    ("an xz archive", b"\xfd7zXZ\0"),
    ("a Zstandard archive", b"\x28\xb5\x2f\xfd"),
    ("a 7-Zip archive", b"7z\xbc\xaf\x27\x1c"),
    ("a RAR archive", b"Rar!\x1a\x07"),
    ("an old Office document", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    ("an RTF document", b"{\\rtf"),
    ("a SQLite database", b"SQLite format 3\0"),
    ("a Parquet table", b"PAR1"),
    ("a program", b"\x7fELF"),
    ("an MP3 recording", b"ID3"),
    ("an Ogg recording", b"OggS"),
    ("a WebAssembly module", b"\0asm"),
    ("a TIFF image", b"II*\0"),
    ("a TIFF image", b"MM\0*"),
    ("a WOFF font", b"wOFF"),
    ("a WOFF2 font", b"wOF2"),
)
_FIRST_BYTES = frozenset(beginning[:1] for _, beginning in _BEGINNINGS)
_RIFF = {b"WEBP": "a WebP image", b"WAVE": "a WAV recording", b"AVI ": "an AVI video"}
# Plain letters that a text may begin with: binary only beside bytes that no text holds.
_ALSO_LETTERS = frozenset({"a bzip2 archive", "a Parquet table", "an MP3 recording"})
_PACKETS = ((0, 188), (4, 192))
TEXTS = frozenset(
    {"txt", "md", "markdown", "rst", "adoc", "tex", "log", "css", "scss", "ini", "cfg", "env",
     "srt", "vtt", "ics", "eml"}
)  # fmt: skip
PAGES = frozenset({"html", "htm", "xhtml", "vue", "php"})
"""Suffixes of texts that have no grammar here."""
_TRANSPORT = "an MPEG transport stream"


def held(content: bytes) -> str:
    """Name what is surely no text of a language ("" where it may be): "a PNG image"."""
    start = content[:LOOKED_AT_BYTES]
    for name, beginning in _BEGINNINGS if start[:1] in _FIRST_BYTES else ():
        if start.startswith(beginning) and (name not in _ALSO_LETTERS or _is_binary(start)):
            return name
    if start.startswith(b"RIFF") and start[8:12] in _RIFF:
        return _RIFF[start[8:12]]
    if start[4:8] == b"ftyp" and _is_binary(start):
        return "an MP4 video or a HEIF image"
    if start[257:262] == b"ustar":
        return "a tar archive"
    if is_transport_stream(start):
        return _TRANSPORT
    if _HTML.match(start):
        return HTML
    return BINARY if _is_binary(start) else ""


def is_transport_stream(start: bytes) -> bool:
    """Television, whose files are called .ts and .mts like those of TypeScript."""
    return any(
        len(start) > first + 2 * size
        and all(start[first + at * size] == 0x47 for at in range(3))
        and _is_binary(start)
        for first, size in _PACKETS
    )


def _is_binary(start: bytes) -> bool:
    return b"\0" in start and not wide_encoding(start)
