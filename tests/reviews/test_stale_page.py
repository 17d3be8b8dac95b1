from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_user, signed_in
from tests.reviewing import make_review
from verification.reviews import settling
from verification.reviews.models import Decision
from verification.runs.models import Review, Run

pytestmark = pytest.mark.django_db


def decided(project: Project, review: Review, name: str, **form: str) -> Any:
    user = make_user(project, Role.REVIEWER, name)
    return signed_in(user).post(
        f"/p/{project.slug}/review/{review.uuid}/decide/", form, follow=True
    )


def test_a_page_left_open_does_not_overturn_what_somebody_else_decided_since() -> None:
    project = make_project()
    review = make_review(project)
    Review.objects.filter(pk=review.pk).update(lease_until=timezone.now() - timedelta(minutes=9))
    decided(project, review, "ann", outcome="pass", stage="decide")
    settling.settle_due(now=timezone.now() + settling.UNDO)

    late = decided(project, review, "ben", outcome="fail", stage="decide")

    assert "Somebody else has decided this one." in late.content.decode()
    assert Run.objects.get(pk=review.run_id).final_outcome == "pass"
    assert Decision.objects.count() == 1


def test_the_form_that_changes_a_decision_does() -> None:
    project = make_project()
    review = make_review(project)
    decided(project, review, "ann", outcome="pass", stage="decide")
    settling.settle_due(now=timezone.now() + settling.UNDO)

    decided(project, review, "ben", outcome="fail", comment="It names no source.")
    settling.settle_due(now=timezone.now() + 2 * settling.UNDO)

    assert Run.objects.get(pk=review.run_id).final_outcome == "fail"
    assert list(Decision.objects.order_by("round").values_list("round", flat=True)) == [1, 2]
