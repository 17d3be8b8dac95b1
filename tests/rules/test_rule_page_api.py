"""Rules over the API: found with what they did, and set to count for more or less."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from loomverify.accounts.models import Project, Role
from loomverify.errors import Issue
from loomverify.guarding import Word
from processes.guards import PUBLISHING, Publication
from tests.builders import make_project
from tests.rules.test_figures import spoken, told
from tests.rules.test_rule_page import NAME, SOURCE, add, process_of
from tests.runs.conftest import Caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = make_project()
    add(project, SOURCE, publishing=True)
    return project


def step(project: Project, **body: Any) -> Any:
    path = f"/processes/small-work/rules/{quote(NAME, safe='')}/enforcement"
    sent = {"enforcement": "advisory", "reason": "It proved itself.", **body}
    return Caller(project, Role.ADMIN).post(path, sent)


def test_rules_are_listed_with_what_they_did(project: Project) -> None:
    run = spoken(project, findings=[{"rule": NAME}], evaluation={"rule_trace": [told(NAME)]})
    caller = Caller(project, Role.VIEWER)

    found = caller.get("/rules?q=fill+cell").json()["items"]

    assert [(one["name"], one["enforcement"], one["violated"]) for one in found] == [
        (NAME, "observe", 1)
    ]
    assert found[0]["last_run"] == str(run.uuid)


def test_pages_of_rules_follow_one_another(project: Project) -> None:
    caller = Caller(project, Role.VIEWER)

    first = caller.get("/rules?limit=2").json()
    rest = caller.get(f"/rules?limit=2&cursor={first['next']}").json()

    names = [one["name"] for one in first["items"] + rest["items"]]
    assert names == sorted(names)
    assert (len(names), rest["next"]) == (3, None)


@pytest.mark.parametrize("query", ["type=poem", "cursor=x", "limit=0", "quest=1", "q=%00"])
def test_a_query_that_cannot_be_is_refused(project: Project, query: str) -> None:
    assert Caller(project, Role.VIEWER).get(f"/rules?{query}").status_code in (400, 422)


def test_a_step_publishes_the_next_version(project: Project) -> None:
    answer = step(project)

    assert answer.status_code == 200
    assert answer.json() == {"slug": "small-work", "published_version": 3}
    published = process_of(project).published
    assert published is not None
    assert published.source_text.replace("advisory ", "observe ") == SOURCE
    assert step(project).json()["errors"][0]["code"] == "rule.unchanged"


def test_a_step_that_somebody_objects_to_needs_a_reason_and_leaves_nothing_behind(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def object_to(wish: Publication) -> Word:
        return Word("test", Issue("test.no", "Not this."), "", "golden/_guard.html", None)

    monkeypatch.setattr(PUBLISHING, "_guards", [object_to])

    refused = step(project)
    versions = process_of(project).versions.count()
    taken = step(project, corpus_reason="We know.")

    assert refused.status_code == 409
    assert refused.json()["errors"][0]["code"] == "test.no"
    assert versions == 2
    assert taken.status_code == 200


def test_a_rule_that_is_not_published_takes_no_step(project: Project) -> None:
    path = "/processes/small-work/rules/none%2Fsuch/enforcement"
    body = {"enforcement": "hard", "reason": "It is time."}

    assert Caller(project, Role.ADMIN).post(path, body).status_code == 404
