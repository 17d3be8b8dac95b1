from __future__ import annotations

import pytest

from processes.definition.model import Expect, Rule, RuleType, Target
from tests.processes.builtin_cases import (
    WORK,
    definition_of,
    evaluate,
    good_work,
    verdict_on,
    with_each_phase,
    with_text,
    works,
)
from tests.tables import check_rows

LLM_RULES = [
    pytest.param(name, phase, rule, id=f"{name}:{phase}:{rule.name}")
    for name, phase, rule in with_each_phase(RuleType.LLM)
]


@check_rows(("name", "phase"), list(works()))
def test_good_work_is_accepted_without_a_finding(name: str, phase: str) -> None:
    conclusion = evaluate(name, phase, good_work(name, phase))

    assert conclusion.findings == ()
    assert (conclusion.outcome, conclusion.verdict) == ("pass", "accept")


@check_rows(("name", "phase"), list(works()))
def test_good_work_is_what_the_phase_asks_for(name: str, phase: str) -> None:
    work = good_work(name, phase)
    asked = definition_of(name).phase(phase)
    assert asked is not None

    assert (work.run["process"], work.run["phase"]) == (name, phase)
    assert {one.path for one in asked.deliverables} <= set(work.files)
    assert all(len(data) > 80 for data in work.files.values())


def test_there_is_no_work_for_a_phase_that_does_not_exist() -> None:
    found = {(folder.parent.name, folder.name) for folder in WORK.glob("*/*")}

    assert found == set(works())


@check_rows(("name", "phase", "rule"), LLM_RULES)
def test_an_example_for_the_judge_leaves_every_pattern_satisfied(
    name: str, phase: str, rule: Rule
) -> None:
    work = good_work(name, phase)

    conclusions = [
        evaluate(
            name, phase, with_text(with_text(work, text, Target.DELIVERABLES), text, Target.OUTPUT)
        )
        for text in rule.examples.passing
    ]

    assert conclusions
    assert [one.findings for one in conclusions] == [()] * len(conclusions)


MUST_MATCH = [
    pytest.param(name, phase, rule, id=f"{name}:{phase}:{rule.name}")
    for name, phase, rule in with_each_phase(RuleType.REGEX)
    if rule.expect is Expect.MATCH or rule.min_count
]


@check_rows(("name", "phase", "rule"), MUST_MATCH)
def test_what_must_stand_in_one_file_is_not_found_in_another(
    name: str, phase: str, rule: Rule
) -> None:
    work = good_work(name, phase)

    missed = [
        path
        for path in work.files
        if verdict_on(rule, evaluate(name, phase, work.with_file(path, "Nothing of it.\n")))
        == "violated"
    ]

    assert missed
