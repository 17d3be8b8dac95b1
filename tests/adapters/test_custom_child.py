from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from tests.adapters.custom_cases import called
from tests.stack import wait_for
from verification.adapters.custom_process import PREFIX, STALE_SECONDS, environment, lay_out
from verification.adapters.custom_wire import MAX_DETAIL_CHARS
from verification.engine.fakes import MemoryWorkspace

ROOT = Path(__file__).resolve().parents[2]
SECRETS = ("DATABASE_URL", "LOOMVERIFY_SECRET_KEY", "LOOMVERIFY_JUDGE_API_KEY", "AWS_SECRET_KEY")


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def is_running(process: int) -> bool:
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_a_verifier_sees_the_submitted_files_and_none_of_our_secrets(
    monkeypatch: pytest.MonkeyPatch, scratch: Path
) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("VERIFIER_RATE", "1.5")
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}:")

    answer = called("looks_around", files={"a.md": "x", "b/c.md": "y"})

    found = answer.result
    assert found["here"] == ["a.md", "b"]
    assert "secret" not in found["variables"].values()
    assert found["variables"]["VERIFIER_RATE"] == "1.5"
    assert "." not in found["variables"]["PATH"].split(":")
    assert found["stdin"] == ""
    assert found["session"] not in (os.getsid(0), 0)
    assert list(scratch.iterdir()) == []


def test_a_verifier_holds_no_descriptor_of_the_worker() -> None:
    with tempfile.TemporaryFile() as one, tempfile.TemporaryFile() as other:
        os.set_inheritable(one.fileno(), True)
        os.set_inheritable(other.fileno(), True)

        answer = called("looks_around")

    assert answer.result["descriptors"] <= 5  # three streams, the answer, and the folder being read


@pytest.mark.extended
@pytest.mark.parametrize(
    "path", ["submitted_module.py", "json.py", "sitecustomize.py", "pydantic/__init__.py"]
)
def test_no_submitted_file_is_ever_imported(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setenv("PYTHONPATH", "::")
    hostile = "import os; os._exit(7)"

    answer = called("imports_what_was_submitted", files={path: hostile})

    assert (answer.status, answer.result) == ("passed", "not found")


@pytest.mark.extended
@pytest.mark.parametrize(
    ("path", "status"),
    [("a.md", "passed"), ("/etc/hostname", "error"), ("../given", "error"), ("b.md", "error")],
)
def test_the_workspace_reads_what_was_submitted_and_nothing_else(path: str, status: str) -> None:
    answer = called("reads", output=path, files={"a.md": "\ufefftext"})

    assert answer.status == status
    assert answer.result == ("text" if status == "passed" else None)


def test_nothing_that_is_printed_can_be_taken_for_the_answer() -> None:
    answer = called("prints_an_answer")

    assert (answer.status, answer.message) == ("failed", "wrong")
    assert '{"status": "passed"' in answer.detail


def test_of_much_that_is_printed_the_ends_are_kept() -> None:
    answer = called("prints_much")

    assert answer.result == "printed"
    assert answer.detail.startswith("It printed:\nfirst x")
    assert answer.detail.endswith("x last")
    assert len(answer.detail) < MAX_DETAIL_CHARS + 100


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("verifier", "says"),
    [
        ("ends_at_once", "ended without an answer (exit code 0)."),
        ("is_killed", "was killed, perhaps for its memory."),
        ("crashes", "crashed (SIGSEGV)."),
        ("takes_memory", "broke: MemoryError"),
        ("writes_much", "broke: OSError: [Errno 27] File too large"),
        ("recurses", "broke: RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_a_verifier_that_dies_is_a_system_error(verifier: str, says: str) -> None:
    answer = called(verifier)

    assert answer.status == "error"
    assert answer.message.startswith(f"The verifier totals {says}")
    assert answer.result is None


@pytest.mark.extended
@pytest.mark.parametrize(("verifier"), ["sleeps", "spins"])
def test_a_verifier_that_takes_too_long_is_killed(verifier: str) -> None:
    started = time.monotonic()

    answer = called(verifier, seconds=1)

    assert (answer.status, answer.message) == (
        "error",
        "The verifier totals took longer than 1 seconds.",
    )
    assert time.monotonic() - started < 120  # of the 600 that it would take
    assert answer.duration_ms >= 1000


@pytest.mark.parametrize(
    ("verifier", "result"),
    [
        ("closes_its_streams", "closed"),
        ("leaves_a_thread", "returned"),
        ("writes_beside", "noted"),
        ("forks", 3),
        ("limits", [True, True, True]),
    ],
)
def test_an_odd_verifier_is_heard_all_the_same(verifier: str, result: object) -> None:
    answer = called(verifier)

    assert (answer.status, answer.result) == ("passed", result)


@pytest.mark.parametrize("verifier", ["leaves_a_process", "leaves_a_session"])
def test_what_a_verifier_started_ends_with_it(verifier: str) -> None:
    answer = called(verifier)

    assert answer.status == "passed"
    wait_for(lambda: not is_running(answer.result), "the end of what it started")


def test_a_fork_that_holds_the_pipe_open_keeps_nobody_waiting(tmp_path: Path) -> None:
    note = tmp_path / "fork"

    answer = called("leaves_a_fork_and_dies", output=str(note), seconds=60)

    assert answer.message == "The verifier totals ended without an answer (exit code 1)."
    assert answer.duration_ms < 30_000
    wait_for(lambda: not is_running(int(note.read_text())), "the end of the fork")


def test_a_fork_that_is_let_run_on_has_no_say() -> None:
    answer = called("lets_a_fork_run_on")

    assert (answer.status, answer.message) == ("failed", "wrong")


def test_a_worker_that_is_killed_leaves_no_verifier_and_nothing_it_started(tmp_path: Path) -> None:
    note = tmp_path / "processes"
    call = (
        "from tests.adapters.custom_cases import called; called('notes_its_processes', output={!r})"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", call.format(str(note))],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    wait_for(lambda: note.exists() and note.read_text().endswith("."), "the verifier")
    processes = [int(one) for one in note.read_text().rstrip(".").split()]

    worker.kill()
    worker.wait()

    assert len(processes) == 3
    wait_for(lambda: not any(map(is_running, processes)), "the end of all of them")


def test_what_a_killed_worker_left_behind_is_swept(scratch: Path) -> None:
    old, young = (scratch / f"{PREFIX}{name}" for name in ("old", "young"))
    for folder in (old, young):
        (folder / "workspace").mkdir(parents=True)
        (folder / "workspace").chmod(0o555)
    os.utime(old, (0, time.time() - STALE_SECONDS - 1))

    called("of_nothing")

    assert (old.exists(), young.exists()) == (False, True)


def test_a_link_among_what_is_swept_leads_nowhere(scratch: Path, tmp_path: Path) -> None:
    target, link = tmp_path / "theirs", scratch / f"{PREFIX}link"
    target.mkdir(mode=0o755)
    link.symlink_to(target)
    os.utime(link, (0, 0), follow_symlinks=False)

    called("of_nothing")

    assert target.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("path", ["../a", "/a", "a/../../b", "a\0b"])
def test_no_file_is_written_outside(tmp_path: Path, path: str) -> None:
    workspace = MemoryWorkspace({path: "x"})

    with pytest.raises(ValueError, match="leads out of the workspace"):
        lay_out(workspace, (path,), tmp_path / "workspace")


@pytest.mark.parametrize("files", [{"a": "x", "a/b": "y"}, {"x" * 300: "y"}])
def test_files_that_cannot_be_laid_out_blame_nobody(files: dict[str, str]) -> None:
    answer = called("of_nothing", files=files)

    assert answer.status == "error"
    assert answer.message.startswith("The verifier totals could not be started: ")


def test_the_files_can_only_be_read(tmp_path: Path) -> None:
    lay_out(MemoryWorkspace({"a/b.md": "x"}), ("a/b.md",), tmp_path / "workspace")

    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "workspace").rglob("*")}
    assert modes == {0o444, 0o555}


def test_relative_folders_of_search_paths_are_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    kept = environment(tmp_path, {"PATH": "bin::/bin", "PYTHONPATH": ":.:lib"})

    assert kept["PATH"] == f"{tmp_path}/bin:/bin"
    assert kept["PYTHONPATH"] == f"{ROOT}:{tmp_path}:{tmp_path}/lib"


def test_variables_are_taken_by_name_alone(tmp_path: Path) -> None:
    kept = environment(tmp_path, {"LANG": "C", "LANGUAGE": "x", "XVERIFIER_A": "x", "PATH": ""})

    assert {"LANGUAGE", "XVERIFIER_A"}.isdisjoint(kept)
    assert (kept["LANG"], kept["PATH"]) == ("C", "")
