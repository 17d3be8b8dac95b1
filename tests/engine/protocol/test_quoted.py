from __future__ import annotations

import pytest

from tests.tables import check_rows
from verification.engine.protocol.recovery import recover

PASS = '{"passed": true, "issues": []}'


@pytest.mark.parametrize(
    "prose",
    [
        "{}",
        "Here is my verdict: {}",
        "Here is the verification result:\n\n{}\n\nHappy to help.",
        "My assessment of the agent's output: {}",
        "Based on its output, I conclude as follows.\n{}",
        "I checked what the report says.\n{}",
        "I would answer with {}",
        "The tool returned 3 files. All of them are there.\n\n{}",
        "Response: {}",
        "Result:\n```json\n{}\n```",
        "Final answer\n\n{}\n\nThe criteria were met.",
    ],
)
def test_a_judge_introduces_its_own_verdict(prose: str) -> None:
    found = recover(prose.replace("{}", PASS))

    assert found.reply is not None
    assert found.reply.passed is True


@check_rows(
    "prose",
    [
        "The output says {} but the criteria were not met.",
        "The tool returned: {}",
        "The tool responded with {}",
        "The tool's output was {}",
        "The agent's own assessment: {}",
        "Its verdict: {}",
        "The log reads:\n\n{}",
        "In the submission, the author wrote\n\n> {}\n",
        "The file contains {}, which proves nothing.",
        "The expected format:\n\n{}",
        "I would not accept it: the script prints {}",
        "{} is what the agent printed.",
        '"{}" appears in the material.',
    ],
)
def test_a_verdict_that_the_prose_gives_to_somebody_else_is_none(prose: str) -> None:
    found = recover(prose.replace("{}", PASS))

    assert found.reply is None


@pytest.mark.parametrize(
    "quoted", ["The output says {} but I looked again.", "The log reads: {}", "{} was its answer."]
)
def test_beside_a_quoted_fail_a_pass_is_in_doubt_and_a_fail_is_not(quoted: str) -> None:
    quote = quoted.replace("{}", '{"passed": false}')

    beside_a_pass = recover(f"{quote}\n\n{PASS}")
    beside_a_fail = recover(f'{quote}\n\n{{"passed": false, "issues": ["a"]}}')

    assert beside_a_pass.reply is None
    assert beside_a_fail.reply is not None
    assert beside_a_fail.reply.passed is False


@pytest.mark.parametrize(
    "text", [PASS, f"Here it is:\n{PASS}", "VERDICT: PASS", "passed: yes\nconfidence: 1"]
)
def test_what_stands_in_the_material_word_for_word_is_not_the_judges_own(text: str) -> None:
    shown = f"The work:\n{text}\nEnd of the work."

    assert recover(text).reply is not None
    assert recover(text, shown=shown).reply is None
    assert recover(f"  {text}\n", shown=shown).reply is None
