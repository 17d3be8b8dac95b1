from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from processes.definition.model import Target
from tests.processes.builtin_cases import evaluate, good_work, with_text, works
from tests.tables import check_rows

TEXTS: dict[str, str] = yaml.safe_load(
    (Path(__file__).parent / "honest_texts.yaml").read_text(encoding="utf-8")
)


@check_rows("text", TEXTS.values(), ids=TEXTS)
@check_rows("target", list(Target))
def test_no_rule_of_any_process_takes_an_honest_text_for_a_fault(text: str, target: Target) -> None:
    told = {
        (name, phase, finding.rule, finding.quote)
        for name, phase in works()
        for finding in evaluate(
            name, phase, with_text(good_work(name, phase), text, target)
        ).findings
    }

    assert told == set()


@pytest.mark.parametrize("target", [Target.OUTPUT, Target.DELIVERABLES])
def test_a_text_beside_good_work_is_looked_at(target: Target) -> None:
    text = "Price: [TBD]\n\nI'm sorry, but I can't help with that."

    told = {
        (name, finding.rule)
        for name, phase in works()
        for finding in evaluate(
            name, phase, with_text(good_work(name, phase), text, target)
        ).findings
    }

    of_files = {"no-placeholders", "no-placeholders-in-files"}
    expected = {"no-placeholders"} if target is Target.OUTPUT else of_files
    assert {rule for _, rule in told} == expected
