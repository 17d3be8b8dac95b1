from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from loomverify.accounts.access import Access
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Forbidden, NotFound
from tests.builders import make_project, make_run, make_user, signed_in
from tests.reviewing import DOUBTED, make_review
from tests.reviews.people import reviewer_of
from verification.engine.outcome import Outcome
from verification.reviews import cases
from verification.reviews.models import CaseDraft
from verification.runs.models import Review, ReviewState

pytestmark = pytest.mark.django_db


@pytest.fixture
def review(project: Project) -> Review:
    return make_review(project)


def test_a_run_is_kept_and_let_go_with_the_same_key(anna: Access, review: Review) -> None:
    kept = [cases.toggle_draft(access=anna, review=review.uuid) for _ in range(3)]

    assert kept == [True, False, True]
    assert CaseDraft.objects.get().made_by == "anna"
    verbs = AuditEntry.objects.filter(verb__startswith="case_draft").order_by("id")
    assert list(verbs.values_list("verb", flat=True)) == [
        "case_draft.made", "case_draft.removed", "case_draft.made",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("run", "columns", "outcome"),
    [
        ({"outcome": Outcome.PASS}, {}, "pass"),
        ({"outcome": Outcome.FAIL}, {}, "fail"),
        (DOUBTED, {}, ""),  # doubt is no example
        ({"outcome": Outcome.PASS}, {"is_blind": True}, ""),
        ({"outcome": Outcome.PASS}, {"outcome": "fail", "state": ReviewState.DECIDED}, "fail"),
    ],
)
def test_a_draft_has_the_outcome_that_is_known(
    project: Project, anna: Access, run: dict[str, Any], columns: dict[str, Any], outcome: str
) -> None:
    review = make_review(project, make_run(project, **run), **columns)

    cases.toggle_draft(access=anna, review=review.uuid)

    assert CaseDraft.objects.get().outcome == outcome


def test_below_reviewer_and_outside_the_project_nothing_is_kept(
    project: Project, review: Review
) -> None:
    with pytest.raises(Forbidden):
        cases.toggle_draft(access=reviewer_of(project, role=Role.AGENT), review=review.uuid)
    with pytest.raises(NotFound):
        cases.toggle_draft(access=reviewer_of(make_project()), review=review.uuid)
    assert not CaseDraft.objects.exists()


def test_the_drafts_have_moved_to_the_corpus(project: Project) -> None:
    client = signed_in(make_user(project, Role.VIEWER))

    answer = client.get(reverse("review_cases", args=[project.slug]))

    assert (answer.status_code, answer["Location"]) == (
        301,
        reverse("golden_drafts", args=[project.slug]),
    )
