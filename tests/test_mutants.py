"""The tools that try mutants: `make golden-mutants` and `tests.mutants.engine_sample`."""

from __future__ import annotations

import ast
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.mutants import deliberate, engine_sample, generated
from tests.mutants.__main__ import REASONS, conclude
from tests.mutants.engine_sample import CoverageMap, Outcome, Result, try_mutant
from tests.mutants.mutant import ENGINE, Mutant
from tests.mutants.running import try_out
from tests.tables import check_rows
from verification.golden.shipped import builtin_definitions, shipped_documents

OTHER_PHASE = "A rule of another phase speaks in this one"
SURVIVORS: dict[str, str] = yaml.safe_load(REASONS.read_text(encoding="utf-8"))
WHOLE = ("confidence", "scoping")
"""Areas that are small enough to make all of their mutants here."""


def documents_of(file: str) -> list[dict[str, Any]]:
    builtin_definitions()
    return [document for name, document in shipped_documents() if name == file]


def defect(told: str) -> Mutant:
    return next(one for one in deliberate.mutants() if one.told == told)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_twenty_defects_can_be_put_into_the_engine_as_it_is() -> None:
    mutants = deliberate.mutants()

    assert len({one.told for one in mutants}) == len({one.source for one in mutants}) == 20
    for one in mutants:
        assert ast.dump(ast.parse(one.source)) != ast.dump(ast.parse(one.path.read_text()))


@pytest.mark.extended
def test_the_corpus_kills_a_defect_and_not_the_engine_as_it_is() -> None:
    documents = documents_of("scoping.yaml")

    killed = try_out(defect(OTHER_PHASE), documents)

    assert killed.by in {one["id"] for one in documents}
    assert try_out(None, documents).by == ""


@check_rows("key", SURVIVORS, ids=lambda key: flat(key)[:80])
def test_a_reason_is_given_for_a_line_that_is_there(key: str) -> None:
    path, _, change = key.partition(": ")
    before = change.removeprefix("-").partition(" +")[0]

    assert flat(before) in flat((ENGINE / path).read_text(encoding="utf-8"))
    assert SURVIVORS[key].endswith(".")


@pytest.mark.extended
@pytest.mark.parametrize("area", WHOLE)
def test_reasons_of_a_small_area_are_given_for_mutants_that_are_made(area: str) -> None:
    made = {one.key for one in generated.mutants(area=area)}

    files = tuple(f"{name}: " for name in generated.MODULES[area])
    assert {key for key in SURVIVORS if key.startswith(files)} <= made


def test_mutants_are_the_same_every_time() -> None:
    first, again = (list(generated.mutants(per_area=5, area="scoping")) for _ in range(2))

    assert first == again
    assert len({one.source for one in first}) == 5


@pytest.mark.parametrize(
    ("deliberate_left", "generated_left", "code"),
    [
        pytest.param(0, 3, 0, id="fifteen in a hundred may survive"),
        pytest.param(0, 4, 1, id="and no more"),
        pytest.param(1, 0, 1, id="of our own defects none"),
    ],
)
def test_what_may_survive(
    deliberate_left: int, generated_left: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    own = deliberate.mutants()
    made = [Mutant("policy", ENGINE / "policy.py", str(number), "1: a") for number in range(20)]

    assert conclude([*own, *made], [*own[:deliberate_left], *made[:generated_left]]) == code

    told = capsys.readouterr().out
    assert f"{20 - deliberate_left} of 20 killed" in told
    assert told.count("survived ") == deliberate_left + generated_left


def test_the_sample_of_the_engine_names_five_hundred_mutants() -> None:
    names = engine_sample.SAMPLE.read_text(encoding="utf-8").split()

    assert len(set(names)) == len(names) == engine_sample.SAMPLE_SIZE
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("test", "outcome"),
    [
        ("test_only_a_reject_with_attempts_left_runs_the_work_again", Outcome.KILLED),
        ("test_an_accept_with_passed_tests_is_committed", Outcome.SURVIVED),
        ("", Outcome.NOT_COVERED),
    ],
)
def test_a_mutant_is_tried_by_the_tests_that_cover_its_function(
    test: str, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    file = "tests/engine/test_decision.py"
    tests = [f"{file}::{test}"] if test else []
    covering = CoverageMap("", {"verification/engine/decision.py:_action": tests}, {})

    result = try_mutant("verification.engine.decision.x__action__mutmut_4", covering)

    assert result.outcome is outcome
    assert result.by.startswith(file) is (outcome is Outcome.KILLED)


def test_results_are_read_where_a_run_stopped(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    result = Result("a.x_b__mutmut_1", Outcome.KILLED, "tests/engine/test_b.py::test_b", 0.5)

    assert engine_sample.read_results(path) == {}
    path.write_text(json.dumps(asdict(result)) + "\n")
    assert engine_sample.read_results(path) == {result.mutant: result}
