from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.adapters.git.repositories import Repo, bare, committed
from verification.adapters.git import (
    GitLost,
    LocationRefused,
    Mirror,
    RefUpdate,
    Remote,
    folders,
    folders_of,
)

MAIN = "refs/heads/main"
PATCH = b"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+2\n"


def plain(folder: Path) -> Repo:
    folder.mkdir(parents=True)
    Repo(folder).git("init", "-q", "--template=", "-b", "main")
    return Repo(folder)


def test_a_repository_is_where_git_would_find_it(tmp_path: Path) -> None:
    store, work = bare(tmp_path / "store.git").folder, plain(tmp_path / "work").folder
    (tmp_path / "to-work").symlink_to(work)
    (tmp_path / "a%20b").symlink_to(store)
    (tmp_path / "a b").symlink_to(work)

    assert folders_of(str(store))[0] == store
    for location in (work, work / ".git", tmp_path / "to-work"):
        assert folders_of(str(location))[0] == work / ".git"
    assert folders_of(str(tmp_path / "a%20b"))[0] == store
    assert folders_of(f"file://{tmp_path}/a%20b")[0] == work / ".git"


def led_out(inside: Repo, outside: Path, how: str) -> str:
    """Have the repository lead to another's folder; return what is named."""
    if how == "gitfile":
        (inside.folder / "named").mkdir()
        (inside.folder / "named" / ".git").write_text(f"gitdir: {outside}\n")
        return str(inside.folder / "named")
    if how == "gitfile itself":
        (inside.folder / "file").write_text(f"gitdir: {outside}\n")
        return str(inside.folder / "file")
    if how == "commondir":
        (inside.folder / "commondir").write_text(f"{outside}\n")
    elif how in ("alternate", "alternate of an alternate"):
        info = inside.folder / "objects" / "info"
        if how != "alternate":
            between = inside.folder / "between"
            (between / "info").mkdir(parents=True)
            info.mkdir(exist_ok=True)
            (info / "alternates").write_text("# near\n../between\n")
            info = between / "info"
        info.mkdir(exist_ok=True)
        (info / "alternates").write_text(f"{outside}/objects\n")
    else:
        place = inside.folder / how
        if place.is_dir():
            place.rename(inside.folder / "moved")
        place.unlink(missing_ok=True)
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(outside / how)
    return str(inside.folder)


@pytest.mark.parametrize(
    "how",
    ["gitfile", "gitfile itself", "commondir", "alternate", "alternate of an alternate",
     "objects", "objects/pack", "objects/ab", "refs", "HEAD", "config", "packed-refs"],
)  # fmt: skip
def test_whatever_a_repository_leads_to_is_named(repo: Repo, tmp_path: Path, how: str) -> None:
    outside = bare(tmp_path / "outside.git").folder

    found = folders_of(led_out(repo, outside, how))

    assert any(one.is_relative_to(outside) for one in found)


def test_nothing_is_appended_to_the_name_of_a_folder(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.txt": "1\n"})
    location = str(repo.folder).removesuffix(".git")
    for there in (False, True):
        if there:
            Path(location).mkdir()
        with pytest.raises(LocationRefused):
            folders_of(location)
        with pytest.raises(GitLost) as lost:
            Mirror(tmp_path / "mirror", Remote(location), seconds=30).tip("main")
        assert lost.value.reason == "unreachable"


def test_git_is_given_the_folder_that_was_checked(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit({"a.txt": "1\n"})
    other = bare(tmp_path / "other.git")
    other.commit({"b.txt": "other\n"})
    named = tmp_path / "named"
    named.mkdir()
    (named / ".git").write_text(f"gitdir: {repo.folder}\n")
    remote = Remote(str(named), folder=folders_of(str(named))[0])
    (named / ".git").write_text(f"gitdir: {other.folder}\n")
    mirror = Mirror(tmp_path / "mirror", remote, seconds=30)

    commit = committed(mirror, base, PATCH)
    mirror.push([RefUpdate(MAIN, base, commit)])

    assert repo.refs() == {MAIN: commit}
    assert commit not in other.refs().values()


def test_a_folder_that_holds_none_is_refused_without_being_waited_for(
    repo: Repo, tmp_path: Path
) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / ".git")
    (tmp_path / "long").mkdir()
    (tmp_path / "long" / ".git").write_text("gitdir: " + "x" * folders.MAX_POINTER_BYTES)
    for name in ("none", "loop", "pipe", "long", "x" * 300, "nul\0"):
        with pytest.raises(LocationRefused):
            folders_of(str(tmp_path / name))
    (repo.folder / ".git").mkdir()
    with pytest.raises(LocationRefused):
        folders_of(str(repo.folder))


@pytest.mark.parametrize("count", [1, folders.MAX_ALTERNATES + 1])
def test_a_repository_borrows_from_so_many_others_and_no_more(repo: Repo, count: int) -> None:
    info = repo.folder / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text("".join(f"/other/{number}\n" for number in range(count)))
    if count == 1:
        assert Path("/other/0") in folders_of(str(repo.folder))
    else:
        with pytest.raises(LocationRefused):
            folders_of(str(repo.folder))
