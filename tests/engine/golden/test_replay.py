from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from processes.definition.model import Definition, Enforcement
from tests.engine.cases import FAILING, PASSING, llm, regex
from tests.engine.claim_cases import ADVICE, TEXT
from tests.engine.golden.givens import Golden, answered, golden, lost, votes
from tests.engine.golden.samples import SAMPLES
from tests.engine.judges import reply
from tests.engine.strategies import cases
from tests.tables import check_rows
from verification.engine.evidence import Claim
from verification.engine.fakes import (
    FixedClock,
    InProcessProbe,
    ScriptedJudge,
    ScriptedVerifiers,
)
from verification.engine.golden.given import Decided, Given, History
from verification.engine.golden.observing import MAX_FINDINGS, bounded, plain
from verification.engine.golden.replay import CannotReplay, World, replay
from verification.engine.judges.asking import Answer, CustomAnswer, Question
from verification.engine.outcome import Status, Verdict
from verification.engine.reasons import REASONS
from verification.engine.submission_hash import submission_sha256
from verification.engine.verifier import LEGACY_FLAGS, Flags, JudgeModels, VerifierSpec

LEGACY = VerifierSpec(LEGACY_FLAGS)
SAME = History(attempts_used=1, submissions=1, is_same_candidate=True)


def plain_types(value: Any) -> set[type]:
    if isinstance(value, dict):
        return {type(name) for name in value} | {
            one for each in value.values() for one in plain_types(each)
        }
    if isinstance(value, list):
        return {one for each in value for one in plain_types(each)}
    return {type(value)}


@check_rows("verifier", [VerifierSpec(), LEGACY], ids=["policy", "legacy"])
@check_rows("name", SAMPLES)
def test_twice_the_same_input_gives_the_same(name: str, verifier: VerifierSpec) -> None:
    first, again = (SAMPLES[name]().replayed(verifier) for _ in range(2))

    assert json.dumps(first.observed) == json.dumps(again.observed)
    assert first.played == again.played


@pytest.mark.parametrize("name", SAMPLES)
def test_time_plays_no_part(name: str) -> None:
    class Running(FixedClock):
        def __call__(self) -> float:
            self.advance(1.7)
            return self.now

    case = SAMPLES[name]()
    slow = replace(case, world=replace(case.world, clock=Running()))

    assert slow.replayed().observed == case.replayed().observed


@pytest.mark.parametrize("name", SAMPLES)
def test_what_was_observed_is_plain_json(name: str) -> None:
    observed = SAMPLES[name]().replayed().observed

    assert json.loads(json.dumps(observed, allow_nan=False)) == observed
    assert plain_types(observed) <= {str, int, float, bool, type(None)}


@given(cases())
def test_whatever_is_submitted_is_observed_as_what_a_database_takes(whole: Any) -> None:
    asked, workspace = whole
    golden = Given(asked.phase.id, asked.submission)

    seen = replay(golden, asked.definition, asked.verifier, World(workspace, InProcessProbe()))

    text = json.dumps(seen.observed, allow_nan=False, ensure_ascii=False)
    assert json.loads(text.encode()) == seen.observed
    assert not {"\0", "\ud800", "\uffff"} & set(text)
    assert "\\u0000" not in text


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (float("nan"), None),
        (float("inf"), None),
        (Status.TIMED_OUT, "timed_out"),
        ({Status.PASSED: (1, 2.5)}, {"passed": [1, 2.5]}),
        ("a\0b\ud800", "a\ufffdb\ufffd"),
        ({"a\0": ["\x1b"]}, {"a\ufffd": ["\ufffd"]}),
        ([True, None, 0], [True, None, 0]),
        (b"x", "b'x'"),
    ],
    ids=["nan", "infinity", "enumeration", "mapping", "text", "deep", "plain", "bytes"],
)
def test_a_value_becomes_what_json_and_a_database_hold(value: Any, held: Any) -> None:
    assert plain(value) == held
    assert plain_types(plain(value)) == plain_types(held)


def test_a_phase_that_the_process_does_not_have_cannot_be_replayed() -> None:
    with pytest.raises(CannotReplay, match="no phase 'gone'"):
        golden().but(phase="gone").replayed()


def test_a_history_that_ended_for_no_known_reason_cannot_be_replayed() -> None:
    with pytest.raises(CannotReplay, match="no reason 'tired'"):
        golden(return_code=1, history=History(exhausted_reason="tired")).replayed()


def test_the_phases_own_tier_is_climbed_where_a_case_names_none() -> None:
    about: dict[str, Any] = {"of_phase": {"verification_tier": 2, "may_lower_tier": True}}

    own, named = (golden(answered(PASSING), **about).but(tier=tier) for tier in (None, 1))

    assert [one["tier"] for one in own.replayed().observed["tiers"]] == [1, 2]
    assert [one["tier"] for one in named.replayed().observed["tiers"]] == [1]


@pytest.mark.parametrize(
    ("tier", "of_task", "field"),
    [(1, {}, "tier: "), (2, {"is_critical_path": False}, "task.is_critical_path: ")],
)
def test_a_case_below_its_phase_is_not_replayed(
    tier: int, of_task: dict[str, Any], field: str
) -> None:
    of_phase = {"verification_tier": 2, "is_critical_path": True}

    case = golden(answered(PASSING), of_phase=of_phase, of_task=of_task, tier=tier)

    with pytest.raises(CannotReplay, match=f"^{field}The phase write "):
        case.replayed()


def test_a_replay_goes_through_the_engine_and_reads_no_verdict() -> None:
    case = golden(answered(PASSING), tier=2, output="TODO", rules=[regex("no-todo", "TODO")])
    harder = replace(
        case.definition, rules=(replace(case.definition.rules[0], enforcement=Enforcement.HARD),)
    )

    as_it_is, hardened = case.replayed(), replace(case, definition=harder).replayed()

    assert as_it_is.observed["verdict"] == "accept"
    assert hardened.observed["verdict"] == "reject"
    assert hardened.played == [], "a hard failure ends the climb before anyone is asked"


@pytest.mark.parametrize(
    ("flags", "case", "verdict"),
    [
        (Flags(), golden(output="TODO", rules=[regex("r", "TODO")]), "accept"),
        (
            Flags(regex_default_advisory=False),
            golden(output="TODO", rules=[regex("r", "TODO")]),
            "reject",
        ),
        (LEGACY_FLAGS, golden(output="TODO", rules=[regex("r", "TODO")]), "reject"),
        (Flags(), golden(answered(f"So: {PASSING}"), tier=2), "accept"),
        (
            Flags(strict_output_protocol=False),
            golden(answered(f"So: {PASSING}"), tier=2),
            "undecided",
        ),
        (Flags(tier2_enabled=False), golden(answered(PASSING), tier=2), "undecided"),
    ],
    ids=["usual", "regex hard", "legacy", "prose", "strict only", "tier off"],
)
def test_any_verifier_version_can_be_replayed(flags: Flags, case: Golden, verdict: str) -> None:
    assert case.replayed(VerifierSpec(flags)).observed["verdict"] == verdict


def test_the_connections_of_a_verifier_version_play_no_part() -> None:
    connections = VerifierSpec(models=JudgeModels("gone", "gone-too", ("p1", "p2")))
    case = golden(answered(PASSING), *votes(PASSING, PASSING, PASSING), tier=3)

    assert case.replayed(connections) == case.replayed()


def test_any_process_version_can_be_replayed() -> None:
    case = golden(output="x", rules=[regex("r", "x", enforcement=Enforcement.HARD)])

    assert case.replayed().observed["verdict"] == "reject"
    without = replace(case.definition, rules=())
    assert replace(case, definition=without).replayed().observed["verdict"] == "accept"


@pytest.mark.parametrize(
    ("status", "verdict", "reason_code"),
    [
        (Status.PASSED, "accept", ""),
        (Status.FAILED, "reject", "custom_rejected"),
        (Status.ERROR, "undecided", "infra_verifier_error"),
    ],
)
def test_the_operators_own_verifier_is_called_again(
    status: Status, verdict: str, reason_code: str
) -> None:
    verifiers = ScriptedVerifiers({"totals": CustomAnswer(status, message="Sums differ.")})
    case = golden(custom_verifier="totals")
    case = replace(case, world=replace(case.world, custom=verifiers))

    observed = case.replayed().observed

    assert (observed["verdict"], observed["reason_code"]) == (verdict, reason_code)
    assert [name for name, _ in verifiers.called] == ["totals"]


def test_an_own_verifier_that_is_not_here_leaves_the_case_undecided() -> None:
    observed = golden(custom_verifier="totals").replayed().observed

    assert (observed["verdict"], observed["reason_code"]) == ("undecided", "verifier_unavailable")


@pytest.mark.parametrize(
    ("history", "attempt", "action"),
    [
        pytest.param(
            History(), {"number": 1, "counted": True, "left": 2, "terminal": ""}, "retry", id="first"
        ),
        pytest.param(
            History(attempts_used=2, submissions=2),
            {"number": 3, "left": 0, "terminal": "attempts_exhausted"}, "revert", id="last",
        ),
        pytest.param(
            SAME, {"number": 1, "counted": False, "repeats": 1, "terminal": ""}, "retry",
            id="the same again is free",
        ),
        pytest.param(
            replace(SAME, repeats=1),
            {"counted": False, "repeats": 2, "terminal": "repeated_candidate"}, "revert",
            id="the third time",
        ),
        pytest.param(
            History(attempts_used=1, submissions=9),
            {"counted": True, "terminal": "repeated_candidate"}, "revert", id="too many",
        ),
        pytest.param(
            History(exhausted_reason="attempts_exhausted"),
            {"counted": False, "left": 0, "terminal": "attempts_exhausted"}, "revert",
            id="had ended",
        ),
    ],
)  # fmt: skip
def test_a_reject_is_entered_into_the_tasks_history(
    history: History, attempt: dict[str, Any], action: str
) -> None:
    observed = golden(return_code=1, history=history).replayed().observed

    assert attempt.items() <= observed["attempt"].items()
    assert observed["action"] == action
    assert observed["rerun_execution"] is (action == "retry")


def test_the_same_candidate_a_third_time_is_a_reason_of_its_own() -> None:
    observed = golden(return_code=1, history=replace(SAME, repeats=1)).replayed().observed

    assert observed["reason_code"] == "repeated_candidate"
    assert observed["retry_strategy"] == REASONS["repeated_candidate"].retry_strategy
    assert observed["findings"][0]["reason_code"] == "nonzero_return_code"
    assert REASONS["repeated_candidate"].title in observed["feedback"]


@pytest.mark.parametrize("code", ["rate_limited", "infra_verifier_error", "parse_inconclusive"])
def test_what_is_undecided_uses_up_no_attempt(code: str) -> None:
    case = golden(lost(code), tier=2, history=History(attempts_used=2, submissions=2))

    observed = case.replayed().observed

    assert {"counted": False, "used": 2, "left": 1, "submissions": 2, "terminal": ""}.items() <= (
        observed["attempt"].items()
    )
    assert observed["action"] == "review_branch"


def test_output_of_the_wrong_shape_is_no_attempt() -> None:
    wrong = CustomAnswer(
        Status.FAILED, is_invalid=True, metadata={"errors": [{"loc": ["a"], "msg": "Missing."}]}
    )
    case = golden(custom_verifier="totals")
    case = replace(case, world=replace(case.world, custom=ScriptedVerifiers({"totals": wrong})))

    observed = case.replayed().observed

    assert (observed["reason_code"], observed["attempt"]["counted"]) == ("invalid_output", False)


def test_a_fatal_reject_ends_the_task() -> None:
    fatal = CustomAnswer(Status.FAILED, message="Never.", is_fatal=True)
    case = golden(custom_verifier="totals")
    case = replace(case, world=replace(case.world, custom=ScriptedVerifiers({"totals": fatal})))

    assert case.replayed().observed["attempt"]["terminal"] == "custom_rejected"


def test_gates_that_were_recorded_stand_in_for_the_sandbox() -> None:
    without, reported = golden(gates=["test"]), SAMPLES["contradicted"]()

    assert without.replayed().observed["reason_code"] == "sandbox_unavailable"
    codes = {one["reason_code"] for one in reported.replayed().observed["findings"]}
    assert codes == {"gate_contradiction", "gate_error"}


class Live(ScriptedJudge):
    """A judge of its own, that is told which tier is under way."""

    tier = 7


def test_live_judges_are_asked_by_the_verifiers_own_connections() -> None:
    asked_in: list[int] = []

    def said(_question: Question) -> str | Answer:
        asked_in.append(judge.tier)
        return PASSING

    judge = Live([said])
    case = golden(answered(FAILING), tier=3, executor_model="model-x")
    world = replace(case.world, live=judge, judges={"judge_models": {"first": "model-y"}})
    models = JudgeModels("first", "second")

    replayed = replace(case, world=world).replayed(VerifierSpec(models=models))

    assert replayed.observed["verdict"] == "accept", "what was recorded plays no part"
    assert {question.judge for question in judge.asked} == {"first"}
    assert asked_in == [2, 3, 3, 3]
    assert (replayed.played, replayed.missing) == ([], 0)


def test_a_live_judge_goes_from_case_to_case() -> None:
    asked_in: list[int] = []

    def said(_question: Question) -> str | Answer:
        asked_in.append(judge.tier)
        return PASSING

    judge = Live([said])
    case = golden(tier=2)
    case = replace(case, world=replace(case.world, live=judge))

    for _ in range(2):
        case.replayed(VerifierSpec(models=JudgeModels("first")))

    assert asked_in == [2, 2]


def test_long_results_are_kept_in_part_and_say_so() -> None:
    case = golden(
        output="x" * 30_000 + " Buy the house.",
        claims=(Claim("Buy the house.", "inferred", "recommendation"),),
        of_phase={"is_synthesis": True, "is_critical_path": True},
    )
    observed = case.replayed().observed
    findings = observed["findings"] * (MAX_FINDINGS + 5)

    kept = bounded({**observed, "findings": findings})

    assert observed["artefacts"]
    assert len(kept["findings"]) == MAX_FINDINGS
    assert kept["findings_left_out"] == len(findings) - MAX_FINDINGS
    assert [len(one["text"]) for one in kept["artefacts"] if one.get("is_cut")] == [20_000] * sum(
        len(one["text"]) > 20_000 for one in observed["artefacts"]
    )
    assert bounded(SAMPLES["pruned"]().replayed().observed) == (
        SAMPLES["pruned"]().replayed().observed
    )


def test_a_rule_that_a_judge_finds_broken_is_told_with_its_place() -> None:
    whole = reply(rules={"says-why": ("violated", "It gives no reason.", "It is done.")})
    case = golden(
        answered(whole), tier=2, rules=[llm("says-why", severity="error")], output="It is done."
    )

    [found] = case.replayed().observed["findings"]

    assert (found["rule"], found["source"], found["tier"]) == ("says-why", "llm", 2)
    assert (found["line"], found["quote_verified"]) == (1, True)


def test_a_process_without_phases_replays_nothing() -> None:
    with pytest.raises(CannotReplay):
        replace(golden(), definition=Definition("empty", ())).replayed()


@pytest.mark.parametrize(
    ("return_code", "decided", "after"),
    [
        pytest.param(1, Decided(Verdict.ACCEPT), {"used": 0, "left": 3}, id="gives it back"),
        pytest.param(1, Decided(Verdict.REJECT), {"used": 1, "left": 2}, id="agrees"),
        pytest.param(0, Decided(Verdict.REJECT), {"used": 1, "counted": True}, id="takes one"),
        pytest.param(
            0, Decided(Verdict.REJECT, is_known=True), {"used": 0, "counted": False}, id="known"
        ),
        pytest.param(
            0, Decided(Verdict.REJECT, is_last=False), {"last_outcome": "passed"}, id="not the last"
        ),
    ],
)
def test_a_persons_word_is_entered_after_the_verifiers(
    return_code: int, decided: Decided, after: dict[str, Any]
) -> None:
    case = golden(return_code=return_code)

    alone, overruled = case.replayed().observed, case.but(decided=decided).replayed().observed

    assert alone["decided"] is None
    assert after.items() <= overruled["decided"].items()
    assert {**overruled, "decided": None} == alone, "what the verifier said stays as it was"


def test_what_came_last_may_be_known_by_its_hash() -> None:
    case = golden(return_code=1, output="Done.")
    candidate = submission_sha256(case.given.submission)

    same, other = (
        case.but(history=History(attempts_used=1, submissions=1, last_candidate=last)).replayed()
        for last in (candidate, "0" * 64)
    )

    assert (same.observed["attempt"]["counted"], same.observed["attempt"]["repeats"]) == (False, 1)
    assert other.observed["attempt"]["counted"] is True


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32"])
def test_an_artefact_is_told_as_text_whatever_its_encoding(encoding: str) -> None:
    case = golden(
        files={"a.md": TEXT.encode(encoding)},
        deliverables=["a.md"],
        claims=(ADVICE,),
        of_phase={"is_critical_path": True},
    )

    [made] = case.replayed().observed["artefacts"]

    assert made["path"] == "a.md"
    assert "Wait for May." in made["text"]
    assert ADVICE.text not in made["text"]
