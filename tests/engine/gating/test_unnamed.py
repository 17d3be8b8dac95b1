"""Work that needs what none of its files names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from verification.engine.gates import GateReport
from verification.engine.gating.components import Component, Language
from verification.engine.gating.findings import findings_of
from verification.engine.gating.judging import Judged
from verification.engine.gating.stages import Install, Part
from verification.engine.gating.unnamed import unnamed
from verification.engine.outcome import Status
from verification.engine.reports.model import CaseStatus, TestCase, counted

BARE = Part(Component("", Language.PYTHON), Install(prepare="python3 -m venv x"), ())
NUMPY = (
    "test_a.py:1: in <module>\n    import numpy\nE   ModuleNotFoundError: No module named 'numpy'"
)
YAML = "Traceback:\n  import yaml.nodes\nModuleNotFoundError: No module named 'yaml.nodes'; 'yaml' is ..."
OWN = "E   ModuleNotFoundError: No module named 'helpers'"
USAGE = "ERROR: usage: pytest.main() [options]\npytest.main(): error: unrecognized arguments: "
MOCKER = "file /workspace/test_a.py, line 1\nE       fixture '{}' not found\n>  available fixtures"
ASYNC = "Failed: async def functions are not natively supported.\nYou need to install"
WRONG = "E   assert 1 == 2"
QUOTED = "E   assert \"No module named 'numpy'\" == ''"


def failed(*messages: str, detail: str = "", gate: str = "test") -> Judged:
    cases = [TestCase(f"t{at}", CaseStatus.ERROR, message=one) for at, one in enumerate(messages)]
    found = counted([*cases, TestCase("good", CaseStatus.PASSED)]) if messages else None
    counts = found.counts if found else None
    report = GateReport(gate, Status.FAILED, ". (python)", 1, counts, detail)
    return Judged(report, tests=found)


@pytest.mark.parametrize(
    ("told", "needs"),
    [
        (failed(NUMPY), "numpy"),
        (failed(NUMPY, YAML, NUMPY), "numpy, yaml"),
        (failed(detail=f"test of . (python) failed.\n{YAML}"), "yaml"),
        (failed(NUMPY, gate="run"), "numpy"),
        (failed(detail=f"{USAGE}--cov=. --cov-report=term -n 4"), "pytest-cov"),
        (failed(MOCKER.format("mocker"), ASYNC), "pytest-asyncio, pytest-mock"),
    ],
)
def test_what_fails_only_for_want_of_what_nobody_named_blames_nobody(
    told: Judged, needs: str
) -> None:
    found = unnamed(BARE, told).report

    assert found.status is Status.ERROR
    assert f"needs {needs}, and no file of the work says so" in found.detail
    assert [one.reason_code for one in findings_of(found)] == ["gate_error"]


@pytest.mark.parametrize(
    "told",
    [
        failed(OWN),
        failed(NUMPY, WRONG),
        failed(NUMPY, QUOTED),
        failed(f"{NUMPY}\n{OWN}"),
        failed(detail="test failed."),
        failed(NUMPY, gate="build"),
        failed(detail=f"{USAGE}--cov=. --own"),
        failed(MOCKER.format("basket")),
        failed(MOCKER.format("mocker"), WRONG),
    ],
)
def test_a_failure_of_any_other_kind_stays_one(told: Judged) -> None:
    assert unnamed(BARE, told) == told


def test_failures_that_are_not_told_may_be_of_any_kind() -> None:
    told = failed(NUMPY)
    assert told.report.tests is not None
    more = replace(told.report, tests=replace(told.report.tests, failed=1))

    assert unnamed(BARE, replace(told, report=more)).report.status is Status.FAILED


@pytest.mark.parametrize(
    "part",
    [
        replace(BARE, install=Install("pip install -r requirements.txt")),
        replace(BARE, component=Component("", Language.MAKE)),
    ],
)
def test_work_that_says_what_it_needs_answers_for_it(part: Part) -> None:
    assert unnamed(part, failed(NUMPY)) == failed(NUMPY)
