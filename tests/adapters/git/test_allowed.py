from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from loomverify.errors import InputError
from tests.adapters.git.repositories import Repo, bare
from tests.adapters.git.serving import served
from verification.actions.repositories import terms
from verification.actions.targets import Target
from verification.adapters.git import GitLost, Mirror, Remote


@pytest.fixture
def allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "allowed"
    told = SimpleNamespace(repository_folders=(folder,))
    monkeypatch.setattr(terms, "environment", lambda: told)
    return folder


def test_an_allowed_folder_does_not_lead_out_of_those_that_are(
    allowed: Path, tmp_path: Path
) -> None:
    inside, outside = bare(allowed / "work.git").folder, bare(tmp_path / "allowed.git").folder
    info = bare(allowed / "borrows.git").folder / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{outside}/objects\n")
    (allowed / "named").mkdir()
    (allowed / "named" / ".git").write_text(f"gitdir: {outside}\n")
    (allowed / "loop").symlink_to(allowed / "loop")

    terms.Terms(location=str(inside)).check()
    for location in (allowed, outside, info.parent.parent, allowed / "named", allowed / "loop",
                     allowed / "none", allowed / ".." / "allowed.git"):  # fmt: skip
        with pytest.raises(InputError) as refused:
            terms.Terms(location=str(location)).check()
        assert refused.value.code == "repository.location"


def test_a_repository_of_others_is_refused_in_the_words_for_none(
    allowed: Path, tmp_path: Path
) -> None:
    said = set()
    for place in (bare(tmp_path / "theirs.git").folder, tmp_path / "none"):
        with pytest.raises(InputError) as refused:
            terms.Terms(location=str(place)).check()
        said.add(str(refused.value))

    assert len(said) == 1


def test_git_goes_to_the_address_that_was_checked(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit({"a.txt": "1\n"})
    with served(repo.folder.parent) as (url, _):
        named = url.replace("127.0.0.1", "code.invalid") + "/theirs.git"
        remote = Remote(named, addresses=("::1", "127.0.0.1"))

        assert Mirror(tmp_path / "mirror", remote, seconds=30).tip("main") == base
        with pytest.raises(GitLost) as lost:
            Mirror(tmp_path / "mirror", Remote(named), seconds=30).tip("main")
    assert lost.value.reason == "unreachable"


@pytest.mark.parametrize(
    ("location", "pinned"),
    [
        ("https://me@Example.org/work.git", "example.org:443:192.0.2.1,[2001:db8::1]"),
        ("http://example.org:8080/work.git", "example.org:8080:192.0.2.1,[2001:db8::1]"),
        ("https://192.0.2.1/work.git", None),
        ("ssh://example.org/work.git", None),
    ],
)
def test_the_addresses_that_were_checked_are_kept_for_git(
    monkeypatch: pytest.MonkeyPatch, location: str, pinned: str | None
) -> None:
    target = Target("", ("192.0.2.1", "2001:db8::1"))
    monkeypatch.setattr(terms, "allowed_target", lambda _url: target)

    assert terms.remote_at(location).settings().get("http.curloptResolve") == pinned
