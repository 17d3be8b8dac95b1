"""Run the tiers one after the other until one fails, and conclude from all of them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from processes.definition.model import Enforcement
from verification.engine import checks, custom, legacy, policy, scoping
from verification.engine.attempts import Accounted, TaskHistory, budget
from verification.engine.case import Case, Ports
from verification.engine.claims import remediation
from verification.engine.claims.labels import ClaimCounts, counted_claims, totals_of
from verification.engine.claims.settlement import Artefact, CountedClaim, RemediationDraft
from verification.engine.claims.support import Support
from verification.engine.claims.unconfirmed import Settled, settle
from verification.engine.decision import RunFacts, TaskState, changes_code, decide_run
from verification.engine.finding import (
    Finding,
    TraceEntry,
    TraceReason,
    with_fingerprints,
)
from verification.engine.gates import GateReport
from verification.engine.gating.findings import ask as ask_gates
from verification.engine.judges import semantic, voting
from verification.engine.judges.asking import Ballot, share_of_passes
from verification.engine.judges.blaming import lost_answer
from verification.engine.outcome import (
    Action,
    ConfidenceLevel,
    FindingVerdict,
    Outcome,
    RetryStrategy,
    SeverityClass,
    Status,
    Verdict,
)
from verification.engine.rating import Rating
from verification.engine.scoring import Loop, Score
from verification.engine.tiers import TierReport

__all__ = ["Case", "Conclusion", "Ports", "TierReport", "climb", "conclude"]

_ANSWERED = (Status.PASSED, Status.FAILED)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The result of an evaluation. `findings` are ordered, most severe first.

    `reason_code` is '' if nothing counts. `confidence` is the probability, 0 to 1, that the judges
    are right; None if no judge decided. `vote_share` is the share of passing votes, None without
    votes. `review_reasons` are the reason codes that ask for a person. `may_pass`: undecided only
    for causes that may be gone when the judge is asked later. `accounted` is the task with this
    run counted.
    """

    outcome: Outcome
    verdict: Verdict
    reason_code: str
    severity_class: SeverityClass | None
    findings: tuple[Finding, ...]
    trace: tuple[TraceEntry, ...]
    tier_achieved: int
    confidence: float | None
    confidence_level: ConfidenceLevel
    retry_strategy: RetryStrategy
    claims: ClaimCounts
    action: Action
    accounted: Accounted
    review_reasons: tuple[str, ...] = ()
    counted_claims: tuple[CountedClaim, ...] = ()
    ballots: tuple[Ballot, ...] = ()
    artefacts: tuple[Artefact, ...] = ()
    remediations: tuple[RemediationDraft, ...] = ()
    result: Any = field(default=None, hash=False)
    is_final: bool = False
    may_pass: bool = False
    gates: tuple[GateReport, ...] = ()
    ratings: tuple[Rating, ...] = ()
    score: Score | None = None
    loop: Loop | None = None

    @property
    def vote_share(self) -> float | None:
        return share_of_passes(self.ballots) if self.ballots else None

    @property
    def reruns_execution(self) -> bool:
        return self.action is Action.RETRY

    @property
    def leading(self) -> Finding | None:
        """The finding that the reason is taken from."""
        fitting = (one for one in self.findings if one.reason_code == self.reason_code)
        return next(fitting, next(iter(self.findings), None))


def climb(case: Case, ports: Ports, done: Sequence[TierReport] = ()) -> Iterator[TierReport]:
    """Yield each tier as it ends, up to the one asked for.

    Tiers in `done` are neither redone nor yielded. A hard failure stops the climb, and so does
    an answer that was lost: what comes after could not turn it into an accept. Where gates could
    not run, the judge looks at the work alone, so that a person has that much to go by.
    """
    reports = {report.tier: report for report in done}
    for tier in range(1, case.tier + 1):
        if tier not in reports:
            reports[tier] = _run_tier(case, ports, tier, tuple(reports.values()))
            yield reports[tier]
        if not policy.goes_on(reports[tier].findings, case.verifier.flags):
            return


def conclude(case: Case, tiers: Sequence[TierReport], task: TaskState | None = None) -> Conclusion:
    """Decide over everything that was found. The order of tiers and findings plays no part.

    `task` None: the task as far as the case knows it.
    """
    findings = [
        finding
        for report in tiers
        for finding in report.findings
        if finding.verdict is not FindingVerdict.SATISFIED
    ]
    rule_order = _rule_order(case)
    gates = tuple(gate for report in tiers for gate in report.gates)
    ratings = tuple(rating for report in tiers for rating in report.ratings)
    facts = RunFacts(
        findings=policy.ordered(findings, rule_order),
        flags=case.verifier.flags,
        phase=case.phase,
        tier_requested=case.tier,
        tier_achieved=max(
            (report.tier for report in tiers if report.status in _ANSWERED), default=0
        ),
        gates=gates,
        ratings=ratings,
        changes_code=changes_code(case.submission),
        auto_commit=case.definition.policy.auto_commit,
        is_final=any(report.is_final for report in tiers),
        rule_order=rule_order,
    )
    decided = decide_run(facts, task or task_of(case))
    decision = decided.decision
    counted = _counted_claims(case, tiers)
    return Conclusion(
        outcome=decision.outcome,
        verdict=decision.verdict,
        reason_code=decision.reason_code,
        severity_class=decision.severity_class,
        findings=decided.findings,
        trace=_whole_trace(case, tiers),
        tier_achieved=facts.tier_achieved,
        confidence=_confidence(decision.verdict, tiers),
        confidence_level=decided.confidence_level,
        retry_strategy=decision.retry_strategy,
        claims=totals_of(counted),
        action=decided.action,
        accounted=decided.accounted,
        review_reasons=decision.review_reasons,
        counted_claims=counted,
        ballots=tuple(ballot for report in tiers for ballot in report.ballots),
        artefacts=tuple(artefact for report in tiers for artefact in report.artefacts),
        remediations=remediation.drafts(case, decision.verdict, decided.findings, counted),
        result=next((report.result for report in tiers if report.result is not None), None),
        is_final=facts.is_final,
        may_pass=decision.may_pass,
        gates=gates,
        ratings=ratings,
        score=decided.score,
        loop=decided.loop,
    )


def task_of(case: Case) -> TaskState:
    """The task as far as a case knows it: how many attempts came before."""
    before = case.attempt - 1
    most = budget(case.submission.task.max_attempts, case.phase, case.definition.policy)
    history = TaskHistory(most, attempts_used=before, submissions=before)
    return TaskState(history, submission_hash=case.fence)


def _counted_claims(case: Case, tiers: Sequence[TierReport]) -> tuple[CountedClaim, ...]:
    """As the highest tier that settled them left them; else as they were submitted."""
    settled = [(report.tier, report.claims) for report in tiers if report.claims is not None]
    if settled:
        return max(settled, key=lambda one: one[0])[1]
    return counted_claims(case.submission.claims, Support(case.submission.evidence))


def _run_tier(case: Case, ports: Ports, tier: int, done: tuple[TierReport, ...]) -> TierReport:
    if tier == 1:
        return _deterministic(case, ports)
    flags = case.verifier.flags
    enabled = flags.tier2_enabled if tier == 2 else flags.tier3_enabled
    if not enabled:
        return _unavailable(tier, f"Tier {tier} was asked for and is switched off.")
    if ports.judge is None or not case.verifier.models.is_configured:
        return _unavailable(tier, f"Tier {tier} was asked for and no judge is configured.")
    assess = semantic.assess if tier == 2 else voting.vote
    case = replace(case, gated=tuple(one for report in done for one in report.gates))
    started = ports.clock()
    report = assess(case, ports, ports.judge, done)
    duration_ms = round((ports.clock() - started) * 1000)
    return replace(report, findings=with_fingerprints(report.findings), duration_ms=duration_ms)


def _deterministic(case: Case, ports: Ports) -> TierReport:
    started = ports.clock()
    findings: list[Finding] = []
    trace: list[TraceEntry] = []
    for observation in checks.look(case, ports):
        if isinstance(observation, TraceEntry):
            trace.append(observation)
        else:
            findings.append(legacy.hardened(observation) if case.is_legacy else observation)
    gated = ask_gates(case, ports)
    findings += map(legacy.hardened, gated.findings) if case.is_legacy else gated.findings
    called = custom.call(case, ports, findings)
    findings += called.findings
    settled = _settled(case, ports, findings)
    findings += settled.findings
    return TierReport(
        tier=1,
        status=policy.status_of(findings, case.verifier.flags),
        findings=with_fingerprints(findings),
        trace=tuple(trace),
        detail="; ".join(filter(None, (_detail(findings), called.detail))),
        duration_ms=round((ports.clock() - started) * 1000),
        result=called.result,
        is_final=called.is_final,
        claims=settled.claims if case.tier == 1 else None,
        artefacts=settled.artefacts,
        gates=gated.reports,
    )


def _settled(case: Case, ports: Ports, findings: Sequence[Finding]) -> Settled:
    """Claims are settled where the climb ends: here, unless a judge is to be asked."""
    if case.tier > 1:
        return Settled()
    return settle(case, ports, is_open=policy.is_open(findings, case.verifier.flags))


def _unavailable(tier: int, message: str) -> TierReport:
    finding = lost_answer("verifier_unavailable", message, tier=tier)
    return TierReport(
        tier=tier,
        status=Status.SKIPPED,
        findings=with_fingerprints([finding]),
        detail=message,
    )


def _detail(findings: Sequence[Finding]) -> str:
    counts = {
        level: sum(finding.enforcement is level for finding in findings) for level in Enforcement
    }
    return ", ".join(f"{count} {level}" for level, count in counts.items() if count)


def _rule_order(case: Case) -> Mapping[str, int]:
    names = [*checks.IDS, *(rule.name for rule in case.definition.rules)]
    return {name: position for position, name in reversed(list(enumerate(names)))}


def _confidence(verdict: Verdict, tiers: Sequence[TierReport]) -> float | None:
    """The confidence of the highest tier with judges. Tier 1 measures none."""
    if verdict is Verdict.UNDECIDED:
        return None
    known = [
        (report.tier, report.confidence)
        for report in tiers
        if report.tier > 1 and report.status in _ANSWERED and report.confidence is not None
    ]
    return max(known)[1] if known else None


def _whole_trace(case: Case, tiers: Sequence[TierReport]) -> tuple[TraceEntry, ...]:
    """Every rule of the process once, in its order; the highest tier's word stands."""
    told: defaultdict[tuple[str, str], deque[TraceEntry]] = defaultdict(deque)
    for report in sorted(tiers, key=lambda one: one.tier):
        of_tier: defaultdict[tuple[str, str], deque[TraceEntry]] = defaultdict(deque)
        for entry in report.trace:
            of_tier[entry.rule, entry.rule_sha256].append(entry)
        told.update(of_tier)
    whole = []
    for rule in case.definition.rules:
        entries = told[rule.name, scoping.rule_sha256(rule)]
        if entries:
            whole.append(replace(entries.popleft(), phase=case.phase.id))
            continue
        scope = scoping.case_scope(rule, case)
        why = TraceReason.TIER_NOT_REACHED if scope.applies else scope.reason
        whole.append(scoping.skipped(rule, case, why))
    return tuple(whole)
