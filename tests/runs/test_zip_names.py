"""The names of files in a zip, as the programs that write zips store them."""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import dataclass

import pytest

from loomverify.errors import InputError
from tests.tables import check_rows
from verification.runs.intake.archive import check_archive, read_archive

LOC = ("body", "workspace")
UTF8_FLAG = 0x800
NFC, NFD = "Übersicht.md", "U\u0308bersicht.md"


@dataclass(frozen=True)
class Stored:
    """An empty file as the directory lists it. `own`: the name in its own header."""

    name: bytes
    flags: int = 0
    extra: bytes = b""
    own: bytes | None = None
    own_extra: bytes = b""


def zip_of(*files: Stored) -> io.BytesIO:
    content = directory = b""
    for file in files:
        own = file.name if file.own is None else file.own
        start = len(content)
        content += struct.pack(
            "<4s5H3L2H", b"PK\x03\x04", 20, file.flags, 0, 0, 33, 0, 0, 0,
            len(own), len(file.own_extra),
        ) + own + file.own_extra  # fmt: skip
        directory += struct.pack(
            "<4s6H3L5H2L", b"PK\x01\x02", 20, 20, file.flags, 0, 0, 33, 0, 0, 0,
            len(file.name), len(file.extra), 0, 0, 0, 0, start,
        ) + file.name + file.extra  # fmt: skip
    end = struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, len(files), len(files), len(directory), len(content), 0
    )
    return io.BytesIO(content + directory + end)


def unicode_path(of: bytes, name: bytes, version: int = 1) -> bytes:
    return field(0x7075, bytes([version]) + struct.pack("<L", zlib.crc32(of)) + name)


def field(kind: int, content: bytes) -> bytes:
    return struct.pack("<2H", kind, len(content)) + content


def names_in(archive: io.BytesIO) -> list[str]:
    check_archive(archive, loc=LOC)
    return [name for name, _ in read_archive(archive, loc=LOC)]


CP437 = NFC.encode("cp437")


@check_rows(
    ("stored", "name"),
    [
        (Stored(NFC.encode()), NFC),
        (Stored(NFC.encode(), UTF8_FLAG), NFC),
        (Stored(NFD.encode()), NFD),
        (Stored("報告/q3.md".encode()), "報告/q3.md"),
        (Stored(CP437), NFC),
        (Stored(CP437, UTF8_FLAG), NFC),
        (Stored(CP437, extra=unicode_path(CP437, NFC.encode())), NFC),
        (Stored(b"_bersicht.md", extra=unicode_path(b"_bersicht.md", NFC.encode())), NFC),
        (Stored(b"a.md", extra=field(0x5455, b"\x03" * 9) + unicode_path(b"a.md", b"b.md")), "b.md"),
        # A field of another name, or that is empty, no text, of another version, or cut off.
        (Stored(b"a.md", extra=unicode_path(b"a.md", b"")), "a.md"),
        (Stored(b"a.md", extra=unicode_path(b"other.md", b"b.md")), "a.md"),
        (Stored(b"a.md", extra=unicode_path(b"a.md", b"\xff")), "a.md"),
        (Stored(b"a.md", extra=unicode_path(b"a.md", b"b.md", version=2)), "a.md"),
        (Stored(b"a.md", extra=unicode_path(b"a.md", b"b.md")[:-1]), "a.md"),
        (Stored(b"a.md", extra=field(0x7075, b"")), "a.md"),
    ],
)  # fmt: skip
def test_a_name_is_read_by_its_bytes_and_not_by_its_flag(stored: Stored, name: str) -> None:
    assert names_in(zip_of(stored)) == [name]


@pytest.mark.parametrize(
    "stored",
    [
        Stored(NFC.encode(), own=CP437),
        Stored(NFC.encode(), own=NFD.encode()),
        Stored(CP437, UTF8_FLAG, own=NFC.encode()),
        Stored(b"_bersicht.md", extra=unicode_path(b"_bersicht.md", NFC.encode())),
        Stored(
            NFC.encode(), own=b"_bersicht.md",
            own_extra=unicode_path(b"_bersicht.md", NFC.encode()),
        ),
    ],
)  # fmt: skip
def test_both_headers_may_spell_one_name_in_two_ways(stored: Stored) -> None:
    assert names_in(zip_of(stored)) == [NFC]


@check_rows(
    ("files", "code"),
    [
        ([Stored(b"a.md", own=b"b.md")], "path.ambiguous"),
        ([Stored(b"a.md", own=b"")], "path.ambiguous"),
        ([Stored(b"a.md", own=b"../a.md")], "path.ambiguous"),
        ([Stored(NFC.encode()), Stored(CP437)], "path.duplicate"),
        ([Stored(NFC.encode()), Stored(NFD.encode())], "path.duplicate"),
        ([Stored(b"b.md"), Stored(b"a", extra=unicode_path(b"a", b"b.md"))], "path.duplicate"),
        ([Stored(b"a.md", extra=unicode_path(b"a.md", b"../../a.md"))], "path.unsafe"),
        ([Stored(b"a.md", extra=unicode_path(b"a.md", b"/etc/passwd"))], "path.unsafe"),
        ([Stored(b"a.md", extra=unicode_path(b"a.md", b"a\0.md"))], "path.unsafe"),
        ([Stored(b"a\0.md")], "path.unsafe"),
    ],
)
def test_a_name_that_is_ambiguous_or_leads_out_is_refused(files: list[Stored], code: str) -> None:
    with pytest.raises(InputError) as refused:
        names_in(zip_of(*files))

    assert refused.value.code == code


def test_two_spellings_of_one_name_are_both_shown() -> None:
    with pytest.raises(InputError) as refused:
        names_in(zip_of(Stored(NFC.encode()), Stored(NFD.encode())))

    assert r"as '\xdcbersicht.md' and as 'U\u0308bersicht.md'" in str(refused.value)
