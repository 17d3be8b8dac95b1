"""The shipped cases of research reports, market research and competitive intelligence."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tables import check_rows
from verification.engine.fakes import InProcessProbe, MemoryWorkspace
from verification.engine.golden.replay import World
from verification.engine.shadow import DiffClass
from verification.engine.verifier import VerifierSpec
from verification.golden import shipped
from verification.golden.documents.reading import read_case
from verification.golden.replaying import LEGACY, Judged, judge_case

FOLDER = Path(str(shipped.CORPUS)) / "research"
PROCESSES = ("research-report", "market-research", "competitive-intelligence")
CASES: dict[str, dict[str, Any]] = {
    one["id"]: one
    for path in sorted(FOLDER.glob("*.yaml"))
    for one in yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
}
NEVER_ASKED = {
    # What no engine may ask for: there, so that asking for it would show.
    "research-report-that-was-never-written": 1,
}
PARTLY = ("partial_verified", "unconfirmed_above_threshold")
PRUNED = ("partial_verified", "recommendation_pruned")
each_case = check_rows("name", sorted(CASES))


@cache
def replayed(name: str) -> Judged:
    case = read_case(CASES[name])
    definition = case.definition or shipped.builtin_definitions()[case.document.process]
    legacy = LEGACY if "shadow" in case.expected else None
    world = World(MemoryWorkspace(case.files), InProcessProbe())
    return judge_case(case.given, case.expected, definition, VerifierSpec(), world, legacy=legacy)


@each_case
def test_the_case_holds_and_asks_only_for_what_was_recorded(name: str) -> None:
    judged = replayed(name)

    assert list(judged.differences) == []
    assert judged.replayed.missing == 0
    assert judged.standing == "held"


@pytest.mark.extended
@each_case
def test_every_recorded_answer_is_asked_for(name: str) -> None:
    asked = Counter((one.tier, one.ask.value) for one in replayed(name).replayed.played)
    recorded = Counter(
        (one.get("tier", 2), one.get("ask", "assess")) for one in CASES[name].get("replies", ())
    )

    assert (recorded - asked).total() == NEVER_ASKED.get(name, 0)


@pytest.mark.extended
@each_case
def test_what_it_guards_is_one_sentence(name: str) -> None:
    guards = CASES[name]["guards"]

    assert guards[:1].isupper()
    assert guards.endswith(".")
    assert ". " not in guards
    assert "\n" not in guards


@pytest.mark.extended
@each_case
def test_it_names_several_things_and_says_whose_it_is(name: str) -> None:
    case = CASES[name]

    assert len(case["expected"]) >= 3
    assert case["owner"]
    assert case["provenance"]
    assert case["tags"]


@pytest.mark.extended
def test_names_are_unique_over_all_files() -> None:
    written = [
        one["id"]
        for path in FOLDER.glob("*.yaml")
        for one in yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    ]

    assert len(written) == len(CASES)


def test_files_hold_no_aliases() -> None:
    tokens = (
        type(token).__name__
        for path in FOLDER.glob("*.yaml")
        for token in yaml.scan(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    )

    assert {"AliasToken", "AnchorToken"}.isdisjoint(tokens)


def test_there_are_many_and_each_process_has_its_share() -> None:
    by_process = Counter(one["process"] for one in CASES.values())

    assert sum(by_process[process] for process in PROCESSES) >= 80
    assert min(by_process[process] for process in PROCESSES) >= 20


@pytest.mark.parametrize("process", PROCESSES)
def test_every_phase_of_its_processes_has_a_case(process: str) -> None:
    phases = {phase.id for phase in shipped.builtin_definitions()[process].phases}

    assert {one["phase"] for one in CASES.values() if one["process"] == process} == phases


@check_rows(
    "tag",
    [
        "false-fail", "true-fail", "injection", "unreadable", "unconfirmed", "gates", "attempts",
        "scoping", "recovery", "votes", "confidence", "legacy",
    ],
)  # fmt: skip
def test_every_theme_has_its_cases(tag: str) -> None:
    assert sum(tag in one["tags"] for one in CASES.values()) >= 5


def test_a_tenth_is_held_back_for_cutovers() -> None:
    held = [name for name, one in CASES.items() if "canary" in one["tags"]]

    assert 0.08 <= len(held) / len(CASES) <= 0.12
    assert {CASES[name]["process"] for name in held} == set(PROCESSES)


def test_how_the_old_engine_differs_is_said_of_a_quarter_and_in_every_class() -> None:
    said = Counter(one["expected"].get("shadow") for one in CASES.values())
    del said[None]

    assert said.total() * 4 >= len(CASES)
    assert set(said) == {one.value for one in DiffClass}


ROUTES = {
    # On the critical path: what may become of claims and of recommendations.
    "unconfirmed-critical-path-confirms-in-time": ("pass", ""),
    "unconfirmed-critical-path-confirms-enough": ("pass", ""),
    "unconfirmed-critical-path-is-pruned-and-looked-at-again": PARTLY,
    "unconfirmed-critical-path-rest-does-not-stand": ("fail", "llm_semantic_failed"),
    "unconfirmed-critical-path-claim-stands-nowhere": PARTLY,
    "unconfirmed-blocking-claims-above-the-limit": ("fail", "unconfirmed_critical_path"),
    "unconfirmed-blocking-recommendation-that-could-be-taken-out": PRUNED,
    "unconfirmed-blocking-recommendation-that-stands-nowhere": (
        "fail",
        "recommendation_unconfirmed",
    ),
    "unconfirmed-queue-follow-up-asks-nobody": PARTLY,
    "unconfirmed-exactly-at-the-threshold": ("pass", ""),
    # In a synthesis.
    "unconfirmed-recommendation-of-a-briefing-is-pruned": PRUNED,
    "unconfirmed-synthesis-off-the-critical-path-is-only-parted": PARTLY,
    # Elsewhere.
    "unconfirmed-recommendation-in-another-phase": PARTLY,
    "unconfirmed-just-above-the-threshold": PARTLY,
    "unconfirmed-in-an-advisory-phase-warns": PARTLY,
    # Where the task's word stands above the phase's.
    "unconfirmed-task-makes-an-advisory-phase-critical": PARTLY,
    "unconfirmed-task-takes-a-phase-off-the-critical-path": PARTLY,
}


@check_rows("name", ROUTES)
def test_every_way_of_unconfirmed_claims_has_a_case(name: str) -> None:
    observed = replayed(name).observed

    assert (observed["outcome"], observed["reason_code"]) == ROUTES[name]
