"""Reads of the queue that its pages, the claims and the API share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Self
from urllib.parse import urlencode

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Project, User
from loomverify.errors import InputError
from loomverify.filters import check_choice
from processes.definition.model import ReviewReason
from processes.models import Process
from verification.engine.outcome import Verdict
from verification.engine.reasons import REASONS
from verification.engine.reviewing import CHANGE_HELD, RANDOM_SAMPLE
from verification.reviews.models import Decision, Skip
from verification.reviews.reviewers import reviewer
from verification.runs.flags import ASKED_FOR
from verification.runs.models import Finding, Review, ReviewState

COUNT_CAP = 10_000
MIN_ALIKE = 2
MAX_GROUPS = 100
CHOSEN_FROM = 1_000
RELATED = (
    "run__task", "run__process", "process", "evaluation", "claimed_by", "claimed_key", "assigned_to"
)  # fmt: skip
HEAVY_FIELDS = (
    "run__search", "run__result", "run__process__description", "process__description",
    "evaluation__rule_trace", "evaluation__feedback",
)  # fmt: skip
TELLING_NOTHING = ("vote_divergence", "low_confidence", RANDOM_SAMPLE)
"""Reasons that give nothing of a verdict away: a blind review shows no others."""
NAME = re.compile(r"[^\x00-\x1f]{1,200}")


class Assigned(StrEnum):
    ME = "me"
    NOBODY = "nobody"


class Sample(StrEnum):
    ONLY = "only"
    WITHOUT = "without"


@dataclass(frozen=True, slots=True)
class QueueFilters:
    """Filters as they stand in a URL; empty: not asked for.

    What would tell something of a verdict (`rule`, `fingerprint`, `verdict`, some of the reasons)
    finds no blind review that the asker has still to decide.
    """

    process: str = ""
    phase: str = ""
    reason: str = ""
    rule: str = ""
    state: str = ReviewState.PENDING.value
    assigned: str = ""
    sample: str = ""
    fingerprint: str = ""
    verdict: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """The filters of a page's address; what else stands there is left aside.

        Raises:
            InputError: `filter.invalid`, its place `("query", name)`.
        """
        given = {field.name: query.get(field.name, "").strip() for field in fields(cls)}
        found = cls(**{name: value for name, value in given.items() if value})
        found.check()
        return found

    def check(self) -> None:
        for name in ("process", "phase", "rule", "fingerprint"):
            value = getattr(self, name)
            if value and not NAME.fullmatch(value):
                raise _invalid(name, f"This cannot be the name of a {name}.")
        for name, values in WORDS.items():
            check_choice(name, getattr(self, name), values)

    def given(self) -> dict[str, str]:
        """The filters that are set, by name; the state is no filter but a tab."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value and name != "state"}

    @property
    def query(self) -> str:
        """The filters that are set, as the end of an address."""
        given = self.given()
        return f"?{urlencode(given)}" if given else ""


REVIEW_REASONS = (*REASONS, *ReviewReason, RANDOM_SAMPLE, ASKED_FOR, CHANGE_HELD)
"""Why a review may be asked for: reason codes, kinds of the policy, and what people ask for."""
WORDS: Mapping[str, Sequence[str]] = {
    "reason": tuple(dict.fromkeys(map(str, REVIEW_REASONS))),
    "state": [state.value for state in ReviewState],
    "assigned": list(Assigned),
    "sample": list(Sample),
    "verdict": list(Verdict),
}
ORDERS = {
    ReviewState.PENDING: "rank_at",
    ReviewState.HELD: "rank_at",
    ReviewState.DECIDED: "-decided_at",
    ReviewState.EXPIRED: "-created_at",
    ReviewState.WITHDRAWN: "-created_at",
}
"""The time that each list goes by: by urgency where somebody is asked, else newest first."""


def reviews(
    project: Project, filters: QueueFilters = QueueFilters(), *, user: User | None = None
) -> QuerySet[Review]:
    """A project's reviews in one state, in the order of their list, with what is shown of them."""
    found = matching(project, filters, user=user).filter(state=filters.state)
    ordered = found.order_by(*_ordered(filters))
    return ordered.select_related(*RELATED).defer(*HEAVY_FIELDS)


def _ordered(filters: QueueFilters) -> tuple[str, str]:
    by = ORDERS[ReviewState(filters.state)]
    return by, "-id" if by.startswith("-") else "id"


def matching(
    project: Project, filters: QueueFilters, *, user: User | None = None
) -> QuerySet[Review]:
    """Reviews of every state that pass the other filters, in no order.

    Raises:
        InputError: `filter.invalid`.
    """
    filters.check()
    rows = Review.objects.filter(project=project)
    if filters.process:
        slugs = Process.objects.filter(project=project, slug=filters.process)
        key = slugs.values_list("pk", flat=True).first()
        rows = rows.filter(process=key) if key else rows.none()
    if filters.phase:
        rows = rows.filter(phase_id=filters.phase)
    if filters.assigned == Assigned.ME:
        rows = rows.filter(assigned_to=user) if user else rows.none()
    elif filters.assigned == Assigned.NOBODY:
        rows = rows.filter(assigned_to=None)
    if filters.sample:
        rows = rows.filter(sample_rate__isnull=filters.sample == Sample.WITHOUT)
    return _telling(rows, filters, user)


def _telling(rows: QuerySet[Review], filters: QueueFilters, user: User | None) -> QuerySet[Review]:
    """Filters by what a blind review keeps back."""
    if filters.reason:
        rows = rows.filter(reasons__contains=[filters.reason])
    told = {
        "rule": filters.rule,
        "fingerprint": filters.fingerprint,
        "evaluation__verdict": filters.verdict,
    }
    given = {name: value for name, value in told.items() if value}
    rows = rows.filter(**given)
    if given or (filters.reason and filters.reason not in TELLING_NOTHING):
        rows = rows.filter(is_revealed_to(user))
    return rows


def is_revealed_to(user: User | None) -> Q:
    """Reviews whose verdict this person may see: not blind, over, or answered by them already."""
    is_over = Q(state__in=(ReviewState.EXPIRED, ReviewState.WITHDRAWN)) | Q(
        state=ReviewState.DECIDED, told_at__isnull=False
    )
    answers = Decision.objects.filter(review=OuterRef("pk"), reviewer=user)
    own = Q(Exists(answers)) if user else Q(pk__in=[])
    return Q(is_blind=False) | is_over | own


def counts(
    project: Project, filters: QueueFilters = QueueFilters(), *, user: User | None = None
) -> dict[ReviewState, int]:
    """How many pass the filters in each state; one more than `COUNT_CAP` stands for many more."""
    rows = matching(project, filters, user=user)
    return {
        state: rows.filter(state=state).order_by()[: COUNT_CAP + 1].count() for state in ReviewState
    }


@dataclass(frozen=True, slots=True)
class Group:
    """Pending reviews whose leading finding is the same."""

    fingerprint: str
    rule: str
    message: str
    count: int
    oldest: datetime


def groups(
    project: Project, filters: QueueFilters = QueueFilters(), *, user: User | None = None
) -> list[Group]:
    """Groups of at least two, biggest first. Blind reviews are in none."""
    rows = matching(project, filters, user=user).filter(state=ReviewState.PENDING, is_blind=False)
    grouped = (
        rows.exclude(fingerprint="")
        .order_by()
        .values("fingerprint")
        .annotate(n=Count("pk"), oldest=Min("created_at"), named=Max("rule"))
        .filter(n__gte=MIN_ALIKE)
        .order_by("-n", F("oldest").asc(), "fingerprint")[:MAX_GROUPS]
    )
    found = list(grouped)
    messages = _messages(project, [row["fingerprint"] for row in found])
    return [
        Group(
            fingerprint=row["fingerprint"],
            rule=row["named"],
            message=messages.get(row["fingerprint"], ""),
            count=row["n"],
            oldest=row["oldest"],
        )
        for row in found
    ]


def alike(project: Project, fingerprints: Iterable[str]) -> dict[str, int]:
    """How many pending reviews have each of these leading findings. Blind ones do not count."""
    rows = Review.objects.filter(
        project=project,
        state=ReviewState.PENDING,
        is_blind=False,
        fingerprint__in={each for each in fingerprints if each},
    )
    counted = rows.order_by().values("fingerprint").annotate(n=Count("pk"))
    return {row["fingerprint"]: row["n"] for row in counted}


@dataclass(frozen=True, slots=True)
class Choices:
    """What the filters may name: what occurs first in the list, and what is chosen already."""

    process: list[str]
    phase: list[str]
    reason: list[str]
    rule: list[str]


def choices(project: Project, filters: QueueFilters, *, user: User | None = None) -> Choices:
    rows = Review.objects.filter(project=project, state=filters.state)
    first = rows.order_by(*_ordered(filters))[:CHOSEN_FROM]
    seen = list(
        Review.objects.filter(pk__in=first.values("pk"))
        .annotate(is_told=is_revealed_to(user))
        .values_list("process__slug", "phase_id", "rule", "reasons", "is_told")
    )
    reasons = {
        code for *_, codes, is_told in seen for code in codes if is_told or code in TELLING_NOTHING
    }
    return Choices(
        process=_sorted({row[0] for row in seen}, filters.process),
        phase=_sorted({row[1] for row in seen}, filters.phase),
        reason=_sorted(reasons, filters.reason),
        rule=_sorted({row[2] for row in seen if row[4]}, filters.rule),
    )


def _sorted(values: set[str], chosen: str) -> list[str]:
    return sorted({*values, chosen} - {""})


def skipped(actor: Actor, rows: Iterable[Review]) -> set[int]:
    """Which of these the reviewer passed over."""
    mine = Skip.objects.filter(review__in=[row.pk for row in rows], **reviewer(actor))
    return set(mine.values_list("review_id", flat=True))


def _messages(project: Project, fingerprints: Iterable[str]) -> dict[str, str]:
    """One finding speaks for all that have its fingerprint."""
    rows = Finding.objects.filter(project=project, fingerprint__in=list(fingerprints))
    newest = rows.order_by("fingerprint", "-id").distinct("fingerprint")
    return dict(newest.values_list("fingerprint", "message"))


def _invalid(name: str, msg: str) -> InputError:
    return InputError("filter.invalid", msg, loc=("query", name), status=400)
