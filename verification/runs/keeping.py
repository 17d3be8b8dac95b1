"""What is kept of an evaluation beside its own row: findings, votes, the texts it made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from processes.selectors import rule_version_ids
from verification.engine import climb
from verification.engine import finding as engine
from verification.engine.claims import settlement
from verification.engine.judges.asking import Ballot
from verification.runs.evidence_store import digest_of, name_blobs, store_contents
from verification.runs.gating.keeping import keep_gates
from verification.runs.models import Artefact, Finding, Vote
from verification.runs.work import Begun, Work


def keep_texts(work: Work, artefacts: Iterable[settlement.Artefact]) -> None:
    """Store what the evaluation wrote, before the transaction that names it."""
    if contents := [artefact.content for artefact in artefacts]:
        store_contents(work.project, contents)


@dataclass(frozen=True, slots=True)
class Kept:
    """What one evaluation has to keep."""

    work: Work
    evaluation_id: int
    process_version_id: int
    conclusion: climb.Conclusion


def keep(work: Work, begun: Begun, conclusion: climb.Conclusion) -> None:
    """Write the rows. The caller holds the run, in a transaction."""
    keep_all([Kept(work, begun.evaluation_id, begun.process_version_id, conclusion)])


def keep_all(kept: Sequence[Kept]) -> None:
    """Write the rows of many evaluations, each kind at once."""
    versions = {one.process_version_id for one in kept if one.conclusion.findings}
    rule_versions = {version: rule_version_ids(version) for version in versions}
    Finding.objects.bulk_create(
        _row(one, position, finding, rule_versions[one.process_version_id].get(finding.rule))
        for one in kept
        for position, finding in enumerate(one.conclusion.findings)
    )
    Vote.objects.bulk_create(
        _vote(one, ballot) for one in kept for ballot in one.conclusion.ballots
    )
    for one in kept:
        _name_texts(one)
        keep_gates(one.work, one.evaluation_id, one.conclusion.gates)


def _row(kept: Kept, position: int, finding: engine.Finding, rule_version: int | None) -> Finding:
    return Finding(
        project_id=kept.work.project_id,
        evaluation_id=kept.evaluation_id,
        tier=finding.tier,
        position=position,
        rule=finding.rule,
        rule_version_id=rule_version,
        source=finding.source,
        enforcement=finding.enforcement,
        target=finding.target or "",
        severity=finding.severity or "",
        verdict=finding.verdict,
        reason_code=finding.reason_code,
        message=finding.message,
        quote=finding.quote,
        quote_verified=finding.quote_verified,
        path=finding.path,
        line=finding.line,
        column=finding.column,
        place=dict(finding.place),
        confidence=finding.confidence,
        suggestion=finding.suggestion,
        fingerprint=finding.fingerprint,
    )


def _vote(kept: Kept, ballot: Ballot) -> Vote:
    return Vote(
        evaluation_id=kept.evaluation_id,
        index=ballot.index,
        model=ballot.model[:120],
        passed=ballot.passed,
        confidence=ballot.confidence,
        why=ballot.why,
    )


def _name_texts(kept: Kept) -> None:
    artefacts = kept.conclusion.artefacts
    if not artefacts:
        return
    digests = [digest_of(one.content) for one in artefacts]
    blobs = name_blobs(kept.work.project, dict(digests))
    Artefact.objects.bulk_create(
        Artefact(
            evaluation_id=kept.evaluation_id,
            kind=made.kind,
            path=made.path[:500],
            blob=blobs[sha256],
        )
        for made, (sha256, _) in zip(artefacts, digests, strict=True)
    )
