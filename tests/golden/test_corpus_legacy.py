"""The old engine over the shipped corpus: what it said of each case is on record.

`legacy_verdicts.json` holds verdict, outcome and reason by the case's name, as the old engine's
rules have them (docs/engine.md, "The legacy engine"). A new case is entered there by hand: reason
it from those rules, and look into the engine where it says otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.engine.cases import PASSING
from tests.engine.golden.givens import answered
from tests.tables import check_rows
from verification.engine.evidence import Submission, TaskSpec
from verification.engine.fakes import InProcessProbe, MemoryWorkspace
from verification.engine.golden.given import Given, Recording
from verification.engine.golden.observing import Observed
from verification.engine.golden.replay import Replayed, World, replay
from verification.engine.shadow import Compared, DiffClass, compare
from verification.engine.shadow.observed import full_of_observed
from verification.engine.verifier import LEGACY_FLAGS, Flags, VerifierSpec
from verification.golden import shipped
from verification.golden.documents.reading import read_case

CASES = {document["id"]: document for _, document in shipped.shipped_documents()}
RECORDED: dict[str, str] = json.loads(Path(__file__).with_name("legacy_verdicts.json").read_text())
PROCESSES = sorted(shipped.builtin_definitions())
SAID = ("outcome", "verdict", "reason_code", "severity_class", "retry_strategy", "confidence")


OLD_ENGINE = Flags(policy_engine_enabled=False)


@cache
def replayed(name: str, flags: Flags) -> Replayed:
    case = read_case(CASES[name])
    definition = case.definition or shipped.builtin_definitions()[case.document.process]
    world = World(MemoryWorkspace(case.files), InProcessProbe())
    return replay(case.given, definition, VerifierSpec(flags), world)


def flag_by_flag() -> Iterator[Flags]:
    """From the usual flags to the old ones, each set by its name."""
    flags = Flags()
    for one in fields(Flags):
        flags = replace(flags, **{one.name: getattr(LEGACY_FLAGS, one.name)})
        yield flags


@cache
def compared(name: str) -> Compared:
    old, new = (
        full_of_observed(replayed(name, flags).observed) for flags in (LEGACY_FLAGS, Flags())
    )
    return compare(old, new)


def test_the_old_flags_are_come_to_one_by_one() -> None:
    *_, last = flag_by_flag()

    assert last == LEGACY_FLAGS
    assert VerifierSpec(last).sha256 == VerifierSpec(LEGACY_FLAGS).sha256


def said(observed: Observed) -> str:
    return " ".join([observed["verdict"], observed["outcome"], observed["reason_code"]]).strip()


def test_every_shipped_case_has_a_verdict_of_the_old_engine_on_record() -> None:
    assert sorted(CASES) == sorted(RECORDED)


@check_rows("name", sorted(CASES))
def test_the_usual_verifier_with_the_old_flags_repeats_what_the_old_engine_said(name: str) -> None:
    reproduced, old = replayed(name, LEGACY_FLAGS), replayed(name, OLD_ENGINE)

    assert (said(reproduced.observed), said(old.observed)) == (RECORDED[name],) * 2
    assert (reproduced.missing, old.missing) == (0, 0), "what it asks is recorded"
    assert {one: reproduced.observed[one] for one in SAID} == {
        one: old.observed[one] for one in SAID
    }
    assert reproduced.observed["findings"] == old.observed["findings"]
    assert reproduced.observed["rules"] == old.observed["rules"]


def test_what_is_on_record_has_two_outcomes_and_doubt_alone_beside_them() -> None:
    told = {tuple(one.split(" ")[:2]) for one in RECORDED.values()}

    assert told == {("accept", "pass"), ("reject", "fail"), ("undecided", "fail")}


def test_no_case_whose_first_reply_is_more_than_json_is_on_record_as_an_accept() -> None:
    wrapped = [name for name, case in CASES.items() if not is_json(first_reply(case))]

    assert len(wrapped) > 80
    assert [name for name in wrapped if RECORDED[name].startswith("accept")] == []


def first_reply(case: dict[str, Any]) -> str:
    """Of the judge of tier 2, where one came; else JSON that says nothing."""
    for one in case.get("replies") or ():
        if one.get("tier", 2) == 2 and one.get("ask", "assess") == "assess" and "text" in one:
            return str(one["text"]).replace("{{token}}", "token")
    return "{}"


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def of_general(output: str, *replies: Recording) -> Compared:
    """Both engines over work of the built-in process that every project begins with."""
    submission = Submission(TaskSpec("note", "Write a note on the budget."), output=output)
    given = Given("work", submission, tier=2 if replies else 1, recordings=replies)
    definition = shipped.builtin_definitions()["general"]
    world = World(MemoryWorkspace(), InProcessProbe())
    old, new = (
        full_of_observed(replay(given, definition, VerifierSpec(flags), world).observed)
        for flags in (LEGACY_FLAGS, Flags())
    )
    return compare(old, new)


CLASSICS: dict[str, tuple[Callable[[], Compared], str]] = {
    "a marker that a placeholder regex finds": (
        lambda: of_general("The rent is 900 EUR.\n- Heating: [TODO]\n"),
        "no-placeholders: hard → advisory",
    ),
    "a rule of another phase": (
        lambda: compared("research-search-is-not-judged-by-rules-of-the-report"),
        "report-lists-sources: leaked from another phase → skipped",
    ),
    "a reply wrapped in prose": (
        lambda: of_general(
            "The rent is 900 EUR.", answered(f"Happy to help! Here is what I found: {PASSING}")
        ),
        "acceptance-criteria: hard → not found",
    ),
}


@pytest.mark.parametrize("classic", CLASSICS)
def test_a_classic_false_fail_of_the_old_engine_is_told_with_its_rule(classic: str) -> None:
    both, told = CLASSICS[classic]

    found = both()

    assert found.diff_class is DiffClass.OLD_FAIL_NEW_PASS
    assert told in found.summary


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize("process", PROCESSES)
def test_the_old_engine_failed_good_work_of_every_built_in_process(process: str) -> None:
    found = [name for name, one in CASES.items() if one["process"] == process]

    classes = [compared(name).diff_class for name in found]

    assert classes.count(DiffClass.OLD_FAIL_NEW_PASS) > 0


def test_every_difference_over_the_corpus_is_named_and_told() -> None:
    differing = [one for one in map(compared, CASES) if one.diff_class is not DiffClass.NO_DIFF]

    assert len(differing) > 200
    assert all(one.kind and one.summary for one in differing)
    assert len({one.kind for one in differing}) < len(differing), "the same kind occurs again"
