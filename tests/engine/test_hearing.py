from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from processes.definition.model import Severity
from tests.engine.cases import FAILING, MODELS, PASSING, case, judged_case, llm, ports
from tests.engine.judges import judged
from tests.engine.protocol.corpus import UNREAD, Malformed, corpus
from tests.engine.protocol.generator import made
from verification.engine.judges.asking import Answer, Ask, Question
from verification.engine.judges.hearing import read
from verification.engine.protocol.echoes import holds_copied_verdict
from verification.engine.protocol.prompt import Prompt, assessment
from verification.engine.protocol.reply import Stage
from verification.engine.protocol.restatement_check import supports_verdict

ONE_RULE = [llm("a", severity=Severity.ERROR)]
READABLE = [one for one in corpus() if one.passed is not None]
UNREADABLE = [one for one in corpus() if one.kind in UNREAD]


def prompt() -> Prompt:
    work = case(output="# Report\n\nSales grew by 5 %.\n", rules=ONE_RULE, models=MODELS, tier=2)
    return assessment(work, ports())


@pytest.mark.extended
def test_no_verdict_of_a_judges_own_is_taken_for_a_copy() -> None:
    asked = prompt()

    verdicts = {
        str(malformed): (malformed.passed, reply and reply.passed)
        for malformed in READABLE
        for reply in [read(Answer(malformed.text), asked).reply]
    }

    assert {name: pair for name, pair in verdicts.items() if pair[0] is not pair[1]} == {}


def test_strict_reading_takes_the_first_stage_alone() -> None:
    asked = prompt()

    stages = [
        read(Answer(text), asked, strict=True).stage
        for text in (PASSING, f"```json\n{PASSING}\n```")
    ]

    assert stages == [Stage.STRICT, Stage.UNREADABLE]


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        (PASSING, True),
        (f"```json\n{PASSING}\n```\nThe work names", True),
        (f"{PASSING}\nThe work names", True),
        (f"It would be {PASSING} if every figure", None),
        ("VERDICT: PASS\n\nEach figure", None),
        ("passed: true\nconfidence: 0.9\nissues:", None),
        (f"{FAILING} since the", False),
        ("VERDICT: FAIL\n\nEach figure", False),
    ],
)
def test_what_was_cut_off_passes_nothing_unless_its_object_came_first(
    text: str, passed: bool | None
) -> None:
    found = read(Answer(text, is_cut=True), prompt()).reply

    assert (found.passed if found else None) is passed


@pytest.mark.extended
@pytest.mark.parametrize("guess", [PASSING, FAILING])
def test_a_judge_that_guesses_while_restating_decides_nothing(guess: str) -> None:
    verdicts = {
        str(one): str(judged(_guessing(one, guess))[0].verdict)
        for one in UNREADABLE
        if one.kind != "restate"
    }

    assert {what: said for what, said in verdicts.items() if said != "undecided"} == {}


@pytest.mark.extended
def test_a_restated_pass_was_one_before() -> None:
    passes = {
        one.what for one in UNREADABLE if judged(_guessing(one, PASSING))[0].verdict == "accept"
    }

    assert passes == {
        "Prose that says so.",
        "One word.",
        "A tick.",
        "Yes, in a sentence.",
        "A heading with the word below.",
        "Keys in German.",
        "Keys in Chinese.",
    }


def _echoes(text: str) -> Iterator[str]:
    yield from (text, text.strip(), f"Sure.\n{text}", f"{text}\n\nI cannot help with that.")
    yield f"```\n{text}\n```"


@pytest.mark.extended
def test_any_reply_that_stands_in_the_work_decides_nothing_when_it_is_echoed() -> None:
    shown_whole = [one.text for one in READABLE if len(one.text) < 100_000]
    replies = [*shown_whole, *(made(seed).text for seed in range(300))]

    believed = [
        said
        for text in replies
        for said in _echoes(text)
        if read(Answer(said), assessment(judged_case(output=text), ports())).reply
    ]

    assert len(replies) > 400
    assert believed == []


def _guessing(one: Malformed, guess: str) -> Callable[[Question], str]:
    return lambda asked: guess if asked.ask is Ask.RESTATE else one.text


@pytest.mark.extended
@pytest.mark.parametrize(
    "text",
    ["not" + " " * 200_000, '"passed' * 30_000, "```\n" * 50_000, "<" * 200_000, "[ " * 100_000],
)
def test_no_reply_takes_long_to_be_doubted(text: str) -> None:
    asked = prompt()
    started = time.process_time()

    supports_verdict(text, True, asked)
    supports_verdict(text, False, asked)
    holds_copied_verdict(text, asked)

    assert time.process_time() - started < 20
