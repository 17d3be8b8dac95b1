"""Reviews are opened, held back and withdrawn here, with the end of the run they are about.

Whoever locks both a review and its run locks the review first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Q

from processes.definition.model import ReviewPolicy
from verification.engine import reviewing
from verification.engine.finding import Finding
from verification.engine.reviewing import CHANGE_HELD, Asked, Ended
from verification.runs import events
from verification.runs.models import Review, ReviewState, Run
from verification.runs.work import Work

ASKED_FOR = "asked_for"
"""As with `CHANGE_HELD`, no policy asked for the review: it takes no place of the day's cap."""
NOBODY = "not_required"
"""The `review_state` of a run that waits for nobody."""
DAY = timedelta(days=1)
EXPIRY_BATCH = 100
CAP_LOCK = 0x72657669
WAITING = (ReviewState.PENDING, ReviewState.HELD)
UNCLAIMED: dict[str, Any] = {"claimed_by": None, "claimed_key": None, "lease_until": None}


@dataclass(frozen=True, slots=True)
class Flag:
    """What becomes of a run's review as the run ends.

    `state` None: there is none to speak of. `known` is the row as it was, locked.
    """

    policy: ReviewPolicy
    asked: Asked | None
    known: Review | None
    state: ReviewState | None

    @property
    def was_waiting(self) -> bool:
        return self.known is not None and self.known.state in WAITING

    @property
    def is_asked_for(self) -> bool:
        """People are asked, who were not asked already."""
        was_pending = self.known is not None and self.known.state == ReviewState.PENDING
        return self.state is ReviewState.PENDING and not was_pending

    @property
    def shown_state(self) -> str:
        """The run's `review_state`. A decision that can still be undone has no effect yet."""
        if self.state is ReviewState.DECIDED and self.known and self.known.told_at:
            return "decided"
        return "pending" if self.state in (ReviewState.PENDING, ReviewState.DECIDED) else NOBODY

    @property
    def events(self) -> list[events.Entry]:
        if self.asked and self.is_asked_for:
            return [("review_requested", {"reasons": list(self.asked.reasons)})]
        if self.asked and self.state is ReviewState.HELD and not self.was_waiting:
            return [("review_held_back", {"reasons": list(self.asked.reasons)})]
        if self.state is ReviewState.WITHDRAWN and self.was_waiting:
            return [("review_withdrawn", {})]
        return []


def flag(work: Work, ended: Ended, policy: ReviewPolicy, *, is_first: bool, now: datetime) -> Flag:
    """Say what becomes of the review of a run that ends now. `is_first`: it never ended before.

    Call it in the transaction that ends the run, before its row is locked: the review's row is
    locked here, and a place of the day is taken until the transaction is over.
    """
    known = None if is_first else lock(work.run_id)
    asked = reviewing.asked(policy, ended, usual_sample_rate=settings.REVIEW_SAMPLE_RATE)
    if known is not None and (known.state == ReviewState.DECIDED or known.told_at):
        return Flag(policy, asked, known, ReviewState.DECIDED)
    if asked is None:
        was_waiting = known is not None and known.state in WAITING
        return Flag(policy, None, known, ReviewState.WITHDRAWN if was_waiting else None)
    return Flag(policy, asked, known, _state(work, policy, asked, known, now))


def apply(
    flag: Flag, work: Work, *, evaluation_id: int, leading: Finding | None, now: datetime
) -> None:
    """Write the row. The caller holds the run's row."""
    if flag.state is ReviewState.WITHDRAWN and flag.was_waiting:
        withdraw(work.run_id)
    if flag.asked is None or flag.state not in WAITING:
        return
    columns = {
        "evaluation_id": evaluation_id,
        "reasons": list(flag.asked.reasons),
        "rule": leading.rule[:200] if leading else "",
        "fingerprint": leading.fingerprint if leading else "",
        "is_flagged": flag.asked.is_flagged,
        "sample_rate": flag.asked.sample_rate,
        "state": flag.state,
    }
    known = flag.known
    if known is None:
        Review.objects.create(run_id=work.run_id, **columns, **_opened(work, flag, now))
    else:
        place = _kept_place(known, flag.asked) if flag.was_waiting else _opened(work, flag, now)
        Review.objects.filter(pk=known.pk).update(**columns, **place)


def lock(run_id: int) -> Review | None:
    """The run's review, locked until the transaction is over; do so before the run is locked."""
    rows = Review.objects.select_for_update(of=("self",), no_key=True)
    return rows.filter(run=run_id).first()


def withdraw(run_id: int) -> None:
    """Nobody is asked about this run any longer, and whoever held its review lets go."""
    waiting = Review.objects.filter(run=run_id, state__in=WAITING)
    waiting.update(state=ReviewState.WITHDRAWN, **UNCLAIMED)
    Run.objects.filter(pk=run_id, review_state="pending").update(review_state=NOBODY)


def expire(*, now: datetime, limit: int = EXPIRY_BATCH) -> int:
    """Close what nobody decided in its time; return how many. The relay calls this.

    The runs stay as the verifier left them. What somebody holds, and runs that are being
    finished, are left for a later turn.
    """
    due = Review.objects.filter(
        Q(lease_until__isnull=True) | Q(lease_until__lte=now),
        state__in=WAITING,
        expires_at__lte=now,
    )
    if not due.exists():
        return 0
    with transaction.atomic():
        locked = due.select_for_update(of=("self",), skip_locked=True, no_key=True)
        found = dict(locked.order_by("expires_at").values_list("run_id", "pk")[:limit])
        runs = Run.objects.filter(pk__in=found).order_by("pk")
        free = list(
            runs.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)
        )
        reviews = Review.objects.filter(pk__in=[found[run] for run in free])
        closed = reviews.update(state=ReviewState.EXPIRED, **UNCLAIMED)
        Run.objects.filter(pk__in=free, review_state="pending").update(review_state=NOBODY)
        events.append_to_each(free, "review_expired", at=now)
    return closed


def _state(
    work: Work, policy: ReviewPolicy, asked: Asked, known: Review | None, now: datetime
) -> ReviewState:
    """What waits goes on waiting. Chance is never held back, or nothing could be estimated.

    Nor is a change: nobody else decides whether it lands.
    """
    if asked.sample_rate is not None or CHANGE_HELD in asked.reasons:
        return ReviewState.PENDING
    if known is not None and known.state in WAITING:
        return ReviewState(known.state)
    is_full = policy.cap_per_day is not None and _is_full(work, policy.cap_per_day, now)
    return ReviewState.HELD if is_full else ReviewState.PENDING


def _is_full(work: Work, cap: int, now: datetime) -> bool:
    if _places_taken(work, now) >= cap:
        return True
    with connection.cursor() as cursor:  # one at a time takes one of the last places
        cursor.execute("select pg_advisory_xact_lock(%s, %s)", [CAP_LOCK, work.process_id])
    return _places_taken(work, now) >= cap


def _places_taken(work: Work, now: datetime) -> int:
    """Of this UTC day. What is held takes none, nor does what chance drew."""
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    opened = Review.objects.filter(
        process=work.process_id, created_at__gte=day, created_at__lt=day + DAY
    )
    flagged = opened.filter(is_flagged=True, sample_rate__isnull=True)
    flagged = flagged.exclude(reasons=[ASKED_FOR]).exclude(reasons=[CHANGE_HELD])
    taken: int = (
        flagged.exclude(state=ReviewState.HELD)
        .exclude(run=work.run_id)
        .aggregate(count=Count("pk"))["count"]
    )
    return taken


def _kept_place(known: Review, asked: Asked) -> dict[str, Any]:
    """A review that goes on keeps its place in the queue, or gets a better one."""
    urgency = max(known.urgency, asked.urgency)
    return {"urgency": urgency, "rank_at": reviewing.rank_at(known.created_at, urgency)}


def _opened(work: Work, flag: Flag, now: datetime) -> dict[str, Any]:
    urgency = flag.asked.urgency if flag.asked else 0
    return opened(work, flag.policy, known=flag.known, urgency=urgency, now=now)


def opened(
    run: Work | Run, policy: ReviewPolicy, *, known: Review | None, urgency: int, now: datetime
) -> dict[str, Any]:
    """The columns of a review that begins, or begins anew; not what it is about, and why."""
    hours = policy.expires_after_hours
    return {
        "project_id": run.project_id,
        "process_id": run.process_id,
        "phase_id": run.phase_id,
        "urgency": urgency,
        "rank_at": reviewing.rank_at(now, urgency),
        "is_blind": policy.is_blind,
        "reviewers": policy.reviewers,
        # Who decided in an earlier round may decide again.
        "round": known.round + 1 if known else 1,
        "is_adjudication": False,
        **UNCLAIMED,
        "assigned_to": None,
        "outcome": "",
        "created_at": now,
        "expires_at": now + timedelta(hours=hours) if hours else None,
        "decided_at": None,
        "takes_effect_at": None,
    }
