from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.git.repositories import Repo, bare, committed
from tests.adapters.git.sshing import Sshd, fingerprint_of, new_key, public_of, ssh_served
from tests.stack import wait_for
from verification.adapters.git import GitLost, Mirror, Moved, RefUpdate, Remote

pytestmark = pytest.mark.sshd

MAIN = "refs/heads/main"
PATCH = b"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+2\n"
ODD_NAMES = (
    "plain", "a key", "ke'y", 'a "key"', "100%h%%", "${HOME}", "$HOME", "~", "-oProxyCommand=x",
    "#key", "back\\slash", "a\nkey", "schl\u00fcssel", "a;b|c&d", "`id`", "*",
)  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ssh")


@pytest.fixture(scope="module")
def repos(place: Path) -> dict[str, Repo]:
    made = {name: bare(place / f"{name}.git") for name in ("ours", "theirs")}
    for repo in made.values():
        repo.commit({"a.txt": "1\n"})
    return made


@pytest.fixture(scope="module")
def keys(place: Path) -> dict[str, Path]:
    names = ("ours", "theirs", "stranger", *ODD_NAMES)
    return {name: new_key(place / "keys" / name) for name in names}


@pytest.fixture(scope="module")
def server(place: Path, repos: dict[str, Repo], keys: dict[str, Path]) -> Iterator[Sshd]:
    opens = {
        key: repos["theirs" if name == "theirs" else "ours"].folder
        for name, key in keys.items()
        if name != "stranger"
    }
    with ssh_served(place / "sshd", opens) as served:
        yield served


def mirror(server: Sshd, repo: Repo, key: Path | None, folder: Path, **more: object) -> Mirror:
    told = {"known_hosts": server.known_hosts, **more}
    host = str(told.pop("host", "127.0.0.1"))
    remote = Remote(server.location(repo.folder, host), key=key, **told)  # type: ignore[arg-type]
    return Mirror(folder, remote, seconds=60)


@pytest.mark.extended
@pytest.mark.parametrize(("mine", "others"), [("ours", "theirs"), ("theirs", "ours")])
def test_each_key_reads_and_writes_its_own_repository_and_is_refused_at_the_other(
    server: Sshd, repos: dict[str, Repo], keys: dict[str, Path], tmp_path: Path, mine: str,
    others: str,
) -> None:  # fmt: skip
    before, untouched = repos[mine].commit({"a.txt": "1\n"}), repos[others].refs()
    own = mirror(server, repos[mine], keys[mine], tmp_path / "own")
    other = mirror(server, repos[others], keys[mine], tmp_path / "other")

    made = committed(own, own.resolve("main"), PATCH)
    own.push([RefUpdate(MAIN, before, made)])

    assert repos[mine].refs()[MAIN] == own.tip("main") == made
    with pytest.raises(Moved):
        own.push([RefUpdate(MAIN, before, committed(own, before, PATCH.replace(b"+2", b"+3")))])
    for asked in (other.tip, other.resolve):
        with pytest.raises(GitLost) as refused:
            asked("main")
        assert refused.value.reason == "unreachable"
        assert "opens another repository" in refused.value.detail
    assert repos[others].refs() == untouched


@pytest.mark.extended
@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_keys_file_may_have_any_name(
    server: Sshd, repos: dict[str, Repo], keys: dict[str, Path], tmp_path: Path, name: str
) -> None:
    found = mirror(server, repos["ours"], keys[name], tmp_path / "mirror").tip("main")

    assert found == repos["ours"].refs()[MAIN]
    assert server.accepted()[-1] == fingerprint_of(keys[name])


@pytest.fixture
def agent(
    keys: dict[str, Path], short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """An agent of the worker's user that holds the key of the others."""
    place = short_folder / "agent"
    monkeypatch.setenv("SSH_AUTH_SOCK", str(place))
    with subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(place)], stdout=subprocess.DEVNULL
    ) as process:
        wait_for(place.is_socket, "the socket of ssh-agent")
        subprocess.run(["ssh-add", "-q", str(keys["theirs"])], check=True)
        yield place
        process.terminate()


def test_no_other_key_of_the_workers_is_offered_beside_it(
    server: Sshd, repos: dict[str, Repo], keys: dict[str, Path], tmp_path: Path, agent: Path
) -> None:
    by_agent = mirror(server, repos["theirs"], None, tmp_path / "agent-mirror").tip("main")
    assert by_agent == repos["theirs"].refs()[MAIN]
    signed_in = server.accepted()

    with pytest.raises(GitLost) as refused:
        mirror(server, repos["theirs"], keys["stranger"], tmp_path / "mirror").tip("main")

    assert refused.value.reason == "denied"
    assert server.accepted() == signed_in


def test_neither_the_key_nor_where_it_lies_is_told(
    server: Sshd, repos: dict[str, Repo], place: Path, tmp_path: Path
) -> None:
    broken = place / "keys" / "broken"
    broken.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n")
    broken.chmod(0o600)

    with pytest.raises(GitLost) as refused:
        mirror(server, repos["ours"], broken, tmp_path / "mirror").tip("main")

    assert refused.value.reason == "denied"
    assert "[key]" in refused.value.detail
    assert str(broken) not in str(refused.value)
    assert "c2VjcmV0" not in str(refused.value)


def test_a_server_that_is_not_known_is_not_spoken_to(
    server: Sshd, repos: dict[str, Repo], keys: dict[str, Path], tmp_path: Path
) -> None:
    others = new_key(tmp_path / "host")
    for number, known in enumerate(["", f"[127.0.0.1]:{server.port} {public_of(others)}\n"]):
        (tmp_path / "known").write_text(known)

        with pytest.raises(GitLost) as refused:
            mirror(
                server, repos["ours"], keys["ours"], tmp_path / str(number),
                known_hosts=tmp_path / "known",
            ).tip("main")  # fmt: skip

        assert refused.value.reason == "denied"
        assert (tmp_path / "known").read_text() == known


def test_a_name_leads_to_the_address_that_was_checked_and_its_server_is_known_by_the_name(
    server: Sshd, repos: dict[str, Repo], keys: dict[str, Path], tmp_path: Path
) -> None:
    host_key = public_of(server.known_hosts.with_name("host"))
    (tmp_path / "known").write_text(f"[code.invalid]:{server.port} {host_key}\n")
    named = {"host": "code.invalid", "known_hosts": tmp_path / "known"}
    pinned, loose = (
        mirror(server, repos["ours"], keys["ours"], tmp_path / str(len(where)), **named, **where)
        for where in ({"addresses": ("127.0.0.1",)}, {})
    )

    assert pinned.tip("main") == repos["ours"].refs()[MAIN]
    with pytest.raises(GitLost) as lost:
        loose.tip("main")
    assert lost.value.reason == "unreachable"


@pytest.mark.extended
def test_a_server_that_says_nothing_is_lost_in_time(
    repos: dict[str, Repo], keys: dict[str, Path], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        (tmp_path / "known").write_text("")
        remote = Remote(
            f"ssh://{os.environ.get('USER', 'root')}@127.0.0.1:{port}/x.git",
            key=keys["ours"], known_hosts=tmp_path / "known",
        )  # fmt: skip

        with pytest.raises(GitLost) as lost:
            Mirror(tmp_path / "mirror", remote, seconds=1).tip("main")

    assert lost.value.reason == "timed_out"
