"""What a reviewer decides from: the work, what changed in it, and what the verdict was made of."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from loomverify.accounts.models import Project, Role, User
from tests.builders import make_run, make_task, make_user, signed_in
from tests.judged import claim, live_of, make_call, make_votes, set_claims
from tests.reviewing import DOUBTED, make_review
from verification.runs.models import GateResult, Review

pytestmark = pytest.mark.django_db
WHY = "The figure is in the second table."
SAID = "I would reject that, on balance."


@pytest.fixture
def mira(project: Project) -> User:
    return make_user(project, Role.REVIEWER, "mira")


def second_attempt(project: Project, *, is_blind: bool = False) -> Review:
    task = make_task(project.processes.get())
    before: dict[str, Any] = {
        "output": "one\ntwo\n",
        "files": {"gone.txt": b"x", "a.txt": b"old\n"},
    }
    after: dict[str, Any] = {"output": "one\nthree\n", "files": {"a.txt": b"new\n"}}
    make_run(project, task=task, **before)
    return make_review(
        project, make_run(project, task=task, **{**DOUBTED, **after}), is_blind=is_blind
    )


def judged(project: Project, *, is_blind: bool = False) -> Review:
    run = make_run(project, **DOUBTED, output="Revenue rose.")
    live = live_of(run)
    make_votes(live, [True, False, True], why=WHY)
    make_call(live, reply=SAID)
    set_claims(live, [claim("Looms sell well.", "unsupported")], confirmed=0, unsupported=1)
    GateResult.objects.create(
        evaluation=live, gate="test", component="api", status="failed", detail="2 of 9 tests fail"
    )
    return make_review(project, run, is_blind=is_blind)


def html_of(client: Client, review: Review, query: str = "") -> str:
    answer = client.get(reverse("review_item", args=[review.project.slug, review.uuid]) + query)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("is_blind", [False, True], ids=["open", "blind"])
def test_what_changed_since_the_attempt_before_is_a_tab(
    project: Project, mira: User, is_blind: bool
) -> None:
    review, client = second_attempt(project, is_blind=is_blind), signed_in(mira)
    [tab] = re.findall(r'href="([^"]*)#artefact"[^>]*>Changes<', html_of(client, review))

    changes = html_of(client, review, tab.replace("&amp;", "&"))

    for text in ("-two", "+three", "-old", "+new", "gone.txt</span> removed"):
        assert text in changes


def test_a_first_attempt_has_no_changes(project: Project, mira: User) -> None:
    assert ">Changes<" not in html_of(signed_in(mira), judged(project))


MADE_OF = (
    "2 of 3 for",
    WHY,
    "Show prompt and reply",
    "Looms sell well.",
    "2 of 9 tests fail",
)


def test_what_the_verdict_was_made_of_is_folded_beneath(project: Project, mira: User) -> None:
    html = html_of(signed_in(mira), judged(project))

    assert [text for text in MADE_OF if text not in html] == []


def test_what_a_judge_said_is_read_beside_it(project: Project, mira: User) -> None:
    client = signed_in(mira)
    [call] = re.findall(r'hx-get="([^"]+/calls/[^"]+)"', html_of(client, judged(project)))

    assert SAID in client.get(call).content.decode()


def test_of_a_blind_review_nothing_of_it_is_there(project: Project, mira: User) -> None:
    html = html_of(signed_in(mira), judged(project, is_blind=True))

    assert [text for text in MADE_OF if text in html] == []
