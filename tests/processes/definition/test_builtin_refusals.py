"""The process `general` points out an output that is a refusal and nothing else."""

from __future__ import annotations

from tests.processes.builtin_cases import Work, evaluate
from tests.tables import check_rows

RULE = ("answer-is-not-a-refusal", "advisory")
REFUSALS = [
    "I'm sorry, I can't help with that",
    "I'm sorry, but I can't assist with that request.",
    "I\u2019m really sorry, but I cannot fulfill this request.\n",
    "Sorry, I can't do that.",
    "I cannot help with that.",
    "I am unable to complete this task.",
    "I won't be able to help with this.",
    "I'm not able to provide this information. Is there anything else I can help with?",
    "Unfortunately, I can't access the internet.",
    "My apologies, but I must decline to answer.",
    "As an AI language model, I cannot provide medical advice. Please ask a doctor.",
    "We're sorry, but we can't complete this.",
    "**I can't help with that.**",
]
ANSWERS = [
    "Sorry for the delay, the table is below.",
    "I can help with that: start the server and open port 80.",
    "I cannot confirm the figure of 2023.",
    "I could not find any fault.",
    "The form answers \"I'm sorry, I can't help with that.\"",
    "I can't do it in one step:\n\n1. Stop the server.\n2. Copy the file.",
    "No, you cannot help with that.",
    "I can't provide the exact date: the register only says 1890.",
    f"I can't help with the first part. {'The second part is done and described here. ' * 8}",
]


def findings(output: str) -> list[tuple[str, str]]:
    conclusion = evaluate("general", "work", Work(run={"output": output}))
    assert conclusion.verdict == "accept"
    return [(one.rule, str(one.enforcement)) for one in conclusion.findings]


@check_rows("output", REFUSALS)
def test_a_refusal_as_the_whole_output_is_a_remark(output: str) -> None:
    assert findings(output) == [RULE]


@check_rows("output", ANSWERS)
def test_an_answer_that_speaks_of_limits_is_no_refusal(output: str) -> None:
    assert findings(output) == []
