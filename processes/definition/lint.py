"""What is probably a mistake in a process that loads. Warnings, never errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, islice

from processes.definition import patterns
from processes.definition.model import (
    Definition,
    Enforcement,
    Expect,
    Level,
    Problem,
    ReviewPolicy,
    ReviewReason,
    Rule,
    RuleType,
    Target,
)
from processes.definition.reachability import matches_everything, matches_nothing
from processes.definition.review import PLACE as REVIEW
from processes.definition.visible_text import spans_in_both, visible_text

MAX_EXAMPLE_CHARS = 10_000
MAX_TRIED_CHARS = 200_000
"""In all examples of a file: a slow pattern takes milliseconds for a thousand."""
MAX_COUNTED = 10_000
MAX_SECONDS = 1.5
"""For all patterns of a file: hundreds of large ones would hold a page for minutes."""

Tried = Mapping[str, patterns.PatternProblem | None]


def lint(
    definition: Definition, *, clock: Callable[[], float] = time.monotonic
) -> tuple[Problem, ...]:
    """Return what can be told without looking at past runs."""
    until = clock() + MAX_SECONDS
    tried = _tried(definition, lambda: clock() < until)
    found = (
        *_phases(definition),
        *(problem for rule in definition.rules for problem in _rule(definition, rule, tried)),
        *_examples(definition, tried, lambda: clock() < until),
        *_overlaps(definition),
        *_policy(definition),
    )
    return tuple(_placed(definition, problem) for problem in found)


def _placed(definition: Definition, problem: Problem) -> Problem:
    line, column = definition.place(problem.path)
    return replace(problem, line=line, column=column)


def _tried(definition: Definition, is_time_left: Callable[[], bool]) -> Tried:
    found: dict[str, patterns.PatternProblem | None] = {}
    for rule in definition.rules:
        if rule.type is RuleType.REGEX and rule.check not in found and is_time_left():
            found[rule.check] = patterns.problem_of(rule.check)
    return found


def _phases(definition: Definition) -> Iterator[Problem]:
    for index, phase in enumerate(definition.phases):
        if not phase.acceptance_criteria:
            message = f"The phase {phase.id} says nothing about when its work is accepted."
            yield _warning("phase.no_criteria", message, f"phases[{index}]")


def _rule(definition: Definition, rule: Rule, tried: Tried) -> Iterator[Problem]:
    if not rule.is_scoped:
        yield _about(
            rule,
            "rule.unscoped",
            "names no phase: it applies only where the process has a single phase. "
            'Name its phases, or "*" for every phase.',
        )
    if rule.type is RuleType.REGEX:
        yield from _regex(rule, tried)
    else:
        yield from _without_effect_on_llm(rule)
        if not _reaches_a_judge(definition, rule):
            yield _about(rule, "rule.unused", "is for a judge, but no phase it names asks for one.")
    if rule.requires_exact_cardinality and rule.min_count is None:
        yield _about(
            rule, "rule.field_without_effect", "asks for an exact count, but names no min_count."
        )


def _regex(rule: Rule, tried: Tried) -> Iterator[Problem]:
    if rule.check not in tried:
        yield _about(
            rule,
            "rule.pattern.untried",
            "was not tried: the patterns of this file are large, and take long together.",
            key="check",
        )
    elif problem := tried[rule.check]:
        place = f" (column {problem.column} of the pattern)" if problem.column else ""
        yield _about(
            rule,
            "rule.pattern.unsupported",
            f"cannot run and is only observed: {problem.message}{place}",
            key="check",
        )
    else:
        yield from _undecidable(rule)


def _undecidable(rule: Rule) -> Iterator[Problem]:
    """Warn of a rule whose verdict is the same for every text."""
    one_is_enough = rule.wanted_count in (None, 1) and not rule.requires_exact_cardinality
    if rule.min_count == 0 and not rule.requires_exact_cardinality:
        why, count = "any number of matches is enough", 0
    elif matches_nothing(rule.check):
        why, count = "its pattern matches no text", 0
    elif one_is_enough and matches_everything(rule.check):
        why, count = "its pattern matches every text", 1
    else:
        return
    if counts_as_violated(rule, count):
        yield _about(rule, "rule.always_violated", f"is always violated: {why}.", key="check")
    else:
        yield _about(rule, "rule.never_violated", f"can never be violated: {why}.", key="check")


def _examples(
    definition: Definition, tried: Tried, is_time_left: Callable[[], bool]
) -> Iterator[Problem]:
    left = MAX_TRIED_CHARS
    for rule in definition.rules:
        if rule.type is not RuleType.REGEX or rule.check not in tried or tried[rule.check]:
            continue
        if not is_time_left():
            return
        left -= sum(map(len, (*rule.examples.passing, *rule.examples.failing)))
        if left >= 0:
            yield from _examples_of(rule)


def _examples_of(rule: Rule) -> Iterator[Problem]:
    both = (("pass", rule.examples.passing, False), ("fail", rule.examples.failing, True))
    for key, texts, expected in both:
        for index, text in enumerate(texts):
            if len(text) <= MAX_EXAMPLE_CHARS and is_violated(rule, text) is not expected:
                yield _about(
                    rule,
                    "rule.example",
                    f"does not {key} its example {index + 1}.",
                    key=f"examples.{key}[{index}]",
                )


def is_violated(rule: Rule, text: str) -> bool:
    """Say whether a regex rule finds fault with one text."""
    return counts_as_violated(rule, count_matches(rule, text, limit=MAX_COUNTED))


def count_matches(rule: Rule, text: str, *, limit: int) -> int:
    """Count matches as the engine does: of a hard rule also those that only a person sees."""
    content = text.encode(errors="replace")
    visible = visible_text(content) if rule.enforcement is Enforcement.HARD else None
    if visible is None:
        return patterns.count_matches(rule.check, text, limit=limit)
    compiled = patterns.compiled(rule.check)
    return sum(1 for _ in islice(spans_in_both(compiled, content, visible, limit=limit), limit))


def counts_as_violated(rule: Rule, found: int) -> bool:
    """Say whether so many matches, counted up to `MAX_COUNTED`, violate a regex rule."""
    wanted = rule.wanted_count
    if wanted is not None:
        return found != wanted if rule.requires_exact_cardinality else found < wanted
    return found > 0 if rule.expect is Expect.NO_MATCH else found == 0


def _without_effect_on_llm(rule: Rule) -> Iterator[Problem]:
    written = {
        "expect": rule.expect is not Expect.NO_MATCH,
        "min_count": rule.min_count is not None,
        "requires_exact_cardinality": rule.requires_exact_cardinality,
        "target": rule.target is not Target.OUTPUT,
    }
    for key in (key for key, is_written in written.items() if is_written):
        yield _about(
            rule, "rule.field_without_effect", f"is for a judge: {key} has no effect.", key=key
        )


def _reaches_a_judge(definition: Definition, rule: Rule) -> bool:
    if not definition.phases_of(rule):
        return True  # `rule.unscoped` is the complaint about it
    asking = {phase.id for phase in definition.phases if phase.verification_tier > 1}
    return bool(asking & set(definition.phases_of(rule)))


def _overlaps(definition: Definition) -> Iterator[Problem]:
    by_check: dict[tuple[str, str, str], list[Rule]] = {}
    for rule in definition.rules:
        by_check.setdefault((rule.type, rule.target, rule.check), []).append(rule)
    for twins in by_check.values():
        for first, second in combinations(twins[:10], 2):
            if set(definition.phases_of(first)) & set(definition.phases_of(second)):
                yield _about(
                    second, "rule.overlap", f"checks the same as {first.name!r} in the same phase."
                )


def _policy(definition: Definition) -> Iterator[Problem]:
    if definition.policy.treat_verifier_infra_as_warning:
        yield _warning(
            "policy.doubt_as_warning",
            "A verifier that failed is never a warning here: such runs are undecided.",
            "verification.policy.outcome_policy.treat_verifier_infra_as_warning",
        )
    yield from _review(definition)


def _review(definition: Definition) -> Iterator[Problem]:
    policy = definition.policy.review
    if f"{REVIEW}.reasons" in definition.places and ReviewReason.UNDECIDED not in policy.reasons:
        message = "Nobody is asked about undecided runs: they stay undecided."
        yield _warning("review.doubt_left", message, f"{REVIEW}.reasons")
    if policy.cap_per_day == 0 and policy.reasons:
        message = "A cap of 0 holds back every run that asks for a person."
        yield _warning("review.cap_zero", message, f"{REVIEW}.cap_per_day")
    for key in _without_effect(policy):
        if f"{REVIEW}.{key}" in definition.places:
            message = f"Nobody is asked about any run: {key} has no effect."
            if not policy.asks_nobody:
                message = "The cap holds back what has a reason, never what chance draws."
            yield _warning("review.without_effect", message, f"{REVIEW}.{key}")


def _without_effect(policy: ReviewPolicy) -> tuple[str, ...]:
    if policy.asks_nobody:
        return ("cap_per_day", "expires_after_hours", "blind", "reviewers")
    draws_all = policy.sample_rate == 1 and ReviewReason.UNDECIDED not in policy.reasons
    draws_alone = not policy.reasons or draws_all
    return ("cap_per_day",) if draws_alone and policy.cap_per_day != 0 else ()


def _about(rule: Rule, code: str, message: str, *, key: str = "") -> Problem:
    path = f"{rule.path}.{key}" if key else rule.path
    return _warning(code, f"The rule {rule.name!r} {message}", path)


def _warning(code: str, message: str, path: str) -> Problem:
    return Problem(code, message, path, level=Level.WARNING)
