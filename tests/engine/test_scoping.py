from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement, Rule, RuleType, Severity
from tests.engine.cases import OTHER_PHASE, PHASE, case, evaluate, llm, regex
from verification.engine import scoping
from verification.engine.finding import TraceReason
from verification.engine.verifier import LEGACY_FLAGS, Flags, PhaseScope

GLOBAL = Flags(phase_scope_default=PhaseScope.GLOBAL)
SCOPES = st.sampled_from([(), ("*",), (PHASE,), (OTHER_PHASE,), (OTHER_PHASE, PHASE)])
RULES = st.lists(
    st.builds(
        Rule,
        name=st.sampled_from("abcdef"),
        check=st.just("x"),
        type=st.sampled_from(RuleType),
        severity=st.sampled_from(Severity),
        enforcement=st.sampled_from([None, *Enforcement]),
        applies_to_phases=SCOPES,
    ),
    max_size=8,
)


@pytest.mark.parametrize(
    ("phases", "applied", "reason"),
    [
        ((PHASE,), True, "phase"),
        (("*",), True, "every_phase"),
        ((OTHER_PHASE,), False, "other_phase"),
        ((), True, "unscoped"),
    ],
)
def test_a_rule_speaks_in_the_phases_that_it_names(
    phases: tuple[str, ...], applied: bool, reason: str
) -> None:
    rule = regex("no-x", "x", applies_to_phases=phases)

    [entry] = evaluate(rules=[rule], output="x").trace

    assert (entry.applied, entry.reason) == (applied, reason)


def test_the_global_scope_lets_every_rule_speak() -> None:
    rule = regex("no-x", "x", applies_to_phases=(OTHER_PHASE,))

    narrow, wide = (evaluate(rules=[rule], output="x", flags=one) for one in (Flags(), GLOBAL))

    assert (narrow.outcome, wide.outcome) == ("pass", "pass_with_warnings")
    assert wide.trace[0].reason is TraceReason.GLOBAL_SCOPE


def test_regex_rules_are_advisory_unless_the_flag_says_otherwise() -> None:
    rule = regex("no-x", "x")
    strict = Flags(regex_default_advisory=False)

    mild, hard = (evaluate(rules=[rule], output="x", flags=one) for one in (Flags(), strict))

    assert (mild.verdict, hard.verdict) == ("accept", "reject")


@pytest.mark.parametrize(
    ("rule", "enforcement"),
    [
        (regex("r", "x"), "advisory"),
        (regex("r", "x", severity=Severity.ERROR), "advisory"),
        (regex("r", "x", enforcement=Enforcement.HARD), "hard"),
        (regex("r", "x", enforcement=Enforcement.HARD, applies_to_phases=()), "advisory"),
        (llm("r"), "advisory"),
        (llm("r", severity=Severity.ERROR), "hard"),
        (llm("r", severity=Severity.ERROR, enforcement=Enforcement.ADVISORY), "advisory"),
        (llm("r", severity=Severity.ERROR, applies_to_phases=()), "advisory"),
        (llm("r", enforcement=Enforcement.OBSERVE, applies_to_phases=()), "observe"),
    ],
)
def test_how_a_rule_counts_when_nothing_else_is_said(rule: Rule, enforcement: str) -> None:
    assert scoping.rule_enforcement(rule, Flags()) == enforcement


def test_an_old_rule_without_phases_warns_and_says_that_it_is_old() -> None:
    rule = regex("no-x", "x", enforcement=Enforcement.HARD, applies_to_phases=())

    conclusion = evaluate(rules=[rule], output="x")

    assert conclusion.outcome == "pass_with_warnings"
    assert conclusion.reason_code == "legacy_unscoped"


@given(RULES, st.sampled_from([Flags(), GLOBAL, LEGACY_FLAGS]))
def test_every_rule_is_traced_once_in_the_order_of_the_process(
    rules: list[Rule], flags: Flags
) -> None:
    conclusion = evaluate(rules=rules, output="x", flags=flags)

    assert [entry.rule for entry in conclusion.trace] == [rule.name for rule in rules]


@given(RULES)
def test_no_rule_ever_acts_in_a_phase_that_it_does_not_name(rules: list[Rule]) -> None:
    conclusion = evaluate(rules=rules, output="x")

    elsewhere = {
        scoping.rule_sha256(rule) for rule in rules if rule.applies_to_phases == (OTHER_PHASE,)
    }
    assert not elsewhere & {one.rule_sha256 for one in conclusion.findings}
    assert not elsewhere & {entry.rule_sha256 for entry in conclusion.trace if entry.applied}


@pytest.mark.extended
@given(RULES)
def test_observed_rules_never_count(rules: list[Rule]) -> None:
    observed = [rule for rule in rules if rule.enforcement is Enforcement.OBSERVE]

    assert evaluate(rules=observed, output="x").outcome == "pass"


def test_the_trace_names_the_phase_of_the_run() -> None:
    asked = case(rules=[llm("why")])

    assert scoping.skipped(asked.definition.rules[0], asked, TraceReason.OTHER_PHASE).phase == PHASE
