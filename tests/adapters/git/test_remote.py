from __future__ import annotations

import base64

import pytest

from tests.tables import check_rows
from verification.adapters.git import Identity, LocationRefused, Remote


@pytest.mark.parametrize(
    ("location", "protocol"),
    [
        ("/srv/work", "file"),
        ("/srv/my work/it.git", "file"),
        ("file:///srv/work.git", "file"),
        ("https://example.org/team/work.git", "https"),
        ("http://127.0.0.1:8000/work.git", "http"),
        ("https://[::1]:8000/work.git", "https"),
        ("ssh://git@example.org:2222/work.git", "ssh"),
        ("git@example.org:team/work.git", "ssh"),
        ("example.org:work.git", "ssh"),
    ],
)
def test_a_repository_is_at_a_path_or_a_url(location: str, protocol: str) -> None:
    assert Remote(location).protocol == protocol


@check_rows(
    "location",
    [
        "",
        "work",
        "./work",
        "../work",
        "--upload-pack=touch /tmp/x",
        "-oProxyCommand=x",
        "ext::sh -c id",
        "ext::id",
        "fd::17",
        "git://example.org/work.git",
        "ftp://example.org/work.git",
        "file://host/srv/work",
        "https://",
        "https:///work",
        "https://-host/work",
        "ssh://-oProxyCommand=id/work",
        "ssh://-l@host/work",
        "-host:work",
        "host:-work",
        "https://user:secret@example.org/work.git",
        "https://example.org/work.git?x=1",
        "https://example.org/work.git#x",
        "https://example.org./work",
        "https://example.org:port/work",
        "https://example.org/a b",
        "https://example.org/a\nb",
        "/srv/a\nb",
        "/srv/a\0b",
        "/" + "a" * 2_000,
    ],
)
def test_what_is_no_such_address_is_refused(location: str) -> None:
    with pytest.raises(LocationRefused):
        Remote(location)


@pytest.mark.parametrize("token", ["a b", "a\nb", "a\r\nX-Other: 1", "\0"])
def test_a_token_is_one_word(token: str) -> None:
    with pytest.raises(LocationRefused):
        Remote("https://example.org/work.git", token)


def test_a_token_does_not_travel_in_the_clear() -> None:
    with pytest.raises(LocationRefused):
        Remote("http://example.org/work.git", "secret")


def test_a_token_stands_in_no_text_about_the_remote() -> None:
    remote = Remote("https://me@example.org/work.git", "secret")

    (header,) = remote.settings().values()

    assert "secret" not in repr(remote)
    assert base64.b64decode(header.rpartition(" ")[2]) == b"me:secret"


def test_a_token_is_not_given_to_a_path() -> None:
    assert Remote("/srv/work", "secret").settings() == {}


@pytest.mark.parametrize("text", ["", " ", "...", "a\nb", "a <b>", "a\0", "x" * 501])
def test_an_identity_cannot_write_other_lines_of_a_commit(text: str) -> None:
    with pytest.raises(ValueError, match="cannot stand in a commit"):
        Identity(text, "a@example.org")
    with pytest.raises(ValueError, match="cannot stand in a commit"):
        Identity("A", text)
