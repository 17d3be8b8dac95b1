from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from processes.definition.model import Definition, Phase
from tests.engine.cases import regex
from tests.engine.golden.samples import SAMPLES
from verification.engine.golden.coverage import Coverage, Covered, Seen, coverage
from verification.engine.protocol.reply import Stage
from verification.engine.reasons import REASONS
from verification.engine.shadow import DiffClass

PROCESS = Definition(
    "process",
    (Phase("plan"), Phase("write"), Phase("publish")),
    rules=(
        regex("no-placeholder", "TODO"),
        regex("one-table", "table", applies_to_phases=("plan",)),
        regex("links", "http", applies_to_phases=("write", "publish")),
    ),
)


def seen(name: str, expected: Mapping[str, Any] | None = None, **about: Any) -> Seen:
    observed = {**SAMPLES[name]().replayed().observed, "shadow": about.pop("shadow", None)}
    return Seen("process", "write", observed, expected or {}, **about)


def found(*those: Seen) -> Coverage:
    return coverage({"process": PROCESS}, those)


def counts(covered: Any) -> dict[str, tuple[int, int]]:
    return {one.name: (one.cases, one.guarding) for one in covered if one.cases or one.guarding}


def without_case(covered: Iterable[Covered]) -> list[str]:
    return [one.name for one in covered if not one.cases]


def test_without_cases_nothing_is_covered_and_everything_is_named() -> None:
    none = found()

    assert without_case(none.reasons) == list(REASONS)
    assert without_case(none.diff_classes) == list(DiffClass)
    assert without_case(none.stages) == list(Stage)
    assert [(one.rule, one.applied, one.violated) for one in none.rules] == [
        ("links", 0, 0),
        ("no-placeholder", 0, 0),
        ("one-table", 0, 0),
    ]
    assert without_case(one for _, one in none.phases) == ["plan", "write", "publish"]


def test_rules_say_whether_they_were_applied_and_violated_and_where_nobody_looked() -> None:
    told = {one.rule: one for one in found(seen("plain"), seen("warned"), seen("warned")).rules}

    assert (told["no-placeholder"].applied, told["no-placeholder"].violated) == (3, 2)
    assert told["no-placeholder"].without_case == ("plan", "publish")
    assert (told["one-table"].applied, told["one-table"].without_case) == (0, ("plan",))
    assert told["links"].without_case == ("publish",)


def test_a_rule_that_no_case_violates_is_told_apart_from_one_that_none_applies() -> None:
    told = {one.rule: (one.applied, one.violated) for one in found(seen("plain")).rules}

    assert told == {"links": (0, 0), "no-placeholder": (1, 0), "one-table": (0, 0)}


@pytest.mark.parametrize(
    ("expected", "guarding"),
    [
        ({}, 0),
        ({"findings": {"must": [{"rule": "no-placeholder"}]}}, 1),
        ({"findings": {"must_not": [{"rule": "no-placeholder"}]}}, 1),
        ({"rules": {"applied": {"no-placeholder": "satisfied"}}}, 1),
        ({"rules": {"skipped": ["no-placeholder"]}}, 0),
        ({"findings": None, "rules": None}, 0),
    ],
    ids=["nothing", "must", "must not", "applied", "skipped", "null"],
)
def test_a_case_guards_a_rule_where_it_expects_a_word_of_it(
    expected: Mapping[str, Any], guarding: int
) -> None:
    told = {one.rule: one for one in found(seen("plain", expected)).rules}

    assert told["no-placeholder"].guarding == guarding
    assert told["links"].guarding == 0


def test_reasons_are_come_to_by_findings_by_the_run_and_by_the_tasks_end() -> None:
    told = counts(found(seen("rejected"), seen("exhausted"), seen("exhausted")).reasons)

    assert told == {
        "nonzero_return_code": (3, 0),
        "deliverable_missing": (1, 0),
        "syntax_invalid": (1, 0),
        "rule_violated": (1, 0),
        "repeated_candidate": (2, 0),
    }


def test_reasons_are_guarded_where_a_case_expects_them() -> None:
    expected = {
        "reason_code": "nonzero_return_code",
        "attempt": {"terminal": "attempts_exhausted"},
        "findings": {"must": [{"reason_code": "syntax_invalid"}, {"rule": "x"}]},
    }

    told = counts(found(seen("plain", expected), seen("rejected", expected)).reasons)

    assert told["nonzero_return_code"] == (1, 2)
    assert told["attempts_exhausted"] == (0, 2)
    assert told["syntax_invalid"] == (1, 2)


def test_diff_classes_and_stages_count_the_cases_that_come_to_them() -> None:
    told = found(
        seen("plain", {"shadow": "no_diff"}, shadow="no_diff"),
        seen("warned", shadow="old_fail_new_pass"),
        seen("judged", {"recovery": {"2": "strict_json"}}),
        seen("outvoted", stages=("strict_json", "yaml", "yaml", "")),
    )

    assert counts(told.diff_classes) == {"no_diff": (1, 1), "old_fail_new_pass": (1, 0)}
    assert counts(told.stages) == {"strict_json": (2, 1), "yaml": (1, 0)}


def test_a_case_with_a_process_of_its_own_says_nothing_of_the_others_rules() -> None:
    own = Seen("", "write", seen("warned").observed)

    told = found(own)

    assert [one.applied for one in told.rules] == [0, 0, 0]
    assert counts(told.reasons)["syntax_invalid"] == (1, 0)


def test_what_was_never_come_to_counts_nothing_and_order_plays_no_part() -> None:
    some = [seen("plain"), seen("judged"), seen("rejected", shadow="no_diff")]

    assert found(*some) == found(*reversed(some))
    assert found(*some).phases == (
        ("process", Covered("plan")),
        ("process", Covered("write", cases=3)),
        ("process", Covered("publish")),
    )


def test_names_that_are_no_reason_make_no_row() -> None:
    told = found(seen("plain", {"reason_code": "made_up", "shadow": "made_up"}))

    assert {one.name for one in told.reasons} == set(REASONS)
    assert {one.name for one in told.diff_classes} == set(DiffClass)
