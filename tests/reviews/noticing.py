"""Members who want notices, and times to tell them at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from loomverify.accounts.models import Member, Project, Role, User
from tests.builders import make_user
from tests.reviewing import make_review
from verification.reviews.models import Notice, NoticePreference
from verification.runs.models import Review

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


def make_reader(
    project: Project, notice: Notice, *, role: Role = Role.REVIEWER, **columns: Any
) -> NoticePreference:
    """A member with an address who wants to be told so."""
    user = make_user(project, role)
    User.objects.filter(pk=user.pk).update(email=f"{user.username}@example.org")
    member = Member.objects.get(project=project, user=user)
    return NoticePreference.objects.create(member=member, notice=notice, **columns)


def waiting(project: Project, *, seconds: float = 0, **columns: Any) -> Review:
    """A review that was opened so long before noon."""
    return make_review(project, created_at=NOON - timedelta(seconds=seconds), **columns)
