from __future__ import annotations

import json

import pytest

from tests.engine.reports.test_test_reports import RSPEC, recorded
from tests.tables import check_rows
from verification.engine.reports.model import CaseStatus, Unreadable
from verification.engine.reports.testing import read_tests


@pytest.mark.parametrize(
    ("report", "folder", "name", "place"),
    [
        ("recorded/rspec/calc.json", "rspec", "halves", ("rspec/spec/calc_spec.rb", 4)),
        # Where it failed, not where the example begins.
        ("recorded/rspec/calc.json", "rspec", "is in another file", ("rspec/lib/calc.rb", 2)),
        ("recorded/rspec/calc.json", "rspec", "adds", ("rspec/spec/calc_spec.rb", 2)),
        ("recorded/minitest/calc.json", "mini", "test_halves", ("mini/test/calc_test.rb", 7)),
    ],
)
def test_an_example_stands_where_it_failed(
    report: str, folder: str, name: str, place: tuple[str, int]
) -> None:
    cases = {case.name: case for case in read_tests(RSPEC, recorded(report), folder).cases}

    assert (cases[name].path, cases[name].line) == place


def test_an_example_says_why_it_failed_and_what_it_stands_in() -> None:
    cases = {
        case.name: case for case in read_tests(RSPEC, recorded("recorded/rspec/calc.json")).cases
    }

    assert cases["is broken"].message == "no database"
    assert cases["halves"].suite == "Calc division"


def test_what_could_not_be_loaded_is_an_error_that_says_why() -> None:
    [case] = read_tests(RSPEC, recorded("recorded/rspec/bad.json")).cases

    assert case.status is CaseStatus.ERROR
    assert "An error occurred while loading ./spec/bad_spec.rb." in case.message


def test_a_run_that_was_left_in_one_of_its_examples_is_not_read() -> None:
    with pytest.raises(Unreadable, match="no status"):
        read_tests(RSPEC, recorded("recorded/rspec/left.json"))


@check_rows("key", ["example_count", "failure_count", "pending_count"])
@check_rows("number", [0, 7, -1, "x", None, True])
def test_a_report_of_rspec_that_contradicts_itself_is_not_read(key: str, number: object) -> None:
    whole = json.loads(recorded("recorded/rspec/calc.json"))
    whole["summary"][key] = number

    with pytest.raises(Unreadable):
        read_tests(RSPEC, json.dumps(whole).encode())


@pytest.mark.parametrize(
    "trace", [None, 7, "spec/calc_spec.rb:3", [None, 7], ["/etc/passwd:1:in `x'"], ["../x.rb:3"]]
)
def test_a_trace_that_leads_nowhere_leaves_an_example_where_it_begins(trace: object) -> None:
    whole = json.loads(recorded("recorded/rspec/calc.json"))
    whole["examples"][2]["exception"]["backtrace"] = trace

    cases = {case.name: case for case in read_tests(RSPEC, json.dumps(whole).encode()).cases}

    assert (cases["is broken"].path, cases["is broken"].line) == ("spec/calc_spec.rb", 7)
