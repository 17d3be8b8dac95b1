from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.gating.fakes import part_with
from verification.adapters.sandbox import tools
from verification.engine.gating.asking import asked
from verification.engine.gating.components import Language
from verification.engine.gating.findings import findings_of
from verification.engine.gating.judging import Judged, judged
from verification.engine.gating.stages import TEST, TOOLS, Ended, Stage
from verification.engine.reports.model import WORKSPACE, CaseStatus, TestCounts

OURS = str(Path(tools.__path__[0]))
TESTS = """
import unittest


class Sums(unittest.TestCase):
    def test_adds(self):
        pass

    def test_halves(self):
        self.assertEqual(3, 4)

    def test_odd(self):
        raise ValueError("x\\x00y\\x1b")

    @unittest.skip("later")
    def test_later(self):
        pass

    @unittest.expectedFailure
    def test_known(self):
        self.fail()

    @unittest.expectedFailure
    def test_surprise(self):
        pass

    def test_each(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertLess(number, 2)


class Fixtures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("no")

    def test_never(self):
        pass
"""
GOOD = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        %s\n"
MANAGE = """
import os
import sys

from django.core.management import execute_from_command_line

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
execute_from_command_line(sys.argv)
"""


def ran(folder: Path, command: str, **files: str) -> Judged:
    """What a plan's command tells of these files, as its container would run it."""
    for name, content in files.items():
        (folder / f"{name}.py").write_text(content)
    stage = asked(Stage(TEST, "pytest"), Language.PYTHON, command)
    assert stage
    report = folder.with_name("lv-report")
    ended = subprocess.run(
        ["/bin/sh", "-c", stage.command.replace(TOOLS, OURS).replace("python3", sys.executable)],
        cwd=folder,
        env={**os.environ, "LV_REPORT": str(report), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
    )
    told = report.read_bytes() if report.exists() else None
    told = told.replace(str(folder).encode(), WORKSPACE.encode()) if told else None
    return judged(
        part_with(stage),
        stage,
        Ended(ended.returncode, out=ended.stdout, err=ended.stderr, report=told),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_each_test_of_unittest_is_told_with_its_place(folder: Path) -> None:
    found = ran(folder, 'python -m unittest discover -v -p "test_*.py"', test_sums=TESTS)

    assert found.report.tests == TestCounts(passed=1, failed=3, errors=2, skipped=2)
    assert not found.report.is_guess
    assert not found.report.contradiction
    assert found.tests
    told = {one.name: (one.suite, one.path, one.line) for one in found.tests.cases}
    assert told["test_halves"] == ("test_sums.Sums", "test_sums.py", 10)
    assert told["test_each (number=2)"] == ("test_sums.Sums", "test_sums.py", 30)
    assert told["setUpClass (test_sums.Fixtures)"][1:] == ("test_sums.py", 36)
    assert {one.reason_code for one in findings_of(found.report)} == {"tests_failed"}


def test_a_module_that_cannot_be_imported_is_an_error(folder: Path) -> None:
    found = ran(folder, "python3 -m unittest", test_a="import nothing_there\n")

    [case] = found.tests.cases if found.tests else []
    assert (case.name, case.status) == ("test_a", CaseStatus.ERROR)
    assert "nothing_there" in case.message


def test_tests_that_pass_are_known_to_pass(folder: Path) -> None:
    found = ran(folder, "python -m unittest test_a.A.test_a", test_a=GOOD % "pass")

    assert found.report.has_passing_tests


def test_without_a_test_there_are_no_tests(folder: Path) -> None:
    found = ran(folder, "python -m unittest", a="")

    assert [one.reason_code for one in findings_of(found.report)] == ["no_tests"]


@pytest.mark.parametrize(
    "line", ["import os; os._exit(0)", "import sys; sys.exit(0)", "raise SystemExit"]
)
def test_tests_that_end_their_runner_prove_nothing(folder: Path, line: str) -> None:
    stopped = ran(folder, "python -m unittest", test_a=GOOD % line)
    never = ran(folder, "python -m unittest", test_a=line)

    for found in (stopped, never):
        assert not found.report.has_passing_tests
        assert findings_of(found.report)


def test_the_tests_of_django_report_through_it(folder: Path) -> None:
    found = ran(
        folder,
        "python manage.py test --noinput",
        manage=MANAGE,
        settings="SECRET_KEY = 'x'\nINSTALLED_APPS = []\n",
        test_a=(GOOD % "self.assertTrue(0)") + "\n    def test_b(self):\n        pass\n",
    )

    assert found.report.tests == TestCounts(passed=1, failed=1)
    [finding] = findings_of(found.report)
    assert (finding.path, finding.line) == ("test_a.py", 6)
