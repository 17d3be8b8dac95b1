from __future__ import annotations

import json
from typing import Any

import pytest

from processes.definition.model import Enforcement, Severity, Target
from tests.engine.cases import FAILING, MODELS, PASSING, llm, told
from tests.engine.judges import Said, judged, reply
from tests.tables import check_rows
from verification.engine.judges.asking import MAX_CALLS, Answer, Ask
from verification.engine.verifier import LEGACY_FLAGS, Flags, JudgeModels

HARD = llm("sourced", severity=Severity.ERROR)
OTHER = llm("complete", severity=Severity.ERROR)
SOFT = llm("short")
ALONE = JudgeModels("primary")
LOST = Answer(lost="infra_verifier_error", detail="It hung up.")
BUSY = Answer(lost="rate_limited", detail="Too many requests.")
UNREADABLE = "I would rather not say."


@pytest.mark.parametrize(
    ("said", "outcome", "verdict", "findings"),
    [
        (reply(rules={"sourced": "satisfied"}), "pass", "accept", []),
        (PASSING, "pass", "accept", []),
        (
            reply(passed=False, rules={"sourced": ("violated", "No source.")}),
            "fail",
            "reject",
            [("sourced", "hard", "rule_violated")],
        ),
        # The judge's overall word does not stand above its word on a hard rule.
        (
            reply(passed=True, rules={"sourced": ("violated", "No source.")}),
            "fail",
            "reject",
            [("sourced", "hard", "rule_violated")],
        ),
        (
            reply(
                passed=True,
                acceptance=("violated", "Half is done."),
                rules={"sourced": "satisfied"},
            ),
            "fail",
            "reject",
            [("acceptance-criteria", "hard", "llm_semantic_failed")],
        ),
        (
            reply(passed=False, rules={"sourced": "satisfied"}, issues=["Half is done."]),
            "fail",
            "reject",
            [("acceptance-criteria", "hard", "llm_semantic_failed")],
        ),
        (FAILING, "fail", "reject", [("acceptance-criteria", "hard", "llm_semantic_failed")]),
        (
            '{"passed": false, "issues": ["sourced: there is none."], "confidence": 0.9}',
            "fail",
            "reject",
            [("sourced", "hard", "rule_violated")],
        ),
    ],
)
def test_the_policy_decides_over_the_judges_word_on_each_rule(
    said: str, outcome: str, verdict: str, findings: list[tuple[str, str, str]]
) -> None:
    conclusion, judge, _ = judged(said, rules=[HARD])

    assert (conclusion.outcome, conclusion.verdict) == (outcome, verdict)
    assert told(conclusion) == findings
    assert [one.ask for one in judge.asked] == [Ask.ASSESS]


@pytest.mark.parametrize(
    ("rule", "enforcement", "outcome"),
    [
        (SOFT, "advisory", "pass_with_warnings"),
        (llm("short", enforcement=Enforcement.HARD), "hard", "fail"),
        (llm("short", enforcement=Enforcement.OBSERVE, severity=Severity.ERROR), "observe", "pass"),
    ],
)
def test_a_violation_counts_as_its_rule_does(rule: Any, enforcement: str, outcome: str) -> None:
    conclusion, _, _ = judged(reply(rules={"short": ("violated", "Too long.")}), rules=[rule])

    [finding] = conclusion.findings
    assert (finding.rule, finding.enforcement, conclusion.outcome) == (
        "short",
        enforcement,
        outcome,
    )
    assert (finding.source, finding.tier, finding.message) == ("llm", 2, "Too long.")


@pytest.mark.parametrize(
    ("issue", "hard", "blamed"),
    [
        ("R12: the tone is stiff.", ("R1", "R12"), "R12"),
        ("- R1: no source.", ("R1", "R12"), "R1"),
        ("no-todos is broken.", ("no-todo", "no-todos", "no"), "no-todos"),
        ("The third quarter is missing.", ("a", "third-quarter"), "acceptance-criteria"),
    ],
)
def test_an_issue_blames_the_rule_that_it_names_and_none_whose_name_is_a_part_of_it(
    issue: str, hard: tuple[str, ...], blamed: str
) -> None:
    said = json.dumps({"passed": False, "issues": [issue], "confidence": 0.9})

    conclusion, _, _ = judged(said, rules=[llm(one, severity=Severity.ERROR) for one in hard])

    assert [one.rule for one in conclusion.findings] == [blamed]
    assert conclusion.verdict == "reject"


def test_an_issue_of_an_advisory_rule_is_no_fault_of_a_hard_one_with_a_like_name() -> None:
    said = json.dumps({"passed": False, "issues": ["R12: the tone is stiff."], "confidence": 0.9})
    hard, soft = llm("R1", severity=Severity.ERROR), llm("R12")

    conclusion, _, _ = judged(said, rules=[hard, soft])

    assert conclusion.verdict == "undecided"


@pytest.mark.parametrize(
    ("rule", "why", "reason_code"),
    [
        (llm("r", severity=Severity.ERROR), "It is so.", "rule_violated"),
        (llm("r", failure_class="hard_integrity"), "It is so.", "hard_invariant_failed"),
        (
            llm("r", failure_class="recoverable_placeholder"),
            "It is so.",
            "incomplete_deliverable_placeholder",
        ),
        (llm("r"), "evidence_gap: nothing was looked up.", "evidence_gap"),
        # A code of the judge's own making stays in its words.
        (llm("r"), "very_bad: it is so.", "rule_violated"),
    ],
)
def test_the_registry_of_reasons_stays_closed(rule: Any, why: str, reason_code: str) -> None:
    conclusion, _, _ = judged(reply(rules={"r": ("violated", why)}), rules=[rule])

    assert [(one.reason_code, one.message) for one in conclusion.findings] == [(reason_code, why)]


def test_only_rules_that_speak_here_are_asked_about_and_all_are_traced() -> None:
    elsewhere = llm("elsewhere", applies_to_phases=("plan",))
    observed = llm("observed", enforcement=Enforcement.OBSERVE)
    said = reply(rules={"sourced": "satisfied", "observed": "violated", "elsewhere": "violated"})

    conclusion, judge, report = judged(said, rules=[HARD, elsewhere, observed])

    assert "elsewhere" not in judge.asked[0].prompt
    assert [(one.rule, one.applied, one.verdict, one.reason) for one in conclusion.trace] == [
        ("sourced", True, "satisfied", "every_phase"),
        ("elsewhere", False, "not_reached", "other_phase"),
        ("observed", True, "violated", "observed"),
    ]
    assert conclusion.verdict == "accept"
    assert report.detail == "1 answers name no rule that was asked about"


def test_an_id_may_be_spelled_in_other_case_where_one_rule_is_meant() -> None:
    conclusion, _, _ = judged(reply(rules={" Sourced ": ("violated", "No.")}), rules=[HARD])

    assert told(conclusion) == [("sourced", "hard", "rule_violated")]


def test_two_rules_of_one_name_are_asked_about_apart() -> None:
    twins = [HARD, llm("sourced", severity=Severity.ERROR, description="The other one.")]
    said = reply(rules={"sourced": "satisfied", "sourced (2)": ("violated", "No.")})

    conclusion, _, _ = judged(said, rules=twins)

    assert [one.verdict for one in conclusion.trace] == ["satisfied", "violated"]


@check_rows(
    ("first", "again", "verdict", "reason_code"),
    [
        (reply(), reply(rules={"sourced": "satisfied"}), "accept", ""),
        (
            reply(),
            reply(passed=False, rules={"sourced": ("violated", "No.")}),
            "reject",
            "rule_violated",
        ),
        (reply(), PASSING, "accept", ""),
        (reply(), reply(), "undecided", "parse_inconclusive"),
        (reply(), UNREADABLE, "undecided", "parse_inconclusive"),
        (reply(), LOST, "undecided", "infra_verifier_error"),
        (reply(), BUSY, "undecided", "rate_limited"),
        # It cannot tell, and still cannot.
        (reply(rules={"sourced": "unknown"}),) * 2 + ("undecided", "low_confidence"),
        # Its second answer takes back what its first one said.
        (
            reply(),
            reply(passed=False, rules={"sourced": "satisfied"}),
            "undecided",
            "parse_inconclusive",
        ),
        # Said to have failed, and nothing more.
        (reply(passed=False, rules={"sourced": "satisfied"}),) * 2
        + ("undecided", "parse_inconclusive"),
        ('{"passed": false, "issues": []}',) * 2 + ("undecided", "parse_inconclusive"),
        (
            reply(passed=False, rules={"sourced": "satisfied"}),
            reply(passed=False, acceptance=("violated", "Half is done.")),
            "reject",
            "llm_semantic_failed",
        ),
        (reply(rules={"sourced": "satisfied"}, acceptance="unknown"), reply(), "accept", ""),
    ],
)
def test_what_an_answer_leaves_open_is_asked_once_more(
    first: Said, again: Said, verdict: str, reason_code: str
) -> None:
    conclusion, judge, _ = judged(first, again, rules=[HARD])

    assert (conclusion.verdict, conclusion.reason_code) == (verdict, reason_code)
    assert [one.ask for one in judge.asked] == [Ask.ASSESS, Ask.AGAIN]


BARE_FAIL = '{"passed": false, "issues": []}'


@check_rows(
    ("script", "models", "verdict", "asked"),
    [
        ([BARE_FAIL, PASSING, PASSING], MODELS, "accept", ["assess", "again", "assess"]),
        ([BARE_FAIL, PASSING, FAILING], MODELS, "reject", ["assess", "again", "assess"]),
        (["VERDICT: FAIL", PASSING, FAILING], MODELS, "reject", ["assess", "again", "assess"]),
        ([BARE_FAIL, PASSING, UNREADABLE], MODELS, "undecided", ["assess", "again", "assess"]),
        ([BARE_FAIL, PASSING, LOST], MODELS, "undecided", ["assess", "again", "assess"]),
        # The alternate contradicts itself, too: nobody else is left to be asked.
        (
            [BARE_FAIL, PASSING, BARE_FAIL, PASSING],
            MODELS,
            "undecided",
            ["assess", "again", "assess", "again"],
        ),
        ([BARE_FAIL, PASSING], ALONE, "undecided", ["assess", "again"]),
        ([BARE_FAIL, FAILING], MODELS, "reject", ["assess", "again"]),
    ],
)
def test_a_fail_that_becomes_a_pass_is_decided_by_the_alternate_judge(
    script: list[Said], models: JudgeModels, verdict: str, asked: list[str]
) -> None:
    conclusion, judge, _ = judged(*script, models=models)

    assert conclusion.verdict == verdict
    assert [one.ask for one in judge.asked] == asked


@pytest.mark.parametrize(
    "said",
    [
        "VERDICT: FAIL\nCONCERNS: The retry has no limit.",
        "VERDICT: FAIL\n\nCONCERNS:\n- The retry has no limit.",
        '{"VERDICT": "FAIL", "CONCERNS": ["The retry has no limit."]}',
    ],
)
def test_concerns_are_the_reason_of_a_reject(said: str) -> None:
    conclusion, judge, _ = judged(said)

    [blame] = [one for one in conclusion.findings if one.enforcement == "hard"]
    assert (blame.rule, blame.reason_code) == ("acceptance-criteria", "llm_semantic_failed")
    assert blame.message == "The retry has no limit."
    assert len(judge.asked) == 1


def test_a_refusal_among_the_parts_of_a_reply_is_no_verdict_and_is_not_restated() -> None:
    said = json.dumps(
        [{"type": "text", "text": PASSING}, {"type": "refusal", "refusal": "I cannot."}]
    )

    conclusion, judge, _ = judged(said, models=ALONE)

    assert (conclusion.verdict, conclusion.reason_code) == ("undecided", "parse_inconclusive")
    assert [one.ask for one in judge.asked] == [Ask.ASSESS]


WHOLE = reply(rules={"sourced": "satisfied", "complete": "satisfied"})


@check_rows(
    ("original", "restated", "verdict"),
    [
        # A bare truth value passes nothing.
        ("[true]", WHOLE, "undecided"),
        ("true", WHOLE, "undecided"),
        ("Yes.", WHOLE, "undecided"),
        # The whole passes, and so does each rule.
        ("The work meets all of the criteria.", WHOLE, "accept"),
        # What a restatement holds against the work counts more than the pass that it restates.
        (
            "All criteria are met.",
            reply(rules={"sourced": "satisfied", "complete": "unknown"}),
            "undecided",
        ),
    ],
)
def test_a_restated_pass_repeats_what_the_first_reply_said(
    original: str, restated: str, verdict: str
) -> None:
    conclusion, _, _ = judged(original, restated, rules=[HARD, OTHER], models=ALONE)

    assert conclusion.verdict == verdict


@pytest.mark.parametrize(
    ("original", "rule"),
    [
        ("The rule sourced is violated: no source is named.", "sourced"),
        ("The work fails, since no source is named.", "acceptance-criteria"),
    ],
)
def test_a_restated_reject_blames_the_rule_that_the_first_reply_named(
    original: str, rule: str
) -> None:
    restated = reply(passed=False, rules={"sourced": ("violated", "No source.")})

    conclusion, _, _ = judged(original, restated, rules=[HARD, OTHER], models=ALONE)

    assert conclusion.verdict == "reject"
    assert [one.rule for one in conclusion.findings if one.verdict == "violated"] == [rule]


def test_the_second_question_is_about_what_is_open_alone() -> None:
    said = reply(rules={"sourced": "satisfied"})

    _, judge, _ = judged(said, reply(rules={"complete": "satisfied"}), rules=[HARD, OTHER])

    first, again = (one.schema["properties"]["rules"]["items"] for one in judge.asked if one.schema)
    assert first["properties"]["rule"]["enum"] == ["sourced", "complete"]
    assert again["properties"]["rule"]["enum"] == ["complete"]
    assert "Nothing was said of it." in judge.asked[1].prompt


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        # An advisory rule of which nothing is said changes nothing.
        ([SOFT], reply()),
        # The work is at fault already.
        ([HARD, OTHER], reply(passed=False, rules={"sourced": ("violated", "No.")})),
    ],
)
def test_what_could_change_nothing_is_not_asked_again(rules: Any, said: str) -> None:
    _, judge, _ = judged(said, rules=rules)

    assert len(judge.asked) == 1


@check_rows(
    ("script", "verdict", "reason_code", "asked", "recovery"),
    [
        ([PASSING], "accept", "", ["assess"], "strict_json"),
        # Restated by the judge itself, in a context that holds its reply alone.
        (["All criteria are satisfied.", PASSING], "accept", "", ["assess", "restate"], "restated"),
        (
            ["The criteria are not met.", FAILING],
            "reject",
            "llm_semantic_failed",
            ["assess", "restate"],
            "restated",
        ),
        # What is restated must have been said.
        (
            ["The criteria are not met.", PASSING, FAILING],
            "reject",
            "llm_semantic_failed",
            ["assess", "restate", "assess"],
            "alternate",
        ),
        (
            [UNREADABLE, PASSING, PASSING],
            "accept",
            "",
            ["assess", "restate", "assess"],
            "alternate",
        ),
        (["", PASSING], "accept", "", ["assess", "assess"], "alternate"),
        (
            [UNREADABLE],
            "undecided",
            "parse_inconclusive",
            ["assess", "restate", "assess"],
            "unreadable",
        ),
        ([LOST, PASSING], "accept", "", ["assess", "assess"], "alternate"),
        (
            [LOST, UNREADABLE],
            "undecided",
            "infra_verifier_error",
            ["assess", "assess"],
            "unreadable",
        ),
        ([BUSY, BUSY], "undecided", "rate_limited", ["assess", "assess"], "unreadable"),
        (
            [Answer(lost="budget_exhausted")],
            "undecided",
            "budget_exhausted",
            ["assess"],
            "unreadable",
        ),
        (
            [Answer(lost="verifier_unavailable")],
            "undecided",
            "verifier_unavailable",
            ["assess"],
            "unreadable",
        ),
    ],
)
def test_a_reply_is_read_restated_or_asked_of_the_alternate(
    script: list[Said], verdict: str, reason_code: str, asked: list[str], recovery: str
) -> None:
    conclusion, judge, report = judged(*script)

    assert (conclusion.verdict, conclusion.reason_code) == (verdict, reason_code)
    assert [one.ask for one in judge.asked] == asked
    assert report.recovery == recovery
    assert judge.noted[-1:] in ([recovery], [])


def test_the_restating_judge_is_shown_its_reply_and_nothing_of_the_case() -> None:
    _, judge, _ = judged("All criteria are satisfied.", PASSING, output="The secret is 42.")

    restating = judge.asked[1]
    assert "All criteria are satisfied." in restating.prompt
    assert "42" not in restating.prompt + restating.system
    assert "The secret is 42." in judge.asked[0].prompt


@check_rows(
    ("original", "polarity", "is_borne_out"),
    [
        ("All criteria are satisfied.", True, True),
        ("Le critère est rempli.", True, True),
        ("全部符合。", True, True),
        ("The work fails the criteria.", False, True),
        # Noise, refusals and doubt bear out nothing.
        ("lorem ipsum dolor", True, False),
        ("lorem ipsum dolor", False, False),
        ("I'm sorry, I can't pass judgement on this.", True, False),
        ("I'm sorry, I can't do this.", False, False),
        ("It passes, but two sources are missing.", True, False),
        ("It may have passed if the tests ran.", True, False),
        ('The output says "all tests passed".', True, False),
        ("不合格", True, False),
        # What was cut off is not known.
        ('{"passed": true, "rules": [{"rule": "a", "verdict": "viol', True, False),
    ],
)
def test_a_restatement_says_no_more_than_was_said(
    original: str, polarity: bool, is_borne_out: bool
) -> None:
    restated = PASSING if polarity else FAILING

    conclusion, _, _ = judged(original, restated, models=ALONE, output="all tests passed")

    expected = ("accept" if polarity else "reject") if is_borne_out else "undecided"
    assert conclusion.verdict == expected


def test_without_an_alternate_an_unreadable_judge_leaves_doubt() -> None:
    conclusion, judge, _ = judged(UNREADABLE, models=ALONE)

    assert (conclusion.verdict, conclusion.reason_code) == ("undecided", "parse_inconclusive")
    assert conclusion.may_pass
    assert {one.judge for one in judge.asked} == {"primary"}


def test_no_more_calls_are_made_than_one_evaluation_may_have() -> None:
    tried = Answer(lost="infra_verifier_error", calls=4)

    conclusion, judge, report = judged(tried)

    assert (report.calls, len(judge.asked)) == (MAX_CALLS, 2)
    assert conclusion.verdict == "undecided"


@pytest.mark.parametrize(
    ("executor", "models", "judge_models", "asked", "outcome"),
    [
        ("", JudgeModels("m1", "m2"), {}, "m1", "pass"),
        ("m1", JudgeModels("m1", "m2"), {}, "m2", "pass"),
        ("openai/gpt-x", JudgeModels("main", "other"), {"main": "gpt-x"}, "other", "pass"),
        ("m1", JudgeModels("m1"), {}, "m1", "pass_with_warnings"),
        ("M", JudgeModels("a", "b"), {"a": "x/m", "b": "y/m"}, "a", "pass_with_warnings"),
    ],
)
def test_no_model_judges_its_own_work_unseen(
    executor: str, models: JudgeModels, judge_models: dict[str, str], asked: str, outcome: str
) -> None:
    conclusion, judge, _ = judged(
        PASSING, models=models, executor_model=executor, of_case={"judge_models": judge_models}
    )

    assert [one.judge for one in judge.asked] == [asked]
    assert conclusion.outcome == outcome
    codes = [one.reason_code for one in conclusion.findings]
    assert codes == ([] if outcome == "pass" else ["verifier_not_independent"])


@pytest.mark.parametrize(
    ("confidence", "floor", "outcome", "level", "review"),
    [
        (0.9, 0.6, "pass", "HIGH", ()),
        (0.59, 0.6, "pass", "MEDIUM", ("low_confidence",)),
        (None, 0.6, "pass", "MEDIUM", ("low_confidence",)),
        (None, 0.5, "pass", "HIGH", ()),
    ],
)
def test_a_judge_that_is_not_sure_asks_for_a_person(
    confidence: float | None, floor: float, outcome: str, level: str, review: tuple[str, ...]
) -> None:
    conclusion, _, _ = judged(reply(confidence=confidence), of_phase={"confidence_floor": floor})

    assert (conclusion.outcome, conclusion.confidence_level) == (outcome, level)
    assert conclusion.review_reasons == review
    assert conclusion.confidence == (0.5 if confidence is None else confidence)


@pytest.mark.parametrize(
    ("said", "level", "action_is_sure"),
    [(reply(), "HIGH", True), (FAILING, "MEDIUM", False), (UNREADABLE, "MEDIUM", False)],
)
def test_concerns_of_a_judge_leave_the_confidence_at_medium(
    said: str, level: str, action_is_sure: bool
) -> None:
    conclusion, _, _ = judged(said)

    assert conclusion.confidence_level == level
    assert (conclusion.confidence is not None) is (action_is_sure or said == FAILING)


@pytest.mark.parametrize(
    ("said", "verdict", "reason_code"),
    [
        (PASSING, "accept", ""),
        (FAILING, "reject", "llm_semantic_failed"),
        # The classic false fail: a good reply, in words around it.
        (f"Here you are:\n{PASSING}", "reject", "llm_semantic_failed"),
        (LOST, "undecided", "infra_verifier_error"),
        (reply(), "accept", ""),
        (reply(rules={"short": "violated"}), "accept", ""),
        (reply(rules={"sourced": "violated"}), "reject", "rule_violated"),
        (reply(rules={"sourced": ("violated", "So.", "Made up.")}), "reject", "rule_violated"),
        (reply(rules={"sourced": "unknown"}), "accept", ""),
        (reply(passed=False, rules={"sourced": "satisfied"}), "reject", "llm_semantic_failed"),
    ],
)
def test_the_old_engine_reads_strict_json_and_knows_two_outcomes(
    said: Said, verdict: str, reason_code: str
) -> None:
    conclusion, _, _ = judged(said, rules=[HARD, SOFT], flags=LEGACY_FLAGS, models=ALONE)

    assert (conclusion.verdict, conclusion.reason_code) == (verdict, reason_code)
    assert conclusion.outcome == ("pass" if verdict == "accept" else "fail")
    assert not [one for one in conclusion.findings if one.enforcement == "advisory"]


def test_without_the_output_protocol_only_the_first_stage_reads() -> None:
    said = f"Here you are:\n{PASSING}"

    with_it, _, _ = judged(said)
    without, judge, _ = judged(said, flags=Flags(strict_output_protocol=False))

    assert (with_it.verdict, without.verdict) == ("accept", "undecided")
    assert len(judge.asked) == 1


def test_the_calls_are_kept_with_the_tier() -> None:
    _, _, report = judged(
        Answer(
            reply(),
            model="m",
            calls=2,
            prompt_tokens=10,
            completion_tokens=5,
            cost_usd="0.01",
        )
    )

    assert (report.model, report.calls) == ("m", 2)
    assert (report.prompt_tokens, report.completion_tokens, report.cost_usd) == (10, 5, "0.01")


def test_a_rule_that_looks_at_files_says_so() -> None:
    rule = llm("cited", severity=Severity.ERROR, target=Target.DELIVERABLES)

    conclusion, judge, _ = judged(reply(rules={"cited": "violated"}), rules=[rule])

    assert conclusion.findings[0].target == "deliverables"
    assert 'id: "cited", looks at deliverables' in judge.asked[0].prompt
