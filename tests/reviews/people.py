"""Reviewers, and what they say."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone

from loomverify.accounts.access import SYSTEM, Access, Actor, person
from loomverify.accounts.models import Project, Role
from loomverify.accounts.services import create_api_key
from tests.builders import make_user
from verification.engine.outcome import Outcome
from verification.reviews import deciding, settling
from verification.reviews.deciding import Said
from verification.reviews.models import Decision
from verification.runs.models import Event, OutboxEvent, Review, Run

PASS, FAIL = Outcome.PASS, Outcome.FAIL


def reviewer_of(project: Project, name: str = "", role: Role = Role.REVIEWER) -> Access:
    return Access(project, role, person(make_user(project, role, name)))


def key_of(project: Project, name: str = "script") -> Access:
    key, _ = create_api_key(project=project, name=name, role=Role.REVIEWER, actor=SYSTEM)
    return Access(project, Role.REVIEWER, Actor(key.name, api_key=key))


def says(access: Access, review: Review, outcome: Outcome | None = PASS, **said: Any) -> Decision:
    """Decide on a page: it takes effect later."""
    return deciding.decide(access=access, review=review.uuid, said=Said(outcome, **said))


def in_time() -> datetime:
    """A moment at which what was said until now takes effect."""
    return timezone.now() + settling.UNDO


def settled(review: Review) -> Review:
    """The review once the time for undoing is over."""
    settling.settle_due(now=in_time())
    return fresh(review)


def fresh(review: Review) -> Review:
    return Review.objects.select_related("run__task").get(pk=review.pk)


def kinds(run: Run) -> list[str]:
    return list(Event.objects.filter(run=run).order_by("seq").values_list("kind", flat=True))


def told(run: Run) -> list[dict[str, Any]]:
    """What the outside hears of decisions about a run, oldest first."""
    rows = OutboxEvent.objects.filter(run=run, topic="run.decided").order_by("id")
    return list(rows.values_list("payload", flat=True))
