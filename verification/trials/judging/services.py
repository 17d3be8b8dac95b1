"""What people say of comparisons. Whoever judges cannot tell the sides apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError, NotFound
from verification.runs.intake.redaction import redacted_text
from verification.runs.storable import storable
from verification.trials.judging.asked import is_asked
from verification.trials.models import (
    SAID,
    Comparison,
    ComparisonNote,
    Judged,
    Judgement,
    Reveal,
    Trial,
)
from verification.trials.replays.cases import word_of_case

FRESH: Final = timedelta(minutes=10)
MAX_NOTE_CHARS = 4_000
MAX_NAME_CHARS = 200
NOT_ASKED = "People are asked where one side accepts and the other does not, or both reject."
REVEALED = (
    "comparison.revealed",
    "You know which side of this one is which: somebody else has to judge it.",
)


@dataclass(frozen=True, slots=True)
class Undone:
    """`is_blind` False: its sides were shown meanwhile, and somebody else has to judge it."""

    comparison: Comparison
    is_blind: bool


def reviewer_of(actor: Actor) -> str:
    """A person by the user name alone: who takes another full name is nobody else.

    A key by its number too: people give theirs the same names, and are several all the same.
    """
    if actor.api_key is not None:
        return f"{actor.name} #{actor.api_key.pk}"
    name = actor.user.username if actor.user else actor.name
    return name[:MAX_NAME_CHARS]


def judge(
    *, access: Access, comparison: Comparison, said: str, is_old_first: bool, note: str = ""
) -> Judgement:
    """Store what somebody said who could not tell the sides apart. The same again changes nothing.

    Raises:
        InputError: `judgement.invalid`, `note.too_long`.
        Conflict: `comparison.waiting`, `comparison.not_asked`, `comparison.revealed`,
            `comparison.judged_by_you`.
        Forbidden: below reviewer.
    """
    access.need(Role.REVIEWER)
    if said not in SAID:
        raise InputError(
            "judgement.invalid", "Say old, new, both or neither.", loc=("body", "said")
        )
    text = _text(access, note)
    with transaction.atomic():
        row = _locked(comparison)
        _refuse_unless_asked(row)
        mine = standing(row).filter(reviewer=reviewer_of(access.actor)).first()
        if mine is not None:
            return _said_again(mine, said)
        if has_seen(row, reviewer_of(access.actor)):
            raise Conflict(*REVEALED)
        made = Judgement.objects.create(
            comparison=row,
            reviewer=reviewer_of(access.actor),
            said=said,
            is_old_first=is_old_first,
        )
        before = row.judged
        _recount(row)
        record(
            access.actor, "comparison.judged", row, project=access.project,
            diff={"said": [None, said], "judged": [before, row.judged]},
        )  # fmt: skip
        if text:
            _note(access, row, text)
    return made


def withdraw(*, access: Access, comparison: Comparison) -> bool | None:
    """Take back what one said. None: there is nothing to take back.

    True: one may judge it again. False: its sides were shown since, so that somebody else has to.

    Raises:
        Forbidden: below reviewer.
    """
    access.need(Role.REVIEWER)
    with transaction.atomic():
        row = _locked(comparison)
        mine = standing(row).filter(reviewer=reviewer_of(access.actor)).first()
        if mine is None:
            return None
        is_blind = is_fresh(mine) and not has_seen(row, mine.reviewer)
        Judgement.objects.filter(pk=mine.pk).update(withdrawn_at=timezone.now())
        if not is_blind:
            _remember_seen(row, access.actor)
        before = row.judged
        _recount(row)
        record(
            access.actor, "comparison.judgement_withdrawn", row, project=access.project,
            diff={"said": [mine.said, None], "judged": [before, row.judged]},
        )  # fmt: skip
    return is_blind


def undo(*, access: Access, trial: Trial) -> Undone:
    """Take back the last that one said in this trial.

    Raises:
        NotFound: `judgement.none`.
        Forbidden: below reviewer.
    """
    access.need(Role.REVIEWER)
    own = _own(trial, reviewer_of(access.actor)).filter(withdrawn_at__isnull=True)
    last = own.select_related("comparison__trial").order_by("-created_at", "-id").first()
    is_blind = withdraw(access=access, comparison=last.comparison) if last else None
    if last is None or is_blind is None:
        raise NotFound("judgement.none", "There is nothing of yours to take back in this trial.")
    return Undone(last.comparison, is_blind)


def reveal(*, access: Access, comparison: Comparison) -> bool:
    """Note that somebody has the sides shown: they can judge it no more. False: noted already.

    Raises:
        Forbidden: below reviewer.
    """
    access.need(Role.REVIEWER)
    with transaction.atomic():
        _locked(comparison)  # whoever judges at the same moment has judged, or is refused
        is_new = _remember_seen(comparison, access.actor)
        if is_new:
            record(access.actor, "comparison.revealed", comparison, project=access.project)
    return is_new


def add_note(*, access: Access, comparison: Comparison, text: str) -> ComparisonNote:
    """Raises InputError: `note.empty`, `note.too_long`; Forbidden: below reviewer."""
    access.need(Role.REVIEWER)
    said = _text(access, text)
    if not said:
        raise InputError("note.empty", "Write something.", loc=("body", "text"))
    with transaction.atomic():
        return _note(access, comparison, said)


def standing(comparison: Comparison) -> QuerySet[Judgement]:
    return comparison.judgements.filter(withdrawn_at__isnull=True)


def is_veiled(comparison: Comparison, reviewer: str) -> bool:
    """Whether it is kept from this reviewer which side is which.

    It is until they have judged it and went on, so that a slip can be taken back blind.
    """
    if not is_asked(comparison) or has_seen(comparison, reviewer):
        return False
    mine = standing(comparison).filter(reviewer=reviewer).first()
    return mine is None or is_fresh(mine)


def is_fresh(mine: Judgement) -> bool:
    """The last that its reviewer said in the trial, and only just: nothing was shown of it."""
    later = _own(mine.comparison.trial, mine.reviewer).filter(created_at__gt=mine.created_at)
    return timezone.now() - mine.created_at < FRESH and not later.exists()


def has_seen(comparison: Comparison, reviewer: str) -> bool:
    """Whether they had the sides shown."""
    return comparison.reveals.filter(reviewer=reviewer).exists()


def _own(trial: Trial, reviewer: str) -> QuerySet[Judgement]:
    """What this reviewer said in the trial, also what was taken back."""
    return Judgement.objects.filter(comparison__trial=trial, reviewer=reviewer)


def _locked(comparison: Comparison) -> Comparison:
    """Of two that judge at once, the second counts what the first one said."""
    rows = Comparison.objects.select_for_update(no_key=True, of=("self",)).select_related("trial")
    row = rows.filter(pk=comparison.pk).first()
    if row is None:
        raise NotFound("comparison.unknown", "This comparison was deleted.")
    return row


def _refuse_unless_asked(row: Comparison) -> None:
    if row.compared_at is None:
        raise Conflict("comparison.waiting", "This one is not compared yet.")
    if not is_asked(row):
        raise Conflict(
            "comparison.not_asked",
            NOT_ASKED,
        )


def _said_again(mine: Judgement, said: str) -> Judgement:
    """A button pressed twice; a change of mind is taken back first, knowingly."""
    if mine.said == said:
        return mine
    raise Conflict("comparison.judged_by_you", "You have judged this one: take that back first.")


def _remember_seen(row: Comparison, actor: Actor) -> bool:
    _, is_new = Reveal.objects.get_or_create(comparison=row, reviewer=reviewer_of(actor))
    return is_new


def _recount(row: Comparison) -> None:
    """What people agree on; a golden case's own word where nobody says anything."""
    said = list(standing(row).values_list("said", "created_at"))
    row.judged = _agreed([word for word, _ in said]) if said else word_of_case(row)
    row.judged_at = max((at for _, at in said), default=None)
    Comparison.objects.filter(pk=row.pk).update(judged=row.judged, judged_at=row.judged_at)


def _agreed(words: Sequence[str]) -> str:
    """What all say, or two thirds of three and more; else they are at odds."""
    [(word, count)] = Counter(words).most_common(1)
    most = len(words) if len(words) < 3 else len(words) * 2 / 3
    return word if count >= most else Judged.DISPUTED.value


def _note(access: Access, row: Comparison, text: str) -> ComparisonNote:
    made = ComparisonNote.objects.create(
        comparison=row, text=text, created_by=reviewer_of(access.actor)
    )
    record(access.actor, "comparison.noted", row, project=access.project)
    return made


def _text(access: Access, given: str) -> str:
    text: str = storable(given.replace("\r\n", "\n")).strip()
    if len(text) > MAX_NOTE_CHARS:
        raise InputError(
            "note.too_long",
            f"A note has at most {MAX_NOTE_CHARS} characters.",
            loc=("body", "note"),
        )
    return redacted_text(access.project, text)
