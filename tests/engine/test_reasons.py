from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables import check_rows
from verification.engine.reasons import REASONS, UnknownReason, reason

DOCUMENT = Path(__file__).parents[2] / "docs" / "engine.md"


def documented() -> dict[str, tuple[str, str, str]]:
    section = DOCUMENT.read_text().split("\n## Reasons\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return {
        code.strip(): (severity.strip(), effect.strip(), retry.strip())
        for codes, severity, effect, retry in rows[2:]
        for code in codes.split(",")
    }


def test_the_registry_is_the_documented_table() -> None:
    registered = {
        code: (str(one.severity_class or "none"), str(one.effect), str(one.retry_strategy))
        for code, one in REASONS.items()
    }

    assert registered == documented()


def test_no_code_is_made_up_on_the_way() -> None:
    with pytest.raises(UnknownReason):
        reason("the_judge_felt_like_it")


@check_rows("code", sorted(REASONS))
def test_every_reason_has_a_title_that_is_a_sentence(code: str) -> None:
    title = reason(code).title

    assert title[0].isupper()
    assert title.endswith(".")
