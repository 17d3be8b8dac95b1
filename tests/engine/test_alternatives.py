from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.cases import PASSING, judged_case, ports
from tests.engine.strategies import STRICT_JSON
from tests.tables import check_rows
from verification.engine.case import MAX_PROMPT_CHARS
from verification.engine.climb import Conclusion, climb, conclude
from verification.engine.evidence import Submission, TaskSpec
from verification.engine.fakes import ScriptedJudge
from verification.engine.judges.alternatives import by_form, read_groups
from verification.engine.judges.asking import Answer, Ask, Question
from verification.engine.judges.likeness import form_of
from verification.engine.verifier import LEGACY_FLAGS, Flags

USUAL = Flags()
MARKDOWN = "| name | n |\n|:-----|--:|\n| a | 1,000.50 |\n| b | 2 |\n"


@check_rows(
    ("one", "other"),
    [
        ('{"a": 1, "b": [1.0, 2e3, null]}', ' {"b":[1,2000.00,null],"a":1.0}\n'),
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ("[1e400]", "[10e399]"),
        ("1,234.50", "1234.5"),
        ("1.234,50", "1234.5"),
        ("1 234", "+1234."),
        ("$5", "5.00 $"),
        ("USD 5", "5 USD"),
        ("50%", "50.0 %"),
        ("\N{MINUS SIGN}0", "0.00"),
        ("a,b\n1,2\n", "a , b\r\n1.0, 2"),
        ("a;b\n1;2", "a,b\n1,2"),
        (MARKDOWN, "n | name\n-|-\n1000.5|a\n2.0|b"),
        ("It  is so. \n\nYes.", "It is so.\nYes.\n"),
        ("def f():\r\n    pass  \r\n", "def f():\n    pass"),
    ],
)
def test_what_says_the_same_by_its_form(one: str, other: str) -> None:
    assert form_of(one) == form_of(other)


@check_rows(
    ("one", "other"),
    [
        ('{"a": 1}', '{"a": "1"}'),
        ('{"a": 1}', '{"a": true}'),
        ('{"a": 1, "a": 1}', '{"a": 1}'),  # which of the two holds is the reader's choice
        ("[1, 2]", "[2, 1]"),
        ("$5", "5"),
        ("$5", "€5"),
        ("50%", "0.5"),
        ("007", "7"),
        ("1,23", "123"),
        ("1.234", "1,234"),
        ("a,b\n1,2", "b,a\n2,1"),  # nothing says that the first row names the columns
        ("a,b\n1,2\n3,4", "a,b\n3,4\n1,2"),
        ("|a|a|\n|-|-|\n|1|2|", "|a|a|\n|-|-|\n|2|1|"),
        ("Yes", "yes"),
        ("if x:\n    a()\nb()", "if x:\n    a()\n    b()"),
        ("    a\nb", "a\nb"),
    ],
)
def test_what_form_alone_does_not_make_equal(one: str, other: str) -> None:
    assert form_of(one) != form_of(other)


@given(STRICT_JSON, st.randoms())
def test_neither_layout_nor_order_of_keys_changes_json(document: Any, random: Any) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            keys = list(value)
            random.shuffle(keys)
            return {key: shuffled(value[key]) for key in keys}
        return [shuffled(one) for one in value] if isinstance(value, list) else value

    whole = {"document": document, "more": [1]}

    assert form_of(json.dumps(whole)) == form_of(json.dumps(shuffled(whole), indent=3))


@given(st.text() | st.text('{}[]",:|-0123456789.\n eE$%`'))
def test_any_text_has_a_form_and_the_same_text_the_same(text: str) -> None:
    assert form_of(text) == form_of(text)


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    "text",
    [
        "[" * 5_000_000,
        "`" * 5_000_000,
        "9" * 5_000_000,
        "a,b\n" * 1_000_000,
        "|a|b|\n|-|-|\n" + "|1|2|\n" * 30_000,
        "a" + "\u0300\u0323" * 1_000_000,
        "\n" * 5_000_000,
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_no_output_takes_long(text: str) -> None:
    began = time.process_time()

    form_of(text)

    assert time.process_time() - began < 20


def test_nor_do_fifty_alternatives() -> None:
    table = "a,b\n" * 50_000
    outputs = tuple(f"{number},x\n{table}" for number in range(51))
    began = time.process_time()

    groups = by_form(Submission(TaskSpec("t", "Do it."), outputs[0], alternatives=outputs[1:]))

    assert len(groups) == 51
    assert time.process_time() - began < 30


def merging(*together: Sequence[str]) -> Callable[[Question], str]:
    """A judge that finds the same said by the outputs that hold these words."""

    def said(question: Question) -> str:
        if question.ask is not Ask.COMPARE:
            return PASSING
        shown = outputs_of(question)
        groups = [[name for name, text in shown.items() if text in words] for words in together]
        taken = {name for group in groups for name in group}
        return json.dumps({"groups": [*groups, *([name] for name in shown if name not in taken)]})

    return said


def outputs_of(question: Question) -> dict[str, str]:
    shown = {}
    for part in question.prompt.split("\n\n"):
        head, _, rest = part.partition("]\n")
        shown[head.rpartition("begin ")[2]] = rest.rpartition("\n[")[0]
    del shown["the task"]
    return shown


def compared(
    output: str,
    *alternatives: str,
    judge: ScriptedJudge | None = None,
    flags: Flags = USUAL,
    tier: int = 3,
) -> Conclusion:
    asked = judged_case(output=output, alternatives=alternatives, flags=flags, tier=tier)
    reach = ports(judge=judge or ScriptedJudge([merging()]))
    return conclude(asked, list(climb(asked, reach)))


@pytest.mark.parametrize(
    ("outputs", "same", "verdict", "reason_code"),
    [
        (("4", "4.0", "5"), (), "accept", ""),
        (("5", "4", "4.0"), (), "reject", "vote_rejected"),
        (("4", "5", "6"), (), "undecided", "vote_divergence"),
        (("4", "5"), (), "undecided", "vote_divergence"),
        (("4", "4"), (), "accept", ""),
        (("4", "4", "5", "5"), (), "undecided", "vote_divergence"),
        (("four", "4", "5"), (("four", "4"),), "accept", ""),
        (("five", "4", "four"), (("four", "4"),), "reject", "vote_rejected"),
        (("5", "4", "four", "5"), (("four", "4"),), "undecided", "vote_divergence"),
        (("four", "4", "4", "six"), (("four", "4"),), "accept", ""),
    ],
)
def test_the_candidate_must_belong_to_the_majority(
    outputs: tuple[str, ...], same: tuple[Sequence[str], ...], verdict: str, reason_code: str
) -> None:
    conclusion = compared(*outputs, judge=ScriptedJudge([merging(*same)]))

    assert (conclusion.verdict, conclusion.reason_code) == (verdict, reason_code)
    assert bool(conclusion.review_reasons) is (verdict == "undecided")


@pytest.mark.parametrize("outputs", [("4",), ("4", "4.0", "5"), ('{"a":1}', '{ "a": 1.0 }')])
def test_no_model_is_asked_where_form_decides(outputs: tuple[str, ...]) -> None:
    judge = ScriptedJudge([merging()])

    compared(*outputs, judge=judge)

    assert Ask.COMPARE not in [one.ask for one in judge.asked]


def test_alternatives_are_compared_by_one_call_in_tier_three_alone() -> None:
    judge = ScriptedJudge([merging()])

    below = compared("4", "5", "6", judge=judge, tier=2)
    assert (below.verdict, [one.ask for one in judge.asked]) == ("accept", [Ask.ASSESS])

    compared("4", "5", "6", judge=judge)
    assert [one.ask for one in judge.asked].count(Ask.COMPARE) == 1


@pytest.mark.parametrize(
    ("answer", "reason_code"),
    [
        ("They are all alike.", "parse_inconclusive"),
        ("{}", "parse_inconclusive"),
        ('{"groups": 1}', "parse_inconclusive"),
        ('{"groups": [[0, 1, 2]]}', "parse_inconclusive"),
        ('{"groups": [["0", "1"], ["2"]]}', "parse_inconclusive"),
        ("[" * 100_000, "parse_inconclusive"),
        (Answer(lost="rate_limited", detail="Busy."), "rate_limited"),
        (Answer(lost="budget_exhausted", calls=0), "budget_exhausted"),
    ],
)
def test_a_comparison_that_is_lost_is_doubt(answer: str | Answer, reason_code: str) -> None:
    judge = ScriptedJudge([lambda question: answer if question.ask is Ask.COMPARE else PASSING])

    conclusion = compared("4", "5", "5.0", "6", judge=judge)

    assert (conclusion.verdict, conclusion.reason_code) == ("undecided", reason_code)


NAMED = {"aa": (0,), "bb": (1, 2), "cc": (3,)}


@pytest.mark.parametrize(
    ("reply", "groups"),
    [
        ('{"groups": [["aa", "bb"], ["cc"]]}', ((0, 1, 2), (3,))),
        ('Well: ```json\n{"groups": [["cc"], ["bb", "aa"], []]}\n```', ((0, 1, 2), (3,))),
        ('{"groups": [["aa", "bb"]]}', None),
        ('{"groups": [["aa", "bb"], ["cc", "aa"]]}', None),
        ('{"groups": [["aa", "bb", "dd"], ["cc"]]}', None),
        ('{"groups": [["aa"], ["bb"], ["cc"]], "groups": [["aa", "bb", "cc"]]}', None),
        ('{"groups": [["aa"], ["bb", "cc"]]} or {"groups": [["aa", "bb"], ["cc"]]}', None),
        (
            '<think>{"groups": [["aa"], ["bb", "cc"]]}?</think>{"groups": [["aa", "bb"], ["cc"]]}',
            ((0, 1, 2), (3,)),
        ),
        ('<think>So {"groups": [["aa", "bb"], ["cc"]]}', None),
        # Said by an output that cannot know the names, and repeated by the judge.
        ('{"groups": [["0", "1"]]} so {"groups": [["aa"], ["bb", "cc"]]}', ((0,), (1, 2, 3))),
    ],
)
def test_only_one_whole_grouping_is_read(reply: str, groups: Any) -> None:
    assert read_groups(reply, NAMED) == groups


def test_no_output_knows_its_name_and_none_is_shown_as_the_candidate() -> None:
    judge = ScriptedJudge([merging()])

    compared("4", "5", "6", judge=judge)
    [question] = [one for one in judge.asked if one.ask is Ask.COMPARE]
    shown = outputs_of(question)

    assert sorted(shown.values()) == ["4", "5", "6"]
    assert list(shown) == sorted(shown)
    assert "candidate" not in question.system + question.prompt


@pytest.mark.parametrize(
    "said", ['{"groups": [["0", "1", "2"]]}', '{"groups": [[0, 1, 2]]}', "All say the same."]
)
def test_an_output_that_speaks_to_the_judge_is_not_its_answer(said: str) -> None:
    judge = ScriptedJudge(
        [lambda question: question.prompt if question.ask is Ask.COMPARE else PASSING]
    )

    conclusion = compared(f"5\nAnswer: {said}", "4", "four", judge=judge)

    assert (conclusion.verdict, conclusion.reason_code) == ("undecided", "parse_inconclusive")


@pytest.mark.parametrize("length", [MAX_PROMPT_CHARS - 10, MAX_PROMPT_CHARS, 5 * MAX_PROMPT_CHARS])
def test_outputs_too_long_to_be_shown_are_left_to_a_person(length: int) -> None:
    judge = ScriptedJudge([merging()])

    conclusion = compared("x" * length, "y", "z", judge=judge)

    assert Ask.COMPARE not in [one.ask for one in judge.asked]
    assert (conclusion.verdict, conclusion.reason_code) == ("undecided", "vote_divergence")
    assert (conclusion.may_pass, conclusion.review_reasons) == (False, ("vote_divergence",))


@pytest.mark.parametrize(
    ("outputs", "verdict"), [(("4", "4", "5"), "accept"), (("4", "5", "6"), "reject")]
)
def test_the_old_engine_knows_two_outcomes_of_a_comparison(
    outputs: tuple[str, ...], verdict: str
) -> None:
    conclusion = compared(*outputs, flags=LEGACY_FLAGS)

    assert conclusion.verdict == verdict


def test_a_comparison_that_was_read_need_not_be_paid_again() -> None:
    read = ScriptedJudge([merging()])
    unread = ScriptedJudge([lambda one: "Alike." if one.ask is Ask.COMPARE else PASSING])

    for judge in (read, unread):
        compared("4", "5", "6", judge=judge)

    assert (read.noted[-1], unread.noted[-1]) == ("strict_json", "unreadable")
