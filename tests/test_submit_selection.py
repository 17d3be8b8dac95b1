"""What `loomverify submit` sends of a folder, and what it leaves out."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loomverify.submit_command import main
from loomverify.submitting.errors import UsageError
from loomverify.submitting.packing import pack
from loomverify.submitting.secret_files import find_secret
from loomverify.submitting.selecting import Choice, Reason, Selection, select_base, select_files
from tests.scripted_server import ScriptedServer, scripted_server
from tests.tables import check_rows

KEY = "lv_" + "k" * 32
ACCEPTED = {"id": "3f0c", "url": "u", "state": "finished", "verdict": "accept", "outcome": "pass"}
PEM = b"-----BEGIN PRIVATE KEY-----\n" + b"A" * 64 + b"\n-----END PRIVATE KEY-----\n"


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("BASE_URL", "PORT", "LOOMVERIFY_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOOMVERIFY_DATA", str(tmp_path / "var"))
    monkeypatch.setattr("loomverify.submitting.client.PAUSE_SECONDS", 0.001)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def repo(folder: Path) -> Path:
    """A repository with a tracked and an untracked file, and ignored ones."""
    git(folder, "init", "-q")
    write(folder, ".gitignore", "dist/\nnode_modules/\n.venv/\n*.log\n.env\n")
    write(folder, "src/app.py", "app")
    git(folder, "add", "-A")
    commit(folder)
    for path in ("new.md", "dist/app.js", "node_modules/x/index.js", ".venv/lib/y.py", "run.log"):
        write(folder, path, path)
    write(folder, ".env", "API_KEY=sk-1234567890\n")
    return folder


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        server.answers = [(200, ACCEPTED)]
        yield server


def git(folder: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always")
    ended = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return ended.stdout


def commit(folder: Path) -> None:
    git(folder, "commit", "-qm", "x")


def write(folder: Path, path: str, content: str | bytes = "x") -> None:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode() if isinstance(content, str) else content)


def sent(folder: Path, *expected: str, all_files: bool = False) -> list[str]:
    return select_files(folder, Choice(all_files=all_files, expected_outputs=expected)).files


def left_out(selection: Selection, reason: Reason) -> list[str]:
    return [entry.path for entry in selection.left_out if entry.reason is reason]


def submit(server: ScriptedServer, folder: Path, *options: str) -> int:
    return main([str(folder), "--url", server.url, "--key", KEY, *options])


def parts(server: ScriptedServer) -> dict[str, list[str]]:
    names = {}
    for name in ("workspace", "base"):
        if packed := server.requests[-1].parts.get(name):
            with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
                names[name] = tar.getnames()
    return names


REPO_FILES = [".gitignore", "new.md", "src/app.py"]


def test_of_a_repository_what_git_ignores_stays_here(repo: Path) -> None:
    selection = select_files(repo, Choice())

    assert selection.files == REPO_FILES
    assert left_out(selection, Reason.IGNORED) == [
        ".env", ".venv/", "dist/", "node_modules/", "run.log",
    ]  # fmt: skip
    assert sent(repo / "src") == ["app.py"]


def test_all_files_of_a_repository_are_sent_when_asked_for(repo: Path) -> None:
    assert sent(repo, all_files=True) == sorted(
        [*REPO_FILES, "dist/app.js", "node_modules/x/index.js", ".venv/lib/y.py", "run.log"]
    )


def test_outside_a_repository_everything_is_sent(folder: Path) -> None:
    for path in (".gitignore", "node_modules/x.js", "a/.git", "b/.loomverify/x", "deep/er/f"):
        write(folder, path, "node_modules/\n")

    assert sent(folder) == [".gitignore", "deep/er/f", "node_modules/x.js"]


def test_a_folder_that_its_repository_ignores_as_a_whole_is_sent_as_it_is(repo: Path) -> None:
    assert sent(repo / "dist") == ["app.js"]


def test_a_deleted_file_and_one_behind_a_link_are_not_looked_for(repo: Path) -> None:
    write(repo, "gone.py")
    write(repo, "moved/passwd")
    git(repo, "add", "-A")
    commit(repo)
    (repo / "gone.py").unlink()
    (repo / "moved" / "passwd").unlink()
    (repo / "moved").rmdir()
    (repo / "moved").symlink_to("/etc")

    selection = select_files(repo, Choice())

    assert selection.files == REPO_FILES
    assert left_out(selection, Reason.LINK) == ["moved"]


@pytest.mark.parametrize(
    "name", ["a\nb.md", "ü.md", "U\u0308.md", " x ", "[x]*.md", ":(top)x", "A.MD"]
)
def test_odd_names_are_listed_as_they_are(repo: Path, name: str) -> None:
    write(repo, name)
    write(repo, ".loomverifyignore", "nothing\n")

    assert name in sent(repo)


def test_repositories_within_are_listed_by_themselves(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    write(other, "lib.py")
    write(other, ".gitignore", "build/\n")
    git(other, "add", "-A")
    commit(other)
    git(repo, "submodule", "--quiet", "add", str(other), "sub")
    git(repo, "submodule", "--quiet", "add", str(other), "unused")
    git(repo, "submodule", "--quiet", "deinit", "-f", "unused")
    write(repo, "sub/build/x.o")
    git(repo, "clone", "-q", str(other), "nested")
    write(repo, "nested/new.py")

    assert sent(repo) == sorted([
        *REPO_FILES, ".gitmodules", "sub/.gitignore", "sub/lib.py",
        "nested/.gitignore", "nested/lib.py", "nested/new.py",
    ])  # fmt: skip


def test_a_worktree_is_a_repository(repo: Path, tmp_path: Path) -> None:
    place = tmp_path / "tree"
    git(repo, "worktree", "add", "-q", "--detach", str(place))
    write(place, "dist/x.js")

    assert sent(place) == [".gitignore", "src/app.py"]


def test_in_a_git_hook_the_folder_is_asked_and_not_the_hooks_repository(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))

    assert sent(repo) == REPO_FILES


def test_no_program_that_the_repository_names_is_started(repo: Path, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    git(repo, "config", "core.fsmonitor", f"touch {mark}; false")

    assert sent(repo) == REPO_FILES
    assert not mark.exists()


def of_another_user(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")


def without_git(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


def with_damaged_index(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / ".git" / "index").write_bytes(b"damaged")


def with_lost_worktree(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / ".git").rename(repo / "elsewhere")
    (repo / ".git").write_text("gitdir: /nowhere\n")


def with_empty_git(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / ".git").rename(repo / "elsewhere")
    (repo / ".git").mkdir()
    (repo / ".git" / "HEAD").write_text("damaged")


def with_work_tree_elsewhere(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repo, "config", "core.worktree", str(repo.parent / "elsewhere"))


def with_endless_ignore(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loomverify.submitting.repository.GIT_SECONDS", 0.2)
    (repo / ".git" / "info" / "exclude").unlink(missing_ok=True)
    os.mkfifo(repo / ".git" / "info" / "exclude")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (of_another_user, "belongs to another user"),
        (of_another_user, "git config --global --add safe.directory"),
        (without_git, "git is not installed"),
        (with_damaged_index, "index file smaller than expected"),
        (with_lost_worktree, "not a git repository: /nowhere"),
        (with_empty_git, "is no repository that git can read"),
        (with_work_tree_elsewhere, "check its core.worktree"),
        (with_endless_ignore, "at the latest after 0.2 seconds"),
    ],
)
def test_where_git_cannot_list_a_repository_nothing_is_sent_unless_all_of_it_is_asked_for(
    repo: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path, pytest.MonkeyPatch], None],
    words: str,
) -> None:
    damage(repo, monkeypatch)

    with pytest.raises(UsageError) as raised:
        select_files(repo, Choice())

    assert words in str(raised.value)
    assert "or send all files with --all-files" in str(raised.value)
    with pytest.raises(UsageError):
        select_files(repo / "src", Choice())
    assert "src/app.py" in sent(repo, all_files=True)


def test_an_empty_git_folder_above_is_no_repository(folder: Path) -> None:
    (folder / ".git").mkdir()
    write(folder, "work/a.md")

    assert sent(folder / "work") == ["a.md"]


@check_rows("is_repo", [True, False])
def test_a_file_of_patterns_leaves_out_more(tmp_path: Path, is_repo: bool) -> None:
    folder = tmp_path / str(is_repo)
    folder.mkdir()
    if is_repo:
        git(folder, "init", "-q")
    patterns = "data/\n/*.csv\n!keep.csv\n*.t?p\n# no comment\n\\#a\n"
    for path in ("data/a/b", "sub/data/c", "x.csv", "keep.csv", "sub/x.csv", "q.tmp", "#a", "m.md"):
        write(folder, path)
    write(folder, ".loomverifyignore", patterns)
    if is_repo:
        git(folder, "add", "-A")

    selection = select_files(folder, Choice(all_files=True))

    assert selection.files == [".loomverifyignore", "keep.csv", "m.md", "sub/x.csv"]
    assert sent(folder) == selection.files
    assert left_out(selection, Reason.IGNORED_HERE) == [
        "#a", "data/", "q.tmp", "sub/data/", "x.csv",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda place: place.symlink_to("/etc/hosts"), "cannot be read"),
        (os.mkfifo, "is not a regular file"),
        (lambda place: place.mkdir(), "cannot be read|not a regular file"),
        (lambda place: place.write_bytes(b"x\n" * 600_000), "more than 1,048,576 bytes"),
    ],
)
def test_patterns_that_cannot_be_read_stop_the_command(
    folder: Path, make: Callable[[Path], None], words: str
) -> None:
    make(folder / ".loomverifyignore")

    with pytest.raises(UsageError, match=words):
        sent(folder)


def test_patterns_need_a_git_to_read_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, ".loomverifyignore", "x\n")
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(UsageError, match="install it, or remove the file"):
        sent(folder)


@pytest.mark.parametrize("ignore", [".gitignore", ".loomverifyignore"])
@check_rows(
    ("declared", "added"),
    [
        ("dist/app.js", ["dist/app.js"]),
        ("./dist/", ["dist/app.js", "dist/maps/app.map"]),
        ("dist", ["dist/app.js", "dist/maps/app.map"]),
        ("dist/*.js", ["dist/app.js"]),
        ("dist/app.js — the program", ["dist/app.js"]),
        ("/home/me/work/dist/app.js", ["dist/app.js"]),
        ("run.log", ["run.log"]),
        ("*.log", ["run.log"]),
        ("**/*.map", ["dist/maps/app.map"]),
        ("**/*.py", []),
        ("src", []),
        ("none.txt", []),
        ("App.js", []),
    ],
)
def test_declared_outputs_are_sent_ignored_or_not(
    tmp_path: Path, ignore: str, declared: str, added: list[str]
) -> None:
    folder = tmp_path / f"{ignore}{abs(hash(declared))}"
    folder.mkdir()
    git(folder, "init", "-q")
    write(folder, ignore, "dist/\n.venv/\n*.log\n__pycache__/\n")
    for path in ("dist/app.js", "dist/maps/app.map", ".venv/lib/y.py", "run.log", "src/app.py",
                 "src/__pycache__/app.pyc"):  # fmt: skip
        write(folder, path)

    assert sent(folder, declared) == sorted([ignore, "src/app.py", *added])


PROCESS = {
    "id": "general",
    "phases": [
        {"id": "build", "deliverables": [{"path": "dist/app.js"}, {"path": ".env"}]},
        {"id": "other", "deliverables": [{"path": "run.log"}]},
    ],
}


@pytest.mark.parametrize(
    ("options", "added"),
    [
        (("--phase", "build"), [".env", "dist/app.js"]),
        (("--phase", "other"), ["run.log"]),
        ((), [".env", "dist/app.js", "run.log"]),
    ],
)
def test_what_the_process_declares_is_sent_too(
    repo: Path, server: ScriptedServer, options: tuple[str, ...], added: list[str]
) -> None:
    server.answers = [(503, {}), (200, PROCESS), (200, ACCEPTED)]

    assert submit(server, repo, "--include-secrets", *options) == 0

    assert [request.path for request in server.requests[:2]] == ["/api/v1/processes/general"] * 2
    assert parts(server) == {"workspace": sorted([*REPO_FILES, *added])}


@pytest.mark.parametrize(
    ("answer", "code"), [((404, {"title": "No such process"}), 0), ((500, {}), 2), ((403, {}), 3)]
)
def test_without_the_process_nothing_is_sent_unless_there_is_none(
    repo: Path, server: ScriptedServer, answer: tuple[int, Any], code: int
) -> None:
    server.answers = [answer, (200, ACCEPTED)]

    assert submit(server, repo) == code
    assert len(server.requests) == (1 if code else 2)


def test_the_process_is_not_asked_for_where_nothing_is_left_out(
    folder: Path, server: ScriptedServer
) -> None:
    write(folder, "plan.md")

    assert submit(server, folder) == 0
    assert [request.method for request in server.requests] == ["POST"]


def test_more_wildcards_than_can_be_tried_are_refused(repo: Path) -> None:
    with pytest.raises(UsageError, match="At most 1,000 wildcards"):
        sent(repo, *(f"{number}*" for number in range(2_001)))


def test_links_and_special_files_are_left_out(folder: Path) -> None:
    write(folder, "real.md")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "away").symlink_to("/etc")
    (folder / "broken").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")

    selection = select_files(folder, Choice(expected_outputs=["link", "away/passwd"]))

    assert selection.files == ["real.md"]
    assert left_out(selection, Reason.LINK) == ["away", "broken", "link"]
    assert left_out(selection, Reason.SPECIAL) == ["pipe"]


def test_a_file_that_becomes_a_link_meanwhile_is_not_followed(folder: Path) -> None:
    write(folder, "a.md")
    selection = select_files(folder, Choice())
    (folder / "a.md").unlink()
    (folder / "a.md").symlink_to("/etc/passwd")

    with pytest.raises(UsageError, match="cannot be read"):
        pack(selection)


SERVICE_ACCOUNT = {"type": "service_account", "private_key": PEM.decode()}


@check_rows(
    ("path", "content", "words"),
    [
        (".env", b"", "environment file"),
        ("app/.env.production", b"", "environment file"),
        ("id_ed25519", b"", "private key"),
        ("keys/deploy.p12", b"", "key store"),
        (".netrc", b"", "passwords"),
        ("home/.aws/credentials", b"", "credentials"),
        ("tls/server.key", b"# mine\n" + PEM, "private key"),
        ("notes.txt", b"\n" + PEM, "private key"),
        ("var/api-key", b"lv_" + b"k" * 32 + b"\n", "LoomVerify key"),
        ("k.pem", PEM.replace(b"PRIVATE", b"ENCRYPTED PRIVATE"), "private key"),
        ("k", b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: A,B\n\n"
         + b"A" * 64, "private key"),
        (".npmrc", b"//registry.npmjs.org/:_authToken=npm_12345678\n", "registry token"),
        (".pypirc", b"[pypi]\nusername = __token__\npassword = pypi-1234\n", "registry password"),
        ("pip.conf", b"index-url = https://me:secret@pypi.example.com/\n", "registry password"),
        ("gcp.json", json.dumps(SERVICE_ACCOUNT).encode(), "service account"),
        ("prod.env", b"DEBUG=1\nexport DB_PASSWORD='correct-horse'\n", "environment file"),
        ("credentials.json", b'{"client_secret": "GOCSPX-12345678"}', "credentials"),
        ("config/secrets.yml", b"password: hunter2hunter2\n", "credentials"),
        # What only looks alike is part of the work.
        (".env.example", b"API_KEY=12345678\n", ""),
        ("a/.env.local.sample", b"", ""),
        ("id_rsa.pub", b"ssh-rsa AAAA", ""),
        (".npmrc", b"save-exact=true\n//r/:_authToken=${NPM_TOKEN}\n", ""),
        ("server.crt", b"-----BEGIN CERTIFICATE-----\n" + b"A" * 64, ""),
        ("docs/keys.md", b"Begin with:\n-----BEGIN PRIVATE KEY-----\n...\n", ""),
        ("test_keys.py", b'KEY = """' + PEM + b'"""', ""),
        ("settings.env", b"DEBUG=1\nAPI_KEY=${API_KEY}\n", ""),
        ("package.json", b'{"type": "module"}', ""),
        ("secrets.yaml", b"{{- $password := randAlphaNum 10 }}\nx: {{ $password | quote }}\n", ""),
        ("secrets.py", b"token = 'x'", ""),
        ("secrets.yml", b"password: <%= ENV['PASSWORD'] %>\n", ""),
        ("environment.md", b"", ""),
    ],
)  # fmt: skip
def test_a_secret_is_told_by_its_name_or_by_what_is_certain(
    path: str, content: bytes, words: str
) -> None:
    assert find_secret(path, content) == words


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("x.pem", b"-----BEGIN PRIVATE KEY-----" * 9_000),
        ("x.pem", b"-----BEGIN PRIVATE KEY-----" + b"\n" * 260_000),
        (".npmrc", b"_auth " * 40_000),
        ("credentials", b"token" * 50_000),
        ("credentials", b"token \t" + b" " * 250_000),
        ("x.env", b"\n" * 260_000 + b"token"),
        ("x.env", b"token" * 50_000),
        ("x.json", b'"type" : "service_account"' * 10_000),
        ("pip.conf", b"://a:b" * 40_000),
    ],
)
def test_no_content_makes_the_search_for_secrets_slow(path: str, content: bytes) -> None:
    script = (
        "import sys; from loomverify.submitting.secret_files import find_secret;"
        "print(find_secret(sys.argv[1], sys.stdin.buffer.read()))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", script, path], input=content, capture_output=True, timeout=10
    )

    assert ended.returncode == 0


@check_rows(
    ("expected", "asks"),
    [
        ([], False),
        (["config/"], False),
        (["config/*"], False),
        (["**"], False),
        (["config/.env"], True),
        (["config/.ENV*"], True),
        (["**/.env"], True),
    ],
)
def test_a_secret_that_is_declared_by_its_name_waits_for_an_answer(
    tmp_path: Path, expected: list[str], asks: bool
) -> None:
    folder = tmp_path / "-".join(["f", *expected]).replace("/", "_").replace("*", "+")
    write(folder, "config/.env")
    write(folder, "config/app.toml")

    selection = select_files(folder, Choice(expected_outputs=expected))

    assert selection.files == ["config/app.toml"]
    assert [entry.path for entry in selection.declared_secrets] == ["config/.env"] * asks
    assert left_out(selection, Reason.SECRET) == ["config/.env"] * (not asks)


def test_the_base_leaves_out_what_is_left_out_of_the_work(
    repo: Path, tmp_path: Path, server: ScriptedServer
) -> None:
    base = tmp_path / "before"
    for path in ("src/app.py", "src/old.py", "dist/app.js", "run.log", "node_modules/x/index.js"):
        write(base, path, "before")
    write(base, "id_rsa")
    write(repo, "loomverify.run.json", '{"task": {"expected_outputs": ["dist/"]}}')

    server.answers = [(404, {}), (200, ACCEPTED)]
    assert submit(server, repo, "--base", str(base)) == 0

    assert parts(server) == {
        "workspace": [*REPO_FILES[:1], "dist/app.js", *REPO_FILES[1:]],
        "base": ["dist/app.js", "src/app.py", "src/old.py"],
    }


def test_a_declared_secret_of_the_base_alone_is_not_sent(folder: Path, tmp_path: Path) -> None:
    base = tmp_path / "before"
    write(base, ".env")
    write(base, "a.md")
    choice = Choice(expected_outputs=[".env"])

    assert select_base(base, choice, select_files(folder, choice)).files == ["a.md"]


def test_what_is_left_out_is_told_in_one_line_each(
    server: ScriptedServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "abcd":
        (folder / f"link-{name}\x1b").symlink_to("/etc/passwd")
    write(folder, ".env")
    write(folder, "plan.md")

    assert submit(server, folder) == 0

    assert capsys.readouterr().err.splitlines() == [
        "loomverify: Not sent, symbolic links: link-a�, link-b�, link-c� and 1 more.",
        "loomverify: Not sent, they look like secrets: .env (environment file). "
        "--include-secrets sends them.",
    ]
    assert parts(server) == {"workspace": ["plan.md"]}


def test_secrets_are_sent_when_asked_for(server: ScriptedServer, folder: Path) -> None:
    write(folder, ".env")

    assert submit(server, folder, "--include-secrets") == 0
    assert parts(server) == {"workspace": [".env"]}


DECLARES_A_SECRET = '{"task": {"expected_outputs": [".env"]}}'


def test_without_a_terminal_a_declared_secret_stops_the_command(
    server: ScriptedServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, ".env")
    write(folder, "loomverify.run.json", DECLARES_A_SECRET)

    assert submit(server, folder) == 3

    error = capsys.readouterr().err
    assert "Declared as outputs, and look like secrets: .env (environment file)." in error
    assert "--include-secrets" in error
    assert server.requests == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answer", "code"), [("y\n", 0), ("Yes\n", 0), ("n\n", 3), ("\n", 3), ("", 3)]
)
def test_on_a_terminal_a_declared_secret_is_asked_for(
    server: ScriptedServer, folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    write(folder, ".env")
    write(folder, "loomverify.run.json", DECLARES_A_SECRET)
    screen = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", screen)

    assert submit(server, folder) == code

    assert ".env (environment file). Send them? [y/N] " in screen.getvalue()
    sent_parts = [parts(server)] if server.requests else []
    assert sent_parts == [{"workspace": [".env"]}] * (code == 0)


def test_a_dry_run_shows_what_would_be_sent_without_a_key_or_a_server(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "link").symlink_to("new.md")
    write(repo, "id_rsa", "k" * 2048)
    write(repo, "loomverify.run.json", '{"task": {"expected_outputs": ["dist/app.js", ".env"]}}')

    assert main([str(repo), "--dry-run", "--url", "http://127.0.0.1:1"]) == 0

    written = capsys.readouterr()
    assert written.out.replace(str(repo), "DIR") == (
        "workspace, from DIR: would send 4 files, 58 B\n"
        "        38 B  .gitignore\n"
        "        11 B  dist/app.js\n"
        "         6 B  new.md\n"
        "         3 B  src/app.py\n"
        "left out, ignored by git: 4\n"
        "  .venv/\n"
        "  dist/ (but declared outputs in it are sent)\n"
        "  node_modules/\n"
        "  run.log\n"
        "left out, symbolic links: 1\n"
        "  link\n"
        "left out, they look like secrets: 1\n"
        "  id_rsa (private key)\n"
        "asks before it sends .env (environment file)\n"
        "\n"
        "Nothing was sent.\n"
    )
    assert written.err == ""
    assert not (repo / ".loomverify").exists()


def test_a_dry_run_as_json_names_every_file(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(repo), "--dry-run", "--json"]) == 0

    shown: dict[str, Any] = json.loads(capsys.readouterr().out)["workspace"]
    assert [file["path"] for file in shown["files"]] == REPO_FILES
    assert shown["bytes"] == 47
    assert {"path": "dist/", "reason": "ignored", "detail": ""} in shown["left_out"]
    assert shown["asks"] == []


def test_a_dry_run_of_too_much_shows_it_and_ends_with_three(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "small.md")
    with (folder / "large.bin").open("wb") as file:
        file.truncate(65 * 1024 * 1024)

    assert main([str(folder), "--dry-run"]) == 3

    written = capsys.readouterr()
    assert "  65.0 MiB  large.bin\n" in written.out
    assert "at most 64 MiB in 10,000 files" in written.err


def test_a_name_that_is_not_utf8_is_named(folder: Path) -> None:
    write(folder, os.fsdecode(b"\xff.md"))

    with pytest.raises(UsageError, match=r"udcff.md' is not UTF-8"):
        pack(select_files(folder, Choice()))


@pytest.mark.extended
def test_a_repository_of_many_files_is_listed_within_bounds(repo: Path) -> None:
    for number in range(20_001):
        write(repo, f"many/{number % 50}/{number}.txt", "")
    write(repo, ".loomverifyignore", "many/\n")

    selection = select_files(repo, Choice(expected_outputs=["**/*.none"]))

    assert selection.files == sorted([*REPO_FILES, ".loomverifyignore"])
    assert left_out(selection, Reason.IGNORED_HERE) == ["many/"]
