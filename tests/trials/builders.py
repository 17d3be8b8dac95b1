"""Rows of shadow trials for tests, as the services would have written them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection
from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.models import Project, Role
from processes.models import ProcessVersion
from tests.builders import make_run
from tests.golden.builders import make_replay
from verification.engine.outcome import Outcome, Verdict
from verification.engine.shadow import SideOutcome, diff_class
from verification.engine.verifier import LEGACY_FLAGS, Flags, VerifierSpec
from verification.golden.models import Replay, ReplayPurpose
from verification.golden.replays.selectors import corpus_sha256
from verification.runs.models import Evaluation, Run
from verification.trials.models import (
    Acknowledgement,
    Comparison,
    Judged,
    Judgement,
    Origin,
    Trial,
    TrialReplay,
)
from verification.trials.selectors import corpus_terms
from verification.verifiers.models import VerifierVersion
from verification.verifiers.services import add_version

_numbers = itertools.count(1)

POLICY = Flags()
Pairs = Mapping[tuple[str, str], int]


def access_to(project: Project, role: Role = Role.EDITOR, name: str = "ed") -> Access:
    return Access(project, role, Actor(name))


def make_verifier(project: Project, flags: Flags = POLICY, **changed: Any) -> VerifierVersion:
    """A version with these flags, not the active one; the same content is the same version."""
    return add_version(project=project, spec=VerifierSpec(replace(flags, **changed)))


def make_legacy(project: Project) -> VerifierVersion:
    return make_verifier(project, LEGACY_FLAGS)


def make_candidate(project: Project) -> VerifierVersion:
    """The policy engine with one flag changed."""
    return make_verifier(project, unconfirmed_supporting_threshold=0.4)


def make_trial(
    project: Project,
    *,
    baseline: VerifierVersion | None = None,
    candidate: VerifierVersion | None = None,
    baseline_process_version: ProcessVersion | None = None,
    candidate_process_version: ProcessVersion | None = None,
    created_at: datetime | None = None,
    **columns: Any,
) -> Trial:
    """A running trial of what judges now against another version, unless others are given."""
    at = created_at or timezone.now()
    version = candidate_process_version or baseline_process_version
    if candidate is None:
        candidate = project.verifiers.get(is_active=True) if version else make_candidate(project)
    trial = Trial.objects.create(
        project=project,
        baseline_verifier=baseline or project.verifiers.get(is_active=True),
        candidate_verifier=candidate,
        baseline_process_version=baseline_process_version,
        candidate_process_version=candidate_process_version,
        **{
            "title": f"Trial {next(_numbers)}",
            "process": version.process if version else None,
            "seen_until": at,
            "aa_rate": 0.0,  # asked twice by lot: only where a test wants it
            "created_by": "ed",
            **columns,
        },
    )
    Trial.objects.filter(pk=trial.pk).update(created_at=at)
    trial.created_at = at
    return trial


@dataclass(frozen=True)
class _Side:
    outcome: Outcome
    verdict: Verdict
    reason_code: str


def _side(outcome: str, reason: str) -> _Side:
    found = SideOutcome(outcome)
    plain = Outcome.FAIL if found is SideOutcome.UNDECIDED else Outcome(found.value)
    return _Side(plain, found.verdict, reason)


USUAL_REASONS = {"fail": "rule_violated", "undecided": "parse_inconclusive"}


def _columns(old: str, new: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    old_reason = columns.get("old_reason", USUAL_REASONS.get(old, ""))
    new_reason = columns.get("new_reason", USUAL_REASONS.get(new, ""))
    found = diff_class(_side(old, old_reason), _side(new, new_reason))
    is_same = (old, old_reason) == (new, new_reason)
    usual: dict[str, Any] = {
        "origin": Origin.LIVE,
        "process": "small-work",
        "phase": "build",
        "title": f"task-{next(_numbers)}",
        "compared_at": timezone.now(),
        "old": old,
        "new": new,
        "old_reason": old_reason,
        "new_reason": new_reason,
        "old_ms": 20,
        "new_ms": 20,
        "diff_class": found,
        "finer": [] if is_same else ["outcome"],
        "rules": [] if is_same else ["no-placeholders"],
        "summary": "" if is_same else f"no-placeholders: {old} → {new}",
        "kind": "" if is_same else f"{old}-{new}"[:16],
    }
    return {**usual, **columns}


def make_comparison(
    trial: Trial, old: str = "pass", new: str = "pass", *, run: Run | None = None, **columns: Any
) -> Comparison:
    """What both sides made of a run, or of none that is left."""
    if run is not None:
        columns = {
            "process": run.process.slug,
            "phase": run.phase_id,
            "title": run.task.external_id,
            **columns,
        }
    return Comparison.objects.create(
        trial=trial, run=run, run_key=run.pk if run else None, **_columns(old, new, columns)
    )


def make_queued(trial: Trial, **columns: Any) -> Comparison:
    """A comparison that nobody has worked on yet."""
    run: Run | None = columns.get("run")
    return Comparison.objects.create(
        trial=trial,
        run_key=run.pk if run else None,
        **{
            "origin": Origin.LIVE,
            "process": "small-work",
            "phase": "build",
            "title": f"task-{next(_numbers)}",
            **columns,
        },
    )


def make_comparisons(trial: Trial, pairs: Pairs, **columns: Any) -> list[Comparison]:
    """So many of each pair of outcomes, `{("fail", "pass"): 30}`, with the same columns."""
    return Comparison.objects.bulk_create(
        Comparison(trial=trial, **_columns(old, new, columns))
        for (old, new), count in pairs.items()
        for _ in range(count)
    )


def make_sides(trial: Trial, run: Run, *, old: str = "fail", new: str = "pass") -> Comparison:
    """A comparison of a run whose both sides were evaluated beside it."""
    first, second = (
        _evaluation(trial, run, seq, outcome) for seq, outcome in enumerate((old, new), start=1)
    )
    return make_comparison(trial, old, new, run=run, old_evaluation=first, new_evaluation=second)


def _evaluation(trial: Trial, run: Run, seq: int, outcome: str) -> Evaluation:
    side = _side(outcome, USUAL_REASONS.get(outcome, ""))
    verifiers = (trial.baseline_verifier, trial.candidate_verifier)
    versions = (trial.baseline_process_version, trial.candidate_process_version)
    return Evaluation.objects.create(
        run=run,
        purpose="shadow",
        trial_id=trial.pk,
        seq=seq,
        process_version=versions[seq - 1] or run.process_version,
        verifier_version=verifiers[seq - 1],
        engine_build="1",
        outcome=side.outcome,
        verdict=side.verdict,
        reason_code=side.reason_code,
        tier_achieved=1,
        duration_ms=20,
        started_at=run.created_at,
        finished_at=run.finished_at,
    )


def make_compared_run(trial: Trial, old: str = "fail", new: str = "pass") -> Comparison:
    """A finished run of the trial's project, and its comparison."""
    side = _side(new, "")
    run = make_run(trial.project, outcome=side.outcome, verdict=side.verdict)
    return make_sides(trial, run, old=old, new=new)


def make_trial_replay(trial: Trial, origin: Origin = Origin.PAST, **columns: Any) -> TrialReplay:
    return TrialReplay.objects.create(
        trial=trial, origin=origin, **{"created_by": "ed", "total": 0, **columns}
    )


def make_judgement(
    comparison: Comparison, said: str = Judged.NEW, reviewer: str = "ann", **columns: Any
) -> Judgement:
    """What one more person said, and what all of them come to."""
    made = Judgement.objects.create(
        comparison=comparison,
        reviewer=reviewer,
        said=said,
        **{"is_old_first": True, **columns},
    )
    standing = comparison.judgements.filter(withdrawn_at=None)
    words = set(standing.values_list("said", flat=True))
    comparison.judged = words.pop() if len(words) == 1 else Judged.DISPUTED if words else ""
    comparison.judged_at = timezone.now() if comparison.judged else None
    comparison.save(update_fields=["judged", "judged_at"])
    return made


def make_acknowledgement(comparison: Comparison, **columns: Any) -> Acknowledgement:
    """Of the difference that a comparison shows; it holds for a week."""
    return Acknowledgement.objects.create(
        trial=comparison.trial,
        kind=comparison.kind,
        summary=comparison.summary,
        **{
            "reason": "We know this one.",
            "until": timezone.now() + timedelta(days=7),
            "created_by": "ed",
            **columns,
        },
    )


def make_cutover_replay(trial: Trial, **columns: Any) -> Replay:
    """The candidate's replay of the corpus as it is now, of which nothing regressed."""
    process, version = corpus_terms(trial)
    return make_replay(
        trial.project,
        **{
            "purpose": ReplayPurpose.CUTOVER,
            "verifier_version": trial.candidate_verifier,
            "process": process,
            "process_version": version,
            "corpus_sha256": corpus_sha256(trial.project, process=process, with_canary=True),
            "is_live_line": False,
            "total": 12,
            "counts": {"held": 12},
            **columns,
        },
    )


OPEN: tuple[tuple[Pairs, Mapping[str, Any]], ...] = (
    ({("pass", "pass"): 460}, {}),
    ({("fail", "pass_with_warnings"): 60}, {"judged": Judged.NEW}),
    ({("fail", "fail"): 40}, {"judged": Judged.BOTH}),
    ({("pass", "pass"): 40}, {"is_aa": True, "old_again": "pass", "new_again": "pass"}),
)
"""Pairs of a candidate that rejects good work less often, and lets nothing bad through."""


def fill_open(trial: Trial, *, without: Iterable[int] = ()) -> None:
    """All that an open gate rests on: pairs, people's words, A/A pairs, and the corpus.

    `without`: numbers of parts of `OPEN` that are left out.
    """
    fill_pairs(trial, without=without)
    make_cutover_replay(trial)


def fill_pairs(trial: Trial, *, without: Iterable[int] = ()) -> None:
    """As `fill_open`, but for the corpus."""
    for number, (pairs, columns) in enumerate(OPEN):
        if number not in set(without):
            make_comparisons(trial, pairs, **columns)


MIX: tuple[tuple[str, str, str], ...] = (
    *(("pass", "pass", ""),) * 11,
    *(("fail", "fail", ""),) * 3,
    ("fail", "pass", "new"),
    ("fail", "pass_with_warnings", ""),
    ("pass", "fail", ""),
    ("pass", "pass_with_warnings", ""),
    ("fail", "partial_verified", "new"),
    ("undecided", "pass", ""),
)
"""Old, new and judged of twenty comparisons that look like real life."""


def generate_comparisons(trial: Trial, count: int, *, pattern: int = 2_000) -> None:
    """Store many compared pairs: the first are made here, the database copies them."""
    span = min(count, pattern)
    rows = Comparison.objects.bulk_create(
        Comparison(trial=trial, **_columns(old, new, _as_in_life(number, judged)))
        for number in range(span)
        for old, new, judged in [MIX[number * 7 % len(MIX)]]
    )
    _copy([row.pk for row in rows], count - span)
    with connection.cursor() as cursor:
        cursor.execute("analyze trials_comparison")


def _as_in_life(number: int, judged: str) -> dict[str, Any]:
    is_aa = number % 10 == 0
    again = {"old_again": "pass", "new_again": "pass"} if is_aa else {}
    return {
        "origin": Origin.PAST if number % 3 else Origin.LIVE,
        "phase": ("build", "write")[number % 2],
        "judged": judged,
        "is_aa": is_aa,
        "old_cost_usd": Decimal("0.0012"),
        "new_cost_usd": Decimal("0.0013"),
        "old_ms": 10 + number % 90,
        "new_ms": 12 + number % 110,
        **again,
    }


def _copy(ids: list[int], count: int) -> None:
    if count <= 0:
        return
    fields = [str(one.column) for one in Comparison._meta.concrete_fields if not one.primary_key]
    columns = ", ".join(f'"{name}"' for name in fields)
    values = ", ".join("gen_random_uuid()" if name == "uuid" else f'"{name}"' for name in fields)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            insert into trials_comparison ({columns}) select {values}
            from trials_comparison, generate_series(1, %s) as copy
            where id = any(%s) limit %s
            """,  # noqa: S608 - names of our own columns
            [-(-count // len(ids)), ids, count],
        )
