from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loomverify.submit_command import main
from loomverify.submitting.errors import UsageError
from loomverify.submitting.packing import pack
from loomverify.submitting.report import Report, place_of
from loomverify.submitting.selecting import Choice, select_files
from loomverify.submitting.task_file import TaskFile
from tests.scripted_server import HANG_UP, ScriptedServer, scripted_server
from tests.tables import check_rows

KEY = "lv_" + "k" * 32
URL = "https://verify.example.com/p/default/runs/1/"


def run_of(**changes: Any) -> dict[str, Any]:
    run: dict[str, Any] = {
        "id": "3f0c",
        "url": URL,
        "state": "finished",
        "outcome": "pass",
        "verdict": "accept",
        "reason_code": "",
        "process": "general",
        "phase": "work",
        "tier_requested": 1,
        "tier_achieved": 1,
        "task": {"id": "t", "attempts_used": 0, "max_attempts": 3},
        "feedback": {"text": "", "items": []},
        "findings": [],
        "retry": {"strategy": "none", "rerun_execution": False},
    }
    return run | changes


REJECTED = run_of(
    outcome="fail",
    verdict="reject",
    reason_code="syntax_invalid",
    task={"id": "t", "attempts_used": 1, "max_attempts": 3},
    retry={"strategy": "generic", "rerun_execution": True},
    feedback={"text": "<verification_rejected>…", "items": []},
    findings=[
        {
            "rule": "no-placeholders",
            "enforcement": "advisory",
            "verdict": "violated",
            "message": "A placeholder was left.",
            "target": "output",
            "path": "",
            "line": None,
            "column": None,
            "suggestion": "Fill it in.",
        },
        {
            "rule": "syntax",
            "enforcement": "hard",
            "verdict": "violated",
            "message": "Expecting ',' delimiter",
            "target": "deliverables",
            "path": "budget.json",
            "line": 6,
            "column": 5,
            "suggestion": "",
        },
    ],
)


UNDECIDED = run_of(outcome="fail", verdict="undecided")
OVERTURNED = REJECTED | {
    "review": {"state": "decided", "outcome": "pass", "passed": True, "comment": ""}
}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        server.answers = [(200, run_of())]
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "plan.md").write_text("# Plan\n")
    return folder


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("BASE_URL", "PORT", "LOOMVERIFY_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOOMVERIFY_DATA", str(tmp_path / "var"))
    monkeypatch.setattr("loomverify.submitting.client.PAUSE_SECONDS", 0.001)


@pytest.fixture
def _clock_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr("loomverify.submitting.progress.time", clock)


def submit(server: ScriptedServer, folder: Path, *options: str) -> int:
    return main([str(folder), "--url", server.url, "--key", KEY, *options])


def submissions(server: ScriptedServer) -> list[Any]:
    return [request for request in server.requests if request.method == "POST"]


def task_ids(server: ScriptedServer) -> list[str]:
    """The task of each submission, once for all tries of one."""
    runs = {
        request.headers["Idempotency-Key"]: json.loads(request.parts["run"])
        for request in submissions(server)
    }
    return [run["task"]["id"] for run in runs.values()]


def submitted(server: ScriptedServer) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(server.requests[0].parts["run"])
    return document


@pytest.mark.parametrize(
    ("run", "code", "first_line"),
    [
        (run_of(), 0, "✔ Accepted"),
        (run_of(outcome="pass_with_warnings"), 0, "▲ Accepted, with warnings"),
        (run_of(outcome="partial_verified"), 0, "◐ Accepted, partly verified"),
        (REJECTED, 1, "✖ Rejected  syntax_invalid"),
        (run_of(outcome="fail", verdict="undecided"), 2, "◌ Undecided"),
        (run_of(state="errored", outcome=None, verdict=None), 2, "◌ Could not be verified"),
        (run_of(state="cancelled", outcome=None, verdict=None), 2, "◌ Cancelled"),
    ],
)
def test_the_exit_code_says_the_verdict(
    server: ScriptedServer,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    run: dict[str, Any],
    code: int,
    first_line: str,
) -> None:
    server.answers = [(200, run)]

    result = submit(server, folder)

    written = capsys.readouterr()
    assert result == code
    assert written.out.splitlines()[0] == first_line
    assert URL in written.out
    assert written.err == ""  # progress is for terminals


def test_a_rejection_shows_what_is_wrong_where_and_what_to_do_next(
    server: ScriptedServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers = [(200, REJECTED)]

    submit(server, folder)

    text = capsys.readouterr().out
    assert text == (
        "✖ Rejected  syntax_invalid\n"
        "  general / work · tier 1 of 1 · 1 of 3 attempts used\n"
        "\n"
        "Hard findings (1)\n"
        "  ✖ syntax  budget.json:6:5\n"
        "      Expecting ',' delimiter\n"
        "\n"
        "Advisory findings (1)\n"
        "  ▲ no-placeholders  output\n"
        "      A placeholder was left.\n"
        "      → Fill it in.\n"
        "\n"
        "What to do next\n"
        "  Correct the hard findings and submit the same task again: 2 left.\n"
        "\n"
        f"{URL}\n"
    )


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (REJECTED | {"retry": {"rerun_execution": False}}, "This task takes no more submissions"),
        (run_of(verdict="undecided", outcome="fail"), "Do not redo the work"),
        (run_of(state="errored", verdict=None), "There is no verdict"),
        (run_of(state="running", verdict=None), "It is still running"),
    ],
)
def test_each_end_names_its_next_step(run: dict[str, Any], sentence: str) -> None:
    assert sentence in Report(run).text()


def test_a_run_in_doubt_is_not_said_to_wait_for_a_worker() -> None:
    doubt = {"reason_code": "rate_limited", "tries": 2, "until": "2026-11-21T21:42:11.451Z"}

    text = Report(run_of(state="queued", verdict=None, outcome=None, undecided=doubt)).text()

    assert text.startswith("◌ Not decided yet  rate_limited\n")
    assert "Do not redo the work" in text
    assert "until 21:42 UTC" in text


def test_a_rejection_without_a_finding_shows_the_feedback() -> None:
    text = Report(REJECTED | {"findings": []}).text()

    assert (
        "<verification_rejected>…\n  Correct this and submit the same task again: 2 left." in text
    )


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ({"path": "a.py", "line": 4, "column": 2}, "a.py:4:2"),
        ({"path": "a.py", "line": 4}, "a.py:4"),
        ({"path": "a.py", "target": "deliverables"}, "a.py"),
        ({"path": "", "target": "output", "line": 3}, "output:3"),
        ({"path": "", "target": "output"}, "output"),
        ({"path": None, "target": "evidence"}, ""),
        ({"target": "evidence", "place": {"tool_call": 1}}, "tool call 2"),
        ({"target": "evidence", "place": {"claims": [0, 3]}}, "claim 1, 4"),
        ({"target": "evidence", "place": {"evidence": "e2"}, "line": 3}, "evidence e2:3"),
        ({"target": "evidence", "place": {"tool_call": "x", "claims": ["y"]}}, ""),
        ({}, ""),
    ],
)
def test_a_place_is_named_as_far_as_it_is_known(place: dict[str, Any], shown: str) -> None:
    assert place_of(place) == shown


def test_submitted_text_cannot_steer_the_terminal() -> None:
    finding = REJECTED["findings"][0] | {"message": "\x1b[2Jgone\x07\u202e"}

    text = Report(REJECTED | {"findings": [finding]}).text()

    assert "\x1b" not in text
    assert "�[2Jgone��" in text


def test_json_prints_the_run_as_it_came(
    server: ScriptedServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers = [(200, REJECTED)]

    code = submit(server, folder, "--json")

    assert code == 1
    assert json.loads(capsys.readouterr().out) == REJECTED


def test_the_folder_and_the_key_are_sent(server: ScriptedServer, folder: Path) -> None:
    (folder / ".git").write_text("gitdir: elsewhere")
    (folder / "loomverify.run.json").write_text('{"output": "done"}')

    submit(server, folder, "--all-files", "--phase", "work", "--tier", "2", "--return-code", "4")

    request = server.requests[0]
    run = submitted(server)
    with tarfile.open(fileobj=io.BytesIO(request.parts["workspace"])) as tar:
        names = tar.getnames()
    assert request.path == "/api/v1/runs?wait=2"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert names == ["plan.md"]
    assert {name: run[name] for name in ("process", "phase", "tier", "output", "return_code")} == {
        "process": "general",
        "phase": "work",
        "tier": 2,
        "output": "done",
        "return_code": 4,
    }


def test_the_folder_as_it_was_goes_along(
    server: ScriptedServer, folder: Path, tmp_path: Path
) -> None:
    before = tmp_path / "before"
    before.mkdir()
    (before / "plan.md").write_text("# An older plan\n")

    assert submit(server, folder, "--base", str(before)) == 0

    parts = server.requests[0].parts
    assert [_packed(parts[name], "plan.md") for name in ("workspace", "base")] == [
        b"# Plan\n",
        b"# An older plan\n",
    ]
    assert submit(server, folder, "--base", str(before / "plan.md")) == 3


def test_options_win_over_the_run_file_and_that_over_the_folders_own(
    server: ScriptedServer, folder: Path, tmp_path: Path
) -> None:
    (folder / "loomverify.run.json").write_text(
        '{"process": "a", "phase": "a", "output": "a", "task": {"id": "a", "plan": "kept"}}'
    )
    (tmp_path / "more.json").write_text('{"phase": "b", "output": "b"}')

    submit(server, folder, "--run", str(tmp_path / "more.json"), "--output", "c", "--task", "c")

    run = submitted(server)
    assert (run["process"], run["phase"], run["output"]) == ("a", "b", "c")
    assert (run["task"]["id"], run["task"]["plan"]) == ("c", "kept")


def test_a_corrected_folder_is_another_attempt_at_the_same_task(
    server: ScriptedServer, folder: Path
) -> None:
    server.answers = [(200, REJECTED)]
    submit(server, folder)
    (folder / "plan.md").write_text("# A better plan\n")
    submit(server, folder)

    first, second = task_ids(server)
    assert first == second
    assert first.startswith("work-")
    keys = {request.headers["Idempotency-Key"] for request in submissions(server)}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("answers", "options", "is_same"),
    [
        ([(200, REJECTED)], (), True),
        ([(200, UNDECIDED)], (), True),
        ([HANG_UP] * 5 + [(200, run_of())], (), True),
        ([(200, run_of())], (), False),
        ([(200, REJECTED)], ("--new-task",), False),
        ([(200, REJECTED)], ("--task", "other"), False),
        # A person has accepted it since.
        ([(200, REJECTED), (200, OVERTURNED)], (), False),
        # The run is gone.
        ([(200, REJECTED), (404, {}), (200, REJECTED)], (), True),
    ],
)
def test_a_task_lasts_until_it_is_accepted_or_a_new_one_is_begun(
    server: ScriptedServer,
    folder: Path,
    answers: list[Any],
    options: tuple[str, ...],
    is_same: bool,
) -> None:
    server.answers = answers
    submit(server, folder)
    submit(server, folder, *options)

    first, *_, last = task_ids(server)
    assert (first == last) is is_same


def test_a_named_task_leaves_the_kept_one_as_it_is(server: ScriptedServer, folder: Path) -> None:
    server.answers = [(200, REJECTED)]
    submit(server, folder)
    server.answers = [(200, run_of())]
    submit(server, folder, "--task", "other")
    server.answers = [(200, REJECTED)]
    submit(server, folder)

    first, named, last = task_ids(server)
    assert (named, last) == ("other", first)


def test_the_task_id_of_the_run_file_holds_until_a_new_task_begins(
    server: ScriptedServer, folder: Path
) -> None:
    server.answers = [(200, REJECTED)]
    run_file = folder / "loomverify.run.json"
    run_file.write_text('{"task": {"id": "named"}}')
    submit(server, folder)
    submit(server, folder, "--new-task")
    submit(server, folder)
    run_file.write_text('{"task": {"id": "another"}}')
    submit(server, folder)

    named, new, same, another = task_ids(server)
    assert (named, another) == ("named", "another")
    assert new == same != named


def test_a_closed_task_names_the_way_out(
    server: ScriptedServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = {"loc": ["body", "task", "id"], "msg": "It is used up.", "code": "attempts_exhausted"}
    server.answers = [problem(409, "It is used up.", error)]

    assert submit(server, folder) == 3
    assert "--new-task, or name another one with --task" in capsys.readouterr().err


def test_the_kept_task_is_no_part_of_the_work_nor_of_its_git(
    server: ScriptedServer, folder: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    server.answers = [(200, REJECTED)]
    submit(server, folder)
    submit(server, folder)

    status = subprocess.run(
        ["git", "-C", str(folder), "status", "--porcelain", "--untracked-files=all"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert status.stdout.split() == ["??", "plan.md"]
    for request in submissions(server):
        with tarfile.open(fileobj=io.BytesIO(request.parts["workspace"])) as tar:
            assert tar.getnames() == ["plan.md"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"{",
        b"[]",
        b"null",
        b'{"id": ""}',
        b'{"id": 7}',
        b'{"id": "a\\u0000b"}',
        b'{"id": "t", "run": []}',
        b'{"no": "id"}',
        b"[" * 9_000,
        b'{"id": "' + b"x" * 20_000,
    ],
)
def test_a_damaged_task_file_is_named_and_replaced(
    server: ScriptedServer, folder: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    server.answers = [(200, REJECTED)]
    (folder / ".loomverify").mkdir()
    (folder / ".loomverify" / "task.json").write_bytes(content)

    assert (submit(server, folder), submit(server, folder)) == (1, 1)

    first, second = task_ids(server)
    assert first == second
    assert capsys.readouterr().err.count("task.json holds no task id: a new task begins.") == 1


def in_the_way_file(folder: Path) -> None:
    (folder / ".loomverify").write_text("")


def in_the_way_link(folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    (folder / ".loomverify").symlink_to(elsewhere)


def in_the_way_folder(folder: Path) -> None:
    (folder / ".loomverify" / "task.json").mkdir(parents=True)


@pytest.mark.parametrize("block", [in_the_way_file, in_the_way_folder])
def test_a_folder_that_cannot_keep_a_task_is_submitted_all_the_same(
    server: ScriptedServer,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    block: Callable[[Path], None],
) -> None:
    block(folder)

    assert submit(server, folder) == 0

    [task] = task_ids(server)
    assert f"give --task {task} with the next attempt" in capsys.readouterr().err


def test_the_task_is_not_kept_behind_a_link(folder: Path) -> None:
    in_the_way_link(folder)
    task_file = TaskFile(folder)

    task_file.begin()

    assert len(task_file.problems) == 1
    assert list((folder.parent / "elsewhere").iterdir()) == []


def test_a_pipe_in_the_place_of_the_task_file_is_not_waited_for(
    server: ScriptedServer, folder: Path
) -> None:
    (folder / ".loomverify").mkdir()
    os.mkfifo(folder / ".loomverify" / "task.json")
    server.answers = [(200, REJECTED)]
    submit(server, folder)
    submit(server, folder)

    first, second = task_ids(server)
    assert first == second


def test_two_submissions_at_once_begin_one_task(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = pool.map(lambda _: TaskFile(folder).begin(replace=False).id, range(64))

    assert len(set(made)) == 1
    assert sorted(path.name for path in (folder / ".loomverify").iterdir()) == [
        ".gitignore",
        "task.json",
    ]


def test_an_accept_leaves_a_task_that_was_begun_meanwhile(folder: Path) -> None:
    first = TaskFile(folder).begin()
    second = TaskFile(folder).begin()

    TaskFile(folder).forget(first.id)
    TaskFile(folder).keep_run(first, "r1")

    assert TaskFile(folder).read() == second


def test_names_that_no_task_id_may_hold_are_left_out_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "a\nb\x7f\u202e" / ("ü" * 120)
    folder.mkdir(parents=True)

    task = TaskFile(folder).begin()

    assert task.id.startswith("ü" * 120 + "-")
    assert TaskFile(folder.parent).begin().id.startswith("ab-")
    assert TaskFile(Path("/")).name == ""


@pytest.mark.parametrize("given", ["@answer.txt", "-"])
def test_the_output_is_read_from_a_file_or_the_standard_input(
    server: ScriptedServer,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: str,
) -> None:
    (tmp_path / "answer.txt").write_text("It is done.")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("It is done."))

    submit(server, folder, "--output", given)

    assert submitted(server)["output"] == "It is done."


def test_a_lost_answer_is_asked_for_again_under_the_same_key_with_the_same_bytes(
    server: ScriptedServer, folder: Path
) -> None:
    server.answers = [HANG_UP, (503, {}), (200, run_of())]

    code = submit(server, folder)

    keys = {request.headers["Idempotency-Key"] for request in server.requests}
    bodies = {request.body for request in server.requests}
    assert (code, len(server.requests)) == (0, 3)
    assert (len(keys), len(bodies)) == (1, 1)


def test_a_run_that_is_not_over_is_waited_for(server: ScriptedServer, folder: Path) -> None:
    server.answers = [
        (202, run_of(state="queued", verdict=None)),
        (200, run_of(state="running", verdict=None)),
        HANG_UP,
        (200, REJECTED),
    ]

    code = submit(server, folder)

    assert code == 1
    assert [request.method for request in server.requests] == ["POST", "GET", "GET", "GET"]
    assert server.requests[1].path.startswith("/api/v1/runs/3f0c?wait=")


def test_waiting_ends_with_the_time_given(
    server: ScriptedServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers = [(202, run_of(state="running", verdict=None))]

    code = submit(server, folder, "--wait", "0.05")

    assert code == 2
    assert "It is still running; look again at the address below." in capsys.readouterr().out


ASKED = {"state": "pending", "reasons": ["vote_divergence"]}
IN_DOUBT = run_of(outcome="fail", verdict="undecided", review=ASKED)
SAID_NO: dict[str, Any] = {
    "state": "decided",
    "outcome": "fail",
    "passed": False,
    "comment": "A quarter is missing.\nSee \x1b[2Jpage 4.",
}
SAID_YES = SAID_NO | {"outcome": "pass_with_warnings", "passed": True, "comment": ""}


def test_that_a_person_is_asked_is_said(
    server: ScriptedServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers = [(200, IN_DOUBT)]

    code = submit(server, folder)

    assert (code, len(server.requests)) == (2, 1)
    assert "A person is asked (vote_divergence); --decision waits" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (SAID_NO, 1, "✖ Rejected by a person\n  A quarter is missing.\n  See �[2Jpage 4.\n"),
        (SAID_NO, 1, "Correct what they say and submit the same task again: 3 left."),
        (SAID_YES, 0, "▲ Accepted, with warnings by a person\n"),
        (SAID_YES, 0, "Nothing: what the person said counts."),
    ],
)
def test_a_decision_is_waited_for_and_counts_before_the_verdict(
    server: ScriptedServer,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    said: dict[str, Any],
    code: int,
    words: str,
) -> None:
    server.answers = [
        (202, run_of(state="running")),
        (200, IN_DOUBT),
        (200, IN_DOUBT | {"review": said}),
    ]

    assert submit(server, folder, "--decision") == code

    assert [request.path.partition("&")[2] for request in server.requests] == [
        "",
        "",
        "until=decided",
    ]
    assert words in capsys.readouterr().out


def test_a_task_that_a_person_ended_takes_no_more() -> None:
    ended = IN_DOUBT | {"review": SAID_NO, "task": {"exhausted": True}}

    assert "This task takes no more submissions." in Report(ended).text()


def test_the_wait_for_a_person_ends_with_the_time_given(
    server: ScriptedServer, folder: Path
) -> None:
    server.answers = [(200, IN_DOUBT)]

    assert submit(server, folder, "--decision", "--wait", "0.05") == 2


def problem(status: int, detail: str, *errors: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    return status, {"title": "Refused", "status": status, "detail": detail, "errors": list(errors)}


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        (problem(401, "No."), 3, "does not accept this key"),
        (
            problem(404, "No process 'x' here."),
            3,
            "The submission was refused: No process 'x' here.",
        ),
        (
            problem(422, "Bad.", {"loc": ["body", "phase"], "msg": "No such phase.", "code": "x"}),
            3,
            "phase: No such phase.",
        ),
        (
            problem(422, "Required.", {"loc": ["body", "task", "id"], "msg": "Required."}),
            3,
            "The submission was refused: Required. (task.id)",
        ),
        ((200, b"<html>hello</html>"), 3, "does not answer like a LoomVerify server"),
        ((404, b"<html>nothing</html>"), 3, "does not answer like a LoomVerify server"),
        (problem(500, "It has been logged."), 2, "failed (500): It has been logged."),
    ],
)
def test_what_keeps_a_submission_from_its_verdict_is_one_sentence(
    server: ScriptedServer,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    answer: tuple[int, Any],
    code: int,
    message: str,
) -> None:
    server.answers = [answer]

    result = submit(server, folder)

    written = capsys.readouterr()
    assert result == code
    assert message in written.err
    assert written.out == ""


def test_a_redirect_names_the_address_to_use(
    server: ScriptedServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers = [(301, {})]
    server.headers = {"Location": "https://verify.example.com/"}

    code = submit(server, folder)

    assert code == 3
    assert "leads to https://verify.example.com/" in capsys.readouterr().err


@check_rows(
    ("arguments", "message"),
    [
        ([], "required: DIR"),
        (["{folder}", "--tier", "4"], "Argument --tier"),
        (["{folder}", "--unheard-of"], "Unrecognized arguments"),
        (["{folder}/nowhere"], "is not a folder"),
        (["{folder}", "--wait", "-1"], "0 or more seconds"),
        (["{folder}", "--wait", "nan"], "0 or more seconds"),
        (["{folder}", "--run", "/nowhere.json"], "cannot be read"),
        (["{folder}", "--run", "{folder}/plan.md"], "is not JSON"),
        (["{folder}", "--output", "@/nowhere"], "cannot be read"),
        (["{folder}", "--url", "verify.example.com"], "is not an address of a server"),
        (["{folder}", "--key", "lv_ä"], "characters that no key has"),
        (["{folder}", "--url", "http://127.0.0.1:1"], "No server answers at http://127.0.0.1:1"),
    ],
)
def test_a_wrong_call_says_why_and_ends_with_three(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    given = [argument.format(folder=folder) for argument in arguments]
    key = [] if "--key" in given else ["--key", KEY]

    code = main([*given, *key])

    assert code == 3
    assert message in capsys.readouterr().err


def test_without_a_key_it_says_how_to_give_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([str(folder)])

    assert code == 3
    assert "give --key, or set LOOMVERIFY_API_KEY" in capsys.readouterr().err


def test_the_key_of_the_data_folder_is_used_where_none_is_given(
    server: ScriptedServer, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "api-key").write_text(f"{KEY}\n")
    monkeypatch.setenv("BASE_URL", server.url)

    code = main([str(folder)])

    assert code == 0
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_the_same_folder_gives_the_same_archive(folder: Path, tmp_path: Path) -> None:
    (folder / "run.sh").write_text("true\n")
    (folder / "run.sh").chmod(0o750)
    first = pack(select_files(folder, Choice()))
    os.utime(folder / "plan.md", (1, 1))

    second = pack(select_files(folder, Choice()))

    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(second))) as tar:
        entries = [(entry.name, entry.mode, entry.mtime, entry.uid) for entry in tar]
    assert first == second
    assert entries == [("plan.md", 0o644, 0, 0), ("run.sh", 0o755, 0, 0)]


def test_a_folder_that_is_too_large_is_refused(folder: Path) -> None:
    (folder / "large.bin").write_bytes(b"x" * 1_048_577)

    with pytest.raises(UsageError, match=r"at most 1 MiB in 10,000 files"):
        pack(select_files(folder, Choice()), max_bytes=1_048_576)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("_clock_stands_still")
def test_on_a_terminal_one_line_of_progress_is_rewritten_and_gone_at_the_end(
    server: ScriptedServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    server.answers = [
        (202, run_of(state="running", verdict=None, tier_requested=2)),
        (200, run_of()),
    ]

    submit(server, folder)

    lines = terminal.getvalue().split("\r\x1b[K")
    assert lines == ["", "packing", "submitting", "running: tier 2 of 2, 0 s", ""]


@pytest.mark.usefixtures("_clock_stands_still")
def test_on_a_terminal_the_wait_for_a_person_is_told(
    server: ScriptedServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    server.answers = [(200, IN_DOUBT), (200, IN_DOUBT | {"review": SAID_YES})]

    submit(server, folder, "--decision")

    assert "waiting for a person, 0 s" in terminal.getvalue()


@pytest.mark.usefixtures("_clock_stands_still")
def test_on_a_terminal_the_gates_that_run_are_told(
    server: ScriptedServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    running = [
        {"gate": "build", "component": "api (go)", "status": "passed"},
        {"gate": "test", "component": "api (go)", "status": None},
        {"gate": "lint\x1b[2J", "component": ". (python)", "status": None},
    ]
    server.answers = [
        (202, run_of(state="running", verdict=None, running=running)),
        (200, run_of()),
    ]

    submit(server, folder)

    lines = terminal.getvalue().split("\r\x1b[K")
    assert lines[3] == "running: test of api (go) and lint�[2J of python, 0 s"


def test_the_report_tells_how_each_gate_ended() -> None:
    def gate(name: str, status: str, **told: Any) -> dict[str, Any]:
        return {"gate": name, "component": ". (python)", "status": status} | told

    run = run_of(
        gates=[
            gate("install", "skipped", detail="Nothing is to be installed."),
            gate("build", "passed", duration_ms=279),
            gate("lint", "failed", duration_ms=99, problems=1, reused_from="1d7f"),
            gate(
                "test",
                "failed",
                duration_ms=12_345,
                tests={"passed": 12, "failed": 7, "errors": 1, "skipped": 0, "flaky": 2},
                new_lines=[30, 38],
            ),
            gate(
                "types", "timed_out", duration_ms=120_000, detail="types of python took longer.\nx"
            ),
            gate("run", "error", duration_ms=5, detail="No\x1b[2J command."),
        ]
    )

    assert Report(run).text().split("\n\n")[1].splitlines() == [
        "Gates (5)",
        "  ✔ build of python  passed      0.3 s",
        "  ✖ lint of python   failed             1 problem · not run again",
        "  ✖ test of python   failed       12 s  12 passed (2 flaky), 7 failed, 1 broken"
        " · 30 of 38 new lines run",
        "  ✖ types of python  timed out   120 s  took longer.",
        "  ? run of python    undecided   0.0 s  No�[2J command.",
        "  - skipped: install of python",
    ]


def test_colour_is_for_terminals_that_want_it() -> None:
    assert Report(REJECTED, colour=True).text().startswith("\x1b[1;31m✖ Rejected\x1b[0m")


def test_the_command_starts_without_django(folder: Path) -> None:
    script = (
        "import sys; from loomverify.submit_command import main; main(['--wait', 'x']);"
        "print([name for name in sys.modules if name.split('.')[0] in {'django', 'celery'}])"
    )

    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert result.stdout.strip() == "[]"


def _packed(archive: bytes, name: str) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        file = tar.extractfile(name)
        assert file is not None
        return file.read()
