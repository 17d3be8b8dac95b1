"""The regex rules of the process, over what was submitted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from processes.definition.model import Enforcement, Expect, Rule, RuleType, Severity, Target
from verification.engine import scoping
from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import not_inspected
from verification.engine.checks.materials import Material, materials
from verification.engine.checks.registry import Observation, check
from verification.engine.checks.searching import Answer, Search
from verification.engine.evidence import NotInspected, Pattern, PatternMatch, UnsupportedPattern
from verification.engine.finding import Finding, TraceReason, TraceVerdict
from verification.engine.outcome import FindingVerdict
from verification.engine.scoping import Scope

ID = "regex-rules"
MAX_SHOWN = 50
MAX_QUOTE_CHARS = 200
BY_FAILURE_CLASS = {
    "hard_integrity": "hard_invariant_failed",
    "recoverable_placeholder": "incomplete_deliverable_placeholder",
}
WHERE = {
    Target.OUTPUT: "the output",
    Target.DELIVERABLES: "the deliverables",
    Target.EVIDENCE: "the evidence",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One rule that speaks here, with the answer for each material of its target."""

    rule: Rule
    scope: Scope
    case: Case
    materials: Sequence[Material]
    answers: Sequence[Answer]

    @property
    def enforcement(self) -> Enforcement:
        return scoping.rule_enforcement(self.rule, self.case.verifier.flags)

    @property
    def reason_code(self) -> str:
        if self.scope.reason is TraceReason.UNSCOPED and not self.case.is_legacy:
            return "legacy_unscoped"
        return BY_FAILURE_CLASS.get(self.rule.failure_class, "rule_violated")

    @property
    def matches(self) -> list[tuple[Material, PatternMatch]]:
        return [
            (material, match)
            for material, answer in zip(self.materials, self.answers, strict=True)
            if not isinstance(answer, NotInspected | UnsupportedPattern)
            for match in answer
        ]

    @property
    def lost(self) -> list[tuple[Material, NotInspected]]:
        return [
            (material, answer)
            for material, answer in zip(self.materials, self.answers, strict=True)
            if isinstance(answer, NotInspected)
        ]


@check(ID)
def patterns(case: Case, ports: Ports) -> Iterator[Observation]:
    by_target: defaultdict[Target, list[tuple[Rule, Scope]]] = defaultdict(list)
    for rule in case.definition.rules:
        if rule.type is not RuleType.REGEX:
            continue
        scope = scoping.case_scope(rule, case)
        if scope.applies:
            by_target[rule.target].append((rule, scope))
        else:
            yield scoping.skipped(rule, case, scope.reason)
    search = Search(ports.probe)
    for target, rules in by_target.items():
        texts = materials(target, case, ports)
        asked = [Pattern(rule.check, wanted_matches(rule)) for rule, _ in rules]
        # Even with nothing to search it is asked which patterns can run at all.
        rows = search.search(asked, [one.text for one in texts] or [""])
        for position, (rule, scope) in enumerate(rules):
            answers = [row[position] for row in rows]
            if not texts:
                answers = [one for one in answers if isinstance(one, UnsupportedPattern)]
            yield from _judge(Asked(rule, scope, case, texts, answers))


def is_counted(rule: Rule) -> bool:
    return rule.min_count is not None or rule.requires_exact_cardinality


def wanted_matches(rule: Rule) -> int:
    """One more than is needed to tell, or to show."""
    if is_counted(rule):
        return (1 if rule.min_count is None else rule.min_count) + 1
    return 1 if rule.expect is Expect.MATCH else MAX_SHOWN + 1


def _judge(asked: Asked) -> Iterator[Observation]:
    unsupported = next((one for one in asked.answers if isinstance(one, UnsupportedPattern)), None)
    if unsupported:
        yield _unsupported(asked, unsupported)
        yield scoping.entry(
            asked.rule,
            asked.case,
            applied=False,
            verdict=TraceVerdict.UNKNOWN,
            reason=TraceReason.UNSUPPORTED_PATTERN,
        )
        return
    findings = list(_findings(asked))
    yield from findings
    observed = asked.enforcement is Enforcement.OBSERVE
    yield scoping.entry(
        asked.rule,
        asked.case,
        applied=True,
        verdict=_verdict(findings),
        reason=TraceReason.OBSERVED if observed else asked.scope.reason,
    )


def _verdict(findings: Sequence[Finding]) -> TraceVerdict:
    if not findings:
        return TraceVerdict.SATISFIED
    return TraceVerdict(findings[0].verdict)


def _findings(asked: Asked) -> Iterator[Finding]:
    """Violations where they are certain; where an answer could change all, that it is lost."""
    rule = asked.rule
    if is_counted(rule):
        violations, is_certain = _of_count(asked)
    elif rule.expect is Expect.MATCH:
        found = bool(asked.matches)
        message = f"{_told(rule)} Nothing in {WHERE[rule.target]} matches."
        violations, is_certain = [] if found else [_violation(asked, message)], found
    else:
        violations = list(_of_matches(asked))
        is_certain = bool(violations)
    if asked.lost and not is_certain:
        yield from (_lost(asked, material, answer) for material, answer in asked.lost)
    else:
        yield from violations


def _of_count(asked: Asked) -> tuple[list[Finding], bool]:
    rule, found = asked.rule, len(asked.matches)
    wanted = 1 if rule.min_count is None else rule.min_count
    if rule.requires_exact_cardinality:
        is_right, is_certain, limits = found == wanted, found > wanted, "exactly"
    else:
        is_right, is_certain, limits = found >= wanted, found >= wanted, "at least"
    if is_right:
        return [], is_certain
    shown = f"more than {wanted}" if found > wanted else str(found)
    message = f"{_told(rule)} Found {shown}, wanted {limits} {wanted} in {WHERE[rule.target]}."
    return [_violation(asked, message)], is_certain


def _of_matches(asked: Asked) -> Iterator[Finding]:
    place: tuple[Material, int, int] | None = None
    matches = asked.matches
    for position, (material, match) in enumerate(matches[:MAX_SHOWN]):
        start, line = (place[1], place[2]) if place and place[0] is material else (0, 1)
        line += material.text.count("\n", start, match.start)
        place = (material, match.start, line)
        quote = material.text[match.start : match.end][:MAX_QUOTE_CHARS]
        message = f"{_told(asked.rule)} Found: {quote!r}." if quote else _told(asked.rule)
        if position == MAX_SHOWN - 1 and len(matches) > MAX_SHOWN:
            message += f" There are more; the first {MAX_SHOWN} are listed."
        column = match.start - material.text.rfind("\n", 0, match.start)
        yield _violation(asked, message, material, (line, column), quote)


def _told(rule: Rule) -> str:
    text = " ".join(rule.description.split()) or f"The rule {rule.name} is broken"
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _violation(
    asked: Asked,
    message: str,
    material: Material | None = None,
    position: tuple[int | None, int | None] = (None, None),
    quote: str = "",
) -> Finding:
    return Finding(
        rule=asked.rule.name,
        rule_sha256=scoping.rule_sha256(asked.rule),
        reason_code=asked.reason_code,
        message=message,
        enforcement=asked.enforcement,
        target=asked.rule.target,
        severity=asked.rule.severity,
        quote=quote,
        quote_verified=True if quote else None,
        path=material.path if material else "",
        line=position[0],
        column=position[1],
        place=material.place if material else {},
        suggestion=asked.rule.suggestion,
    )


def _lost(asked: Asked, material: Material, answer: NotInspected) -> Finding:
    where = material.path or WHERE[asked.rule.target]
    return not_inspected(
        asked.rule.name,
        f"{asked.rule.name} could not be looked for in {where}: {answer.why}",
        enforcement=asked.enforcement,
        target=asked.rule.target,
        path=material.path,
        rule_sha256=scoping.rule_sha256(asked.rule),
    )


def _unsupported(asked: Asked, answer: UnsupportedPattern) -> Finding:
    return Finding(
        rule=asked.rule.name,
        rule_sha256=scoping.rule_sha256(asked.rule),
        reason_code="unsupported_pattern",
        message=f"The pattern of {asked.rule.name} cannot be run: {answer.why}",
        enforcement=Enforcement.OBSERVE,
        verdict=FindingVerdict.UNKNOWN,
        target=asked.rule.target,
        severity=Severity.WARNING,
    )
