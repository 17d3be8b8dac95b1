from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.gating.fakes import LOST, Listener, ScriptedSandbox, part_with
from verification.engine.gates import GateReport
from verification.engine.gating.components import Component, Language
from verification.engine.gating.findings import findings_of
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.running import leading_to, run_track, tracks_of
from verification.engine.gating.stages import ORDER, Ended, Part, Stage
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

GATES = ("install", "build", "types", "lint", "security", "test", "run")
STAGES = (
    Stage("test", "try it"),
    Stage("run", skipped="No entry point is named."),
    Stage("lint", "look", is_apart=True),
    Stage("build", "make"),
    Stage("security", "look twice", is_apart=True),
    Stage("types", "check"),
)
FULL = part_with(*STAGES, install="fetch")
BAD = Ended(exit_code=1)
TIMED_OUT = Ended(is_timed_out=True)


def told(
    part: Part,
    sandbox: ScriptedSandbox,
    wanted: tuple[str, ...] = GATES,
    known: Mapping[str, GateReport] | None = None,
) -> dict[str, str]:
    """How each gate ended, in the order in which it was told."""
    found: dict[str, str] = {}
    for track in tracks_of([part], wanted, {part.component.name: known or {}}):
        for report in run_track(track, sandbox, Listener()):
            assert report.gate not in found
            assert report.component == part.component.name
            found[report.gate] = "lost" if report.is_lost else str(report.status)
    return found


def test_the_works_own_code_is_met_last_and_never_by_what_only_looks() -> None:
    sandbox = ScriptedSandbox()

    assert list(told(FULL, sandbox)) == [
        "install", "build", "types", "test", "run", "lint", "security",
    ]  # fmt: skip
    assert sandbox.asked == [
        "install",
        "box 1 of deps", "1: build", "1: types", "1: test", "close 1",
        "box 2 of nothing", "2: lint", "2: security", "close 2",
    ]  # fmt: skip


def test_only_what_is_wanted_is_run() -> None:
    sandbox = ScriptedSandbox()

    assert told(FULL, sandbox, ("lint",)) == {"lint": "passed"}
    assert sandbox.asked == ["box 1 of nothing", "1: lint", "close 1"]


def test_what_is_wanted_needs_its_install_whether_or_not_that_is_wanted_too() -> None:
    sandbox = ScriptedSandbox({"install": BAD})

    assert told(FULL, sandbox, ("test",)) == {"install": "failed", "test": "skipped"}


@pytest.mark.parametrize(
    ("ends", "ended"),
    [(BAD, "failed"), (TIMED_OUT, "lost"), (Ended(exit_code=127), "error"),
     (Ended(lost="It wrote more than there is room for."), "lost")],
)  # fmt: skip
def test_without_its_install_nothing_of_the_work_is_run(ends: Ended, ended: str) -> None:
    sandbox = ScriptedSandbox({"install": ends})

    assert told(FULL, sandbox) == {
        "install": ended, "build": "skipped", "types": "skipped", "test": "skipped",
        "run": "skipped", "lint": "passed", "security": "passed",
    }  # fmt: skip
    assert sandbox.asked[:2] == ["install", "box 1 of nothing"]


def test_a_sandbox_lost_at_the_install_loses_what_would_have_been_run() -> None:
    sandbox = ScriptedSandbox({"install": LOST})

    found = told(FULL, sandbox)

    assert found["install"] == found["build"] == found["test"] == "lost"
    assert found["run"] == "skipped"
    assert found["lint"] == "passed"


@pytest.mark.parametrize("ends", [BAD, TIMED_OUT, Ended(exit_code=127), LOST])
def test_what_was_not_built_is_not_tried(ends: Ended | str) -> None:
    sandbox = ScriptedSandbox({"build": ends})

    found = told(FULL, sandbox)

    assert (found["types"], found["test"], found["lint"]) == ("skipped", "skipped", "passed")
    assert "1: test" not in sandbox.asked


def test_a_gate_that_failed_keeps_none_of_the_others_from_being_run() -> None:
    found = told(FULL, ScriptedSandbox({"types": BAD, "lint": Ended(exit_code=2)}))

    assert (found["types"], found["test"], found["security"]) == ("failed", "passed", "passed")


@pytest.mark.parametrize("ends", [TIMED_OUT, Ended(exit_code=137), Ended(lost=LOST), LOST])
def test_after_a_box_was_stopped_the_next_gate_has_a_new_one_in_which_the_work_is_built_again(
    ends: Ended | str,
) -> None:
    sandbox, listener = ScriptedSandbox({"types": ends}), Listener()
    [track, _] = tracks_of([FULL], ("build", "types", "test", "lint"), {})

    reports = list(run_track(track, sandbox, listener))

    assert [one.status for one in reports if one.gate != "types"] == [Status.PASSED] * 3
    assert sandbox.asked[1:8] == [
        "box 1 of deps", "1: build", "1: types", "box 2 of deps", "2: build", "2: test", "close 2",
    ]  # fmt: skip
    assert listener.told == ["install", "build", "types", "test"]


@pytest.mark.parametrize("again", [BAD, TIMED_OUT, LOST])
def test_a_new_box_in_which_the_work_cannot_be_built_again_blames_nobody(
    again: Ended | str,
) -> None:
    sandbox = ScriptedSandbox({"types": TIMED_OUT}, later={"build": again})

    steps = [Stage(gate, gate) for gate in ("build", "types", "test", "run")]

    found = told(part_with(*steps), sandbox)

    assert (found["build"], found["types"]) == ("passed", "timed_out")
    assert (found["test"], found["run"]) == ("lost", "lost")
    assert not [one for one in sandbox.asked if one.endswith(("test", "run"))]


def test_what_ran_where_something_before_it_did_not_end_is_of_no_use_to_later_runs() -> None:
    [track] = tracks_of([part_with(*STAGES)], ("build", "types", "test"), {})

    def keys(sandbox: ScriptedSandbox) -> list[str]:
        listener = Listener(inputs_sha256="known by this")
        return [one.inputs_sha256 for one in run_track(track, sandbox, listener)]

    assert keys(ScriptedSandbox()) == ["known by this"] * 3
    assert keys(ScriptedSandbox({"types": TIMED_OUT})) == ["known by this", "known by this", ""]


def test_a_box_that_cannot_be_opened_loses_one_gate_and_is_tried_again_for_the_next() -> None:
    part = part_with(Stage("types", "check"), Stage("test", "try it"))

    assert told(part, ScriptedSandbox(lost_boxes=[1])) == {
        "install": "skipped", "types": "lost", "test": "passed",
    }  # fmt: skip


def test_a_gate_that_was_lost_blames_nobody_and_says_why() -> None:
    [track] = tracks_of([part_with(Stage("test", "try it"))], ("test",), {})

    [report] = run_track(track, ScriptedSandbox({"test": LOST}), Listener())

    [finding] = findings_of(report)
    assert (finding.reason_code, finding.message) == ("sandbox_unavailable", LOST)


def known_reports(*gates: str) -> dict[str, GateReport]:
    return {gate: GateReport(gate, Status.PASSED, ". (python)", reused_from="x") for gate in gates}


@pytest.mark.parametrize(
    ("known", "run"),
    [
        (("build", "types", "test", "lint"), ["1: security"]),
        (("types", "test", "security"), ["1: build", "2: lint"]),
        (("build", "test", "lint", "security"), ["1: build", "1: types"]),
        (("build", "types", "lint"), ["1: build", "1: types", "1: test", "2: security"]),
    ],
)
def test_what_is_known_is_run_again_only_where_something_after_it_may_need_it(
    known: tuple[str, ...], run: list[str]
) -> None:
    sandbox = ScriptedSandbox(is_installed=True)

    found = told(FULL, sandbox, known=known_reports(*known))

    assert set(found) == set(GATES)
    assert [one for one in sandbox.asked if ":" in one] == run


def test_where_all_is_known_nothing_is_installed_and_no_box_is_opened() -> None:
    sandbox, listener = ScriptedSandbox(), Listener()
    known = {". (python)": known_reports("build", "types", "test", "lint", "security")}

    reports = [
        report
        for track in tracks_of([FULL], GATES, known)
        for report in run_track(track, sandbox, listener)
    ]

    assert {one.gate for one in reports} == set(GATES)
    assert (sandbox.asked, listener.told) == ([], [])


def test_a_known_build_that_failed_keeps_the_rest_from_being_run() -> None:
    known = {"build": GateReport("build", Status.FAILED, ". (python)")}
    sandbox = ScriptedSandbox()

    assert told(FULL, sandbox, ("build", "test"), known)["test"] == "skipped"
    assert sandbox.asked == []


@pytest.mark.parametrize("wanted", [("install",), ("install", "run"), ("install", "lint")])
def test_an_install_that_is_wanted_alone_is_run_all_the_same(wanted: tuple[str, ...]) -> None:
    sandbox = ScriptedSandbox({"install": BAD})

    assert told(FULL, sandbox, wanted)["install"] == "failed"
    assert "install" in sandbox.asked


@pytest.mark.parametrize(
    ("install", "is_installed", "status", "detail"),
    [
        ("", False, Status.SKIPPED, "Nothing is to be installed."),
        ("fetch", True, Status.PASSED, "It was installed before."),
        ("fetch", False, Status.PASSED, ""),
    ],
)
def test_an_install_says_whether_there_was_one(
    install: str, is_installed: bool, status: Status, detail: str
) -> None:
    part = part_with(Stage("test", "try it"), install=install)
    [track] = tracks_of([part], ("install", "test"), {})

    first, _ = run_track(track, ScriptedSandbox(is_installed=is_installed), Listener())

    assert (first.gate, first.status, first.detail) == ("install", status, detail)


@pytest.mark.parametrize("is_known", [False, True])
def test_what_an_install_said_is_said_again_where_it_is_not_repeated(*, is_known: bool) -> None:
    test = Stage("test", "try it")
    part = part_with(test, install="fetch")
    passed = GateReport("test", Status.PASSED, part.component.name)
    known = {part.component.name: {"test": passed}} if is_known else {}
    [track] = tracks_of([part], ("install", "test"), known)

    first, _ = run_track(track, ScriptedSandbox(is_installed=True, note="Not all."), Listener())

    assert first.detail == "It was installed before. Not all."


def test_a_test_gate_with_nothing_to_run_has_no_tests_and_one_left_out_does_not_say_so() -> None:
    none = part_with(Stage("test", skipped="The package names no tests."))
    broken = part_with(Stage("build", "make"), Stage("test", "try it"))

    tests = []
    for part in (none, broken):
        for track in tracks_of([part], ("build", "test"), {}):
            *_, last = run_track(track, ScriptedSandbox({"build": BAD}), Listener())
            tests.append(last.tests)

    assert tests == [TestCounts(), None]


def test_work_in_a_language_without_a_recipe_is_looked_at_and_not_run() -> None:
    component = Component("", Language.MAKE, ("Makefile",))
    sandbox = ScriptedSandbox()

    found = told(part_of(component, Files(["Makefile"], dict[str, bytes]().get)), sandbox)

    assert {gate for gate, ended in found.items() if ended != "skipped"} == {"security"}
    assert sandbox.asked == ["box 1 of nothing", "1: security", "close 1"]


ENDS = st.one_of(
    st.just(LOST),
    st.builds(
        Ended,
        exit_code=st.sampled_from([None, 0, 1, 2, 5, 124, 126, 127, 137, 139]),
        is_timed_out=st.booleans(),
        lost=st.sampled_from(["", LOST]),
        out=st.sampled_from([b"", b"3 passed in 0.1s", b"1 failed in 0.1s"]),
    ),
)


@given(
    st.dictionaries(st.sampled_from(GATES), ENDS),
    st.lists(st.integers(1, 6), max_size=3),
    st.sets(st.sampled_from(GATES), min_size=1),
    st.sets(st.sampled_from(GATES)),
    st.booleans(),
)
def test_every_gate_that_is_wanted_is_told_once_of_each_component(
    ends: dict[str, Ended | str],
    lost_boxes: list[int],
    wanted: set[str],
    known: set[str],
    has_install: bool,
) -> None:
    parts = [
        part_with(*STAGES, install="fetch" if has_install else "", folder=folder)
        for folder in ("", "api")
    ]
    earlier = {
        part.component.name: {gate: GateReport(gate, Status.PASSED, part.component.name)}
        for part in parts
        for gate in known
    }

    for part in parts:
        reports = []
        for track in tracks_of([part], wanted, earlier):
            sandbox = ScriptedSandbox(ends, lost_boxes)
            reports += list(run_track(track, sandbox, Listener()))

        gates = [one.gate for one in reports]
        assert {one.component for one in reports} == {part.component.name}
        assert len(gates) == len(set(gates))
        assert wanted <= set(gates) <= wanted | {"install"}
        assert all(gate in ORDER for gate in gates)


@given(
    st.dictionaries(st.sampled_from(GATES), ENDS),
    st.lists(st.integers(1, 6), max_size=3),
    st.sets(st.sampled_from(GATES), min_size=1),
    st.sets(st.sampled_from(GATES)),
)
def test_a_gate_is_run_where_all_ran_that_came_to_its_end_before_it(
    ends: dict[str, Ended | str], lost_boxes: list[int], wanted: set[str], known: set[str]
) -> None:
    sandbox, ended = ScriptedSandbox(ends, lost_boxes), list[str]()
    tracks = tracks_of([FULL], wanted, {FULL.component.name: known_reports(*known)})

    for track in (one for one in tracks if not one.is_apart):
        for report in run_track(track, sandbox, Listener()):
            ran = [one[3:] for one in sandbox.asked if one.startswith(f"{sandbox.boxes}: ")]
            is_run = bool(ran) and ran[-1] == report.gate
            if is_run and not report.reused_from:
                assert ran[:-1] == ended
            if (
                report.exit_code not in (None, 137)
                and not report.is_lost
                and report.gate != "install"
            ):
                ended.append(report.gate)


@pytest.mark.parametrize(
    ("gates", "before"),
    [
        ({"test"}, {"build", "types", "test"}),
        ({"types", "security"}, {"build", "types", "security"}),
        ({"security"}, {"security"}),
        ({"lint", "install"}, {"lint", "install"}),
    ],
)
def test_what_leads_to_a_gate_is_what_runs_before_it_in_its_container(
    gates: set[str], before: set[str]
) -> None:
    assert leading_to(FULL, gates, GATES) - {"run"} == before
