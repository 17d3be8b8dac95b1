from __future__ import annotations

import gzip
import io
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomverify.errors import InputError
from tests.tables import check_rows
from tests.tiers import long_search
from verification.runs.intake.archive import check_archive, clean_path, read_archive
from verification.runs.intake.schemas import MAX_FILES
from verification.runs.intake.unpacking import MAX_HEADER_BYTES, MAX_MEMBERS

LOC = ("body", "workspace")
Entry = tuple[str, bytes]


def tar_gz(*entries: Entry, change: Callable[[tarfile.TarInfo], None] | None = None) -> io.BytesIO:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in entries:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            if change is not None:
                change(member)
            tar.addfile(member, io.BytesIO(content))
    return packed


def zipped(*entries: Entry) -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return packed


def refusal(archive: io.BytesIO) -> InputError:
    with pytest.raises(InputError) as caught:
        check_archive(archive, loc=LOC)
    return caught.value


@pytest.mark.parametrize("pack", [tar_gz, zipped])
def test_files_come_out_as_they_went_in(pack: Callable[..., io.BytesIO]) -> None:
    archive = pack(("plan.md", b"# Plan"), ("./sheets/a.csv", b"a,b\n"), ("empty", b""))

    check_archive(archive, loc=LOC)

    assert dict(read_archive(archive, loc=LOC)) == {
        "plan.md": b"# Plan",
        "./sheets/a.csv": b"a,b\n",
        "empty": b"",
    }


@check_rows("pack", [tar_gz, zipped])
@check_rows(
    ("name", "code"),
    [
        ("../outside", "path.unsafe"),
        ("inside/../../outside", "path.unsafe"),
        ("/etc/passwd", "path.unsafe"),
        ("C:/windows", "path.unsafe"),
        ("back\\slash", "path.unsafe"),
        ("bell\x07", "path.unsafe"),
        ("n" * 300, "path.too_long"),
    ],
)
def test_a_path_that_leaves_the_workspace_is_refused_by_name(
    pack: Callable[..., io.BytesIO], name: str, code: str
) -> None:
    error = refusal(pack((name, b"x")))

    assert error.code == code
    assert error.issues[0].loc[:2] == LOC
    assert error.status == 422


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (tarfile.SYMTYPE, "link"),
        (tarfile.LNKTYPE, "link"),
        (tarfile.CHRTYPE, "special file"),
        (tarfile.BLKTYPE, "special file"),
        (tarfile.FIFOTYPE, "special file"),
        (tarfile.GNUTYPE_SPARSE, "special file"),
        (b"Z", "special file"),
    ],
)
def test_only_files_and_folders_may_be_sent(kind: bytes, word: str) -> None:
    def change(member: tarfile.TarInfo) -> None:
        member.type = kind
        member.linkname = "/etc/passwd"
        member.size = 0

    error = refusal(tar_gz(("entry", b""), change=change))

    assert error.code == "archive.not_a_file"
    assert word in str(error)


def test_a_link_in_a_zip_is_refused() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        link = zipfile.ZipInfo("entry")
        link.create_system = 3
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")

    assert refusal(packed).code == "archive.not_a_file"


@pytest.mark.parametrize("pack", [tar_gz, zipped])
@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "names",
    [
        ("a", "a"),
        ("a", "./a"),
        ("a/b", "a"),
        ("a", "a/b/c"),
        ("a/", "a"),
        ("a", "a/b/"),
        ("é/a", "e\u0301/a"),
    ],
)
def test_the_same_place_twice_is_refused(
    pack: Callable[..., io.BytesIO], names: tuple[str, str]
) -> None:
    assert refusal(pack(*[(name, b"x") for name in names])).code == "path.duplicate"


@pytest.mark.extended
@pytest.mark.parametrize("pack", [tar_gz, zipped])
def test_too_many_files_are_refused(pack: Callable[..., io.BytesIO]) -> None:
    archive = pack(*[(f"f{number}", b"") for number in range(MAX_FILES + 1)])

    error = refusal(archive)

    assert (error.code, error.status) == ("archive.too_many_files", 413)


@pytest.mark.parametrize("pack", [tar_gz, zipped])
def test_a_bomb_is_refused_before_it_is_unpacked(pack: Callable[..., io.BytesIO]) -> None:
    error = refusal(pack(("bomb", bytes(32 * 1024 * 1024))))

    assert (error.code, error.status) == ("archive.unpacks_too_large", 413)


@pytest.mark.parametrize("kept", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("pack", [tar_gz, zipped])
def test_a_truncated_archive_is_refused(pack: Callable[..., io.BytesIO], kept: float) -> None:
    whole = pack(*[(f"file{number}", bytes(range(256)) * 40) for number in range(20)]).getvalue()

    error = refusal(io.BytesIO(whole[: int(len(whole) * kept)]))

    assert error.code == "archive.broken"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "archive.unknown"),
        (b"plain text", "archive.unknown"),
        (b"PK\x03\x04 but no zip", "archive.broken"),
        (gzip.compress(b"no tar in here" * 100, mtime=0), "archive.broken"),
    ],
)
def test_what_is_no_archive_is_refused(content: bytes, code: str) -> None:
    assert refusal(io.BytesIO(content)).code == code


def test_a_clean_path_has_no_detours() -> None:
    assert clean_path("./a//b/./c.txt", loc=()) == "a/b/c.txt"


def with_header(change: Callable[[bytearray], None]) -> io.BytesIO:
    """A tar whose only file has its header changed, and its checksum made right again."""
    raw = bytearray(gzip.decompress(tar_gz(("a", b"x" * 10)).getvalue()))
    change(raw)
    raw[148:156] = b" " * 8
    raw[148:156] = b"%06o\0 " % sum(raw[:512])
    return io.BytesIO(gzip.compress(bytes(raw)))


def of_size(field: bytes) -> io.BytesIO:
    def change(raw: bytearray) -> None:
        raw[124:136] = field

    return with_header(change)


def described(**headers: str) -> io.BytesIO:
    def change(member: tarfile.TarInfo) -> None:
        member.pax_headers = headers

    return tar_gz(("a", b""), change=change)


def many_records(count: int) -> io.BytesIO:
    return described(**{f"k{number}": "v" for number in range(count)})


def in_zip(where: int, form: str, value: Any, *, mark: bytes = b"PK\x01\x02") -> io.BytesIO:
    """A zip with one field of its directory, or of its end, changed."""
    raw = bytearray(zipped(("a.txt", b"x" * 1_000)).getvalue())
    struct.pack_into(form, raw, raw.rindex(mark) + where, value)
    return io.BytesIO(bytes(raw))


def with_method(method: int) -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("a", bytes(1_000_000))
    return packed


def sharing_one_file(count: int) -> io.BytesIO:
    """A zip whose directory names the same content again and again."""
    raw = zipped(("a", bytes(2_000_000))).getvalue()
    at, end = raw.rindex(b"PK\x01\x02"), bytearray(raw[raw.rindex(b"PK\x05\x06") :])
    entry = bytearray(raw[at : at + 46])
    struct.pack_into("<H", entry, 28, 8)
    directory = b"".join(bytes(entry) + b"%08d" % number for number in range(count))
    struct.pack_into("<HHII", end, 8, 1, 1, len(directory), at)
    return io.BytesIO(raw[:at] + directory + bytes(end))


def with_zip64_end(comment: bytes = b"") -> io.BytesIO:
    raw = zipped(("a", b"x")).getvalue()
    at = raw.rindex(b"PK\x05\x06")
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1)
    end = raw[at:-2] + struct.pack("<H", len(comment))
    return io.BytesIO(raw[:at] + locator + end + comment)


def with_directory_of_zip64(count: int) -> io.BytesIO:
    """The end names no entry; the end that a long comment pushes far away names many."""
    directory = sharing_one_file(count).getvalue()
    at = directory.rindex(b"PK\x05\x06")
    size, start = struct.unpack_from("<LL", directory, at + 12)
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0, 0xFFFFFFFF, 0xFFFF)
    return io.BytesIO(directory[:at] + end64 + locator + end + bytes(0xFFFF))


def with_sparse_map(blocks: int) -> io.BytesIO:
    """Headers of old GNU tars, each of which says that the map goes on in the next."""
    raw = bytearray(tar_gz_header(tarfile.GNUTYPE_SPARSE))
    raw[482] = 1
    raw[148:156] = b" " * 8
    raw[148:156] = b"%06o\0 " % sum(raw[:512])
    go_on = b"00000000454\0" * 42 + b"\1" + bytes(7)
    return io.BytesIO(gzip.compress(bytes(raw) + go_on * blocks, compresslevel=0))


def with_map_in_front(numbers: int) -> io.BytesIO:
    """The map of newer GNU tars: as long as it says itself, before the content."""
    headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "a"}

    def change(member: tarfile.TarInfo) -> None:
        member.pax_headers = headers

    return tar_gz(("a", b"%d\n" % numbers + b"1\n" * 2 * numbers), change=change)


def tar_gz_header(kind: bytes) -> bytes:
    member = tarfile.TarInfo("a")
    member.type = kind
    return member.tobuf(tarfile.GNU_FORMAT)


def for_all_entries(*records: dict[str, str], files: int = 1) -> io.BytesIO:
    """Headers that describe every entry after them, and each entry is compared with all."""
    shared = [
        tarfile.TarInfo._create_pax_generic_header(one, tarfile.XGLTYPE, "utf-8")  # type: ignore[attr-defined]
        for one in records
    ]
    plain = [tarfile.TarInfo(f"f{number}").tobuf() for number in range(files)]
    return io.BytesIO(gzip.compress(b"".join([*shared, *plain]) + bytes(1024)))


def gzipped(*contents: bytes) -> io.BytesIO:
    return io.BytesIO(b"".join(gzip.compress(content, mtime=0) for content in contents))


TAR = gzip.decompress(tar_gz(("a", b"x")).getvalue())


@check_rows(
    ("archive", "code"),
    [
        (of_size(b"77777777777\0"), "archive.file_too_large"),
        (of_size(b"\x80" + b"\x7f" * 11), "archive.file_too_large"),
        (of_size(b"\xff" * 12), "archive.broken"),
        (of_size(b"nonsense!!!\0"), "archive.broken"),
        (described(size="99999999999999999999"), "archive.file_too_large"),
        (described(size="-5"), "archive.not_a_file"),
        (described(path="../../x"), "path.unsafe"),
        (described(comment="x" * MAX_HEADER_BYTES), "archive.broken"),
        (described(**{"GNU.sparse.map": "0,1", "GNU.sparse.size": "100"}), "archive.not_a_file"),
        (many_records(20_000), "archive.broken"),
        (gzipped(TAR, *[b""] * MAX_MEMBERS), "archive.broken"),
        (gzipped(TAR, *[bytes(2_000_000)] * 5), "archive.unpacks_too_large"),
        (gzipped(TAR, b"something"), "archive.broken"),
        (io.BytesIO(gzipped(TAR).getvalue() + b"garbage"), "archive.broken"),
        (io.BytesIO(gzipped(TAR).getvalue()[:-8] + bytes(8)), "archive.broken"),
        (gzipped(TAR[:700]), "archive.broken"),
        (gzipped(TAR[:1024] + b"x" * 512 + TAR[1024:]), "archive.broken"),
        (gzipped(TAR[:1024] + b"x" * 100), "archive.broken"),
        (in_zip(16, "<L", 1), "archive.broken"),
        (in_zip(24, "<L", 5), "archive.broken"),
        (in_zip(24, "<L", 0xFFFFFFFF), "archive.file_too_large"),
        (in_zip(42, "<L", 0x7FFFFFFF), "archive.broken"),
        (in_zip(8, "<H", 1), "archive.not_a_file"),
        (in_zip(12, "<L", 0x7FFFFFFF, mark=b"PK\x05\x06"), "archive.broken"),
        (in_zip(12, "<L", 3, mark=b"PK\x05\x06"), "archive.broken"),
        (with_method(zipfile.ZIP_LZMA), "archive.not_a_file"),
        (with_method(zipfile.ZIP_BZIP2), "archive.not_a_file"),
        (with_zip64_end(), "archive.broken"),
        (with_zip64_end(b"c" * 0xFFFF), "archive.broken"),
        (with_sparse_map(100), "archive.not_a_file"),
        (with_map_in_front(100), "archive.not_a_file"),
        (for_all_entries({f"k{number}": "v" for number in range(1_000)}), "archive.broken"),
        (for_all_entries(*[{f"k{number}": "v"} for number in range(200)]), "archive.broken"),
        (sharing_one_file(10), "archive.broken"),
        (sharing_one_file(MAX_FILES + 1), "archive.too_many_files"),
    ],
)
def test_an_archive_that_lies_is_refused(archive: io.BytesIO, code: str) -> None:
    assert refusal(archive).code == code


def test_a_name_that_is_no_text_is_refused() -> None:
    def change(raw: bytearray) -> None:
        raw[0:1] = b"\xff"

    assert refusal(with_header(change)).code == "path.unsafe"


def test_names_that_differ_by_case_are_two_files() -> None:
    archive = zipped(("Makefile", b"all:"), ("makefile", b"test:"))

    check_archive(archive, loc=LOC)
    assert dict(read_archive(archive, loc=LOC)) == {"Makefile": b"all:", "makefile": b"test:"}


def test_an_archive_within_an_archive_is_a_file_like_any_other() -> None:
    inner = zipped(("bomb", bytes(10_000_000))).getvalue()

    archive = zipped(("inner.zip", inner))

    check_archive(archive, loc=LOC)
    assert dict(read_archive(archive, loc=LOC)) == {"inner.zip": inner}


def test_a_gzip_of_several_members_is_read_to_its_end() -> None:
    whole = gzip.decompress(tar_gz(("a", bytes(range(256)) * 100)).getvalue())
    blocks = [whole[at : at + 1_000] for at in range(0, len(whole), 1_000)]
    archive = io.BytesIO(gzipped(*blocks).getvalue() + bytes(600))

    assert dict(read_archive(archive, loc=LOC)) == {"a": bytes(range(256)) * 100}


@pytest.mark.extended
@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda: sharing_one_file(1_000_000), "archive.too_many_files"),
        (lambda: with_directory_of_zip64(200_000), "archive.broken"),
        (lambda: with_sparse_map(100_000), "archive.not_a_file"),
        (lambda: with_map_in_front(1_000_000), "archive.not_a_file"),
    ],
)
def test_what_a_long_directory_or_map_lists_is_not_kept(
    build: Callable[[], io.BytesIO], code: str
) -> None:
    archive = build()
    tracemalloc.start()

    error = refusal(archive)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert error.code == code
    assert peak < 70_000_000


def test_the_header_that_git_writes_for_all_entries_is_taken() -> None:
    archive = for_all_entries({"comment": "3" * 40}, files=3)

    check_archive(archive, loc=LOC)

    assert [path for path, _ in read_archive(archive, loc=LOC)] == ["f0", "f1", "f2"]


@pytest.mark.parametrize("pack", [tar_gz, zipped])
def test_a_truncated_archive_is_refused_wherever_it_ends(pack: Callable[..., io.BytesIO]) -> None:
    whole = pack(("a", b"content"), ("b", bytes(range(256)))).getvalue()

    taken = [length for length in range(len(whole)) if not is_refused(whole[:length])]

    assert taken == []


@long_search(400)
@given(
    st.sampled_from([tar_gz, zipped]),
    st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 255)), min_size=1, max_size=8),
    st.booleans(),
)
def test_a_damaged_archive_is_refused_or_read_and_nothing_else(
    pack: Callable[..., io.BytesIO], changes: list[tuple[int, int]], is_within: bool
) -> None:
    raw = pack(("a/b.txt", b"content" * 50), ("c", b"")).getvalue()
    content = bytearray(gzip.decompress(raw) if is_within and pack is tar_gz else raw)
    for at, value in changes:
        content[at % len(content)] = value
    damaged = gzip.compress(bytes(content)) if is_within and pack is tar_gz else bytes(content)

    if not is_refused(damaged):
        assert all(len(name) < 200 for name, _ in read_archive(io.BytesIO(damaged), loc=LOC))


def is_refused(raw: bytes) -> bool:
    try:
        check_archive(io.BytesIO(raw), loc=LOC)
    except InputError:
        return True
    return False
