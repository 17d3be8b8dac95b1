from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable

import pytest

from loomverify.errors import InputError
from verification.runs.intake.archive import check_archive, clean_path, read_archive
from verification.runs.intake.schemas import MAX_FILES

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


@pytest.mark.parametrize("pack", [tar_gz, zipped])
@pytest.mark.parametrize(
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
    [(tarfile.SYMTYPE, "link"), (tarfile.LNKTYPE, "link"), (tarfile.CHRTYPE, "special file")],
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
@pytest.mark.parametrize("names", [("a", "a"), ("a", "./a"), ("a/b", "a"), ("a", "a/b/c")])
def test_the_same_place_twice_is_refused(
    pack: Callable[..., io.BytesIO], names: tuple[str, str]
) -> None:
    assert refusal(pack(*[(name, b"x") for name in names])).code == "path.duplicate"


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
