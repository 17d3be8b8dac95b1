"""What a task remembers of its attempts, from submission to answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.builders import make_user, signed_in
from tests.model_server import model_server
from tests.reviewing import make_review
from tests.runs.conftest import Caller, new_process, problem
from tests.runs.judged import FAILING, judged_by
from verification.runs import worker
from verification.runs.models import Run, Task

BAD: dict[str, Any] = {"return_code": 1}
TASK = {"id": "the-task"}


def attempts(run: dict[str, Any]) -> tuple[int, int]:
    return run["task"]["attempts_used"], run["task"]["repeats"]


def test_a_rejected_submission_that_comes_again_later_is_not_counted_twice(agent: Caller) -> None:
    runs = [agent.submit(task=TASK, output=output, **BAD) for output in ("A", "B", "A")]

    assert attempts(runs[-1]) == (2, 0)
    assert not runs[-1]["task"]["exhausted"]
    assert "it is not counted again" in runs[-1]["feedback"]["text"]


@pytest.mark.parametrize(
    "parts",
    [
        [{"diff": "-a\n+b\n"}, {"diff": "-a\n+c\n"}],
        [{"return_code": 1}, {"return_code": 2}],
        [{"evidence": [{"id": "e", "text": text}]} for text in ("3 passed", "4 passed")],
        [
            {"tool_calls": [{"tool": "bash", "success": True, "args": {"command": command}}]}
            for command in ("ls", "ls -l")
        ],
        [{"alternatives": ["A"]}, {"alternatives": ["B"]}],
        [{"base": {"a.py": "1"}}, {"base": {"a.py": "2"}}],
    ],
)
def test_other_work_with_the_same_output_uses_up_an_attempt(
    agent: Caller, parts: list[dict[str, Any]]
) -> None:
    runs = [agent.submit(task=TASK, **{**BAD, **part}) for part in parts]

    assert attempts(runs[-1]) == (2, 0)


def test_json_that_is_written_otherwise_is_the_same_submission(agent: Caller) -> None:
    outputs = ('{"a": 1.0, "b": [2]}', '{ "b": [2.0],"a": 1}', '{"b":[2],"a":1e0}')

    runs = [agent.submit(task=TASK, output=output, **BAD) for output in outputs]

    assert attempts(runs[-1]) == (1, 2)
    assert runs[-1]["reason_code"] == "repeated_candidate"


def test_a_task_without_attempts_left_names_the_way_out(agent: Caller) -> None:
    agent.submit(task={**TASK, "max_attempts": 1}, **BAD)

    answer = agent.post(
        "/runs", {"process": "general", "task": {**TASK, "description": "Again."}, "output": "x"}
    )

    assert problem(answer)[:2] == (409, "attempts_exhausted")
    assert "another task id" in answer.json()["detail"]


MISSING = {"expected_outputs": ["a.md", "b.json"], "max_attempts": 9}


def three_attempts(agent: Caller) -> list[dict[str, Any]]:
    """b.json is broken, then whole while a.md is missing, then broken again."""
    return [
        agent.submit(task={**TASK, **MISSING}, files=files)
        for files in (
            {"b.json": "{,}"},
            {"b.json": "{}", "c.md": "c"},
            {"b.json": "{,}", "a.md": "It is done."},
        )
    ]


def test_findings_are_compared_with_those_of_earlier_attempts(agent: Caller) -> None:
    first, second, third = three_attempts(agent)

    assert {finding["since_last"] for finding in first["findings"]} == {None}
    assert (first["feedback"]["resolved"], second["feedback"]["not_checked"]) == ([], [])
    assert [(one["path"], one["since_last"]) for one in second["findings"]] == [("a.md", "remains")]
    assert [one["path"] for one in second["feedback"]["resolved"]] == ["b.json"]
    assert [(one["path"], one["since_last"]) for one in third["feedback"]["items"]] == [
        ("b.json", "back")
    ]
    assert "Since the last attempt: 1 resolved, 1 back." in third["feedback"]["text"]


def test_an_accept_lists_what_was_resolved(agent: Caller) -> None:
    three_attempts(agent)

    run = agent.submit(task={**TASK, **MISSING}, files={"b.json": "{}", "a.md": "It is done."})

    assert (run["verdict"], run["feedback"]["text"]) == ("accept", "")
    assert [one["path"] for one in run["feedback"]["resolved"]] == ["b.json"]


def test_an_undecided_run_is_no_earlier_attempt(agent: Caller) -> None:
    agent.submit(task={**TASK, **MISSING}, files={"b.json": "{,}"})
    doubt = agent.submit(task={**TASK}, output="All is there.", tier=2)

    again = agent.submit(task={**TASK, **MISSING}, files={"b.json": "{,}"})

    assert doubt["verdict"] == "undecided"
    assert {finding["since_last"] for finding in again["findings"]} == {"remains"}


PHASES = """
name: two-phases
schema_version: 2
phases:
  - {id: plan, description: Plan it.}
  - {id: build, description: Build it.}
"""


def test_another_phase_of_the_task_is_no_earlier_attempt(agent: Caller) -> None:
    new_process(agent.project, PHASES)
    for phase in ("plan", "build"):
        run = agent.submit(process="two-phases", phase=phase, task=TASK, **BAD)

    assert [finding["since_last"] for finding in run["findings"]] == [None]


def test_the_pages_say_what_changed_since_the_last_attempt(agent: Caller, project: Project) -> None:
    run = Run.objects.get(uuid=three_attempts(agent)[-1]["id"])
    review = make_review(project, run)
    client = signed_in(make_user(project, Role.REVIEWER))

    for url in (
        reverse("run_detail", args=[project.slug, run.uuid]),
        reverse("review_item", args=[project.slug, review.uuid]),
    ):
        html = client.get(url).content.decode()
        assert "Since the last attempt: 1 resolved, 1 back." in html
        assert '<span class="tag">back</span>' in html


def test_a_review_over_the_api_says_what_changed(agent: Caller, project: Project) -> None:
    review = make_review(project, Run.objects.get(uuid=three_attempts(agent)[-1]["id"]))

    answer = Caller(project, Role.REVIEWER).get(f"/reviews/{review.uuid}").json()

    assert [finding["since_last"] for finding in answer["findings"]] == ["back"]


def test_a_blind_review_does_not_say_what_changed(agent: Caller, project: Project) -> None:
    run = Run.objects.get(uuid=three_attempts(agent)[-1]["id"])
    review = make_review(project, run, is_blind=True)
    client = signed_in(make_user(project, Role.REVIEWER))

    html = client.get(reverse("review_item", args=[project.slug, review.uuid])).content.decode()

    assert "Since the last attempt" not in html


def test_a_judge_does_not_see_earlier_attempts(agent: Caller, project: Project) -> None:
    with model_server(FAILING) as server:
        judged_by(project, server)
        first = agent.submit(task=TASK, tier=2, output="Two quarters are summed up.")
        second = agent.submit(task=TASK, tier=2, output="Three quarters are summed up.")

    assert second["findings"][0]["since_last"] == "remains"
    for told in (first["findings"][0]["message"], "last attempt", "Two quarters"):
        assert told not in server.prompts()[-1]


def test_a_judges_problem_is_not_resolved_while_no_judge_is_asked(
    agent: Caller, project: Project
) -> None:
    with model_server(FAILING) as server:
        judged_by(project, server)
        agent.submit(task=TASK, tier=2)
        broken = agent.submit(task=TASK, tier=2, **BAD)
        again = agent.submit(task=TASK, tier=2, output="Three quarters are summed up.")

    assert (broken["feedback"]["resolved"], len(broken["feedback"]["not_checked"])) == ([], 1)
    assert [(one["rule"], one["since_last"]) for one in again["findings"]] == [
        ("acceptance-criteria", "remains")
    ]
    assert [one["rule"] for one in again["feedback"]["resolved"]] == ["return-code"]


@pytest.mark.django_db(transaction=True)
def test_runs_that_end_at_once_use_up_one_attempt_for_each_submission(agent: Caller) -> None:
    task = {**TASK, "description": "Write the summary.", "max_attempts": 9}
    runs = [
        agent.post("/runs", {"process": "general", "task": task, "output": output, **BAD}).json()
        for output in "ABAB"
    ]

    def verify(run: dict[str, Any]) -> None:
        try:
            worker.work_on(Run.objects.get(uuid=run["id"]).pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(runs)) as pool:
        list(pool.map(verify, runs))

    assert Task.objects.get(external_id=TASK["id"]).attempts_used == 2
    assert Run.objects.filter(attempt__isnull=False).count() == 2
