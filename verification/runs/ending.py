"""What ends with a run, and in which words it is told."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from processes.definition.model import Enforcement
from verification.engine.claims.settlement import ClaimState
from verification.engine.climb import Case, Conclusion
from verification.engine.feedback import Feedback
from verification.engine.outcome import FindingVerdict, Verdict
from verification.engine.scoring import Score
from verification.engine.verifier import ENGINE_BUILD
from verification.runs import events, reverifying
from verification.runs.flags import Flag
from verification.runs.work import Begun, Work

MAX_RULES = 20
"""So many rules are named by an event; the findings of the run name them all."""


@dataclass(frozen=True, slots=True)
class Ending:
    """All that is to be stored of one evaluation. `turn`: the run then verifies itself again.

    `flag` is what becomes of its review, once it ends.
    """

    work: Work
    begun: Begun
    case: Case
    conclusion: Conclusion
    said: Feedback
    at: datetime
    duration_ms: int
    turn: reverifying.Turn | None
    flag: Flag | None


def concluded(conclusion: Conclusion) -> dict[str, Any]:
    """Return the conclusion's fields of the HTTP contract."""
    return {
        "outcome": conclusion.outcome,
        "verdict": conclusion.verdict,
        "reason_code": conclusion.reason_code,
        "severity_class": conclusion.severity_class or "",
        "confidence": conclusion.confidence,
        "vote_share": conclusion.vote_share,
        "confidence_level": conclusion.confidence_level,
        "action": conclusion.action,
        "retry_strategy": conclusion.retry_strategy,
        "tier_achieved": conclusion.tier_achieved,
    }


def evaluated(conclusion: Conclusion, said: Feedback) -> dict[str, Any]:
    """Return the columns of an evaluation that has ended; JSON as plain values."""
    return {
        **concluded(conclusion),
        "engine_build": ENGINE_BUILD,
        "rule_trace": [entry.to_json() for entry in conclusion.trace],
        "feedback": asdict(said),
        "claims": dict(conclusion.claims),
        "claim_list": [one.to_json() for one in conclusion.counted_claims],
        "score": conclusion.score and score_json(conclusion.score),
        "loop": conclusion.loop and asdict(conclusion.loop),
    }


def score_json(score: Score) -> dict[str, Any]:
    return {
        "total": score.total,
        "source": score.source,
        "parts": [asdict(part) for part in score.parts],
        "semantic": [asdict(part) for part in score.semantic],
    }


def rejection_of(conclusion: Conclusion) -> dict[str, Any]:
    """Return the enforcement and the rules of the findings that reject; empty for no reject."""
    if conclusion.verdict is not Verdict.REJECT:
        return {"enforcement": None, "rules": []}
    violated = [one for one in conclusion.findings if one.verdict is FindingVerdict.VIOLATED]
    hard = [one for one in violated if one.enforcement is Enforcement.HARD]
    # Without a hard finding it is partly verified work that a flag turns into a reject.
    rejecting = hard or [one for one in (conclusion.leading,) if one is not None]
    rules = list(dict.fromkeys(finding.rule for finding in rejecting))
    enforcement = rejecting[0].enforcement if rejecting else Enforcement.HARD
    return {"enforcement": enforcement, "rules": rules[:MAX_RULES]}


def events_of(ending: Ending) -> list[events.Entry]:
    conclusion = ending.conclusion
    kind = {
        Verdict.ACCEPT: "verification_passed",
        Verdict.REJECT: "verification_rejected",
        Verdict.UNDECIDED: "verification_undecided",
    }[conclusion.verdict]
    told = {
        "outcome": conclusion.outcome,
        "reason_code": conclusion.reason_code,
        "findings": len(conclusion.findings),
        "attempt": conclusion.accounted.attempt,
    }
    if conclusion.verdict is Verdict.REJECT:
        told |= rejection_of(conclusion)
    if ending.turn:
        turn = {"next_at": ending.turn.at.isoformat(), "until": ending.turn.until.isoformat()}
        return [(kind, told | turn)]
    written: list[events.Entry] = [(kind, told)]
    if pruned := sum(one.state is ClaimState.PRUNED for one in conclusion.counted_claims):
        written.insert(
            0, ("claims_pruned", {"claims": pruned, "artefacts": len(conclusion.artefacts)})
        )
    if terminal := conclusion.accounted.terminal:
        written.append(("verification_exhausted", {"reason_code": terminal}))
    return written + (ending.flag.events if ending.flag else [])


def announcement(ending: Ending) -> dict[str, Any]:
    """What a webhook is told; the rest is behind the address."""
    return {
        "run": str(ending.work.uuid),
        "process": ending.work.process_slug,
        "phase": ending.work.phase_id,
        "task": ending.case.submission.task.id,
        "passed": ending.conclusion.verdict.passed,
        "finished_at": ending.at.isoformat(),
        **rejection_of(ending.conclusion),
        "feedback": ending.said.text,
        **_announced(ending),
    }


def _announced(ending: Ending) -> dict[str, Any]:
    fields = concluded(ending.conclusion)
    return {name: fields[name] for name in fields if name not in ("confidence", "vote_share")}
