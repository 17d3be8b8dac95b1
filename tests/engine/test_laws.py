"""What holds for every submission, every process and every list of findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Definition, Enforcement, Phase, Rule, RuleType, Severity
from tests.engine.cases import (
    FAILING,
    OTHER_PHASE,
    PASSING,
    evaluate,
    finding,
    judge_of,
    judged_case,
    ports,
    regex,
)
from tests.engine.strategies import FLAGS, GLOBAL, cases
from tests.tiers import long_search
from verification.engine import policy, scoping
from verification.engine.case import Case, Ports
from verification.engine.climb import Conclusion, climb, conclude
from verification.engine.evidence import (
    Answer,
    Claim,
    CouldNotInspect,
    EvidenceItem,
    NotInspected,
    Pattern,
    Submission,
    SyntaxProblem,
    TaskSpec,
    ToolCall,
)
from verification.engine.fakes import FixedClock, InProcessProbe
from verification.engine.finding import Finding, TraceReason, with_fingerprints
from verification.engine.judges.asking import Question
from verification.engine.outcome import FindingVerdict, Verdict
from verification.engine.reasons import REASONS
from verification.engine.verifier import LEGACY_FLAGS, Flags, PhaseScope, VerifierSpec

NO_X = regex("no-x", "x")
HARD, ADVISORY, OBSERVE = Enforcement.HARD, Enforcement.ADVISORY, Enforcement.OBSERVE
ACCEPT, REJECT, UNDECIDED = Verdict.ACCEPT, Verdict.REJECT, Verdict.UNDECIDED

# Letters alone: what is left to find fault with is the shape.
WORDS = st.text("abcxyz", max_size=6)
SHAPES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(WORDS, inner, max_size=5),
)


@pytest.mark.extended
@long_search(200)
@given(SHAPES, SHAPES, SHAPES, FLAGS)
def test_no_shape_of_a_tool_call_fails_a_run(
    args: Any, result: Any, changed: Any, flags: Flags
) -> None:
    calls = (ToolCall("edit", True, args=args, result=result, files_changed=changed),)

    conclusion = evaluate(tool_calls=calls, flags=replace(flags, policy_engine_enabled=True))

    assert conclusion.verdict is ACCEPT
    assert not [one for one in conclusion.findings if one.enforcement is HARD]


@pytest.mark.parametrize("field", ["args", "result", "files_changed"])
@pytest.mark.parametrize("kind", ["list", "mapping"])
def test_nor_does_any_depth(field: str, kind: str) -> None:
    nested: Any = "x"
    for _ in range(20_000):
        nested = [nested] if kind == "list" else {"a": nested}
    deep = ToolCall("delete_file", True, **{field: nested})
    # What is gone is looked for in everything that a tool which takes away was given.
    gone = ToolCall("edit", True, files_changed=["gone.md"])

    assert evaluate(tool_calls=(deep, gone)).verdict is ACCEPT


PHASE_IDS = st.sampled_from(["plan", "write", "check", "ship"])


@st.composite
def processes(draw: st.DrawFn) -> Definition:
    ids = draw(st.lists(PHASE_IDS, min_size=1, unique=True))
    scopes = st.lists(st.sampled_from([*ids, *ids, "*"]), max_size=3).map(tuple)
    rules = st.builds(
        Rule,
        name=st.text("abcdefgh", min_size=1, max_size=3),
        check=st.sampled_from(["x", "y", "(?=x)"]),
        type=st.sampled_from(RuleType),
        severity=st.sampled_from(Severity),
        enforcement=st.sampled_from([None, *Enforcement]),
        applies_to_phases=scopes,
    )
    found = draw(st.lists(rules, max_size=8, unique_by=lambda rule: rule.name))
    return Definition("process", tuple(map(Phase, ids)), rules=tuple(found))


def concluded(definition: Definition, phase: Phase, flags: Flags) -> Conclusion:
    submission = Submission(TaskSpec("plan", "check", plan="ship"), output="x")
    asked = Case(definition, phase, submission, VerifierSpec(flags=flags), tier=1)
    return conclude(asked, list(climb(asked, ports())))


def violations(conclusion: Conclusion, rule: Rule) -> list[Finding]:
    return [one for one in conclusion.findings if one.rule == rule.name]


@pytest.mark.extended
@long_search(200)
@given(processes())
def test_no_rule_acts_in_a_phase_that_it_does_not_name(definition: Definition) -> None:
    for phase in definition.phases:
        conclusion = concluded(definition, phase, Flags())

        for rule, entry in zip(definition.rules, conclusion.trace, strict=True):
            is_only_phase = not rule.is_scoped and len(definition.phases) == 1
            named = {phase.id, "*"} & {*rule.applies_to_phases} or is_only_phase
            not_applied = (TraceReason.OTHER_PHASE, TraceReason.NO_PHASE)
            assert (entry.reason in not_applied) is not bool(named)
            assert (entry.rule, entry.phase) == (rule.name, phase.id)
            if not named:
                assert not entry.applied
                assert not violations(conclusion, rule)


@given(processes())
def test_unscoped_rules_apply_in_every_phase_alike(definition: Definition) -> None:
    bare = replace(
        definition, rules=tuple(replace(rule, applies_to_phases=()) for rule in definition.rules)
    )
    is_single = len(definition.phases) == 1

    for phase in bare.phases:
        conclusion = concluded(bare, phase, Flags())
        wide = concluded(bare, phase, GLOBAL)

        assert {entry.applied for entry in conclusion.trace if entry.applied} <= {is_single}
        if is_single:
            assert conclusion.verdict == wide.verdict
        else:
            assert {one.rule for one in conclusion.findings} <= {"unscoped-rules"}
            hard = [r for r in bare.rules if scoping.rule_enforcement(r, Flags()) is HARD]
            warned = [one for one in conclusion.findings if one.enforcement is ADVISORY]
            assert len(warned) == len(hard)


@given(processes())
def test_the_global_scope_is_as_if_every_rule_named_every_phase(definition: Definition) -> None:
    scoped = [rule for rule in definition.rules if rule.is_scoped]
    everywhere = [replace(rule, applies_to_phases=("*",)) for rule in scoped]
    of_all, named = (
        replace(definition, rules=tuple(scoped)),
        replace(definition, rules=tuple(everywhere)),
    )

    for phase in definition.phases:
        wide, usual = concluded(of_all, phase, GLOBAL), concluded(named, phase, Flags())

        assert (wide.outcome, wide.verdict) == (usual.outcome, usual.verdict)
        assert [one.applied for one in wide.trace] == [one.applied for one in usual.trace]
        assert [one.message for one in wide.findings] == [one.message for one in usual.findings]


@given(processes(), FLAGS)
def test_what_is_observed_never_counts(definition: Definition, flags: Flags) -> None:
    observed = tuple(replace(rule, enforcement=OBSERVE) for rule in definition.rules)

    conclusion = concluded(replace(definition, rules=observed), definition.phases[0], flags)

    assert (conclusion.outcome, conclusion.reason_code) == ("pass", "")


FINDINGS = st.lists(
    st.builds(
        finding,
        reason_code=st.sampled_from(sorted(REASONS)),
        enforcement=st.sampled_from(Enforcement),
        verdict=st.sampled_from(FindingVerdict),
        source=st.sampled_from(["deterministic", "llm"]),
        tier=st.integers(1, 3),
        rule=st.sampled_from("abc"),
        place=st.sampled_from([{}, {"tool_call": 3}, {"switched_off": True}]),
    ),
    max_size=6,
)


def verdict_of(findings: Sequence[Finding], flags: Flags) -> Verdict:
    return policy.decide(policy.ordered(with_fingerprints(findings), {}), flags).verdict


@given(FINDINGS, FINDINGS, FLAGS)
def test_a_remark_more_changes_no_verdict(
    findings: list[Finding], more: list[Finding], flags: Flags
) -> None:
    remarks = [replace(one, enforcement=ADVISORY) for one in more]
    noted = [replace(one, enforcement=OBSERVE) for one in more]

    verdict = verdict_of(findings, flags)

    assert verdict_of([*findings, *remarks, *noted], flags) is verdict


@given(FINDINGS, st.data(), FLAGS)
def test_with_less_to_blame_nothing_gets_worse(
    findings: list[Finding], data: st.DataObject, flags: Flags
) -> None:
    fewer = [one for one in findings if data.draw(st.booleans())]
    order = (ACCEPT, UNDECIDED, REJECT)

    before, after = verdict_of(findings, flags), verdict_of(fewer, flags)

    assert order.index(after) <= order.index(before)


@given(FINDINGS, FLAGS)
def test_what_is_unknown_neither_accepts_nor_blames(findings: list[Finding], flags: Flags) -> None:
    lost = [replace(one, verdict=FindingVerdict.UNKNOWN) for one in findings]
    asked_for = any(one.enforcement is HARD for one in lost)

    assert verdict_of(lost, flags) is (UNDECIDED if asked_for else ACCEPT)


@given(FINDINGS, st.randoms(), FLAGS)
def test_the_order_of_findings_decides_nothing(
    findings: list[Finding], random: Any, flags: Flags
) -> None:
    shuffled = list(with_fingerprints(findings))
    in_order = policy.decide(policy.ordered(shuffled, {}), flags)
    random.shuffle(shuffled)

    assert policy.decide(policy.ordered(shuffled, {}), flags) == in_order


class DeadProbe:
    """Loses every answer."""

    def start(self) -> None:
        """It pretends to be well."""

    def syntax(
        self, sources: Sequence[tuple[str, bytes]]
    ) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
        raise CouldNotInspect("The probe ended.")

    def search(
        self, patterns: Sequence[Pattern], texts: Sequence[bytes], *, seconds: float
    ) -> Sequence[Answer]:
        raise CouldNotInspect("The probe ended.")


@pytest.mark.extended
@long_search(300)
@given(cases())
def test_a_lost_answer_leads_to_doubt_at_most(whole: tuple[Case, Any]) -> None:
    asked, workspace = whole

    alive, dead = (
        conclude(asked, list(climb(asked, Ports(workspace, probe, FixedClock()))))
        for probe in (InProcessProbe(), DeadProbe())
    )

    if alive.verdict is not ACCEPT:
        assert dead.verdict is not ACCEPT, "what would have been found is not accepted unseen"
    if alive.verdict is not REJECT:
        assert dead.verdict is not REJECT, "the work is not blamed for what was not seen"


@pytest.mark.parametrize(
    ("path", "verdict"), [("a.json", UNDECIDED), ("a.py", UNDECIDED), ("a.ts", ACCEPT)]
)
def test_the_old_engine_is_left_in_doubt_by_what_it_would_have_blamed(
    path: str, verdict: Verdict
) -> None:
    conclusion = evaluate(files={path: "{"}, probe=DeadProbe(), flags=LEGACY_FLAGS)

    assert conclusion.verdict is verdict


A_THIRD_UNCONFIRMED = (
    Claim("It is so.", "confirmed", "other", ("e1",)),
    Claim("So is this.", "confirmed", "other", ("e1",)),
    Claim("And this.", "inferred", "other"),
)
BARE_ADVICE = Claim("Buy it.", "inferred", "recommendation")
ELSEWHERE = replace(NO_X, applies_to_phases=(OTHER_PHASE,))
OF_TIER_ONE: dict[str, tuple[Any, dict[str, Any], list[tuple[str, str]]]] = {
    "policy_engine_enabled": (
        False,
        {"files": {"a.json": "{"}},
        [("pass_with_warnings", "accept"), ("fail", "reject")],
    ),
    "regex_default_advisory": (
        False,
        {"rules": [NO_X], "output": "x"},
        [("pass_with_warnings", "accept"), ("fail", "reject")],
    ),
    "phase_scope_default": (
        PhaseScope.GLOBAL,
        {"rules": [ELSEWHERE], "output": "x"},
        [("pass", "accept"), ("pass_with_warnings", "accept")],
    ),
    "allow_partial_verified": (
        False,
        {"gates": ["test"]},
        [("partial_verified", "undecided"), ("fail", "undecided")],
    ),
    "unconfirmed_supporting_threshold": (
        0.5,
        {
            "claims": A_THIRD_UNCONFIRMED,
            "evidence": (EvidenceItem("e1", text="It is so. So is this."),),
        },
        [("partial_verified", "accept"), ("pass", "accept")],
    ),
    "auto_confirm_prune_critical_path": (
        False,
        {
            "claims": (BARE_ADVICE,),
            "output": "So buy it.",
            "of_phase": {"is_critical_path": True},
        },
        [("partial_verified", "accept"), ("fail", "reject")],
    ),
    "tier2_enabled": (
        False,
        {"tier": 2},
        [("pass", "accept"), ("partial_verified", "undecided")],
    ),
    "tier3_enabled": (
        False,
        {"tier": 3},
        [("pass", "accept"), ("partial_verified", "undecided")],
    ),
}


def two_pass(question: Question) -> str:
    """Tier 2 passes the work, and so do the first two votes."""
    _, is_vote, number = question.nonce.rpartition(":vote:")
    return FAILING if is_vote and int(number) > 1 else PASSING


OF_THE_JUDGE: dict[str, tuple[Any, dict[str, Any], Any, list[tuple[str, str]]]] = {
    "strict_output_protocol": (
        False,
        {},
        f"Here you are: {PASSING}",
        [("pass", "accept"), ("fail", "undecided")],
    ),
    "tier3_vote_count": (
        5,
        {"tier": 3},
        two_pass,
        [("pass", "accept"), ("fail", "reject")],
    ),
}
BESIDE = {"shadow_compare_enabled"}


def test_every_flag_has_its_pair_of_evaluations_here_or_acts_beside_them() -> None:
    assert {one.name for one in fields(Flags)} == {*OF_TIER_ONE, *OF_THE_JUDGE, *BESIDE}


@given(cases(), st.sampled_from(sorted(BESIDE)))
def test_what_acts_beside_an_evaluation_changes_nothing_of_it(
    whole: tuple[Case, Any], flag: str
) -> None:
    asked, workspace = whole

    off, on = (
        conclude(one, list(climb(one, Ports(workspace, InProcessProbe(), FixedClock()))))
        for one in (_with_flag(asked, flag, False), _with_flag(asked, flag, True))
    )

    assert on == off


def _with_flag(asked: Case, flag: str, value: bool) -> Case:
    flags = replace(asked.verifier.flags, **{flag: value})  # type: ignore[arg-type]
    return replace(asked, verifier=replace(asked.verifier, flags=flags))


@pytest.mark.parametrize("flag", [*OF_TIER_ONE, *OF_THE_JUDGE])
def test_two_evaluations_differ_by_one_flag_alone(flag: str) -> None:
    if flag in OF_THE_JUDGE:
        value, about, said, expected = OF_THE_JUDGE[flag]
    else:
        value, about, expected = OF_TIER_ONE[flag]
        said = PASSING
    reach = ports(about.get("files"), judge=judge_of(said))

    found = []
    for flags in (Flags(), replace(Flags(), **{flag: value})):
        asked = judged_case(**about, flags=flags)
        found.append(conclude(asked, list(climb(asked, reach))))

    assert [(one.outcome, one.verdict) for one in found] == expected


@given(cases(st.sampled_from([LEGACY_FLAGS, Flags(policy_engine_enabled=False)])))
def test_the_old_engine_knows_two_outcomes_and_no_remark(whole: tuple[Case, Any]) -> None:
    asked, workspace = whole

    conclusion = conclude(
        asked, list(climb(asked, Ports(workspace, InProcessProbe(), FixedClock())))
    )

    assert conclusion.outcome in ("pass", "fail")
    assert all(one.enforcement is not ADVISORY for one in conclusion.findings)
    rules = asked.definition.rules
    skipped = {entry.rule for entry in conclusion.trace if entry.reason is TraceReason.OTHER_PHASE}
    assert not skipped
    assert [entry.rule for entry in conclusion.trace] == [rule.name for rule in rules]
    assert all(scoping.case_scope(rule, asked).applies for rule in rules)
