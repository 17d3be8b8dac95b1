"""What names a gate's result: all that could make it another one."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from verification.engine.gating.components import Component, Language
from verification.engine.gating.running import before
from verification.engine.gating.stages import Expected, Install, Part, Stage, Stream
from verification.engine.reports.testing import TestFormat
from verification.runs.gating.known import inputs_sha256

GATES = ("build", "types", "lint", "test")


def key(stages: tuple[Stage, ...], wanted: frozenset[str], **changed: object) -> str:
    part = Part(Component("", Language.NODE), Install(), stages)
    part = replace(part, **changed)  # type: ignore[arg-type]
    test = next(one for one in stages if one.gate == "test")
    return inputs_sha256("scope", "image", part, test, "files", before(part, test, wanted))


STAGES = tuple(Stage(gate, f"npm run {gate}") for gate in GATES)
ALL = frozenset(GATES)


@given(st.sets(st.sampled_from(GATES[:3])), st.sampled_from(GATES[:3]), st.integers(1, 99))
def test_a_test_is_known_by_what_ran_before_it(
    wanted: set[str], changed: str, seconds: int
) -> None:
    asked = frozenset(wanted | {"test"})

    def with_one(**fields: object) -> str:
        changes = (replace(one, **fields) if one.gate == changed else one for one in STAGES)  # type: ignore[arg-type]
        return key(tuple(changes), asked)

    others = [with_one(command="true"), with_one(seconds=seconds), with_one(input="y")]

    assert all((one != key(STAGES, asked)) is (changed in wanted) for one in others)
    assert (key(STAGES, asked - {changed}) != key(STAGES, asked)) is (changed in wanted)


def test_a_test_is_not_known_by_what_looks_beside_it_or_runs_after_it() -> None:
    beside = Stage("security", "look", is_apart=True)
    after = Stage("run", "start")

    assert key((*STAGES, beside, after), ALL | {"security", "run"}) == key(STAGES, ALL)


def test_what_a_container_does_first_is_a_part_of_what_is_known() -> None:
    assert key(STAGES, ALL, before="make room") != key(STAGES, ALL)


def test_what_a_command_owes_is_a_part_of_what_is_known() -> None:
    owed = (None, Expected(TestFormat.TAP), Expected(TestFormat.TAP, Stream.OUT))
    word = Expected(TestFormat.TAP, is_word=True)

    names = {key((Stage("test", "ava", expected=one),), ALL) for one in (*owed, word)}

    assert len(names) == 4
