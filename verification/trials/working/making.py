"""Claimed comparisons are made here: cases replayed, sides evaluated, and what differs stored.

What asks no judge is made in one go and stored at once: a worker that is lost before has done
nothing. What is paid for is stored step by step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from django.db import transaction
from django.utils import timezone

from verification.runs import events, figures
from verification.runs.beside import counting, looking, storing
from verification.runs.beside.evaluating import Evaluated, evaluate, load
from verification.runs.beside.looking import Key
from verification.runs.holding import DaySpent, LeaseLost
from verification.trials.models import Comparison, Origin, Trial
from verification.trials.replays import questions
from verification.trials.replays.cases import Beside, beside
from verification.trials.working import asking_again, claiming, comparing
from verification.trials.working.claiming import Claimed, ComparisonHold
from verification.trials.working.comparing import Columns, Done, uncompared
from verification.trials.working.pairing import Pair, pair_of

MOST_SECONDS = 2.0
"""So long comparisons are made before they are stored, and others are let pass."""
MOST_BYTES = 2 * 1024 * 1024
"""Submissions held at a time, as they are stored."""
LOST = "The verifier was lost on this run again and again."

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Made:
    """`left` were not begun. `has_failed`: something broke.

    `is_lost`: what was begun is not ours any more, or nothing more may be paid for it.
    """

    left: Sequence[Claimed]
    has_failed: bool = False
    is_lost: bool = False


def make(trial: Trial, claimed: Sequence[Claimed]) -> Made:
    """Make those that fit together, or one that may ask a judge."""
    hopeless = [one for one in claimed if one.is_hopeless]
    if hopeless:  # taken alone
        return _stored([uncompared(one, LOST, has_failed=True) for one in hopeless], trial, ())
    runs = looking.look([one.run_id for one in claimed if one.run_id])
    others = [one for one in claimed if one.run_id not in runs]
    if others:
        return _without_runs(trial, others, [one for one in claimed if one.run_id in runs])
    before = looking.begun_before(trial.pk, runs)
    doubtful = asking_again.doubtful(claimed, before.values())
    pairs = [
        pair_of(trial, one, runs[one.run_id], before, doubtful) for one in claimed if one.run_id
    ]
    light = [pair for pair in pairs if pair.is_light(before)]
    if light:
        heavy = [pair.claimed for pair in pairs if pair not in light]
        known = {key: one.evaluation_id for key, one in before.items() if one.is_finished}
        return _in_one_go(trial, light, known, heavy)
    left = [pair.claimed for pair in pairs[1:]]
    try:
        return _step_by_step(trial, pairs[0], left)
    except DaySpent:
        claiming.put_off([(pairs[0].claimed, asking_again.affordable(timezone.now()))], since=None)
        return Made(left)
    except LeaseLost:
        claiming.give_back([pairs[0].claimed], is_untouched=False)
        return Made(left, is_lost=True)


def _without_runs(trial: Trial, others: Sequence[Claimed], left: Sequence[Claimed]) -> Made:
    """Cases of the corpus, and what is left of runs that were deleted."""
    related = ("replay", "case_version")
    found = Comparison.objects.select_related(*related).in_bulk([one.pk for one in others])

    def made(one: Claimed) -> Beside:
        comparison = found.get(one.pk)
        if comparison is None or comparison.origin != Origin.CORPUS:
            return Beside(uncompared(one, comparing.RUN_GONE))
        done = beside(comparison, trial)
        return replace(done, columns={"id": one.pk, "claims": one.claims, **done.columns})

    done = _in_time(others, made)
    asked = {one.columns["id"]: one.questions for one in done if one.questions}
    questions.keep_contents(trial.project, (one for each in asked.values() for one in each))
    with transaction.atomic():
        stored = claiming.store([one.columns for one in done])
        questions.store(trial.project, {pk: asked[pk] for pk in asked if pk in stored})
    return _made([one.columns for one in done], trial, [*others[len(done) :], *left])


def _in_one_go(
    trial: Trial, pairs: Sequence[Pair], known: dict[Key, int], left: Sequence[Claimed]
) -> Made:
    chosen = _by_weight(pairs)
    loaded = load([pair.looked.run_id for pair in chosen])
    made: dict[Key, Evaluated] = {}

    def evaluated(pair: Pair) -> Pair:
        work = loaded.get(pair.looked.run_id)
        hold = ComparisonHold(trial.pk, pair.claimed)
        for one in pair.wanted if work else ():
            if one.key not in known and work:
                error = LOST if pair.claimed.is_lost else ""
                made[one.key] = evaluate(one, work, hold, tier=pair.tier(one), error=error)
        return pair

    ready = _in_time(chosen, evaluated)
    storing.keep_texts(list(made.values()))
    rows = _store_light(trial, ready, made, known)
    late = [pair.claimed for pair in pairs[len(ready) :]]
    return _made(rows, trial, [*late, *left])


def _store_light(
    trial: Trial, pairs: Sequence[Pair], made: dict[Key, Evaluated], known: dict[Key, int]
) -> list[Columns]:
    with transaction.atomic():
        here = storing.still_there([pair.looked.run_id for pair in pairs])
        mine = claiming.held(trial.pk, [pair.claimed for pair in pairs], for_storing=True)
        wanted = [pair for pair in pairs if pair.claimed.pk in mine]
        there = [pair for pair in wanted if _is_whole(pair, here, made, known)]
        stored = storing.store(
            [made[one.key] for pair in there for one in pair.wanted if one.key in made]
        )
        done = [_done(pair, known | stored, made) for pair in there]
        rows = [
            uncompared(pair.claimed, comparing.RUN_GONE) for pair in wanted if pair not in there
        ]
        return _conclude(trial, done, rows)


def _is_whole(
    pair: Pair, here: set[int], made: dict[Key, Evaluated], known: dict[Key, int]
) -> bool:
    """The run is there, and so is each side: one that was deleted meanwhile was not loaded."""
    return pair.looked.run_id in here and all(
        one.key in made or one.key in known for one in pair.wanted
    )


def _step_by_step(trial: Trial, pair: Pair, left: Sequence[Claimed]) -> Made:
    """Raises `LeaseLost`."""
    hold = ComparisonHold(trial.pk, pair.claimed)
    work = load([pair.looked.run_id]).get(pair.looked.run_id)
    if work is None:
        return _stored([uncompared(pair.claimed, comparing.RUN_GONE)], trial, left)
    ids: dict[Key, int] = {}
    made: dict[Key, Evaluated] = {}
    for one in pair.wanted:
        error = LOST if pair.claimed.is_lost else ""
        tier = pair.tier(one)
        ids[one.key], new = storing.work_out(one, work, hold, tier=tier, error=error)
        if new:
            made[one.key] = new
    with transaction.atomic():
        here = storing.still_there([pair.looked.run_id])
        if not claiming.held(trial.pk, [pair.claimed], for_storing=True):
            return Made(left, is_lost=True)
        done = [_done(pair, ids, made)] if here else []
        rows = [] if here else [uncompared(pair.claimed, comparing.RUN_GONE)]
        rows = _conclude(trial, done, rows)
    return _made(rows, trial, left)


def _conclude(trial: Trial, done: Sequence[Done], rows: list[Columns]) -> list[Columns]:
    """Compare and store, in the transaction that holds comparisons and runs.

    What is to be asked again is put off instead; return what was stored.
    """
    now = timezone.now()
    put_off, done = asking_again.parted(done, now)
    if put_off:
        claiming.put_off(put_off, since=now)
    # The hour of a run is marked before that of its comparison: whoever counts takes them so too.
    _tell_false_fails(trial, done)
    compared = comparing.rows_of(done) if done else []
    claiming.store([*rows, *compared])
    told = [
        (one.pair.looked.run_id, event)
        for one, row in zip(done, compared, strict=True)
        if (event := comparing.event_of(trial, row))
    ]
    if told:
        events.append_many(told, at=timezone.now())
    return [*rows, *compared]


def _tell_false_fails(trial: Trial, done: Sequence[Done]) -> None:
    asked = [pk for one in done if one.pair.may_ask for pk in one.pair.ids(one.made)[:2]]
    found = counting.false_fails(asked) if asked else []
    if not found:
        return
    for one in found:
        figures.mark_dirty(one)
    entry = ("verification_false_negative_candidate", {"trial": str(trial.uuid)})
    events.append_many([(one.run_id, entry) for one in found], at=timezone.now())


def _stored(rows: Sequence[Columns], trial: Trial, left: Sequence[Claimed]) -> Made:
    claiming.store(rows)
    return _made(rows, trial, left)


def _made(rows: Sequence[Columns], trial: Trial, left: Sequence[Claimed]) -> Made:
    claiming.finish_replays(trial.pk)
    return Made(left, has_failed=any(row.get("has_failed") for row in rows))


def _done(pair: Pair, ids: dict[Key, int], made: dict[Key, Evaluated]) -> Done:
    found = [made[one.key] for one in pair.wanted if one.key in made]
    return Done(
        pair,
        ids,
        errors={one.wanted.key: one.error for one in found if one.error},
        retry_after=max((one.retry_after for one in found), default=0.0),
    )


def _by_weight(pairs: Sequence[Pair]) -> list[Pair]:
    """The first of them whose submissions are held at a time; one always is."""
    chosen: list[Pair] = []
    weight = 0
    for pair in pairs:
        weight += pair.looked.weight
        if chosen and weight > MOST_BYTES:
            break
        chosen.append(pair)
    return chosen


def _in_time(these: Sequence[T], do: Callable[[T], R]) -> list[R]:
    """Do it for the first of them, as many as the time holds; for one always."""
    until = time.monotonic() + MOST_SECONDS
    done: list[R] = []
    for one in these:
        if done and time.monotonic() >= until:
            break
        done.append(do(one))
    return done
