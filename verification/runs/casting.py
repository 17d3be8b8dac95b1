"""From rows to the engine's values, for the run's own evaluation and for those beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

from django.utils import timezone

from processes.definition.model import Definition, Phase
from processes.selectors import definition_of
from verification.engine.climb import Case
from verification.engine.gating.stages import SECURITY
from verification.engine.outcome import COUNTING, Purpose
from verification.engine.tiers import TierReport
from verification.engine.verifier import VerifierSpec
from verification.runs.calls import Books
from verification.runs.evidence_store import Digest
from verification.runs.holding import Hold
from verification.runs.judging import StoredJudge, known_of_judges
from verification.runs.loops import budget_of
from verification.runs.models import TierResult
from verification.runs.storable import storable_report
from verification.runs.submission import fence_of, submission_of
from verification.runs.waivers.selectors import words_of_waivers
from verification.runs.work import Begun, Work
from verification.verifiers.models import VerifierVersion


def case_of(
    work: Work, files: dict[str, Digest], begun: Begun, *, tier: int = 0, nonce: str = ""
) -> Case:
    """What is to be judged. `tier` and `nonce` replace the run's own and the evaluation's.

    Raises:
        LookupError: the process has no such phase.
    """
    definition = definition_of(begun.process_version_id)
    phase = definition.phase(work.phase_id)
    if phase is None:
        raise LookupError(f"phase {work.phase_id} is not in version {begun.process_version_id}")
    verifier = verifier_spec(begun.verifier_version_id)
    tier = tier or work.tier_requested
    case = case_by(definition, phase, verifier, work, files, tier, nonce or begun.uuid.hex)
    is_waived = SECURITY in phase.gates and begun.purpose in COUNTING
    if not is_waived:  # beside a run, its gates are told of as they were when it counted
        return case
    return replace(case, waivers=words_of_waivers(work.process_id, timezone.now()))


def case_by(
    definition: Definition,
    phase: Phase,
    verifier: VerifierSpec,
    work: Work,
    files: dict[str, Digest],
    tier: int,
    nonce: str,
) -> Case:
    """A run's work, judged by what need not be stored."""
    is_judged = tier > 1
    return Case(
        definition=definition,
        phase=phase,
        submission=submission_of(work.body, files),
        verifier=verifier,
        tier=tier,
        fence=fence_of(work.project_uuid, work.body, files) if is_judged else "",
        nonce=nonce,
        attempt=work.attempt or work.attempts_used + 1,
        **(known_of_judges(work.project_id, verifier.models) if is_judged else {}),
    )


def judge_of(hold: Hold, work: Work, begun: Begun) -> StoredJudge:
    own = begun.uuid.hex if begun.purpose == Purpose.AA else ""
    prompt_version = verifier_spec(begun.verifier_version_id).prompt_version
    books = Books(hold, work, begun, prompt_version, own)
    if begun.purpose not in COUNTING:  # paid for by others than the task's loop
        return StoredJudge(books)
    phase = definition_of(begun.process_version_id).phase(work.phase_id)
    return StoredJudge(books, loop=budget_of(phase, work.task_id))


def saved_tiers(begun: Begun) -> list[TierReport]:
    saved = TierResult.objects.filter(evaluation=begun.evaluation_id).order_by("tier")
    return [TierReport.from_json(result) for result in saved.values_list("result", flat=True)]


def keep_each(
    found: Iterable[TierReport],
    judge: StoredJudge,
    done: list[TierReport],
    *,
    save: Callable[[TierReport], None],
) -> None:
    """Save each tier as it ends, and enter it into `done`."""
    judge.tier = 1 + max((report.tier for report in done), default=0)
    for one in found:
        report = storable_report(one)
        save(report)
        done.append(report)
        judge.tier = report.tier + 1


@cache
def verifier_spec(version_id: int) -> VerifierSpec:
    return VerifierSpec.from_json(VerifierVersion.objects.get(pk=version_id).spec)
