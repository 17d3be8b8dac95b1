from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.golden.samples import SAMPLES
from tests.engine.strategies import STRICT_JSON, cases
from tests.tables import check_rows
from verification.engine.fakes import InProcessProbe
from verification.engine.golden.comparing import PLAIN, differences
from verification.engine.golden.given import Given
from verification.engine.golden.matching import matched
from verification.engine.golden.replay import World, replay

Expected = dict[str, Any]
NOBODY = "nobody-expects-this"
CLAIMS = (
    "confirmed",
    "inferred",
    "unsupported",
    "recommendation_unconfirmed",
    "supporting_unconfirmed_ratio",
)
ATTEMPT = (
    "number",
    "counted",
    "used",
    "left",
    "repeats",
    "submissions",
    "last_outcome",
    "terminal",
)
NAMED = (
    "rule",
    "reason_code",
    "enforcement",
    "verdict",
    "source",
    "tier",
    "path",
    "line",
    "message",
)


@cache
def observed_of_sample(name: str) -> Mapping[str, Any]:
    return {**SAMPLES[name]().replayed().observed, "shadow": "no_diff"}


def own_values(observed: Mapping[str, Any]) -> Expected:
    """Everything that was observed, as an expectation."""
    tiers = {str(one["tier"]): one for one in observed["tiers"] if one["tier"] > 1}
    pruned = sum(one["state"] == "pruned" for one in observed["claim_list"])
    return deepcopy(
        {
            **{name: observed[name] for name in PLAIN},
            "findings": {
                "must": [{name: one[name] for name in NAMED} for one in observed["findings"]],
                "must_not": [{"rule": NOBODY}],
                "only": True,
            },
            "rules": {
                "applied": {one["rule"]: one["verdict"] for one in observed["rules"]["applied"]},
                "skipped": [one["rule"] for one in observed["rules"]["skipped"]],
            },
            "claims": {**{name: observed["claims"][name] for name in CLAIMS}, "pruned": pruned},
            "attempt": {name: observed["attempt"][name] for name in ATTEMPT},
            "recovery": {tier: one["recovery"] for tier, one in tiers.items()},
            "calls": {tier: one["calls"] for tier, one in tiers.items()},
            "review": observed["review"],
            "feedback": [observed["feedback"]] if observed["feedback"] else [],
            "artefacts": [
                {"kind": one["kind"], "path": one["path"], "holds": [one["text"]],
                 "lacks": [NOBODY]}
                for one in observed["artefacts"]
            ],
            "remediations": [
                {
                    "mode": one["mode"],
                    "reason_code": one["request"].get("reason_code"),
                    "rule": one["request"].get("rule"),
                    "claims": len(one["request"].get("claims") or ()),
                }
                for one in observed["remediations"]
            ],
        }
    )  # fmt: skip


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return NOBODY


def single_changes(expected: Expected) -> Iterator[tuple[str, Expected]]:
    """The same with one value changed, and the place of the one difference that this makes."""

    def but(*path: Any, value: Any) -> Expected:
        changed = deepcopy(expected)
        where = changed
        for step in path[:-1]:
            where = where[step]
        where[path[-1]] = value
        return changed

    for name in PLAIN:
        yield name, but(name, value=other(expected[name]))
    for part in ("claims", "attempt", "recovery", "calls"):
        for name, value in expected[part].items():
            yield f"{part}.{name}", but(part, name, value=other(value))
    for rule, verdict in expected["rules"]["applied"].items():
        wrong = "unknown" if verdict != "unknown" else "violated"
        yield f"rules.applied.{rule}", but("rules", "applied", rule, value=wrong)
    for number in range(len(expected["rules"]["skipped"])):
        yield f"rules.skipped.{NOBODY}", but("rules", "skipped", number, value=NOBODY)
    for number in range(len(expected["feedback"])):
        yield f"feedback[{number}]", but("feedback", number, value=NOBODY)
    for number, one in enumerate(expected["artefacts"]):
        yield f"artefacts[{number}].holds", but("artefacts", number, "holds", 0, value=NOBODY)
        if one["holds"] != [""]:
            yield (
                f"artefacts[{number}].lacks",
                but("artefacts", number, "lacks", 0, value=one["holds"][0]),
            )
        yield f"artefacts[{number}]", but("artefacts", number, "path", value=NOBODY)
    yield "review", but("review", value=[*expected["review"], NOBODY])
    yield "remediations", but("remediations", value=[*expected["remediations"], {"mode": NOBODY}])
    for number, one in enumerate(expected["remediations"]):
        for name, value in one.items():
            yield "remediations", but("remediations", number, name, value=other(value))


def changed_findings(expected: Expected) -> Iterator[tuple[str, Expected]]:
    for number, one in enumerate(expected["findings"]["must"]):
        changed = deepcopy(expected)
        changed["findings"]["must"][number]["rule"] = NOBODY
        changed["findings"]["only"] = False
        yield f"findings.must[{number}]", changed
        forbidden = deepcopy(expected)
        forbidden["findings"]["must_not"].append(one)
        yield "findings.must_not[1]", forbidden


@pytest.mark.parametrize("name", SAMPLES)
def test_what_was_observed_is_as_expected_when_it_is_the_expectation(name: str) -> None:
    observed = observed_of_sample(name)

    assert differences(own_values(observed), observed) == ()


@pytest.mark.parametrize("name", SAMPLES)
def test_each_changed_value_is_one_difference_with_its_place(name: str) -> None:
    observed = observed_of_sample(name)
    expected = own_values(observed)

    for place, changed in (*single_changes(expected), *changed_findings(expected)):
        assert [one.place for one in differences(changed, observed)] == [place]


def test_every_part_of_an_expectation_is_come_to_in_some_sample() -> None:
    parts = {
        place.partition("[")[0].partition(".")[0]
        for name in SAMPLES
        for place, _ in single_changes(own_values(observed_of_sample(name)))
    }

    assert parts == {
        *PLAIN, "claims", "attempt", "recovery", "calls", "rules", "feedback", "artefacts",
        "review", "remediations",
    }  # fmt: skip


@pytest.mark.extended
@given(cases(), st.data())
def test_whatever_is_submitted_its_own_values_hold_and_any_other_does_not(
    whole: Any, data: st.DataObject
) -> None:
    asked, workspace = whole
    golden = Given(asked.phase.id, asked.submission)
    world = World(workspace, InProcessProbe())
    seen = replay(golden, asked.definition, asked.verifier, world).observed
    observed = {**seen, "shadow": None}
    expected = own_values(observed)

    assert differences(expected, observed) == ()
    place, changed = data.draw(st.sampled_from(list(single_changes(expected))))
    assert [one.place for one in differences(changed, observed)] == [place]


@given(st.dictionaries(st.sampled_from(["outcome", "confidence", "shadow", "tier"]), STRICT_JSON))
def test_values_of_any_shape_are_compared_and_never_break_it(expected: Expected) -> None:
    found = differences(expected, observed_of_sample("plain"))

    assert json.loads(json.dumps([one.to_json() for one in found])) == [
        one.to_json() for one in found
    ]


@check_rows(
    ("expected", "holds"),
    [
        ({"confidence": 1.0}, True),
        ({"confidence": 1}, True),
        ({"confidence": 1 - 1e-12}, True),
        ({"confidence": 0.99}, False),
        ({"confidence": float("nan")}, False),
        ({"severity_class": None}, True),
        ({"reason_code": None}, True),
        ({"reason_code": ""}, True),
        ({"outcome": None}, False),
        ({"review": None}, True),
        ({"findings": None, "rules": None, "claims": None, "recovery": None}, True),
        ({"feedback": None, "artefacts": None, "remediations": None}, True),
        ({"attempt": {"terminal": None}}, True),
        ({"findings": {"only": True}}, True),
        ({"recovery": {"2": "strict_json"}}, False),
        ({"calls": {"2": 0}}, False),
        ({}, True),
    ],
    ids=str,
)
def test_what_is_left_open_and_what_is_nothing(expected: Expected, holds: bool) -> None:
    observed = {**observed_of_sample("plain"), "confidence": 1.0}

    assert (differences(expected, observed) == ()) is holds


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        ({"reason_code": "deliverable_missing"}, True),
        ({"message": "return code 3"}, True),
        ({"message": "Return Code 3"}, False),
        ({"path": "a.py", "line": 1}, True),
        ({"path": None, "reason_code": "nonzero_return_code"}, True),
        ({"path": None, "reason_code": "syntax_invalid"}, False),
        ({"quote": None, "rule": "no-x"}, False),
        ({"quote": "x", "rule": "no-x"}, True),
        ({}, True),
    ],
    ids=str,
)
def test_a_finding_fits_by_what_is_named_of_it(wanted: Expected, holds: bool) -> None:
    found = differences({"findings": {"must": [wanted]}}, observed_of_sample("rejected"))

    assert (found == ()) is holds


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_must_be_there_so_often_takes_as_many_findings(count: int) -> None:
    expected = {"findings": {"must": [{"rule": "no-x"}] * count}}

    found = differences(expected, observed_of_sample("rejected"))

    assert [one.place for one in found] == ["findings.must[2]"] * (count == 3)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_a_vague_expectation_leaves_the_finding_that_a_narrow_one_needs(
    order: tuple[int, ...],
) -> None:
    wanted = [{"rule": "no-x"}, {"rule": "no-x", "column": 3}, {"reason_code": "syntax_invalid"}]
    expected = {"findings": {"must": [wanted[number] for number in order]}}

    assert differences(expected, observed_of_sample("rejected")) == ()


def test_nothing_beyond_what_must_be_there_means_nothing() -> None:
    expected = {"findings": {"must": [{"rule": "no-x"}] * 2, "only": True}}

    found = differences(expected, observed_of_sample("rejected"))

    assert [one.place for one in found] == ["findings.only"] * 3
    assert {one.expected for one in found} == {"absent"}
    assert {one.observed["reason_code"] for one in found} == {
        "deliverable_missing",
        "nonzero_return_code",
        "syntax_invalid",
    }


@pytest.mark.parametrize(
    ("rules", "observed"),
    [
        ({"applied": {"one-table": "violated"}}, "skipped"),
        ({"applied": {NOBODY: "violated"}}, "absent"),
        ({"applied": {"no-placeholder": "violated"}}, "satisfied"),
        ({"skipped": ["no-placeholder"]}, "satisfied"),
        ({"skipped": [NOBODY]}, "absent"),
    ],
    ids=str,
)
def test_a_rule_that_came_out_otherwise_says_how(rules: Expected, observed: str) -> None:
    [found] = differences({"rules": rules}, observed_of_sample("plain"))

    assert found.observed == observed


def test_long_texts_are_told_by_their_part() -> None:
    text = "a" * 50_000 + "needle" + "b" * 50_000
    observed = {**observed_of_sample("plain"), "feedback": text}
    made = {"kind": "pruned", "path": "", "text": text}
    expected = {
        "feedback": ["nowhere"],
        "artefacts": [{"kind": "pruned", "holds": ["nowhere"], "lacks": ["needle"]}],
    }

    found = {
        one.place: one.observed for one in differences(expected, {**observed, "artefacts": [made]})
    }

    assert set(found) == {"feedback[0]", "artefacts[0].holds", "artefacts[0].lacks"}
    assert "needle" in found["artefacts[0].lacks"]
    assert all(len(told) < 3_000 for told in found.values())


@given(st.lists(st.sets(st.integers(0, 4), max_size=5), max_size=5))
def test_no_other_choice_serves_more_wishes_and_earlier_ones_come_first(
    wishes: list[set[int]],
) -> None:
    things = range(5)

    got = matched(wishes, things, lambda wish, thing: thing in wish)

    choices = itertools.product(*([*wish, None] for wish in wishes))
    valid = [
        [thing is not None for thing in choice]
        for choice in choices
        if len(taken := [one for one in choice if one is not None]) == len(set(taken))
    ]
    assert len(set(got.values())) == len(got)
    assert all(thing in wishes[number] for number, thing in got.items())
    assert [number in got for number in range(len(wishes))] == max(valid)
    assert len(got) == max(map(sum, valid))


MANY, WANTED = 10_000, 200


def many_findings(count: int) -> Mapping[str, Any]:
    [one] = [
        one
        for one in observed_of_sample("rejected")["findings"]
        if one["reason_code"] == "syntax_invalid"
    ]
    findings = [{**one, "rule": f"rule-{n}", "message": "x" * 200 + str(n)} for n in range(count)]
    return {**observed_of_sample("rejected"), "findings": findings}


@pytest.mark.extended
@pytest.mark.parametrize(
    ("must", "wanting"),
    [
        pytest.param([{"rule": NOBODY}] * WANTED, WANTED, id="nothing fits"),
        pytest.param([{"reason_code": "syntax_invalid"}] * WANTED, 0, id="everything fits"),
        pytest.param([{"message": f"x{n}"} for n in range(WANTED)], 0, id="parts of texts"),
        pytest.param(
            [{"rule": f"rule-{n % 100}"} for n in range(WANTED)], 100, id="half must share"
        ),
    ],
)
def test_hundreds_of_expectations_find_theirs_among_ten_thousand(
    must: list[Expected], wanting: int
) -> None:
    found = differences({"findings": {"must": must}}, many_findings(MANY))

    assert len(found) == wanting


def test_what_is_told_is_bounded_however_much_was_found() -> None:
    found = differences({"findings": {"only": True}}, many_findings(MANY))

    assert len(found) == 201
    assert len(json.dumps([one.to_json() for one in found])) < 1_000_000
