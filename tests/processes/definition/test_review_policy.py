"""What a process file says about reviews: read, pointed at, compared."""

from __future__ import annotations

from typing import Any

import pytest

from processes.definition.compare import compare
from processes.definition.lint import lint
from processes.definition.load import Loaded, load
from processes.definition.model import Definition, Level, ReviewPolicy, ReviewReason
from tests.processes.files import SMALL
from tests.tables import check_rows

PLACE = "verification.policy.review"
USUAL = {"undecided": None, "divergence": None, "low_confidence": None, "terminal": None}


def loaded(review: str) -> Loaded:
    return load(f"{SMALL}  policy:\n    review: {review}\n")


def definition_of(review: str) -> Definition:
    found = loaded(review)
    assert found.errors == ()
    assert found.definition is not None
    return found.definition


def policy_of(review: str) -> ReviewPolicy:
    return definition_of(review).policy.review


def test_a_file_without_a_policy_asks_about_doubt_and_ends() -> None:
    assert load(SMALL).definition.policy.review == policy_of("{}") == ReviewPolicy()  # type: ignore[union-attr]
    assert policy_of("{}").spec == {
        "reasons": USUAL,
        "sample_rate": None,
        "cap_per_day": None,
        "expires_after_hours": 168,
        "blind": False,
        "reviewers": 1,
    }


@check_rows(
    ("review", "said"),
    [
        ("{reasons: [rejected, Undecided]}", {"reasons": {"rejected": None, "undecided": None}}),
        ("{reasons: partial}", {"reasons": {"partial": None}}),
        ("{reasons: []}", {"reasons": {}}),
        (
            "{reasons: {undecided: 80, terminal: usual}}",
            {"reasons": {"undecided": 80, "terminal": None}},
        ),
        ("{reasons: {undecided: 0}}", {"reasons": {"undecided": 0}}),
        ("{sample_rate: 0}", {"sample_rate": 0.0}),
        ("{sample_rate: 0.125}", {"sample_rate": 0.125}),
        ("{sample_rate: 1}", {"sample_rate": 1.0}),
        ("{cap_per_day: 0}", {"cap_per_day": 0}),
        ("{cap_per_day: 20}", {"cap_per_day": 20}),
        ("{expires_after_hours: 1}", {"expires_after_hours": 1}),
        ("{expires_after_hours: Never}", {"expires_after_hours": None}),
        ("{blind: yes, reviewers: 2}", {"blind": True, "reviewers": 2}),
    ],
)
def test_each_key_is_read(review: str, said: dict[str, Any]) -> None:
    assert policy_of(review).spec == ReviewPolicy().spec | said


@check_rows(
    ("review", "code", "path", "column"),
    [
        ("often", "value.kind", PLACE, 13),
        ("[undecided]", "value.kind", PLACE, 13),
        ("{reasons: }", "value.kind", f"{PLACE}.reasons", 23),
        ("{reasons: maybe}", "value.choice", f"{PLACE}.reasons", 23),
        ("{reasons: [undecided, maybe]}", "value.choice", f"{PLACE}.reasons[1]", 35),
        ("{reasons: [{undecided: 1}]}", "value.kind", f"{PLACE}.reasons[0]", 24),
        ("{reasons: {maybe: 1}}", "value.choice", f"{PLACE}.reasons.maybe", 31),
        ("{reasons: {undecided: 101}}", "value.range", f"{PLACE}.reasons.undecided", 35),
        ("{reasons: {undecided: high}}", "value.kind", f"{PLACE}.reasons.undecided", 35),
        ("{reasons: {undecided: }}", "value.kind", f"{PLACE}.reasons.undecided", 35),
        ("{sample_rate: 1.01}", "value.range", f"{PLACE}.sample_rate", 27),
        ("{sample_rate: 2%}", "value.kind", f"{PLACE}.sample_rate", 27),
        ("{sample_rate: .nan}", "value.kind", f"{PLACE}.sample_rate", 27),
        ("{cap_per_day: -1}", "value.range", f"{PLACE}.cap_per_day", 27),
        ("{cap_per_day: 1.5}", "value.kind", f"{PLACE}.cap_per_day", 27),
        ("{expires_after_hours: 0}", "value.range", f"{PLACE}.expires_after_hours", 35),
        ("{expires_after_hours: null}", "value.kind", f"{PLACE}.expires_after_hours", 35),
        ("{expires_after_hours: 8761}", "value.range", f"{PLACE}.expires_after_hours", 35),
        ("{blind: partly}", "value.kind", f"{PLACE}.blind", 21),
        ("{reviewers: 0}", "value.range", f"{PLACE}.reviewers", 25),
        ("{reviewers: 3}", "value.range", f"{PLACE}.reviewers", 25),
    ],
)
def test_a_mistake_is_told_with_its_place(review: str, code: str, path: str, column: int) -> None:
    found = loaded(review)

    assert [(one.code, one.path, one.line, one.column) for one in found.errors] == [
        (code, path, 19, column)
    ]


def test_an_unknown_key_is_a_warning() -> None:
    [warning] = loaded("{sample: 0.1}").problems

    found = (warning.level, warning.code, warning.path)
    assert found == (Level.WARNING, "key.unknown", f"{PLACE}.sample")


@pytest.mark.parametrize(
    ("review", "expected"),
    [
        ("{}", []),
        ("{reasons: [undecided], blind: true, reviewers: 2, cap_per_day: 1}", []),
        ("{sample_rate: 0}", []),
        ("{sample_rate: 1, cap_per_day: 5}", []),
        ("{reasons: [rejected]}", [("review.doubt_left", "reasons")]),
        ("{cap_per_day: 0}", [("review.cap_zero", "cap_per_day")]),
        (
            "{reasons: [rejected, undecided], cap_per_day: 0}",
            [("review.cap_zero", "cap_per_day")],
        ),
        (
            "{reasons: [], cap_per_day: 5, blind: true}",
            [("review.doubt_left", "reasons"), ("review.without_effect", "cap_per_day")],
        ),
        (
            "{reasons: [rejected], sample_rate: 1, cap_per_day: 5}",
            [("review.doubt_left", "reasons"), ("review.without_effect", "cap_per_day")],
        ),
        (
            "{reasons: [], sample_rate: 0, blind: false, reviewers: 2, expires_after_hours: 5}",
            [
                ("review.doubt_left", "reasons"),
                ("review.without_effect", "expires_after_hours"),
                ("review.without_effect", "blind"),
                ("review.without_effect", "reviewers"),
            ],
        ),
    ],
)
def test_what_makes_no_sense_is_a_warning_with_its_place(
    review: str, expected: list[tuple[str, str]]
) -> None:
    found = [one for one in lint(definition_of(review)) if one.code.startswith("review.")]

    assert [(one.code, one.path.removeprefix(f"{PLACE}.")) for one in found] == expected
    assert {one.line for one in found} <= {19}


def test_a_changed_policy_is_told_between_versions() -> None:
    old = definition_of("{reasons: [undecided], cap_per_day: 20}")
    new = definition_of("{reasons: {undecided: 80}, expires_after_hours: never, blind: true}")

    changed = compare(old, new)

    assert list(changed.process) == ["review"]
    before, after = changed.process["review"]
    assert {key: (before[key], after[key]) for key in before if before[key] != after[key]} == {
        "reasons": ({"undecided": "usual"}, {"undecided": 80}),
        "cap_per_day": (20, "none"),
        "expires_after_hours": (168, "never"),
        "blind": (False, True),
    }


def test_the_order_and_the_shape_of_reasons_change_nothing() -> None:
    old = definition_of("{reasons: [undecided, terminal]}")

    assert compare(old, definition_of("{reasons: {terminal: usual, undecided: usual}}")).is_empty


def test_every_reason_can_be_asked_for() -> None:
    for reason in ReviewReason:
        assert reason in policy_of(f"{{reasons: [{reason}]}}").reasons
