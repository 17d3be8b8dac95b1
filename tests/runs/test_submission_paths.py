"""The paths beside a submission mean the same files as the submission itself."""

from __future__ import annotations

from typing import Any

import pytest

from processes.definition.load import load
from processes.definition.model import Definition
from tests.runs.conftest import Caller, body_of
from verification.engine.case import Case
from verification.engine.checks.materials import searched_files
from verification.engine.evidence import Submission
from verification.engine.verifier import VerifierSpec
from verification.runs.models import Run
from verification.runs.submission import named_paths, submission_of, submission_of_paths

PROCESS = """
name: small
phases:
  - {id: build, description: Build., deliverables: ["report.json — what was found"]}
  - {id: write, description: Write., deliverables: [draft.md]}
"""
HELD = ["draft.md", "notes.txt", "report.json", "src/a.py", "src/b.py"]
FILES = {path: (path, 9) for path in HELD}


def call(files_changed: Any) -> dict[str, Any]:
    return {"tool": "write", "success": True, "files_changed": files_changed}


@pytest.fixture(scope="module")
def definition() -> Definition:
    found = load(PROCESS).definition
    assert found is not None
    return found


def searched(definition: Definition, submission: Submission) -> list[str]:
    phase = definition.phase("build")
    assert phase is not None
    case = Case(definition, phase, submission, VerifierSpec(), tier=1)
    return [file.path for file in searched_files(case)]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({}, ["report.json"]),
        ({"expected_outputs": ["notes.*", "gone.txt"]}, ["notes.txt", "report.json"]),
        ({"expected_outputs": ["src/"]}, ["report.json", "src/a.py", "src/b.py"]),
        ({"calls": [call(["./SRC/b.py", " ", 7]), call(["notes.txt"])]},
         ["notes.txt", "report.json", "src/b.py"]),
        ({"calls": [call("src/b.py"), call(None), call({"path": "src/b.py"})]}, ["report.json"]),
        ({"calls": [call(["/home/agent/work/src/a.py", "/home/agent/work/src/b.py"])]},
         ["report.json", "src/a.py", "src/b.py"]),
    ],
)  # fmt: skip
def test_they_mean_the_files_that_the_whole_means(
    definition: Definition, said: dict[str, Any], meant: list[str]
) -> None:
    task = {"id": "t", "description": "d", "expected_outputs": said.get("expected_outputs", [])}
    body = {"task": task, "output": "x", "tool_calls": said.get("calls", [])}

    beside = submission_of_paths(named_paths(body), FILES)

    assert searched(definition, beside) == meant
    assert searched(definition, submission_of(body, FILES)) == meant


@pytest.mark.django_db
def test_they_are_kept_with_what_is_submitted(agent: Caller) -> None:
    said = {"expected_outputs": ["report.md"]}
    task = {**body_of()["task"], **said}

    answer = agent.post("/runs", body_of(task=task, tool_calls=[call(["a.py", "a.py", 7])]))

    run = Run.objects.get(uuid=answer.json()["id"])
    assert run.submission.named_paths == {**said, "files_changed": ["a.py"]}
