from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement, Rule, RuleType, Severity
from tests.engine.cases import OTHER_PHASE, PHASE, case, evaluate, llm, ports, regex
from verification.engine import scoping
from verification.engine.climb import climb, conclude
from verification.engine.finding import TraceReason
from verification.engine.protocol.prompt import asked_rules
from verification.engine.verifier import LEGACY_FLAGS, Flags, PhaseScope, VerifierSpec

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
        ((), False, "no_phase"),
    ],
)
def test_a_rule_speaks_in_the_phases_that_it_names(
    phases: tuple[str, ...], applied: bool, reason: str
) -> None:
    rule = regex("no-x", "x", applies_to_phases=phases)

    [entry] = evaluate(rules=[rule], output="x").trace

    assert (entry.applied, entry.reason) == (applied, reason)


@pytest.mark.parametrize(("phases", "reason"), [((OTHER_PHASE,), "global_scope"), ((), "unscoped")])
def test_the_global_scope_applies_every_rule_as_hard_as_it_says(
    phases: tuple[str, ...], reason: str
) -> None:
    rule = regex("no-x", "x", applies_to_phases=phases, enforcement=Enforcement.HARD)

    narrow, wide = (evaluate(rules=[rule], output="x", flags=one) for one in (Flags(), GLOBAL))

    assert (narrow.verdict, wide.verdict) == ("accept", "reject")
    assert wide.trace[0].reason == reason
    assert wide.reason_code == "rule_violated"


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
        (regex("r", "x", enforcement=Enforcement.HARD, applies_to_phases=()), "hard"),
        (llm("r"), "advisory"),
        (llm("r", severity=Severity.ERROR), "hard"),
        (llm("r", severity=Severity.ERROR, enforcement=Enforcement.ADVISORY), "advisory"),
        (llm("r", severity=Severity.ERROR, applies_to_phases=()), "hard"),
        (llm("r", enforcement=Enforcement.OBSERVE, applies_to_phases=()), "observe"),
    ],
)
def test_how_a_rule_counts_when_nothing_else_is_said(rule: Rule, enforcement: str) -> None:
    assert scoping.rule_enforcement(rule, Flags()) == enforcement


def test_a_hard_rule_without_a_phase_is_not_applied_and_the_run_says_so() -> None:
    hard = regex("no-x", "x", enforcement=Enforcement.HARD, applies_to_phases=())
    advisory = regex("no-y", "y", applies_to_phases=())

    conclusion = evaluate(rules=[hard, advisory], output="xy")

    assert conclusion.outcome == "pass_with_warnings"
    assert [(one.rule, one.reason_code, one.enforcement) for one in conclusion.findings] == [
        ("unscoped-rules", "legacy_unscoped", "advisory"),
        ("unscoped-rules", "legacy_unscoped", "observe"),
    ]
    assert "no-x" in conclusion.findings[0].message


def test_a_rule_without_a_phase_applies_in_the_only_phase_as_hard_as_it_says() -> None:
    hard = regex("no-x", "x", enforcement=Enforcement.HARD, applies_to_phases=())
    asked = case(rules=[hard], output="x")
    phases = tuple(phase for phase in asked.definition.phases if phase.id == PHASE)
    asked = replace(asked, definition=replace(asked.definition, phases=phases))

    conclusion = conclude(asked, list(climb(asked, ports())))

    assert (conclusion.verdict, conclusion.reason_code) == ("reject", "rule_violated")
    assert [(one.applied, one.reason) for one in conclusion.trace] == [(True, "phase")]


def test_no_judge_is_asked_about_a_rule_without_a_phase() -> None:
    unscoped = llm("unscoped", severity=Severity.ERROR, applies_to_phases=())
    asked = case(rules=[llm("scoped"), unscoped])

    assert [one.id for one in asked_rules(asked)] == ["scoped"]
    everywhere = replace(asked, verifier=VerifierSpec(flags=GLOBAL))
    assert [one.id for one in asked_rules(everywhere)] == ["scoped", "unscoped"]


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
