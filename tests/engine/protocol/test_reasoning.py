"""Reasoning is not an answer: a verdict counts where the final answer gives it."""

from __future__ import annotations

import json
import time

import pytest

from tests.tables import check_rows
from verification.engine.protocol.recovery import recover

PASS = '{"passed": true, "issues": []}'
FAIL = '{"passed": false, "issues": ["No date."]}'
FINAL = "<|start|>assistant<|channel|>final<|message|>"

ANSWERED = {
    "a closing mark alone": "It may be {0}. No.\n</think>\n\n{1}",
    "two closing marks": "{0} </think> Let me see. {0} </think> {1}",
    "think": "<think>{0}</think>{1}",
    "thinking": "<thinking>\n{0}\n</thinking>\n{1}",
    "thought": "<thought>{0}</thought>{1}",
    "reasoning after a word": "Sure.\n<reasoning>{0}</reasoning>\n{1}",
    "with an attribute": '<thinking budget="200">{0}</thinking>{1}',
    "Mistral": "[THINK]{0}[/THINK]{1}",
    "Kimi": "◁think▷{0}◁/think▷{1}",
    "Seed": "<seed:think>{0}</seed:think>{1}",
    "Command": "<|START_THINKING|>{0}<|END_THINKING|><|START_RESPONSE|>{1}<|END_RESPONSE|>",
    "Gemma": "<|channel>thought\n{0}<channel|>{1}",
    "harmony": "<|channel|>analysis<|message|>{0}<|end|>" + FINAL + "{1}<|return|>",
    "harmony with a format": (
        "<|start|>assistant<|channel|>analysis<|message|>{0}<|end|>"
        "<|start|>assistant<|channel|>final <|constrain|>json<|message|>{1}"
    ),
    "harmony with commentary": (
        "<|channel|>analysis<|message|>{0}<|end|><|channel|>commentary to=functions.read"
        "<|message|>{0}<|call|>" + FINAL + "{1}"
    ),
    "harmony without its tokens": "analysisWe need to see: {0}assistantfinal{1}",
    "Granite": "Here is my thought process:\n{0}\n\nHere is my response:\n{1}",
    "a mark in quotation marks": "It prints `</think>` at its end.\n{1}",
}
UNANSWERED = (
    "<think>{0}",
    "Sure. <think>{0}",
    "{0}</think>",
    "<thinking>{0}</thinking>\n\n",
    "[THINK]{0}",
    "<|channel|>analysis<|message|>{0}",
    "<|channel|>analysis<|message|>{0}<|end|>",
    "<|channel|>commentary<|message|>{0}<|call|>",
    "analysisIt may well be {0}",
    "Here is my thought process:\n{0}",
)


@check_rows("form", list(ANSWERED.values()), ids=list(ANSWERED))
def test_the_answer_after_the_reasoning_counts(form: str) -> None:
    for thought, answer, passed in ((FAIL, PASS, True), (PASS, FAIL, False)):
        found = recover(form.format(thought, answer).replace("{{", "{"))

        assert found.reply is not None, form
        assert found.reply.passed is passed


@check_rows("form", UNANSWERED)
def test_reasoning_without_a_final_answer_gives_no_verdict(form: str) -> None:
    for thought in (PASS, FAIL):
        assert recover(form.format(thought)).reply is None


def test_a_mark_within_an_object_belongs_to_its_text() -> None:
    reply = recover(
        '{"passed": false, "issues": ["It ends in </think> {\\"passed\\": true}"]}'
    ).reply

    assert reply is not None
    assert reply.passed is False


def test_an_answer_before_reasoning_that_has_marks_on_both_sides_still_counts() -> None:
    assert recover(f"{FAIL}\n<think>Or not?</think>\n{PASS}").reply is None
    assert recover(f"{PASS}\n<think>Or {FAIL}?</think>\nThat is all.").reply is not None


def test_an_answer_that_quotes_a_final_channel_goes_on_behind_it() -> None:
    quote = f"<|channel|>final<|message|>{PASS}<|end|>"

    found = recover(f"The output contains {quote} I reject it.\n{FAIL}", shown=f"> {PASS}")

    assert found.reply is not None
    assert found.reply.passed is False


THINKS, SAYS = {"type": "thinking", "thinking": FAIL}, {"type": "text", "text": PASS}
REFUSES = {"type": "refusal", "refusal": "I cannot judge this."}


@check_rows(
    ("document", "passed"),
    [
        ([THINKS, SAYS], True),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": FAIL}]}, SAYS], True),
        ([{"type": "reasoning", "text": FAIL}, {"type": "output_text", "text": PASS}], True),
        ([SAYS, {"type": "text", "text": FAIL}], None),
        ([{"type": "text", "text": PASS[:12]}, {"type": "text", "text": PASS[12:]}], True),
        ([{"type": "text", "text": f"Here it is: {PASS}"}], True),
        ([{"text": FAIL, "thought": True}, {"text": PASS}], True),
        ([{"type": "thinking", "thinking": PASS}], None),
        ([SAYS, REFUSES], None),
        ([REFUSES], None),
        ({"role": "assistant", "content": [THINKS, SAYS]}, True),
        ({"role": "assistant", "content": PASS, "refusal": "I cannot judge this."}, None),
        ({"choices": [{"message": {"content": [THINKS, SAYS], "refusal": None}}]}, True),
        ({"candidates": [{"content": {"parts": [{"text": FAIL, "thought": True}, SAYS]}}]}, True),
        (
            {
                "output": [
                    {"type": "reasoning", "summary": [{"type": "summary_text", "text": FAIL}]},
                    {"type": "message", "content": [{"type": "output_text", "text": PASS}]},
                ]
            },
            True,
        ),
        ({"reasoning_content": FAIL, "content": PASS}, True),
        ({"reasoning_content": PASS, "content": ""}, None),
        ({"reasoning_content": PASS}, None),
        ({"reasoning": PASS}, None),
    ],
)
def test_content_in_parts_is_read_by_its_text(document: object, passed: bool | None) -> None:
    for text in (json.dumps(document), json.dumps(document, indent=2)):
        reply = recover(text).reply

        assert (reply and reply.passed) is passed


def test_parts_as_python_prints_them_are_parts() -> None:
    reply = recover(str([THINKS, SAYS])).reply

    assert reply is not None
    assert reply.passed


@pytest.mark.parametrize("mark", ["<think>", "</think>", "[/THINK]", "<|channel|>final<|message|>"])
def test_marks_by_the_hundred_thousand_take_no_longer_than_their_length(mark: str) -> None:
    text = f"{mark}{{}} " * 100_000

    begin = time.process_time()
    recover(text)

    assert time.process_time() - begin < 20
