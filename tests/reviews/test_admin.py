from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Member, Role, User
from tests.builders import make_project, make_user, signed_in
from tests.reviewing import make_review
from tests.reviews.deciding_rows import make_decision
from verification.reviews.models import CaseDraft, NoticePreference, Skip

MODELS = ("decision", "skip", "casedraft", "noticepreference")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.django_db
def test_operators_see_what_reviewers_did_and_change_nothing(model: str) -> None:
    project = make_project()
    ann, now = make_user(project, Role.REVIEWER, "ann"), timezone.now()
    review = make_review(project)
    rows = {
        "decision": make_decision(review, ann),
        "skip": Skip.objects.create(review=review, reviewer=ann, at=now),
        "casedraft": CaseDraft.objects.create(
            project=project, run=review.run, made_by="ann", created_at=now
        ),
        "noticepreference": NoticePreference.objects.create(member=Member.objects.get(user=ann)),
    }
    operator = signed_in(User.objects.create_superuser("root", password="a long password"))

    listed = operator.get(reverse(f"admin:reviews_{model}_changelist"))
    shown = operator.get(reverse(f"admin:reviews_{model}_change", args=[rows[model].pk]))

    assert (listed.status_code, shown.status_code) == (200, 200)
    assert b"ann" in listed.content
    assert b'name="_save"' not in shown.content
    assert operator.get(reverse(f"admin:reviews_{model}_add")).status_code == 403
