"""The shipped cases of code, of data, and of work that has no process of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tables import check_rows
from verification.adapters.probe import ChildProbe
from verification.engine.fakes import MemoryWorkspace
from verification.engine.golden.replay import World
from verification.engine.outcome import Action, ConfidenceLevel, Outcome, RetryStrategy, Verdict
from verification.engine.protocol.reply import Stage
from verification.engine.shadow import DiffClass
from verification.engine.verifier import VerifierSpec
from verification.golden import shipped
from verification.golden.documents.reading import read_case
from verification.golden.replaying import LEGACY, Judged, judge_case

FOLDER = Path(str(shipped.CORPUS)) / "code-and-data"
Document = dict[str, Any]


def documents() -> Iterator[Document]:
    for path in sorted(FOLDER.glob("*.yaml")):
        yield from yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


UNASKED = {
    # They are there to be asked for, so that the case does not hold by a lack of them.
    "independence-no-alternate-after-an-unreadable-reply": {(2, "assess"): 1},
    "reply-quotes-a-verdict-of-the-output": {(2, "restate"): 1},
    # The old engine alone asks for them, and no class of the difference is expected.
    "counts-doubt-ends-the-climb": {(3, "vote"): 3},
}
CASES: tuple[Document, ...] = tuple(documents())
each_case = check_rows(
    "number", [pytest.param(number, id=one["id"]) for number, one in enumerate(CASES)]
)


@cache
def probe() -> ChildProbe:
    """That of production: one for all cases."""
    return ChildProbe()


@cache
def replayed(number: int) -> Judged:
    case = read_case(CASES[number])
    definition = case.definition or shipped.builtin_definitions()[case.document.process]
    legacy = LEGACY if "shadow" in case.expected else None
    world = World(MemoryWorkspace(case.files), probe())
    return judge_case(case.given, case.expected, definition, VerifierSpec(), world, legacy=legacy)


def expected(name: str) -> Counter[str]:
    """How many cases name each value of a plain expectation."""
    return Counter(one["expected"][name] for one in CASES if one["expected"].get(name))


@each_case
def test_the_case_holds_and_asks_only_for_what_was_recorded(number: int) -> None:
    judged = replayed(number)

    assert list(judged.differences) == []
    assert [one for one in judged.replayed.played if one.is_missing] == []
    assert judged.legacy is None or judged.legacy.missing == 0
    assert judged.standing == "held"


def test_every_recorded_answer_is_asked_for_by_one_of_the_engines() -> None:
    unasked = {}
    for number, document in enumerate(CASES):
        judged = replayed(number)
        asked = Counter((one.tier, one.ask.value) for one in judged.replayed.played)
        if judged.legacy:
            asked |= Counter((one.tier, one.ask.value) for one in judged.legacy.played)
        replies = document.get("replies", ())
        recorded = Counter((one.get("tier", 2), one.get("ask", "assess")) for one in replies)
        if left := recorded - asked:
            unasked[document["id"]] = dict(left)

    assert unasked == UNASKED


def test_what_each_case_guards_is_one_sentence() -> None:
    sentences = [one["guards"] for one in CASES]

    assert [one for one in sentences if not one[0].isupper() or not one.endswith(".")] == []
    assert [one for one in sentences if ". " in one or "\n" in one] == []


def test_no_two_cases_have_one_name_or_say_the_same() -> None:
    names = Counter(one["id"] for one in CASES)
    guards = Counter(one["guards"] for one in CASES)

    assert [name for name, times in (names + guards).items() if times > 1] == []


def test_each_case_names_several_things() -> None:
    sparse = [one["id"] for one in CASES if len(one["expected"]) < 4]

    assert sparse == []


@check_rows(
    ("tag", "least"),
    [
        ("false-fail", 20),
        ("true-fail", 20),
        ("unreadable", 20),
        ("recovery", 20),
        ("attempts", 15),
        ("votes", 10),
        ("gates", 12),
        ("scoping", 10),
        ("confidence", 10),
        ("unconfirmed", 4),
        ("injection", 3),
        ("legacy", 8),
        ("canary", len(CASES) // 10),
    ],
)
def test_every_theme_has_its_cases(tag: str, least: int) -> None:
    tagged = [one for one in CASES if tag in one["tags"]]

    assert len(tagged) >= least


@pytest.mark.parametrize("process", ["code-change", "data-extract", "general"])
def test_each_process_has_cases_of_its_own(process: str) -> None:
    assert sum(one["process"] == process for one in CASES) >= 12


def test_no_recovery_stage_is_left_out() -> None:
    seen = {stage for one in CASES for stage in one["expected"].get("recovery", {}).values()}

    assert seen == {stage.value for stage in Stage}


def test_no_word_of_a_verdict_is_left_out() -> None:
    wanted = {
        "outcome": Outcome,
        "verdict": Verdict,
        "confidence_level": ConfidenceLevel,
        "action": Action,
        "retry_strategy": RetryStrategy,
        "shadow": DiffClass,
    }
    left_out = {
        (name, word.value)
        for name, words in wanted.items()
        for word in words
        if not expected(name)[word.value]
    }

    assert left_out == set()


def test_at_least_a_quarter_says_how_the_old_engine_differs() -> None:
    assert 4 * expected("shadow").total() >= len(CASES)
    assert expected("shadow")["old_fail_new_pass"] >= 20
