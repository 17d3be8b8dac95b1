"""Runs that ask for gates, through web, queue and a worker that reaches a Docker engine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from docker import APIClient

from loomverify.submit_command import RUN_FILE
from tests.benchmarks.gates import containers_made
from tests.sandbox.engine import IMAGE
from tests.sandbox.test_languages import GO, PYTHON
from tests.stack import Stack, running_stack, wait_for
from verification.runs.gating.vulnerable import ADVISORIES

pytestmark = [pytest.mark.docker, pytest.mark.faults]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "gates"
PROCESS = """\
name: coding
phases:
  - id: implement
    description: Write it
    acceptance_criteria: It works
    gates: [install, build, test, lint, security]
"""
SLOW = "import time\n\n\ndef test_it():\n    time.sleep(8)\n"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    variables = {
        "DOCKER_HOST": os.environ.get("DOCKER_HOST", ""),
        "LOOMVERIFY_SANDBOX_IMAGE_PYTHON": IMAGE,
        "LOOMVERIFY_SANDBOX_IMAGE_GO": IMAGE,
        "LOOMVERIFY_SANDBOX_IMAGE_NODE": IMAGE,
    }
    options: dict[str, Any] = {"settings": "tests.faults.settings", "variables": variables}
    names = ("web", "worker", "worker-sandbox", "relay")
    with running_stack(tmp_path_factory.mktemp("stack"), *names, **options) as stack:
        with stack.client(**{"Content-Type": "application/yaml"}) as client:
            assert client.post("/processes", content=PROCESS).status_code == 201
        wait_for(lambda: _beats(stack), "a worker that a Docker engine answers")
        yield stack


def _beats(stack: Stack) -> bool:
    return bool(stack.query("select 1 from runs_heartbeat where role = 'worker-sandbox'"))


def submitted(
    stack: Stack,
    files: Mapping[str, str],
    task: str,
    base: Mapping[str, str] | None = None,
    plan: str = "",
) -> str:
    body = {
        "process": "coding",
        "task": {"id": task, "description": "Add two numbers.", "plan": plan},
        "output": "done",
        "files": dict(files),
        **({"base": dict(base)} if base else {}),
    }
    with stack.client() as client:
        answer = client.post("/runs", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def ended(stack: Stack, run: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def is_over() -> bool:
        with stack.client() as client:
            found.update(client.get(f"/runs/{run}?wait=60").json())
        return found["state"] not in {"queued", "running"}

    wait_for(is_over, "the end of the run", seconds=240)
    return found


def gates(run: Mapping[str, Any]) -> dict[str, str]:
    """By gate; not the note that no known vulnerabilities are loaded."""
    ran = (one for one in run["gates"] if one["component"] != ADVISORIES)
    return {one["gate"]: one["status"] for one in ran}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("discount", (None, [])),
        ("discount-broken",
         ("tests_failed", [("lint", "discount.py", 3), ("test", "test_discount.py", 17)])),
    ],
)  # fmt: skip
def test_the_example_of_the_documentation_ends_as_it_says(
    stack: Stack, name: str, found: tuple[str | None, list[tuple[str, str, int]]]
) -> None:
    folder = EXAMPLES / name
    body = json.loads((folder / RUN_FILE).read_text())
    with stack.client(**{"Content-Type": "application/yaml"}) as client:
        client.post("/processes", content=(EXAMPLES / "process.yaml").read_text())
    body["task"]["id"] = name
    files = {one.name: one.read_text() for one in folder.iterdir() if one.name != RUN_FILE}
    with stack.client() as client:
        answer = client.post("/runs", json={**body, "files": files})

    assert answer.status_code == 202, answer.text
    run = ended(stack, answer.json()["id"])

    told = sorted((one["rule"], one["path"], one["line"]) for one in run["findings"])
    assert (run["reason_code"], told) == found, run


def test_a_run_is_accepted_by_its_tests_and_the_same_work_is_not_tried_again(stack: Stack) -> None:
    first_id = submitted(stack, PYTHON, "first")

    first = ended(stack, first_id)
    again = ended(stack, submitted(stack, PYTHON, "again"))

    assert (first["verdict"], first["confidence_level"]) == ("accept", "HIGH")
    assert gates(first) == {
        "install": "skipped",
        "build": "passed",
        "test": "passed",
        "lint": "passed",
        "security": "passed",
    }
    assert {one["reused_from"] for one in first["gates"]} == {None}
    assert {one["reused_from"] for one in again["gates"] if one["status"] == "passed"} == {first_id}
    assert again["verdict"] == "accept"


def test_a_code_change_runs_its_gates_and_says_that_no_vulnerabilities_are_loaded(
    stack: Stack,
) -> None:
    body = {
        "process": "code-change",
        "phase": "implement",
        "task": {"id": "code-change", "description": "Add two numbers."},
        "files": PYTHON,
    }
    with stack.client() as client:
        answer = client.post("/runs", json=body)
    assert answer.status_code == 202, answer.text

    run = ended(stack, answer.json()["id"])

    [note] = [one for one in run["gates"] if one["component"] == ADVISORIES]
    assert set(gates(run)) == {"install", "build", "test", "lint", "security"}
    assert (note["gate"], note["status"]) == ("security", "skipped")
    assert "loomverify advisories load" in note["detail"]
    assert run["reason_code"] == "verifier_unavailable", "no judge is configured here"


def test_a_test_that_passed_after_one_build_says_nothing_of_it_after_another(stack: Stack) -> None:
    files = {
        "pytest.ini": "[pytest]\n",
        "gen.py": "open('made.py', 'w').close()\n",
        "test_it.py": "def test_it():\n    import made\n",
    }
    plan = "Build commands:\n\n    {}\n"

    built = ended(stack, submitted(stack, files, "built", plan=plan.format("python3 gen.py")))
    unbuilt = ended(stack, submitted(stack, files, "unbuilt", plan=plan.format("true")))

    assert gates(built)["test"] == "passed"
    assert (gates(unbuilt)["build"], gates(unbuilt)["test"]) == ("passed", "failed")


def test_a_failed_test_rejects_with_its_place(stack: Stack) -> None:
    wrong = {**PYTHON, "calc.py": "def add(a, b):\n    return 0\n"}

    run = ended(stack, submitted(stack, wrong, "wrong"))

    [finding] = [one for one in run["findings"] if one["enforcement"] == "hard"]
    assert (run["verdict"], run["reason_code"]) == ("reject", "tests_failed")
    assert finding["rule"] == "test"
    assert (finding["path"], finding["line"]) == ("tests/test_calc.py", 5)


def test_a_failed_test_of_go_rejects_with_its_place_though_its_report_names_no_folder(
    stack: Stack,
) -> None:
    wrong = {f"api/{path}": text.replace("a + b", "a - b") for path, text in GO.items()}

    run = ended(stack, submitted(stack, wrong, "wrong go"))

    places = [(one["path"], one["line"]) for one in run["findings"] if one["rule"] == "test"]
    assert places == [("api/calc_test.go", 7)]


def test_only_what_is_new_since_the_base_counts(stack: Stack) -> None:
    test = "def test_old():\n    assert sign(0) == 0\n"
    before = {
        "pytest.ini": "[pytest]\n",
        "calc.py": "def sign(a):\n    return 1\n",
        "test_calc.py": f"from calc import sign\n\n\n{test}",
    }
    grown = {**before, "more.py": "def half(a):\n    return a / 2\n"}
    broken = {**grown, "test_more.py": "def test_new():\n    assert False\n"}

    accepted = ended(stack, submitted(stack, grown, "grown", base=before))
    rejected = ended(stack, submitted(stack, broken, "broken", base=before))

    assert accepted["verdict"] == "accept"
    assert [one["enforcement"] for one in accepted["findings"] if one["rule"] == "test"] == [
        "observe"
    ]
    parts = {one["name"]: one["why"] for one in accepted["score"]["parts"]}
    assert parts["coverage of changed lines"] == "0 of 2"
    [finding] = [one for one in rejected["findings"] if one["enforcement"] == "hard"]
    assert (rejected["verdict"], finding["path"]) == ("reject", "test_more.py")
    [[count]] = stack.query("select count(*) from runs_basegateresult where reused_from_id is null")
    assert count == 2, "the base was built and tested once for both"


def test_unchanged_work_whose_tests_failed_before_it_too_starts_no_container(stack: Stack) -> None:
    failing = "def test_old():\n    assert 1 == 2\n"
    before = {**PYTHON, "tests/test_old.py": failing}
    work = {**before, "calc.py": f"{PYTHON['calc.py']}\n\ndef unused() -> int:\n    return 1\n"}
    first = ended(stack, submitted(stack, work, "old-failure", base=before))

    with containers_made(stack) as made:
        again = ended(stack, submitted(stack, work, "old-failure-again", base=before))

    assert made == []
    assert (gates(again), again["verdict"]) == (gates(first), "accept")
    assert gates(again)["test"] == "failed"


def test_new_code_of_node_that_no_test_loads_was_not_run(stack: Stack) -> None:
    before = {
        "package.json": '{"name": "calc", "scripts": {"test": "node --test"}}',
        "calc.js": "exports.one = () => 1;\n",
        "calc.test.js": "const { one } = require('./calc.js');\n"
        "require('node:test')('one', () => { if (one() < 1) throw new Error(); });\n",
    }
    work = {
        **before,
        "calc.js": "exports.one = () => 1;\nexports.two = 2;\n",
        "src/b.js": "// Half of it.\nexports.half = (a) => {\n  return a / 2;\n};\n",
    }

    run = ended(stack, submitted(stack, work, "unloaded", base=before))

    parts = {one["name"]: one["why"] for one in run["score"]["parts"]}
    told = "1 of 3; 2 new lines in src/b.js were in no report"
    assert parts["coverage of changed lines"] == told


def test_what_fails_only_while_lines_are_counted_is_not_the_works_fault(stack: Stack) -> None:
    counted = "import sys\n\n\ndef test_nobody_looks_on():\n    assert sys.gettrace() is None\n"
    before = {"pytest.ini": "[pytest]\n"}

    run = ended(stack, submitted(stack, {**before, "test_it.py": counted}, "alone", base=before))

    assert (run["verdict"], gates(run)["test"]) == ("accept", "passed")


def test_what_a_project_redacts_is_not_kept_of_what_its_tests_write(stack: Stack) -> None:
    said = "''.join(['t', 'ok'])"
    files = {
        "pytest.ini": "[pytest]\n",
        "test_it.py": f"def test_it():\n    told = {said} + '-77'\n    print(told)\n    assert told == 'x'\n",
    }
    stack.query("update accounts_project set redaction_patterns = '{tok-[0-9]+}' returning id")
    try:
        run = ended(stack, submitted(stack, files, "redacted"))
    finally:
        stack.query("update accounts_project set redaction_patterns = '{}' returning id")

    kept = b"".join(
        path.read_bytes() for path in stack.folder.rglob("evidence/**/*") if path.is_file()
    )
    assert (run["verdict"], run["reason_code"]) == ("reject", "tests_failed")
    assert "[redacted]" in str(run["findings"])
    assert "tok-77" not in str(run)
    assert b"tok-77" not in kept
    assert b"[redacted]" in kept


def test_a_killed_worker_leaves_no_container_and_loses_no_run(
    stack: Stack, engine: APIClient
) -> None:
    def mine() -> list[Any]:
        found = engine.containers(all=True, filters={"label": "loomverify.owner"})
        return [one for one in found if not one["Labels"]["loomverify.owner"].startswith("tests-")]

    run = submitted(stack, {"pytest.ini": "[pytest]\n", "test_slow.py": SLOW}, "slow")
    wait_for(lambda: len(mine()) > 0, "a container", seconds=60)

    stack.kill("worker-sandbox")
    stack.start("worker-sandbox")
    found = ended(stack, run)

    assert (found["verdict"], gates(found)["test"]) == ("accept", "passed")
    wait_for(lambda: not mine(), "the end of every container", seconds=60)


ADVISORY = {
    "id": "GHSA-jjjj-pppp-qqqq",
    "modified": "2026-01-02T00:00:00Z",
    "summary": "SQL injection",
    "affected": [
        {
            "package": {"ecosystem": "PyPI", "name": "django"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "4.2.2"}]}],
        }
    ],
    "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}],
}


def test_a_locked_version_with_a_loaded_advisory_rejects_with_its_place(
    stack: Stack, tmp_path: Path
) -> None:
    snapshot = tmp_path / "all.jsonl"
    taken_at = datetime.now(UTC).date().isoformat()
    snapshot.write_text(json.dumps(ADVISORY) + "\n")
    stack.run("advisories", "load", str(snapshot), "--taken-at", taken_at)

    run = ended(stack, submitted(stack, {"constraints.txt": "django==4.2.1\n", **PYTHON}, "locked"))

    assert (run["verdict"], run["reason_code"]) == ("reject", "security_failed")
    [finding] = [one for one in run["findings"] if one["reason_code"] == "security_failed"]
    assert (finding["path"], finding["line"]) == ("constraints.txt", 1)
    assert "GHSA-jjjj-pppp-qqqq: django 4.2.1" in finding["message"]


def test_without_a_docker_engine_nobody_is_blamed(stack: Stack) -> None:
    stack.kill("worker-sandbox")
    stack.query("delete from runs_heartbeat where role = 'worker-sandbox' returning id")

    run = submitted(stack, {**PYTHON, "more.py": "x = 1\n"}, "alone")
    wait_for(lambda: _concluded(stack, run), "an evaluation", seconds=60)

    with stack.client() as client:
        waiting = client.get(f"/runs/{run}").json()
        client.post(f"/runs/{run}/cancel")
    assert {one["status"] for one in waiting["gates"]} == {"error"}
    assert {one["reason_code"] for one in waiting["findings"]} == {"sandbox_unavailable"}
    assert waiting["state"] == "queued", "it verifies itself again"


def _concluded(stack: Stack, run: str) -> bool:
    return bool(
        stack.query(
            "select 1 from runs_evaluation join runs_run on runs_run.id = run_id"
            " where runs_run.uuid = %s and runs_evaluation.finished_at is not null",
            run,
        )
    )
