"""The regex rules of the process, over what was submitted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from processes.definition.model import Enforcement, Expect, Rule, RuleType, Severity, Target
from verification.engine import scoping
from verification.engine.case import Case, Ports
from verification.engine.checks.conflict_examples import (
    looks_for_conflicts,
    mask_conflict_examples,
)
from verification.engine.checks.drafts import not_inspected
from verification.engine.checks.materials import Material, material_batches
from verification.engine.checks.registry import Observation, check
from verification.engine.checks.searching import Search
from verification.engine.evidence import (
    Answer,
    NotInspected,
    Pattern,
    PatternMatch,
    UnsupportedPattern,
)
from verification.engine.finding import Finding, TraceReason, TraceVerdict
from verification.engine.matching import MAX_PLACES
from verification.engine.outcome import FindingVerdict
from verification.engine.scoping import Scope

ID = "regex-rules"
TOO_LARGE = "It is too large to be searched."
BY_FAILURE_CLASS = {
    "hard_integrity": "hard_invariant_failed",
    "recoverable_placeholder": "incomplete_deliverable_placeholder",
}
WHERE = {
    Target.OUTPUT: "the output",
    Target.DELIVERABLES: "the deliverables",
    Target.EVIDENCE: "the evidence",
}


@dataclass
class Asked:
    """One rule that speaks here, and what is known so far over the texts of its target."""

    rule: Rule
    scope: Scope
    case: Case
    count: int = 0
    places: list[tuple[Material, PatternMatch]] = field(default_factory=list)
    lost: list[tuple[Material, NotInspected]] = field(default_factory=list)
    """The first text for each reason why it could not be searched."""
    lost_texts: defaultdict[NotInspected, int] = field(default_factory=lambda: defaultdict(int))
    unsupported: UnsupportedPattern | None = None

    @property
    def enforcement(self) -> Enforcement:
        return scoping.rule_enforcement(self.rule, self.case.verifier.flags)

    @property
    def reason_code(self) -> str:
        return BY_FAILURE_CLASS.get(self.rule.failure_class, "rule_violated")

    @property
    def pattern(self) -> Pattern:
        return Pattern(
            self.rule.check,
            wanted_matches(self.rule) - self.count,
            in_visible_text=self.enforcement is Enforcement.HARD and not self.case.is_legacy,
        )

    @property
    def is_settled(self) -> bool:
        return self.unsupported is not None or self.pattern.limit <= 0

    def take(self, answer: Answer, texts: Sequence[Material]) -> None:
        if isinstance(answer, UnsupportedPattern):
            self.unsupported = answer
        elif isinstance(answer, NotInspected):
            self.lose(answer, texts)
        else:
            room = MAX_PLACES - len(self.places)
            self.places += [(texts[place.text], place) for place in answer.places[:room]]
            self.count += answer.count

    def lose(self, answer: NotInspected, texts: Sequence[Material]) -> None:
        if texts:
            if answer not in self.lost_texts:
                self.lost.append((texts[0], answer))
            self.lost_texts[answer] += len(texts)


@check(ID)
def patterns(case: Case, ports: Ports) -> Iterator[Observation]:
    by_target: defaultdict[Target, list[Asked]] = defaultdict(list)
    for rule in case.definition.rules:
        if rule.type is not RuleType.REGEX:
            continue
        scope = scoping.case_scope(rule, case)
        if scope.applies:
            by_target[rule.target].append(Asked(rule, scope, case))
        else:
            yield scoping.skipped(rule, case, scope.reason)
    search = Search(ports.probe, ports.clock, case.verifier.limits)
    for target, rules in by_target.items():
        for batch in material_batches(target, case, ports):
            _ask(search, [asked for asked in rules if not asked.is_settled], batch)
        for asked in rules:
            yield from _judge(asked)


def _ask(search: Search, rules: Sequence[Asked], batch: Sequence[Material]) -> None:
    texts = [material for material in batch if not material.too_large]
    too_large = [material for material in batch if material.too_large]
    for asked in rules if too_large else ():
        asked.lose(NotInspected(TOO_LARGE), too_large)
    contents = [one.content for one in texts]
    about_conflicts = [asked for asked in rules if looks_for_conflicts(asked.rule)]
    masked = contents
    if about_conflicts:
        masked = [mask_conflict_examples(one.path, one.content) for one in texts]
    if masked == contents:
        _search(search, rules, texts, contents)
    else:
        _search(search, about_conflicts, texts, masked)
        others = [asked for asked in rules if not looks_for_conflicts(asked.rule)]
        _search(search, others, texts, contents)


def _search(
    search: Search, rules: Sequence[Asked], texts: Sequence[Material], contents: Sequence[bytes]
) -> None:
    patterns = [asked.pattern for asked in rules]
    for number, span, answer in search.ask(patterns, contents):
        rules[number].take(answer, texts[span.start : span.stop])


def wanted_matches(rule: Rule) -> int:
    """One more than is needed to tell, or to show."""
    if rule.wanted_count is not None:
        return rule.wanted_count + 1
    return 1 if rule.expect is Expect.MATCH else MAX_PLACES + 1


def _judge(asked: Asked) -> Iterator[Observation]:
    if asked.unsupported:
        yield _unsupported(asked, asked.unsupported)
        yield scoping.entry(
            asked.rule,
            asked.case,
            applied=False,
            verdict=TraceVerdict.UNKNOWN,
            reason=TraceReason.UNSUPPORTED_PATTERN,
        )
        return
    findings = list(findings_of(asked))
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


def findings_of(asked: Asked) -> Iterator[Finding]:
    """Violations where they are certain; where an answer could change all, that it is lost."""
    rule = asked.rule
    if rule.wanted_count is not None:
        violations, is_certain = _of_count(asked, rule.wanted_count)
    elif rule.expect is Expect.MATCH:
        found = asked.count > 0
        message = f"{_told(rule)} Nothing in {WHERE[rule.target]} matches."
        violations, is_certain = [] if found else [_violation(asked, message)], found
    else:
        violations = list(_of_matches(asked))
        is_certain = bool(violations)
    if asked.lost and not is_certain:
        yield from (_lost(asked, material, answer) for material, answer in asked.lost)
    else:
        yield from violations


def _of_count(asked: Asked, wanted: int) -> tuple[list[Finding], bool]:
    rule, found = asked.rule, asked.count
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
    for shown, (material, place) in enumerate(asked.places, start=1):
        message = _told(asked.rule)
        if place.quote:
            message += f" Found: {place.quote!r}."
        if shown == MAX_PLACES and asked.count > MAX_PLACES:
            message += f" There are more; the first {MAX_PLACES} are listed."
        yield _violation(asked, message, material, (place.line, place.column), place.quote)


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
    if (texts := asked.lost_texts[answer]) > 1:
        where += f" and {texts - 1} more"
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
