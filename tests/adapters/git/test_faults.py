from __future__ import annotations

import base64
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.adapters.git.repositories import Repo, committed, mirror_of
from tests.adapters.git.serving import closed_port, served
from tests.stack import wait_for
from verification.adapters.git import GitLost, Mirror, Moved, RefUpdate, Remote, calling, making

MAIN = "refs/heads/main"
PATCH = b"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+2\n"
ROOT = Path(__file__).resolve().parents[3]


def test_a_change_lands_over_http_with_a_token_that_no_one_sees(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit({"a.txt": "1\n"})
    expected = "Basic " + base64.b64encode(b"x-access-token:s3cret").decode()
    with served(repo.folder.parent, authorization=expected) as (url, server):
        mirror = Mirror(tmp_path / "mirror", Remote(f"{url}/theirs.git", "s3cret"), seconds=30)
        commit = committed(mirror, base, PATCH)

        mirror.push([RefUpdate(MAIN, base, commit)])

        assert mirror.tip("main") == commit
        with pytest.raises(Moved):
            mirror.push([RefUpdate(MAIN, base, base)])
        wrong = Mirror(tmp_path / "wrong", Remote(f"{url}/theirs.git", "wr0ng"), seconds=30)
        with pytest.raises(GitLost) as lost:
            wrong.resolve("main")
    assert lost.value.reason == "denied"
    assert "wr0ng" not in str(lost.value)
    assert set(server.heard) - {expected} != set()
    kept = [path for path in (tmp_path / "mirror").rglob("*") if path.is_file()]
    assert kept
    assert not any(
        secret in path.read_bytes() for path in kept for secret in (b"s3cret", expected.encode())
    )


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("mode", "reasons"),
    [
        ("garbage", {"failed", "unreachable"}),
        ("half", {"failed", "unreachable"}),
        ("html", {"unreachable"}),
        ("fails", {"unreachable"}),
        ("moved", {"redirected", "unreachable"}),
        ("hangs", {"timed_out"}),
        ("endless", {"too_large", "failed"}),
    ],
)
def test_a_server_s_faults_are_no_one_s_but_its_own(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, reasons: set[str]
) -> None:
    base = repo.commit({"a.txt": "1\n"})
    monkeypatch.setattr(calling, "MAX_FILE_BYTES", 4_000_000)
    seconds = 1 if mode == "hangs" else 30
    with served(repo.folder.parent, mode=mode) as (url, server):
        mirror = Mirror(tmp_path / "mirror", Remote(f"{url}/theirs.git"), seconds=seconds)
        with pytest.raises(GitLost) as lost:
            mirror.resolve("main")
        assert lost.value.reason in reasons, lost.value
        kept = sum(path.stat().st_size for path in mirror._git.home.rglob("*") if path.is_file())
        assert kept < 5_000_000
        with (
            pytest.raises(GitLost)
            if mode in ("html", "moved", "fails", "half")
            else contextlib.nullcontext()
        ):
            assert mode == "hangs" or mirror.tip("main") in (base, None)
        server.mode = "fine"
        patient = Mirror(tmp_path / "mirror", Remote(f"{url}/theirs.git"), seconds=30)
        assert patient.resolve("main") == base


def test_what_is_not_there_is_unreachable(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for location in (
        f"http://127.0.0.1:{closed_port()}/x",
        str(tmp_path / "none"),
        str(tmp_path / "plain"),
    ):
        with pytest.raises(GitLost) as lost:
            Mirror(tmp_path / "mirror", Remote(location), seconds=30).resolve("main")
        assert lost.value.reason == "unreachable"


def test_other_object_names_than_sha_1_are_told_as_not_supported(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "theirs.git")
    repo.folder.mkdir()
    repo.git("init", "-q", "--bare", "--object-format=sha256", "-b", "main")
    repo.git("update-ref", MAIN, repo.commit_tree(repo.git("mktree")))

    with pytest.raises(GitLost) as lost:
        mirror_of(repo, tmp_path / "mirror").resolve("main")

    assert lost.value.reason == "object_format"


def test_a_machine_without_git_says_so(
    repo: Repo, mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(GitLost) as lost:
        mirror.resolve("main")

    assert lost.value.reason == "git_missing"


def test_the_worker_s_own_variables_reach_no_git(
    repo: Repo, mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = repo.commit({"a.txt": "1\n"})
    elsewhere = tmp_path / "elsewhere"
    settings = tmp_path / "settings"
    settings.write_text(f'[core]\n hooksPath = {elsewhere}\n[url "/nowhere"]\n insteadOf = /\n')
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_TRACE", "GIT_SSH", "GIT_EXEC_PATH",
                 "GIT_OBJECT_DIRECTORY", "GIT_TEMPLATE_DIR", "GIT_PROXY_COMMAND"):  # fmt: skip
        monkeypatch.setenv(name, str(elsewhere))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.bare=false'")

    assert mirror.resolve("main") == base
    assert not elsewhere.exists()


def test_a_repository_of_another_user_is_read(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a.txt": "1\n"})
    if os.geteuid() == 0:
        for path in (repo.folder, *repo.folder.rglob("*")):
            os.chown(path, 12_345, 12_345)

    mirror.push([RefUpdate(MAIN, base, committed(mirror, base, PATCH))])

    assert mirror.tip("main") != base


def test_a_damaged_mirror_is_replaced_after_at_most_one_failure(repo: Repo, mirror: Mirror) -> None:
    base = repo.commit({"a.txt": "1\n"})
    mirror.resolve("main")
    for spoil in (
        lambda folder: (folder / "config").write_text("[core\n"),
        lambda folder: [
            path.write_bytes(b"") for path in (folder / "objects" / "pack").glob("*.pack")
        ],
        lambda folder: shutil.rmtree(folder / "objects"),
        lambda folder: (folder / "HEAD").unlink(),
    ):
        spoil(mirror._git.repository)
        try:
            tree = mirror.with_patch(base, PATCH)
        except GitLost as lost:
            assert lost.reason in ("mirror_broken", "failed", "missing"), lost  # noqa: PT017
            tree = mirror.with_patch(base, PATCH)
        assert [one.path for one in mirror.entries(tree)] == ["a.txt"]


def test_a_mirror_that_has_grown_too_large_begins_anew(
    repo: Repo, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = repo.commit({"a.txt": "1\n"})
    with monkeypatch.context() as bounds:
        bounds.setattr(making, "MAX_MIRROR_BYTES", 0)
        with pytest.raises(GitLost) as lost:
            mirror.resolve("main")

    assert lost.value.reason == "too_large"
    assert mirror.resolve("main") == base


def test_many_begin_with_one_mirror_at_once(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit({"a.txt": "1\n"})
    trees: list[str] = []

    def work() -> None:
        trees.append(mirror_of(repo, tmp_path / "mirror").with_patch(base, PATCH))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(trees) == 6
    assert len(set(trees)) == 1


def test_who_waits_for_others_too_long_is_told(repo: Repo, mirror: Mirror) -> None:
    repo.commit({"a.txt": "1\n"})
    mirror.tip("main")
    with making.locked(mirror._git):
        hurried = Mirror(mirror._git.home, mirror._git.remote, seconds=0.05)
        with pytest.raises(GitLost):
            hurried.forget()


def test_what_cannot_be_pruned_in_time_is_made_anew(repo: Repo, mirror: Mirror) -> None:
    repo.commit({"a.txt": "1\n"})
    mirror.resolve("main")
    tree = mirror.with_patch(mirror.resolve("main"), PATCH)

    with pytest.raises(GitLost) as lost:
        Mirror(mirror._git.home, mirror._git.remote, seconds=0.000_1).prune()

    assert lost.value.reason == "timed_out"
    assert not mirror.has(tree)
    assert mirror.resolve("main")


KILLED = """
import sys
from pathlib import Path
from tests.adapters.git.repositories import committed, AT
from verification.adapters.git import Mirror, Remote, RefUpdate
folder, url, base, patch = sys.argv[1:]
mirror = Mirror(Path(folder), Remote(url))
mirror.push([RefUpdate("refs/heads/main", base, committed(mirror, base, patch.encode()))])
"""


@pytest.mark.extended
@pytest.mark.parametrize("when", ["fetching", "pushing"])
def test_a_worker_killed_in_the_middle_leaves_nothing_in_the_way(
    repo: Repo, tmp_path: Path, when: str
) -> None:
    base = repo.commit({"a.txt": "1\n"})
    with served(repo.folder.parent, mode="hangs" if when == "fetching" else "fine") as (
        url,
        server,
    ):
        remote = Remote(f"{url}/theirs.git")
        mirror = Mirror(tmp_path / "mirror", remote, seconds=30)
        if when == "pushing":
            mirror.resolve("main")
            server.mode = "hangs"
        heard = len(server.heard)
        words = [str(tmp_path / "mirror"), remote.location, base, PATCH.decode()]
        worker = subprocess.Popen([sys.executable, "-c", KILLED, *words], cwd=ROOT)
        wait_for(lambda: len(server.heard) > heard, "a request from the worker")
        assert worker.poll() is None
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        (mirror._git.repository / "config.lock").touch()
        (mirror._git.repository / "shallow.lock").touch()
        (mirror._git.repository / "packed-refs.lock").touch()

        server.mode = "fine"
        server.stop.set()

        commit = committed(mirror, base, PATCH)
        mirror.push([RefUpdate(MAIN, base, commit)])
        assert mirror.resolve("main") == mirror.tip("main") == commit
    assert repo.refs() == {MAIN: commit}
