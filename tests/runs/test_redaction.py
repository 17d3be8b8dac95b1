from __future__ import annotations

from loomverify.accounts.models import Project
from tests.runs.conftest import Caller
from verification.runs.intake.redaction import redact_content, redact_json

TOKEN = [r"sk-[a-z0-9]+"]


def test_every_string_is_redacted_and_nothing_else() -> None:
    body = {"output": "key sk-abc1.", "n": 3, "calls": [{"args": ["sk-zz9", None, True]}]}

    redacted = redact_json(body, TOKEN)

    assert redacted == {
        "output": "key [redacted].",
        "n": 3,
        "calls": [{"args": ["[redacted]", None, True]}],
    }


def test_text_files_are_redacted_and_binary_ones_stay() -> None:
    assert redact_content("ключ sk-abc".encode(), TOKEN) == "ключ [redacted]".encode()
    assert redact_content(b"\xffsk-abc", TOKEN) == b"\xffsk-abc"


def test_without_patterns_nothing_is_touched() -> None:
    body = {"a": object()}

    assert redact_json(body, []) is body


def test_a_name_that_grows_by_redaction_is_still_taken_in(agent: Caller, project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(redaction_patterns=["[0-9]"])

    run = agent.submit(executor={"model": "7" * 120})

    assert run["verdict"] == "accept"
