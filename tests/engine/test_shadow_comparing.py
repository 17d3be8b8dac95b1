from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement, Severity
from tests.engine.cases import OTHER_PHASE, PHASE, evaluate, finding, llm, regex
from tests.engine.golden import samples
from verification.engine.climb import Conclusion
from verification.engine.finding import (
    Finding,
    TraceEntry,
    TraceReason,
    TraceVerdict,
    with_fingerprints,
)
from verification.engine.outcome import FindingVerdict, Outcome, SeverityClass, Source, Verdict
from verification.engine.reasons import REASONS
from verification.engine.shadow import DiffClass, Finer, Full, aligned, compare, scope_changes
from verification.engine.shadow.observed import full_of_observed
from verification.engine.shadow.telling import MAX_SUMMARY_CHARS
from verification.engine.verifier import LEGACY_FLAGS, Flags

HARD, ADVISORY, OBSERVE = Enforcement.HARD, Enforcement.ADVISORY, Enforcement.OBSERVE
ACCEPTED = (Outcome.PASS, Verdict.ACCEPT)
WARNED = (Outcome.PASS_WITH_WARNINGS, Verdict.ACCEPT)
REJECTED = (Outcome.FAIL, Verdict.REJECT)
LOST = (Outcome.FAIL, Verdict.UNDECIDED)


def full(
    said: tuple[Outcome, Verdict] = REJECTED,
    *findings: Finding,
    reason: str = "",
    trace: tuple[TraceEntry, ...] = (),
    **fields: Any,
) -> Full:
    return Full(*said, reason, findings=with_fingerprints(findings), trace=trace, **fields)


def traced(rule: str, reason: str, *, applied: bool = True) -> TraceEntry:
    verdict = TraceVerdict.SATISFIED if applied else TraceVerdict.NOT_REACHED
    return TraceEntry(rule, PHASE, applied, verdict, TraceReason(reason))


def full_of(conclusion: Conclusion) -> Full:
    return Full(
        conclusion.outcome,
        conclusion.verdict,
        conclusion.reason_code or "",
        conclusion.severity_class or "",
        conclusion.findings,
        conclusion.trace,
    )


def old_and_new(**about: Any) -> tuple[Full, Full]:
    """What the old engine and the usual one make of the same work."""
    sides = (evaluate(**about, flags=flags) for flags in (LEGACY_FLAGS, Flags()))
    old, new = map(full_of, sides)
    return old, new


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ({}, {}, ()),
        ({}, {"line": 9}, ()),
        ({"message": "On line 3."}, {"message": "On line 8."}, ()),
        ({"enforcement": HARD}, {"enforcement": ADVISORY}, ("enforcement",)),
        ({"severity": Severity.ERROR}, {"severity": Severity.WARNING}, ("severity",)),
        ({}, {"verdict": FindingVerdict.UNKNOWN}, ("verdict",)),
        # The reason is part of the fingerprint: these are known again by their place.
        ({"quote": "x"}, {"quote": "x", "reason_code": "legacy_unscoped"}, ("reason_code",)),
        (
            {"quote": "x", "line": 2},
            {"quote": "x", "line": 5, "reason_code": "legacy_unscoped"},
            ("reason_code",),
        ),
        ({"path": "a.py"}, {"path": "a.py", "reason_code": "syntax_invalid"}, ("reason_code",)),
        # A judge finds other words, and other places, for the same.
        (
            {"source": Source.LLM, "quote": "so", "message": "It is thin."},
            {"source": Source.LLM, "path": "b.md", "message": "It lacks depth."},
            (),
        ),
    ],
)
def test_the_same_problem_is_known_again(
    old: dict[str, Any], new: dict[str, Any], changes: tuple[str, ...]
) -> None:
    left, right = (with_fingerprints([finding(**one)]) for one in (old, new))

    (row,) = aligned(left, right)

    assert (row.old, row.new, row.changes) == (left[0], right[0], changes)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ({"rule": "one"}, {"rule": "two"}),
        ({"path": "a.py", "quote": "TODO"}, {"path": "b.py", "quote": "TODO"}),
        ({"line": 3, "quote": "TODO"}, {"line": 3, "quote": "TBD"}),
        ({"line": 3, "message": "It is so."}, {"line": 4, "message": "It is otherwise."}),
    ],
)
def test_another_problem_stands_alone(here: dict[str, Any], there: dict[str, Any]) -> None:
    left, right = (with_fingerprints([finding(**one)]) for one in (here, there))

    rows = aligned(left, right)

    assert {(one.old, one.new, one.changes) for one in rows} == {
        (left[0], None, ("alone",)),
        (None, right[0], ("alone",)),
    }


def test_what_differs_stands_first() -> None:
    shared = finding(rule="a-shared")
    old = with_fingerprints([shared, finding(rule="z-gone"), finding(rule="m-milder")])
    new = with_fingerprints([finding(rule="m-milder", enforcement=ADVISORY), shared])

    rows = aligned(old, new)

    assert [(one.rule, one.differs) for one in rows] == [
        ("m-milder", True),
        ("z-gone", True),
        ("a-shared", False),
    ]


def test_the_same_in_several_places_is_paired_place_by_place() -> None:
    places = [finding(quote="TODO", line=line) for line in (3, 8, 20)]
    milder = [replace(one, enforcement=ADVISORY) for one in places[1:]]

    rows = aligned(with_fingerprints(places), with_fingerprints(milder))

    # The n-th of several has a name of its own, so that the last one is what is gone.
    assert [(one.old and one.old.line, one.new and one.new.line) for one in rows] == [
        (3, 8),
        (8, 20),
        (20, None),
    ]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ([traced("r", "phase")], [traced("r", "every_phase")], {}),
        (
            [traced("r", "global_scope")],
            [traced("r", "other_phase", applied=False)],
            {"r": ("global_scope", "other_phase")},
        ),
        ([], [traced("r", "phase")], {"r": (None, "phase")}),
        ([], [traced("r", "other_phase", applied=False)], {}),
        # A rule that no tier came to any more was not skipped.
        ([traced("r", "phase")], [traced("r", "tier_not_reached", applied=False)], {}),
    ],
)
def test_scope_changes_where_one_side_applied_a_rule(
    old: list[TraceEntry], new: list[TraceEntry], changed: dict[str, Any]
) -> None:
    assert scope_changes(old, new) == changed


@pytest.mark.parametrize(
    ("old", "new", "finer"),
    [
        (full(ACCEPTED), full(ACCEPTED), []),
        (full(ACCEPTED), full(WARNED, reason="odd_payload"), ["outcome", "reason"]),
        (full(), full(severity_class=SeverityClass.SEMANTIC), ["severity_class"]),
        (full(REJECTED, finding()), full(REJECTED), ["findings"]),
        (
            full(REJECTED, finding()),
            full(WARNED, finding(enforcement=ADVISORY)),
            ["outcome", "enforcement", "warnings"],
        ),
        (
            full(WARNED, finding(enforcement=ADVISORY)),
            full(WARNED, finding(enforcement=ADVISORY, severity=Severity.WARNING)),
            ["severity", "warnings"],
        ),
        (
            full(WARNED),
            full(WARNED, finding(enforcement=ADVISORY)),
            ["findings", "warnings"],
        ),
        (full(), full(REJECTED, finding(enforcement=OBSERVE)), ["findings"]),
        (
            full(trace=(traced("r", "global_scope"),)),
            full(trace=(traced("r", "other_phase", applied=False),)),
            ["scope"],
        ),
    ],
)
def test_differences_within_a_class_are_told_apart(old: Full, new: Full, finer: list[str]) -> None:
    assert list(compare(old, new).finer) == finer


def test_the_old_engines_hard_marker_is_a_remark_of_the_new_one() -> None:
    marker = regex("no-placeholders", "TODO", enforcement=None)

    found = compare(*old_and_new(rules=[marker], output="TODO"))

    assert found.diff_class is DiffClass.OLD_FAIL_NEW_PASS
    assert found.rules == ("no-placeholders",)
    assert found.summary == "no-placeholders: hard → advisory"


def test_a_rule_of_another_phase_is_told_as_leaked() -> None:
    of_another = regex("one-table", "x", applies_to_phases=(OTHER_PHASE,))

    found = compare(*old_and_new(rules=[of_another], output="x"))

    assert found.summary == "one-table: leaked from another phase → skipped"
    assert set(found.finer) >= {Finer.SCOPE, Finer.OUTCOME}


def test_a_leaked_rule_that_found_nothing_is_named_where_nothing_else_differs() -> None:
    leaked = regex("one-table", "table", applies_to_phases=(OTHER_PHASE,))
    marker = regex("no-placeholders", "TODO", enforcement=None)

    alone = compare(*old_and_new(rules=[leaked], output="x"))
    beside = compare(*old_and_new(rules=[leaked, marker], output="TODO"))

    assert (alone.diff_class, alone.rules) == (DiffClass.NO_DIFF, ("one-table",))
    assert beside.rules == ("no-placeholders",)
    assert alone.finer == (Finer.SCOPE,)
    assert Finer.SCOPE in beside.finer


def test_what_explains_a_verdict_is_told_first() -> None:
    remark = finding(rule="a-remark", enforcement=ADVISORY)

    found = compare(full(REJECTED, finding(rule="z-blame")), full(WARNED, remark))

    assert found.summary == "z-blame: hard → not found; a-remark: not found → advisory"
    assert found.rules == ("a-remark", "z-blame")


def test_without_a_rule_that_differs_the_reasons_are_told() -> None:
    found = compare(full(reason="rate_limited"), full(reason="rule_violated"))

    assert found.diff_class is DiffClass.BOTH_FAIL_REASON_DIFF
    assert found.summary == "reason rate_limited → rule_violated"


@pytest.mark.parametrize(
    ("old", "new", "summary"),
    [
        (full(REJECTED, finding()), full(ACCEPTED), "rule: hard → not found"),
        (full(ACCEPTED), full(REJECTED, finding()), "rule: not found → hard"),
        (
            full(REJECTED, finding()),
            full(LOST, finding(verdict=FindingVerdict.UNKNOWN)),
            "rule: violated → unknown",
        ),
        (
            full(REJECTED, finding(severity=Severity.ERROR)),
            full(REJECTED, finding(severity=Severity.WARNING)),
            "rule: severity error → warning",
        ),
        (full(ACCEPTED), full(WARNED), "pass → pass_with_warnings"),
        (full(ACCEPTED), full(LOST, reason="rate_limited"), "reason none → rate_limited"),
        (
            full(REJECTED, finding(rule="a"), finding(rule="b"), reason="one"),
            full(REJECTED, finding(rule="b"), reason="two"),
            "a: hard → not found; reason one → two",
        ),
    ],
)
def test_a_difference_is_told_in_a_line(old: Full, new: Full, summary: str) -> None:
    assert compare(old, new).summary == summary


def test_a_long_summary_says_how_much_it_leaves_out() -> None:
    many = [finding(rule=f"rule-number-{number:03}") for number in range(40)]

    told = compare(full(REJECTED, *many), full(ACCEPTED)).summary

    assert len(told) <= MAX_SUMMARY_CHARS
    assert told.endswith("more")
    assert told.count(" → ") + int(told.split()[-2]) == 40


def test_the_same_difference_has_one_kind_in_every_run() -> None:
    marker = regex("no-placeholders", "TODO", enforcement=None)
    unrelated = {"return_code": None, "files": {"a.json": '{"a": NaN}'}}

    here = compare(*old_and_new(rules=[marker], output="TODO"))
    often = compare(*old_and_new(rules=[marker], output="One TODO\nand a TODO."))
    beside = compare(
        full(REJECTED, finding(enforcement=HARD), reason="rule_violated"),
        full(ACCEPTED, finding(enforcement=ADVISORY), reason="rule_violated"),
    )
    with_more = compare(*old_and_new(rules=[marker, llm("clear")], output="TODO", **unrelated))

    assert len(here.kind) == 16
    assert here.kind == often.kind
    assert len({here.kind, beside.kind, with_more.kind}) == 3


def test_what_both_sides_found_is_no_part_of_a_kind() -> None:
    remark = finding(rule="payload", reason_code="odd_payload", enforcement=ADVISORY)
    gone = finding(rule="gone")

    bare = compare(full(REJECTED, gone, reason="rule_violated"), full(ACCEPTED))
    beside = compare(
        full(REJECTED, gone, remark, reason="rule_violated"),
        full(WARNED, remark, reason="odd_payload"),
    )

    assert bare.kind == beside.kind


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (full(REJECTED, finding(rule="a")), full(ACCEPTED)),
        (full(REJECTED, finding(rule="b")), full(ACCEPTED)),
        (full(ACCEPTED), full(REJECTED, finding(rule="a"))),
        (full(REJECTED, finding(rule="a")), full(WARNED, finding(rule="a", enforcement=ADVISORY))),
        (full(REJECTED, finding(rule="a"), reason="one"), full(LOST, reason="rate_limited")),
        (full(reason="one"), full(reason="two")),
        (full(reason="two"), full(reason="one")),
    ],
)
def test_another_difference_is_of_another_kind(old: Full, new: Full) -> None:
    other = compare(full(REJECTED, finding(rule="c")), full(ACCEPTED)).kind

    assert compare(old, new).kind not in ("", other, compare(new, old).kind)


def test_a_side_that_was_lost_does_not_deny_what_the_other_found() -> None:
    broken = Full(*LOST, "infra_verifier_error", SeverityClass.INFRA)

    found = [compare(broken, full(REJECTED, finding(rule=rule))) for rule in "ab"]

    assert [one.diff_class for one in found] == [DiffClass.OLD_UNDECIDED] * 2
    assert [one.rules for one in found] == [(), ()]
    assert found[0].kind == found[1].kind
    assert Finer.FINDINGS not in found[0].finer


@pytest.mark.parametrize(
    "make", [samples.plain, samples.warned, samples.rejected, samples.judged, samples.outvoted]
)
def test_a_side_reads_the_same_from_what_a_replay_kept(make: Any) -> None:
    observed = make().replayed().observed

    side = full_of_observed(observed)

    assert compare(side, side).diff_class is DiffClass.NO_DIFF
    assert [one.rule for one in side.findings] == [one["rule"] for one in observed["findings"]]
    assert (side.outcome, side.reason_code) == (observed["outcome"], observed["reason_code"] or "")
    rules = observed["rules"]
    assert len(side.trace) == len(rules["applied"]) + len(rules["skipped"])


FINDINGS = st.lists(
    st.builds(
        finding,
        rule=st.sampled_from("abc"),
        reason_code=st.sampled_from(["rule_violated", "odd_payload", "invented"]),
        enforcement=st.sampled_from(Enforcement),
        verdict=st.sampled_from(FindingVerdict),
        source=st.sampled_from(Source),
        severity=st.sampled_from([None, *Severity]),
        quote=st.sampled_from(["", "x", "y"]),
        path=st.sampled_from(["", "a.py"]),
        line=st.sampled_from([None, 1, 2]),
        message=st.sampled_from(["So.", "Or so."]),
        fingerprint=st.sampled_from(["", "1", "2"]),
    ),
    max_size=6,
)
TRACES = st.lists(
    st.builds(
        TraceEntry,
        rule=st.sampled_from("abc"),
        phase=st.just(PHASE),
        applied=st.booleans(),
        verdict=st.sampled_from(TraceVerdict),
        reason=st.sampled_from(TraceReason),
    ),
    max_size=4,
)
SIDES = st.builds(
    Full,
    outcome=st.sampled_from(Outcome),
    verdict=st.sampled_from(Verdict),
    reason_code=st.sampled_from(["", "invented", *sorted(REASONS)]),
    severity_class=st.sampled_from(["", *SeverityClass]),
    findings=FINDINGS,
    trace=TRACES,
)
MIRRORED = {
    DiffClass.OLD_FAIL_NEW_PASS: DiffClass.OLD_PASS_NEW_FAIL,
    DiffClass.OLD_PASS_NEW_FAIL: DiffClass.OLD_FAIL_NEW_PASS,
    DiffClass.NEW_UNDECIDED: DiffClass.OLD_UNDECIDED,
    DiffClass.OLD_UNDECIDED: DiffClass.NEW_UNDECIDED,
}


@given(SIDES)
def test_a_side_does_not_differ_from_itself(side: Full) -> None:
    found = compare(side, side)

    assert found.diff_class is DiffClass.NO_DIFF
    assert (found.finer, found.rules, found.summary, found.kind) == ((), (), "", "")


@given(SIDES, SIDES)
def test_swapped_sides_mirror_the_difference(old: Full, new: Full) -> None:
    there, back = compare(old, new), compare(new, old)

    assert back.diff_class is MIRRORED.get(there.diff_class, there.diff_class)
    assert (back.finer, back.rules) == (there.finer, there.rules)
    assert bool(back.kind) is bool(there.kind)
    mirrored = {(id(one.new), id(one.old)) for one in aligned(new.findings, old.findings)}
    assert {(id(one.old), id(one.new)) for one in aligned(old.findings, new.findings)} == mirrored


@given(SIDES, SIDES, st.randoms())
def test_the_order_in_which_things_were_found_plays_no_part(
    old: Full, new: Full, random: Any
) -> None:
    def shuffled(side: Full) -> Full:
        findings, trace = list(side.findings), list(side.trace)
        random.shuffle(findings)
        random.shuffle(trace)
        return replace(side, findings=findings, trace=trace)

    assert compare(shuffled(old), shuffled(new)) == compare(old, new)
    rows = aligned(shuffled(old).findings, shuffled(new).findings)
    assert rows == aligned(old.findings, new.findings)


@given(SIDES, SIDES)
def test_every_finding_stands_in_one_row(old: Full, new: Full) -> None:
    rows = aligned(old.findings, new.findings)

    assert len([one for one in rows if one.old]) == len(old.findings)
    assert len([one for one in rows if one.new]) == len(new.findings)
    assert all(one.rule == side.rule for one in rows for side in one.sides)


@given(SIDES, SIDES)
def test_a_difference_is_named_and_told(old: Full, new: Full) -> None:
    found = compare(old, new)

    differs = found.diff_class is not DiffClass.NO_DIFF or bool(found.finer)
    assert bool(found.kind) is bool(found.summary) is differs
    assert len(found.summary) <= MAX_SUMMARY_CHARS
    assert set(found.rules) <= {"a", "b", "c"}
