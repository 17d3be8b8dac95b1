"""The labelled claims that a synthesis needs."""

from __future__ import annotations

from collections.abc import Sequence

from processes.definition.model import Enforcement, Target
from verification.engine.case import Case, Ports
from verification.engine.claims.labels import LABELS, counted_claims, is_labelled, key_of, merged
from verification.engine.claims.routing import ID
from verification.engine.claims.submitted_texts import texts_of
from verification.engine.evidence import Claim
from verification.engine.finding import Finding
from verification.engine.outcome import FindingVerdict, Source

_SUGGESTION = (
    f"List the claims of the text in `claims`, each with one of the labels {', '.join(LABELS)}."
)
_UNREADABLE = "parse_inconclusive"


def lacks_labelled_claims(case: Case, ports: Ports, judged: Sequence[Claim] = ()) -> bool:
    """Return whether a synthesis has no labelled claim, of the work itself or of its judge.

    A judge's claim counts where the work makes it. The legacy engine needs no claims.
    """
    submitted = case.submission.claims
    if not case.phase.is_synthesis or case.is_legacy or any(map(is_labelled, submitted)):
        return False
    labelled = [claim for claim in judged if is_labelled(claim)]
    own = {key_of(claim) for claim in submitted}
    if not labelled or any(key_of(claim) in own for claim in labelled):
        return not labelled
    texts = (one.text for one in texts_of(case, ports.workspace).texts)
    return not merged((), counted_claims(labelled), texts).claims


def missing_claims(case: Case, lost: str) -> Finding:
    """Doubt about a synthesis without labelled claims.

    `lost` is the reason code for which the judge could not be asked for them; what cannot be read
    lists none.
    """
    tier = min(case.tier, 2)
    who = "the work has no" if tier == 1 else "neither the work nor the judge has a"
    tail = " The judge could not be asked once more." if lost else ""
    return Finding(
        rule=ID,
        reason_code=lost if lost and lost != _UNREADABLE else "claims_missing",
        message=f"The phase is a synthesis, and {who} labelled claim.{tail}",
        enforcement=Enforcement.HARD,
        verdict=FindingVerdict.UNKNOWN,
        source=Source.DETERMINISTIC if tier == 1 else Source.LLM,
        tier=tier,
        target=Target.EVIDENCE,
        suggestion=_SUGGESTION,
    )
