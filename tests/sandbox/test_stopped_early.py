"""Tests that end a run before the others ran prove nothing, whatever was reported until then."""

from __future__ import annotations

import pytest
from docker import APIClient

from tests.sandbox.engine import tried

pytestmark = pytest.mark.docker

PASSES = "def test_a():\n    pass\n"
FAILS = "def test_z():\n    assert False\n"
STOPS = """import pytest

@pytest.fixture
def database():
    pytest.exit("no database", returncode=0)

def test_b(database):
    pass
"""
HOOK = (
    "import pytest\n\ndef pytest_runtest_{when}({given}):\n    pytest.exit('over', returncode=0)\n"
)
PYTHON = {"requirements.txt": "", "test_a.py": PASSES, "test_z.py": FAILS}
UNITTEST = """import unittest

class Tests(unittest.TestCase):
    def test_a(self):
        self._outcome.result.stop()

    def test_z(self):
        self.fail("never run")
"""
MINITEST = (
    "require 'minitest/autorun'\nclass T{0} < Minitest::Test\n  def test_{0}; {1}; end\nend\n"
)


@pytest.mark.parametrize(
    ("work", "plan"),
    [
        ({**PYTHON, "test_b.py": STOPS}, ""),
        ({**PYTHON, "conftest.py": HOOK.format(when="logfinish", given="nodeid")}, ""),
        ({**PYTHON, "conftest.py": HOOK.format(when="logstart", given="nodeid")}, ""),
        (
            {**PYTHON, "conftest.py": "def pytest_runtest_protocol(item):\n    return True\n"},
            "",
        ),
        (
            {"requirements.txt": "", "test_one.py": UNITTEST},
            "Test commands:\n```\npython -m unittest\n```",
        ),
        (
            {
                "Gemfile": "",
                "test/test_a.rb": MINITEST.format("a", "assert true"),
                "test/test_b.rb": "exit 0\n",
                "test/test_c.rb": MINITEST.format("c", "assert false"),
            },
            "",
        ),
    ],
    ids=["fixture", "logfinish", "logstart", "protocol", "unittest", "minitest"],
)
def test_a_run_that_was_ended_early_is_in_doubt(
    engine: APIClient, work: dict[str, str], plan: str
) -> None:
    report = tried(engine, work, "test", plan=plan).reports["test"]

    assert report.contradiction == "ended well before its runner came to its end", report
