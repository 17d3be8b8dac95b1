"""Reviewers decide, change their minds, and take back what has not taken effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError
from verification.reviews import cases, rounds, saying, settling
from verification.reviews.models import Decision
from verification.reviews.queue.claims import LEASE
from verification.reviews.queue.rows import is_past, refusal
from verification.reviews.reviewers import holder, holds
from verification.reviews.rounds import Rows
from verification.reviews.saying import Said
from verification.reviews.settling import FREE, UNDO, UNDO_SECONDS
from verification.reviews.undoing import Undone, last_decisions, undo
from verification.runs.models import Review, ReviewState

__all__ = [
    "UNDO_SECONDS",
    "Said",
    "Together",
    "Undone",
    "decide",
    "decide_together",
    "last_decisions",
    "undo",
]

MAX_TOGETHER = 200


@dataclass(frozen=True, slots=True)
class Together:
    """Which were decided, and why the others were not: a code by the review's name."""

    decided: list[UUID] = field(default_factory=list)
    refused: dict[UUID, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Word:
    """Who says what about which rows, all of it checked."""

    rows: Rows
    access: Access
    said: Said
    labels: dict[int, bool]
    now: datetime
    at_once: bool

    @property
    def review(self) -> Review:
        return self.rows.review


def decide(*, access: Access, review: UUID, said: Said, at_once: bool = False) -> Decision:
    """Say what a run comes to. It takes effect after `UNDO_SECONDS`, or at once.

    Of a blind review the first call keeps the answer and reveals the verdict, the second confirms
    or changes it. After a decision has taken effect, another is a change of mind: a new round.
    The same said twice is one decision.

    Raises:
        NotFound: `review.unknown`.
        Conflict: `review.held`, `review.over`, `review.decided_by_you`, `review.changed`.
        InputError: `comment.too_long`, `finding.unknown`, `outcome.required`, `review.blind`,
            `redaction.too_slow`.
        Forbidden: below reviewer.
    """
    access.need(Role.REVIEWER)
    asked = rounds.named(access, review)
    said = saying.kept(access.project, said)
    try:
        with transaction.atomic():
            word = _word(access, asked, said, at_once=at_once)
            return _decided(word)
    except IntegrityError as error:
        if not _is_said_twice(error):
            raise
        raise _decided_by_you() from error


def decide_together(
    *, access: Access, reviews: Sequence[UUID], said: Said, at_once: bool = False
) -> Together:
    """Say the same of many that wait, each in a transaction of its own.

    What is blind, or asks two people, is decided one by one: `review.one_by_one`.

    Raises:
        InputError: `reviews.too_many`.
        Forbidden: below reviewer.
    """
    access.need(Role.REVIEWER)
    if len(reviews) > MAX_TOGETHER:
        raise InputError(
            "reviews.too_many",
            f"At most {MAX_TOGETHER} reviews are decided together.",
            loc=("body", "reviews"),
        )
    alone = replace(said, anew=False)
    together = Together()
    for review in dict.fromkeys(reviews):
        try:
            _refuse_unless_alike(access, review)
            decide(access=access, review=review, said=alone, at_once=at_once)
        except InputError as refused:
            together.refused[review] = refused.code
        else:
            together.decided.append(review)
    return together


def _refuse_unless_alike(access: Access, name: UUID) -> None:
    asked = Review.objects.filter(project=access.project, uuid=name).first()
    if asked is None or asked.state != ReviewState.PENDING:
        rounds.named(access, name)
        raise Conflict("review.over", "This review does not wait for anybody.")
    if asked.is_blind or asked.reviewers > 1 or asked.is_adjudication:
        raise Conflict("review.one_by_one", "This review is decided by itself.")


def _word(access: Access, asked: Review, said: Said, *, at_once: bool) -> _Word:
    rows = rounds.lock(asked)
    if rows is None:
        raise Conflict("review.over", "The run of this review was deleted.")
    labels = saying.findings_of(rows.review, said)
    return _Word(rows, access, said, labels, timezone.now(), at_once)


def _decided(word: _Word) -> Decision:
    review = word.review
    mine = rounds.own(review, word.access.actor).order_by("-round", "-id").first()
    if mine is not None and mine.round == review.round and _is_again(word, mine):
        return mine
    if review.state == ReviewState.DECIDED and review.told_at is not None:
        if not word.said.anew and (mine is None or mine.round != review.round):
            raise Conflict("review.over", "Somebody else has decided this one.")
        return _change_of_mind(word)
    _refuse(word, mine)
    saying.refuse_if_changed(review, word.said)
    if review.is_blind:
        return _blind(word, mine)
    return _store(word, outcome=word.said.outcome or saying.own_outcome(review))


def _is_again(word: _Word, mine: Decision) -> bool:
    if not mine.outcome:
        return word.said.is_first is True
    if word.said.is_first is True:
        return True
    return saying.is_same(
        mine,
        outcome=word.said.outcome or mine.first_outcome or saying.own_outcome(word.review),
        comment=word.said.comment or (mine.comment if mine.first_outcome else ""),
        labels=word.labels,
    )


def _refuse(word: _Word, mine: Decision | None) -> None:
    review, actor = word.review, word.access.actor
    is_of_round = mine is not None and (mine.round == review.round or review.is_adjudication)
    if mine is not None and mine.outcome and is_of_round:
        raise _decided_by_you()
    if review.state == ReviewState.DECIDED:
        raise Conflict("review.over", "Somebody else has just decided this one.")
    if review.state != ReviewState.PENDING:
        raise refusal(word.access, review, word.now)
    is_free = review.lease_until is None or review.lease_until <= word.now
    if not holds(review, actor) and (not is_free or is_past(review, word.now)):
        raise refusal(word.access, review, word.now)


def _change_of_mind(word: _Word) -> Decision:
    review, said = word.review, word.said
    saying.refuse_if_changed(review, said)
    review.round, review.reviewers, review.is_adjudication = review.round + 1, 1, False
    review.told_at = None
    Review.objects.filter(pk=review.pk).update(
        round=review.round, reviewers=1, is_adjudication=False, told_at=None
    )
    outcome = said.outcome or saying.own_outcome(review)
    return _store(word, outcome=outcome, verb="review.changed")


def _blind(word: _Word, mine: Decision | None) -> Decision:
    """What was said before the reveal stands, also where it was taken back afterwards."""
    review, said = word.review, word.said
    revealed = rounds.revealed(review, word.access.actor)
    if revealed is None:
        if said.is_first is False:
            raise Conflict("review.blind", "Say first what you make of it, then confirm.")
        return _first(word)
    if said.is_first is True:
        raise _decided_by_you()
    outcome = said.outcome or revealed.first_outcome
    if mine is None or mine.round != review.round:
        return _store(word, outcome=outcome, first_outcome=revealed.first_outcome)
    mine.outcome, mine.comment = outcome, said.comment or mine.comment
    mine.created_at = word.now
    mine.save(update_fields=["outcome", "comment", "created_at"])
    saying.label(mine, word.labels)
    return _stored(word, mine, "review.decided")


def _first(word: _Word) -> Decision:
    review, said, actor = word.review, word.said, word.access.actor
    if said.outcome is None:
        raise saying.required()
    if word.labels:
        raise InputError(
            "review.blind",
            "Findings are shown, and judged, after the first answer.",
            loc=("body", "findings"),
        )
    Review.objects.filter(pk=review.pk).update(**holder(actor), lease_until=word.now + LEASE)
    decision = saying.store(
        review, actor, now=word.now, labels={}, first_outcome=said.outcome, comment=said.comment
    )
    _want_case(word)
    return decision


def _store(word: _Word, *, verb: str = "review.decided", **columns: Any) -> Decision:
    decision = saying.store(
        word.review,
        word.access.actor,
        now=word.now,
        labels=word.labels,
        comment=word.said.comment,
        **columns,
    )
    return _stored(word, decision, verb)


def _stored(word: _Word, decision: Decision, verb: str) -> Decision:
    """Note it, and see whether everybody who was asked has decided."""
    review = word.review
    if word.at_once:
        decision.settled_at = word.now
        decision.save(update_fields=["settled_at"])
    is_alone = review.reviewers == 1
    diff = {"outcome": [review.outcome, decision.outcome]} if is_alone else {}
    record(word.access.actor, verb, review, project=word.access.project, diff=diff)
    _want_case(word)
    said = rounds.spoken(review)
    is_complete = len(said) >= review.reviewers
    effect_at = max(one.settled_at or one.created_at + UNDO for one in said)
    review.state = ReviewState.DECIDED if is_complete else ReviewState.PENDING
    review.takes_effect_at = max(effect_at, word.now) if is_complete else None
    Review.objects.filter(pk=review.pk).update(
        state=review.state,
        takes_effect_at=review.takes_effect_at,
        decided_at=review.decided_at or word.now if is_complete else None,
        told_at=None,  # of the round before, where the review was opened again
        assigned_to=review.assigned_to_id if is_complete else None,
        **FREE,
    )
    if is_complete and effect_at <= word.now:
        settling.take_effect(word.rows, now=word.now)
        decision.refresh_from_db(fields=["settled_at"])
    return decision


def _want_case(word: _Word) -> None:
    if word.said.wants_case:
        cases.want(word.review, word.access.actor)


def _decided_by_you() -> Conflict:
    return Conflict("review.decided_by_you", "You have decided this one already.")


def _is_said_twice(error: IntegrityError) -> bool:
    told = getattr(error.__cause__, "diag", None)
    return str(getattr(told, "constraint_name", "")).startswith("decision_unique")
