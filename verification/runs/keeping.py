"""What is kept of an evaluation beside its own row: findings, votes, the texts it made."""

from __future__ import annotations

from processes.selectors import rule_version_ids
from verification.engine import climb
from verification.runs.evidence_store import digest_of, name_blobs, store_contents
from verification.runs.models import Artefact, Finding, Vote
from verification.runs.work import Begun, Work


def keep_texts(work: Work, conclusion: climb.Conclusion) -> None:
    """Store what the evaluation wrote, before the transaction that names it."""
    if conclusion.artefacts:
        store_contents(work.project, [one.content for one in conclusion.artefacts])


def keep(work: Work, begun: Begun, conclusion: climb.Conclusion) -> None:
    """Write the rows. The caller holds the run, in a transaction."""
    _keep_findings(work, begun, conclusion)
    _keep_votes(begun, conclusion)
    _name_texts(work, begun, conclusion)


def _keep_findings(work: Work, begun: Begun, conclusion: climb.Conclusion) -> None:
    if not conclusion.findings:
        return
    rule_versions = rule_version_ids(begun.process_version_id)
    Finding.objects.bulk_create(
        Finding(
            project_id=work.project_id,
            evaluation_id=begun.evaluation_id,
            tier=finding.tier,
            position=position,
            rule=finding.rule,
            rule_version_id=rule_versions.get(finding.rule),
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
        for position, finding in enumerate(conclusion.findings)
    )


def _keep_votes(begun: Begun, conclusion: climb.Conclusion) -> None:
    Vote.objects.bulk_create(
        Vote(
            evaluation_id=begun.evaluation_id,
            index=ballot.index,
            model=ballot.model[:120],
            passed=ballot.passed,
            confidence=ballot.confidence,
            why=ballot.why,
        )
        for ballot in conclusion.ballots
    )


def _name_texts(work: Work, begun: Begun, conclusion: climb.Conclusion) -> None:
    if not conclusion.artefacts:
        return
    digests = [digest_of(one.content) for one in conclusion.artefacts]
    blobs = name_blobs(work.project, dict(digests))
    Artefact.objects.bulk_create(
        Artefact(
            evaluation_id=begun.evaluation_id,
            kind=made.kind,
            path=made.path[:500],
            blob=blobs[sha256],
        )
        for made, (sha256, _) in zip(conclusion.artefacts, digests, strict=True)
    )
