from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomverify.errors import InputError
from processes.definition.model import Enforcement
from tests.engine.golden.samples import SAMPLES
from tests.engine.golden.test_comparing import own_values
from tests.tables import check_rows
from verification.engine.claims.settlement import ArtefactKind
from verification.engine.finding import TraceVerdict
from verification.engine.golden.comparing import differences
from verification.engine.golden.coverage import Seen, coverage
from verification.engine.golden.scores import expected_verdict
from verification.engine.outcome import Action, Outcome, SeverityClass, Verdict
from verification.engine.protocol.reply import Stage
from verification.engine.reasons import REASONS
from verification.engine.shadow import DiffClass
from verification.golden.cases.accepting import accepted
from verification.golden.documents.reading import read_case
from verification.golden.documents.schemas import ExpectedIn

OBSERVED = {name: {**made().replayed().observed, "shadow": None} for name, made in SAMPLES.items()}
WORK = {
    "id": "a-case",
    "guards": "It stays so.",
    "process": "general",
    "phase": "work",
    "run": {"task": {"id": "t", "description": "Do it."}, "output": "Done."},
}
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
texts |= st.sampled_from(["x" * 2000, "no-x", "[0]", "a.b", "x"])
names = st.text("abc-[].", min_size=1, max_size=8) | st.just("no-x")
counts = st.none() | st.integers(0, 3) | st.just(1_000_000)
shares = st.none() | st.floats(0, 1) | st.sampled_from([0, 1])
truths = st.none() | st.booleans()


def one_of(words: type[StrEnum]) -> st.SearchStrategy[str | None]:
    return st.none() | st.sampled_from([one.value for one in words])


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.fixed_dictionaries({}, optional=fields)


def few(one: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(one, max_size=3)


findings = few(
    st.fixed_dictionaries(
        {},
        optional={
            "rule": names, "reason_code": st.none() | st.sampled_from(sorted(REASONS)),
            "path": st.none() | texts.map(lambda text: text[:500]), "line": counts,
            "message": st.none() | texts, "quote": st.none() | texts,
            "enforcement": one_of(Enforcement), "tier": st.none() | st.integers(1, 3),
            "quote_verified": truths,
        },
    )
)  # fmt: skip
expectations = st.fixed_dictionaries(
    {},
    optional={
        "outcome": one_of(Outcome),
        "verdict": one_of(Verdict),
        "reason_code": st.none() | st.sampled_from(["", "made_up", *REASONS]),
        "severity_class": one_of(SeverityClass),
        "shadow": one_of(DiffClass),
        "action": one_of(Action),
        "confidence": shares,
        "tier_achieved": st.none() | st.integers(0, 3),
        "may_pass": truths,
        "findings": some(must=findings, must_not=findings, only=st.booleans()),
        "rules": some(
            applied=st.dictionaries(names, st.sampled_from([*TraceVerdict]), max_size=3),
            skipped=few(names),
        ),
        "claims": some(confirmed=counts, supporting_unconfirmed_ratio=shares, pruned=counts),
        "review": st.none() | few(names),
        "attempt": some(number=counts, counted=truths, terminal=st.none() | names),
        "recovery": some(**{"2": st.sampled_from([*Stage]), "3": st.sampled_from([*Stage])}),
        "calls": some(**{"2": counts.filter(lambda count: count is not None)}),
        "artefacts": st.none()
        | few(
            st.fixed_dictionaries(
                {"kind": st.sampled_from([*ArtefactKind])},
                optional={"path": names, "holds": few(texts), "lacks": few(texts)},
            )
        ),
        "remediations": st.none()
        | few(
            st.fixed_dictionaries(
                {"mode": names}, optional={"rule": st.none() | names, "claims": counts}
            )
        ),
        "feedback": st.none() | few(texts),
    },
)


@given(expectations, st.sampled_from(sorted(OBSERVED)))
def test_whatever_is_read_as_an_expectation_is_compared_scored_and_covered(
    written: dict[str, Any], sample: str
) -> None:
    expected = ExpectedIn.model_validate(written).model_dump(exclude_unset=True, mode="json")

    found = differences(expected, OBSERVED[sample])

    assert expected_verdict(expected) in (None, "accept", "reject", "undecided")
    assert coverage({}, [Seen("", "work", OBSERVED[sample], expected)]).rules == ()
    told = [one.to_json() for one in found]
    assert json.loads(json.dumps(told)) == told


@check_rows("of", sorted(OBSERVED))
@check_rows("taken", sorted(OBSERVED))
def test_what_one_case_expects_becomes_what_another_observed_by_accepting_it(
    of: str, taken: str
) -> None:
    expected, observed = own_values(OBSERVED[of]), OBSERVED[taken]
    told = [one.to_json() for one in differences(expected, observed)]

    changed = accepted(expected, observed, told)

    assert [one.place for one in differences(changed, observed)] == []


@check_rows(
    "expected",
    [
        {"confidence": float("nan")},
        {"confidence": float("inf")},
        {"confidence": 2},
        {"calls": {"4": 1}},
        {"findings": {"must": [{}] * 201}},
        {"findings": {"must": [{"mesage": "x"}]}},
        {"findings": {"must": [[[[]]]]}},
        {"outcome": {"outcome": "pass"}},
        {"review": ["x"] * 51},
        {"tier_achieved": True},
        {"feedback": "passed"},
        {"artefacts": [{"kind": "pruned", "holds": [["x"]]}]},
        {"rules": {"applied": {"x" * 1_000: "violated"}}},
    ],
    ids=[
        "nan", "infinity", "above one", "no such tier", "too many", "misspelt", "too deep",
        "no word", "too many reviews", "a truth for a number", "no list", "no text", "long name",
    ],
)  # fmt: skip
def test_an_expectation_that_cannot_be_meant_is_refused_with_its_place(
    expected: dict[str, Any],
) -> None:
    with pytest.raises(InputError) as refused:
        read_case({**WORK, "expected": expected})

    assert {one.loc[:2] for one in refused.value.issues} == {("body", "expected")}


def test_a_deep_expectation_is_refused_and_breaks_nothing() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]

    with pytest.raises(InputError):
        read_case({**WORK, "expected": {"feedback": deep}})


TWO = [{"text": "one"}, {"ask": "vote", "tier": 3}, {"number": 1, "text": "another"}]


@pytest.mark.parametrize(
    ("said", "code", "place"),
    [
        ({"replies": TWO}, "reply.twice", ("replies", 2)),
        ({"replies": [{"number": 2}, {}]}, "reply.twice", ("replies", 1)),
        ({"replies": [{"lost": "tired"}]}, "reason.unknown", ("replies", 0, "lost")),
        (
            {"history": {"exhausted_reason": "tired"}},
            "reason.unknown",
            ("history", "exhausted_reason"),
        ),
    ],
    ids=["numbered the same", "counted the same", "lost for no reason", "ended for no reason"],
)
def test_what_no_replay_could_play_is_refused_with_its_place(
    said: dict[str, Any], code: str, place: tuple[str | int, ...]
) -> None:
    with pytest.raises(InputError) as refused:
        read_case({**WORK, **said, "expected": {"outcome": "pass"}})

    assert [(one.code, one.loc) for one in refused.value.issues] == [(code, ("body", *place))]


def test_replies_of_other_kinds_and_tiers_are_numbered_by_themselves() -> None:
    replies = [{}, {"ask": "again"}, {"tier": 3, "ask": "vote"}, {"number": 3}]

    case = read_case({**WORK, "replies": replies, "expected": {"outcome": "pass"}})

    assert [one.key for one in case.given.recordings] == [
        (2, "assess", 1),
        (2, "again", 1),
        (3, "vote", 1),
        (2, "assess", 3),
    ]
