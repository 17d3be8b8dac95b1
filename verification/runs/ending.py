"""What ends with a run, and in which words it is told."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from verification.engine.attempts import Accounted
from verification.engine.claims.settlement import ClaimState
from verification.engine.climb import Case, Conclusion
from verification.engine.feedback import Feedback
from verification.engine.outcome import Action, Verdict
from verification.engine.scored import Scored
from verification.engine.scoring import Score
from verification.engine.verifier import ENGINE_BUILD
from verification.runs import events, reverifying
from verification.runs.flags import Flag
from verification.runs.work import Begun, Work

NOT_SCORED = Scored()


@dataclass(frozen=True, slots=True)
class Ending:
    """All that is to be stored of one evaluation. `turn`: the run then verifies itself again.

    `flag` is what becomes of its review, once it ends.
    """

    work: Work
    begun: Begun
    case: Case
    conclusion: Conclusion
    accounted: Accounted
    said: Feedback
    action: Action
    at: datetime
    duration_ms: int
    scored: Scored
    turn: reverifying.Turn | None
    flag: Flag | None


def concluded(conclusion: Conclusion, action: Action) -> dict[str, Any]:
    """What was concluded, in the words of the HTTP contract."""
    return {
        "outcome": conclusion.outcome,
        "verdict": conclusion.verdict,
        "reason_code": conclusion.reason_code,
        "severity_class": conclusion.severity_class or "",
        "confidence": conclusion.confidence,
        "confidence_level": conclusion.confidence_level,
        "action": action,
        "retry_strategy": conclusion.retry_strategy,
        "tier_achieved": conclusion.tier_achieved,
    }


def evaluated(
    conclusion: Conclusion, action: Action, said: Feedback, scored: Scored = NOT_SCORED
) -> dict[str, Any]:
    """All that an evaluation's own row says of its end; JSON as plain values."""
    return {
        **concluded(conclusion, action),
        "engine_build": ENGINE_BUILD,
        "rule_trace": [entry.to_json() for entry in conclusion.trace],
        "feedback": {"text": said.text, "items": [asdict(one) for one in said.items]},
        "claims": dict(conclusion.claims),
        "claim_list": [one.to_json() for one in conclusion.counted_claims],
        "score": scored.score and score_json(scored.score),
        "loop": scored.loop and asdict(scored.loop),
    }


def score_json(score: Score) -> dict[str, Any]:
    return {
        "total": score.total,
        "source": score.source,
        "parts": [asdict(part) for part in score.parts],
        "semantic": [asdict(part) for part in score.semantic],
    }


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
        "attempt": ending.accounted.attempt,
    }
    if ending.turn:
        turn = {"next_at": ending.turn.at.isoformat(), "until": ending.turn.until.isoformat()}
        return [(kind, told | turn)]
    written: list[events.Entry] = [(kind, told)]
    if pruned := sum(one.state is ClaimState.PRUNED for one in conclusion.counted_claims):
        written.insert(
            0, ("claims_pruned", {"claims": pruned, "artefacts": len(conclusion.artefacts)})
        )
    if ending.accounted.terminal:
        written.append(("verification_exhausted", {"reason_code": ending.accounted.terminal}))
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
        "feedback": ending.said.text,
        **_announced(ending),
    }


def _announced(ending: Ending) -> dict[str, Any]:
    told = concluded(ending.conclusion, ending.action)
    return {name: value for name, value in told.items() if name != "confidence"}
