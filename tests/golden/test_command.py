from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from defusedxml.ElementTree import fromstring

from loomverify.accounts.models import Project, Role
from loomverify.cli import main as loomverify
from tests.builders import make_project
from tests.engine.cases import PASSING
from tests.golden.builders import make_case
from tests.golden.guarding import BREAKING, HOLDS, case_that_held, put_live, version_of
from tests.processes.callers import TOKEN, Api
from tests.scripted_server import HANG_UP, ScriptedServer, scripted_server
from tests.tables import check_rows
from verification.engine.golden.standing import Change
from verification.golden import local
from verification.golden.command import main
from verification.golden.local_files import CaseOfFile
from verification.golden.models import OPEN_STATES, Replay, ReplayPurpose
from verification.golden.replays.services import run_now
from verification.golden.telling import ReplayTold, text_of

KEY = "lv_" + "k" * 32
URL = "https://verify.example.com/p/default/golden/replays/3f0c/"
NONE = dict.fromkeys(Change, 0)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("BASE_URL", "PORT", "LOOMVERIFY_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOOMVERIFY_DATA", str(tmp_path / "var"))
    monkeypatch.setattr("loomverify.submitting.replays.PAUSE_SECONDS", 0.001)


# ------------------------------------------------------------------ on a server


def replay_of(state: Any = "finished", **fields: Any) -> dict[str, Any]:
    progress = {"done": 1, "total": 2, "share": 0.5}
    return {"id": "3f0c", "url": URL, "state": state, "total": 2, "progress": progress, **fields}


def result(name: str, change: str, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "process": "general",
        "change": change,
        "differences": [],
        "error": "",
        "missing": 0,
        "questions": 0,
        **fields,
    }


def report_of(*results: dict[str, Any], **fields: Any) -> dict[str, Any]:
    counts = {change.value: 0 for change in Change}
    for one in results:
        counts[one["change"]] += 1
    total = len(results)
    return {**replay_of(), "total": total, "counts": counts, "results": list(results), **fields}


DIFFERENCE = {"place": "outcome", "expected": "pass", "observed": "fail"}
HELD = result("held", "held")
REGRESSED = result("broken", "regressed", differences=[DIFFERENCE])
FAILING = result("failing", "still_failing", differences=[DIFFERENCE])
NEW = result("new", "new", differences=[DIFFERENCE])
LOST = result("lost", "not_judged", missing=1, questions=3)
JUNIT = b"<testsuites/>"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


def told(server: ScriptedServer, *results: dict[str, Any], **fields: Any) -> None:
    """The server finishes a replay with these results."""
    server.answers = [(202, replay_of()), (200, report_of(*results, **fields)), (200, JUNIT)]


def run(server: ScriptedServer, *options: str) -> int:
    return main(["run", "--url", server.url, "--key", KEY, *options])


@check_rows(
    ("results", "code"),
    [
        ([HELD], 0),
        ([HELD, result("mended", "fixed")], 0),
        ([HELD, FAILING], 1),
        ([HELD, NEW], 1),
        ([HELD, LOST], 2),
        ([LOST, NEW], 1),
        ([HELD, REGRESSED], 1),
        ([LOST, REGRESSED], 1),
        ([], 2),
    ],
    ids=[
        "all hold", "one is fixed", "one fails as before", "a new one fails", "one is not judged",
        "a new one fails and one is not judged", "one regressed",
        "one regressed and one is not judged", "nothing was replayed",
    ],
)  # fmt: skip
def test_the_exit_code_says_what_became_of_the_corpus(
    server: ScriptedServer, results: list[dict[str, Any]], code: int
) -> None:
    told(server, *results)

    assert run(server) == code


ACCEPT_NEW = ("--accept-failure", "new=Planned for June = soon")


@check_rows(
    ("results", "options", "code"),
    [
        ([HELD, NEW], ACCEPT_NEW, 0),
        ([HELD, NEW], (*ACCEPT_NEW, "--strict"), 1),
        ([NEW, REGRESSED], ACCEPT_NEW, 1),
        ([REGRESSED], ("--accept-failure", "broken=Known"), 0),
        ([NEW, LOST], (*ACCEPT_NEW, "--accept-failure", "lost=Known"), 2),
        ([HELD], ACCEPT_NEW, 0),
        ([HELD], ("--accept-failure", "new"), 3),
        ([HELD], ("--accept-failure", "new= "), 3),
        ([HELD], ("--accept-failure", "=Known"), 3),
        ([HELD], ("--accept-failure", f"new={'x' * 501}"), 3),
        ([HELD], (*ACCEPT_NEW, *ACCEPT_NEW), 3),
    ],
    ids=[
        "accepted", "strict", "another one fails", "a regression", "not judged", "nothing to accept",
        "no reason", "a blank reason", "no name", "a long reason", "twice",
    ],
)  # fmt: skip
def test_a_known_failure_is_accepted_by_name_with_a_reason(
    server: ScriptedServer, results: list[dict[str, Any]], options: Sequence[str], code: int
) -> None:
    told(server, *results)

    assert run(server, *options) == code


def test_an_accepted_failure_is_listed_with_its_reason(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    told(server, HELD, NEW)

    run(server, *ACCEPT_NEW, "--accept-failure", "held=Known")

    written = capsys.readouterr().out
    assert "▲ accepted failure  new  (general)\n    Accepted: Planned for June = soon\n" in written
    assert "expected  pass" in written
    assert "2 cases: ▲ 1 accepted failure · ✔ 1 hold" in written
    assert "▲ No failure of held to accept: remove its --accept-failure." in written


def test_an_accepted_failure_is_skipped_in_the_reports(
    server: ScriptedServer, tmp_path: Path
) -> None:
    failure = '<failure type="new" message="new">outcome</failure>'
    junit = (
        '<testsuites failures="2" skipped="0"><testsuite failures="2" skipped="0">'
        f'<testcase name="new">{failure}</testcase><testcase name="broken">{failure}</testcase>'
        "</testsuite></testsuites>"
    )
    server.answers = [
        (202, replay_of()), (200, report_of(NEW, REGRESSED)), (200, junit.encode()),
    ]  # fmt: skip
    xml, report = tmp_path / "junit.xml", tmp_path / "report.json"

    run(server, *ACCEPT_NEW, "--junit", str(xml), "--report", str(report))

    root = fromstring(xml.read_bytes())
    assert [(one.get("failures"), one.get("skipped")) for one in (root, root[0])] == [
        ("1", "1")
    ] * 2
    accepted, failed = root.iter("testcase")
    [skipped] = accepted
    assert (skipped.tag, skipped.get("type")) == ("skipped", "xfail")
    assert skipped.get("message") == "accepted failure: Planned for June = soon"
    assert [one.tag for one in failed] == ["failure"]
    results = json.loads(report.read_text())["results"]
    assert [one.get("accepted_failure") for one in results] == ["Planned for June = soon", None]


def test_a_junit_report_that_cannot_be_read_is_never_a_success(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.answers = [(202, replay_of()), (200, report_of(NEW)), (200, b"<testsuites")]

    assert run(server, *ACCEPT_NEW, "--junit", str(tmp_path / "junit.xml")) == 2


def test_what_is_asked_for_is_what_the_server_is_asked(server: ScriptedServer) -> None:
    told(server, HELD)

    run(
        server, "--tag", "fast", "--tag", "canary", "--verifier", "3", "--process", "general",
        "--process-version", "7", "--live", "--canary",
    )  # fmt: skip

    started = server.requests[0]
    assert (started.method, started.path) == ("POST", "/api/v1/golden/replays")
    assert started.headers["Authorization"] == f"Bearer {KEY}"
    assert json.loads(started.body) == {
        "purpose": "ci",
        "tags": ["fast", "canary"],
        "verifier": 3,
        "process": "general",
        "process_version": 7,
        "live": True,
        "canary": True,
    }


def test_what_is_not_asked_for_is_left_to_the_server(server: ScriptedServer) -> None:
    told(server, HELD)

    run(server)

    assert json.loads(server.requests[0].body) == {"purpose": "ci"}


def test_what_regressed_comes_first_with_expected_beside_observed(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    told(server, HELD, NEW, LOST, REGRESSED, stale_share=0.25)

    run(server)

    written = capsys.readouterr().out
    assert written.startswith(
        "✖ regressed  broken  (general)\n    outcome\n      expected  pass\n      observed  fail\n"
    )
    assert "1 of 3 questions have no recorded answer." in written
    counts = "4 cases: ✖ 1 regressed · ▲ 1 new, does not hold · ◌ 1 could not be judged · ✔ 1 hold"
    assert counts in written
    assert "▲ 25% of the questions have changed since their answers were recorded" in written
    assert written.endswith(f"{URL}\n")
    assert "\x1b" not in written


def test_a_fifth_of_stale_questions_is_no_warning(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    told(server, HELD, stale_share=0.2)

    run(server)

    assert "have changed" not in capsys.readouterr().out


def test_the_reports_are_written_as_the_server_gives_them(
    server: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(server, HELD)
    report, junit = tmp_path / "new" / "report.json", tmp_path / "junit.xml"

    code = run(server, "--report", str(report), "--junit", str(junit), "--json")

    assert code == 0
    assert json.loads(report.read_text()) == report_of(HELD)
    assert junit.read_bytes() == JUNIT
    assert json.loads(capsys.readouterr().out) == report_of(HELD)


def test_a_replay_under_way_is_waited_for(server: ScriptedServer) -> None:
    server.answers = [
        (202, replay_of("queued")),
        (200, replay_of("running")),
        HANG_UP,
        (503, {"title": "Busy"}),
        (200, replay_of()),
        (200, report_of(HELD)),
        (200, JUNIT),
    ]

    assert run(server) == 0
    assert [one.method for one in server.requests] == ["POST", *["GET"] * 6]
    assert server.requests[1].path.startswith("/api/v1/golden/replays/3f0c?wait=")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_told_on_a_terminal_and_gone_at_the_end(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    server.answers = [
        (202, replay_of("running")), (200, replay_of()), (200, report_of(HELD)), (200, JUNIT),
    ]  # fmt: skip

    run(server)

    lines = terminal.getvalue().split("\r\x1b[K")
    assert lines == ["", "starting", "running: 1 of 2 cases", "reading the report", ""]


def problem(status: int, detail: str) -> tuple[int, dict[str, Any]]:
    return status, {"title": "Refused", "status": status, "detail": detail, "errors": []}


@check_rows(
    ("answers", "code", "message"),
    [
        ([problem(401, "No.")], 3, "does not accept this key"),
        ([problem(403, "This needs the role editor.")], 3, "The replay was refused: This needs"),
        ([problem(404, "There is no verifier version 9.")], 3, "There is no verifier version 9."),
        ([problem(422, "Up to 20 tags.")], 3, "The replay was refused: Up to 20 tags."),
        ([problem(409, "10 replays are not over yet.")], 2, "10 replays are not over yet."),
        ([problem(500, "Lost\x1b[2J.")], 2, "failed (500): Lost�[2J."),
        ([problem(500, "It has been logged.")], 2, "failed (500): It has been logged."),
        ([HANG_UP], 2, "was asked for a replay and gave no answer"),
        ([(202, replay_of("cancelled"))], 2, f"The replay is cancelled. {URL}"),
        ([(202, replay_of("errored", error="Lost."))], 2, "The replay is errored. Lost."),
        ([(202, replay_of(["finished"])), (200, replay_of("cancelled"))], 2, "The replay is cancelled."),
        ([(202, replay_of()), HANG_UP], 2, "stopped answering before its report was read"),
        ([(202, replay_of()), problem(404, "Gone.")], 3, "Gone."),
        ([(200, b"<html>hello</html>")], 3, "does not answer like a LoomVerify server"),
        ([(404, b"nothing")], 3, "does not answer like a LoomVerify server"),
    ],
)  # fmt: skip
def test_what_keeps_the_corpus_from_being_judged_is_one_sentence(
    server: ScriptedServer,
    capsys: pytest.CaptureFixture[str],
    answers: list[Any],
    code: int,
    message: str,
) -> None:
    server.answers = answers

    result = run(server)

    written = capsys.readouterr()
    assert result == code
    assert message in written.err
    assert written.out == ""


HOSTILE: dict[str, Any] = {
    "no JSON": b"<html>",
    "a list": [],
    "nothing in it": {},
    "counts that are words": report_of(HELD, counts={"held": "many"}),
    "counts below nothing": report_of(counts={"held": -1}),
    "counts of another kind": report_of(HELD, counts={"fine": 1}),
    "a regression that is counted and not listed": report_of(HELD, counts=NONE | {"regressed": 1}),
    "a regression that is listed and not counted": report_of(REGRESSED, counts=NONE),
    "results that are no list": report_of(results="all fine"),
    "results that are no mappings": report_of(results=["fine"]),
    "a change that there is not": {**report_of(HELD), "results": [{"change": "fine"}]},
    "brackets without end": b"[" * 100_000,
    "fewer cases than there were": report_of(HELD, total=100),
    "counts that are truths": report_of(HELD, counts=NONE | {"held": True}),
    "a replay that goes on": report_of(HELD, state="running"),
    "another replay": report_of(HELD, id="9a9a"),
    "a case that holds and differs": report_of(result("a", "held", differences=[DIFFERENCE])),
    "a case that holds and lacks answers": report_of(result("a", "fixed", missing=1, questions=1)),
    "a case that holds and broke": report_of(result("a", "held", error="Lost.")),
    "a case that holds and fails": report_of(result("a", "held", standing="failing")),
    "a share beyond all": json.dumps(report_of(HELD, stale_share=10**400)).encode(),
    "a share that is no number": json.dumps(report_of(HELD, stale_share=float("nan"))).encode(),
}


@check_rows("report", HOSTILE.values(), ids=list(HOSTILE))
def test_a_report_that_cannot_be_read_is_never_a_success(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str], report: Any
) -> None:
    server.answers = [(202, replay_of()), (200, report), (200, JUNIT)]

    assert run(server) == 2
    assert capsys.readouterr().err.startswith("loomverify: ")


def test_what_a_server_says_cannot_steer_a_terminal(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = "a\x1b[2Jb\nc"
    difference = {"place": bad, "expected": bad, "observed": {bad: [bad]}}
    regressed = report_of(result(bad, "regressed", process=bad, differences=[difference]))
    server.answers = [(202, replay_of(url=bad)), (200, regressed), (200, JUNIT)]

    run(server)

    written = capsys.readouterr()
    assert "\x1b" not in written.out + written.err
    assert "expected  a�[2Jb ⏎ c" in written.out


def test_the_wait_ends_with_the_time_given(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers = [(202, replay_of("running"))]

    assert run(server, "--wait", "0.05") == 2
    assert f"The replay is running. {URL}" in capsys.readouterr().err


def test_nobody_there_is_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--url", "http://127.0.0.1:1", "--key", KEY]) == 2
    assert "No server answers at http://127.0.0.1:1" in capsys.readouterr().err


@check_rows(
    ("arguments", "message"),
    [
        ([], "usage: loomverify golden run"),
        (["play"], "usage: loomverify golden run"),
        (["run", "--unheard-of"], "Unrecognized arguments"),
        (["run", "--verifier", "newest", "--key", KEY], "Argument --verifier"),
        (["run"], "give --key, or set LOOMVERIFY_API_KEY"),
        (["run", "--wait", "nan", "--key", KEY], "0 or more seconds"),
        (["run", "--url", "verify.example.com", "--key", KEY], "is not an address of a server"),
        (["run", "--legacy", "--key", KEY], "--legacy goes with --local."),
        (["run", "--process-file", "x", "--key", KEY], "--process-file goes with --local."),
        (["run", "--local", "--live"], "--live goes without --local."),
        (["run", "--local", "--verifier", "2"], "--verifier goes without --local."),
        (["run", "--local", "/nowhere.yaml"], "/nowhere.yaml cannot be read"),
        (["run", "--local", "--process-file", "/nowhere.yaml"], "/nowhere.yaml cannot be read"),
        (["prompts", "now"], "takes no arguments"),
    ],
)
def test_a_wrong_call_says_why_and_ends_with_three(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(arguments) == 3
    assert message in capsys.readouterr().err


def test_help_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert loomverify(["golden", "--help"]) == 0
    assert "golden check" in capsys.readouterr().out


def test_colour_is_for_terminals() -> None:
    replay = ReplayTold({Change.HELD: 1})

    assert "\x1b[32m✔ 1 hold\x1b[0m" in text_of(replay, colour=True)
    assert "\x1b" not in text_of(replay)


def test_the_command_reaches_a_server_without_django() -> None:
    script = (
        "import sys; from verification.golden.command import main; main(['run', '--wait', 'x']);"
        "print([name for name in sys.modules if name.split('.')[0] in {'django', 'celery'}])"
    )

    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert result.stdout.strip() == "[]"


# ------------------------------------------------------------------ on a real server


@pytest.fixture
def project(transactional_db: None) -> Project:
    return make_project("loom")


@pytest.fixture
def worker(project: Project) -> Iterator[None]:
    """Works off what is started, as workers elsewhere would."""
    over = threading.Event()

    def work() -> None:
        from django.db import connection

        while not over.wait(0.05):
            for replay in Replay.objects.filter(state__in=OPEN_STATES):
                run_now(replay)
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    over.set()
    thread.join()


def run_at(live_server: Any, role: Role, *options: str) -> int:
    key = f"{TOKEN}loom{role}"
    return main(["run", "--url", live_server.url, "--key", key, "--wait", "60", *options])


def test_a_real_server_replays_reports_and_tells_what_regressed(
    project: Project,
    worker: None,
    live_server: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Api(project, Role.EDITOR)
    case_that_held(project, "speaks-of-revenue")
    junit = tmp_path / "junit.xml"

    assert run_at(live_server, Role.EDITOR) == 0
    version = put_live(version_of(project, BREAKING), "Try.")
    assert run_at(live_server, Role.EDITOR, "--junit", str(junit)) == 1

    written = capsys.readouterr().out
    assert "1 case: ✔ 1 hold" in written
    assert "✖ regressed  speaks-of-revenue  (small-work)\n    outcome\n" in written
    assert fromstring(junit.read_bytes()).get("failures") == "1"
    replay = Replay.objects.order_by("-pk")[0]
    assert (replay.purpose, replay.results.get().process_version) == (ReplayPurpose.CI, version)


def test_a_real_server_says_what_it_refuses(
    project: Project, live_server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    Api(project, Role.VIEWER)
    Api(project, Role.EDITOR)

    assert main(["run", "--url", live_server.url, "--key", KEY]) == 3
    assert run_at(live_server, Role.VIEWER) == 3
    assert run_at(live_server, Role.EDITOR, "--verifier", "9") == 3
    assert run_at(live_server, Role.EDITOR, "--process-version", "1") == 3
    assert run_at(live_server, Role.EDITOR) == 2

    told = capsys.readouterr()
    assert "does not accept this key" in told.err
    assert "needs the role editor" in told.err
    assert "There is no verifier version 9." in told.err
    assert "nothing was replayed" in told.out


def test_a_case_that_cannot_be_judged_is_no_success_on_a_real_server(
    project: Project, worker: None, live_server: Any
) -> None:
    Api(project, Role.EDITOR)
    make_case(project, **{**HOLDS, "phase": "write", "tier": 2, "files": {}})

    assert run_at(live_server, Role.EDITOR) == 2


# ------------------------------------------------------------------ here, without a server

CASE: dict[str, Any] = {
    "id": "plain-work-passes",
    "guards": "Plain work passes.",
    "process": "general",
    "phase": "work",
    "tier": 1,
    "run": {"task": {"id": "t", "description": "Sum up."}, "output": "Revenue rose by 4 %."},
    "expected": {"outcome": "pass"},
}
WRONG = CASE | {"id": "wrong", "expected": {"outcome": "fail"}}
UNASKED = CASE | {"id": "unasked", "tier": 2}
BIRD = WRONG | {"id": "bird", "tags": ["canary"]}
OWN_PROCESS = "name: general\nphases:\n  - id: work\n    description: Do it.\nverification:\n  rules:\n    - name: no-revenue\n      check: Revenue\n      type: regex\n      enforcement: hard\n      applies_to_phases: ['*']\n"


def written(folder: Path, *cases: object, name: str = "cases.yaml") -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(list(cases)))
    return str(path)


def here(*options: str) -> int:
    return main(["run", "--local", *options])


@pytest.mark.parametrize(
    ("cases", "options", "code"),
    [
        ([CASE], [], 0),
        ([CASE, WRONG], [], 1),
        ([CASE, UNASKED], [], 2),
        ([WRONG, UNASKED], [], 1),
        ([CASE, BIRD], [], 0),
        ([CASE, BIRD], ["--canary"], 1),
        ([CASE, BIRD], ["--tag", "canary"], 1),
        ([CASE, WRONG], ["--process", "code"], 2),
        ([CASE, WRONG], ["--tag", "fast"], 2),
        ([CASE | {"process": "unheard-of"}], [], 2),
        ([CASE | {"phase": "unheard-of"}], [], 2),
        ([CASE | {"expected": {"outcome": "fine"}}], [], 3),
        ([CASE, CASE], [], 3),
        (["a case"], [], 3),
        ([], [], 2),
    ],
    ids=[
        "holds", "does not hold", "was not recorded", "does not hold, and was not recorded",
        "a canary is left out", "a canary is asked for", "a canary is asked for by its tag",
        "no case of this process", "no case with this tag", "no such process", "no such phase",
        "no case at all", "two of a name", "no mapping", "nothing",
    ],
)  # fmt: skip
def test_here_the_exit_code_says_whether_every_case_holds(
    tmp_path: Path, cases: Sequence[object], options: list[str], code: int
) -> None:
    assert here(written(tmp_path, *cases), *options) == code


def test_a_case_that_cannot_be_read_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, CASE, CASE | {"id": "bad", "expected": {"outcome": "fine"}})

    here(path)

    assert f"{path} bad: expected.outcome: Input should be" in capsys.readouterr().err


def test_files_and_folders_of_yaml_and_json_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, CASE, name="all/one.yaml")
    (tmp_path / "all" / "deeper").mkdir()
    (tmp_path / "all" / "deeper" / "two.json").write_text(json.dumps([CASE | {"id": "two"}]))
    (tmp_path / "all" / "notes.md").write_text("No cases.")

    code = here(str(tmp_path / "all"), written(tmp_path, CASE | {"id": "three"}))

    assert code == 0
    assert "3 cases: ✔ 3 hold" in capsys.readouterr().out


def test_a_process_file_takes_the_place_of_a_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    process = tmp_path / "general.yaml"
    process.write_text(OWN_PROCESS)

    code = here(written(tmp_path, CASE), "--process-file", str(process))

    assert code == 1
    assert "✖ regressed  plain-work-passes  (general)" in capsys.readouterr().out


def test_a_process_file_that_does_not_load_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    process = tmp_path / "general.yaml"
    process.write_text("name: general\nphases: 3\n")

    assert here(written(tmp_path, CASE), "--process-file", str(process)) == 3
    assert f"{process}:2: " in capsys.readouterr().err


def test_the_old_engine_replays_too(tmp_path: Path) -> None:
    process = tmp_path / "general.yaml"
    process.write_text(OWN_PROCESS.replace("      enforcement: hard\n", ""))
    path = written(tmp_path, CASE | {"expected": {"outcome": "fail"}})

    assert here(path, "--process-file", str(process)) == 1
    assert here(path, "--process-file", str(process), "--legacy") == 0


def test_a_folder_without_cases_and_a_file_of_something_else_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.yaml").write_text("a: [")

    assert here(str(tmp_path / "empty")) == 3
    assert here(str(tmp_path / "bad.yaml")) == 3
    told = capsys.readouterr().err
    assert "holds no file of cases" in told
    assert f"{tmp_path / 'bad.yaml'} is no list of cases." in told
    assert "Line 2, column 1" in told


def test_here_both_reports_are_written(tmp_path: Path) -> None:
    report, junit = tmp_path / "report.json", tmp_path / "junit.xml"
    path = written(tmp_path, CASE, WRONG, UNASKED)

    here(path, "--report", str(report), "--junit", str(junit))

    found = json.loads(report.read_text())
    suites = fromstring(junit.read_bytes())
    assert {one["name"]: (one["change"], one["missing"]) for one in found["results"]} == {
        "wrong": ("regressed", 0),
        "unasked": ("not_judged", 1),
        "plain-work-passes": ("held", 0),
    }
    assert [suites.get(name) for name in ("tests", "failures", "errors")] == ["3", "1", "1"]
    assert {one.get("name") for one in suites.iter("testcase")} == {
        "wrong", "unasked", "plain-work-passes",
    }  # fmt: skip


@pytest.mark.extended
@pytest.mark.parametrize(
    ("prompt", "stale", "share"), [("0" * 16, 1, 1.0), ("", 0, 0.0)], ids=["another", "unknown"]
)
def test_here_too_an_answer_to_another_question_is_used_and_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], prompt: str, stale: int, share: float
) -> None:
    report = tmp_path / "report.json"
    replies = [{"text": PASSING, "prompt": prompt}]
    path = written(tmp_path, UNASKED | {"replies": replies, "expected": {"verdict": "accept"}})

    code = here(path, "--report", str(report))

    found = json.loads(report.read_text())
    counted = [found["results"][0][name] for name in ("change", "questions", "stale", "missing")]
    assert counted == ["held", 1, stale, 0]
    assert (code, found["stale_share"]) == (0, share)
    told = capsys.readouterr().out
    assert ("100% of the questions have changed since" in told) == bool(stale)


def test_a_report_that_cannot_be_written_is_no_success(tmp_path: Path) -> None:
    assert here(written(tmp_path, CASE), "--junit", str(tmp_path)) == 3


@pytest.mark.extended
def test_here_neither_server_nor_database_is_needed_and_nothing_is_left_behind(
    tmp_path: Path,
) -> None:
    here, path = tmp_path / "here", written(tmp_path, CASE)
    here.mkdir()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    loomverify = str(Path(sys.executable).with_name("loomverify"))

    result = subprocess.run(
        [loomverify, "golden", "run", "--local", path],
        cwd=here,
        env={"PATH": os.environ["PATH"], "LOOMVERIFY_ENV": "production", "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
    )

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "1 case: ✔ 1 hold\n"
    assert [*here.iterdir(), *temporary.iterdir()] == []


@pytest.mark.extended
def test_cases_whose_process_was_killed_could_not_be_judged() -> None:
    cases = [CaseOfFile("cases.yaml", CASE | {"id": f"case-{number}"}) for number in range(4_000)]

    def kill_all(done: int, _total: int) -> None:
        for child in psutil.Process().children(recursive=True) if done == 1 else ():
            child.kill()

    found = local.replay_all(cases, local.Setting(), on_progress=kill_all)

    assert [one.case for one in found] == cases
    assert (found[0].change, found[-1].change) == (Change.HELD, Change.NOT_JUDGED)
    assert found[-1].error == local.LOST


def test_check_lists_what_does_not_hold_and_on_request_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unreadable = CASE | {"id": "bad", "expected": {"outcome": "fine"}}
    path = written(tmp_path, CASE, WRONG, UNASKED, BIRD, unreadable)

    code = main(["check", path])
    short = capsys.readouterr().out
    main(["check", "-v", path])
    long = capsys.readouterr().out

    assert code == 1
    assert f"FAILING {path} wrong\n    outcome: expected 'fail', observed 'pass'\n" in short
    assert f"NOT JUDGED {path} unasked\n" in short
    assert f"UNREADABLE {path} bad\n" in short
    assert f"FAILING {path} bird\n" in short
    assert "plain-work-passes" not in short
    assert short.endswith("5 cases, 4 not held\n")
    assert f"HELD {path} plain-work-passes\n" in long
    assert '"verdict": "accept"' in long


def test_check_tells_a_class_of_difference_by_its_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", written(tmp_path, CASE | {"expected": {"shadow": "old_pass_new_fail"}})])

    told = capsys.readouterr().out
    assert "    shadow: expected 'old_pass_new_fail', observed 'no_diff'\n" in told


@pytest.mark.extended
def test_check_names_on_request_other_cases_in_which_much_the_same_is_submitted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = {"task": {"id": "t9", "description": "Count the bridges."}, "output": "There are nine."}
    path = written(tmp_path, CASE, CASE | {"id": "again"}, CASE | {"id": "bridges", "run": run})

    main(["check", path])
    short = capsys.readouterr().out
    main(["check", "-v", path])
    long = capsys.readouterr().out

    assert "much like" not in short
    assert long.count("much like") == 2
    assert "    much like: again\n" in long
    assert "    much like: plain-work-passes\n" in long


def test_check_is_content_where_all_hold(tmp_path: Path) -> None:
    assert main(["check", written(tmp_path, CASE)]) == 0
