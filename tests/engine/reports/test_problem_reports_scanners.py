from __future__ import annotations

import pytest

from tests.engine.reports.problem_reports import HIGH, LOW, MEDIUM, Row, assert_reads, content_of
from tests.tables import check_rows
from verification.engine.reports.model import Unreadable
from verification.engine.reports.problems import ProblemFormat, read_problems

STORE, BROKEN = "app/store.py", "app/broken.py"


@pytest.mark.parametrize(
    ("name", "exits", "rows"),
    [
        (
            "recorded/sarif/ruff.sarif",
            1,
            [
                (BROKEN, 1, 12, "invalid-syntax", HIGH),
                (BROKEN, 1, 13, "invalid-syntax", HIGH),
                (STORE, 1, 1, "I001", HIGH),
                (STORE, 1, 8, "F401", HIGH),
                (STORE, 7, 5, "S602", HIGH),
                (STORE, 8, 12, "S301", HIGH),
                (STORE, 12, 5, "F841", HIGH),
                (STORE, 12, 16, "S105", HIGH),
                (STORE, 13, 5, "F841", HIGH),
            ],
        ),
        ("recorded/sarif/ruff_clean.sarif", 0, []),
        # What could not be parsed is told beside the results; what is suppressed among them.
        (
            "recorded/sarif/eslint.sarif",
            1,
            [
                ("src/broken.js", 1, 7, "ESL0999", HIGH),
                ("src/store.js", 1, 7, "no-unused-vars", HIGH),
                ("src/store.js", 2, 5, "no-undef", HIGH),
                ("src/store.js", 2, 7, "eqeqeq", MEDIUM),
            ],
        ),
        (
            "recorded/sarif/bandit.sarif",
            1,
            [
                (BROKEN, None, None, "", HIGH),
                (STORE, 7, 5, "B602", HIGH),
                (STORE, 8, 12, "B301", MEDIUM),
                (STORE, 2, 1, "B404", LOW),
                (STORE, 3, 1, "B403", LOW),
                (STORE, 12, 16, "B105", LOW),
            ],
        ),
        ("recorded/sarif/semgrep.sarif", 0, [(STORE, 7, 5, "rules.no-shell", HIGH)]),
        (
            "written/sarif/scored.sarif",
            0,
            [
                ("src/a.py", 3, 5, "py/sql-injection", HIGH),
                ("", None, None, "other", HIGH),
                ("src/my shop.py", 4, None, "py/weak", MEDIUM),
                ("", None, None, "other", MEDIUM),
                ("b.py", None, None, "py/unused", LOW),
                ("", None, None, "other", LOW),
            ],
        ),
        (
            "written/npm_audit/problems.json",
            1,
            [
                ("", None, None, "GHSA-xvch-5gv4-984h", HIGH),
                ("", None, None, "", MEDIUM),
            ],
        ),
        ("written/npm_audit/clean.json", 0, []),
        ("written/pip_audit/problems.json", 1, [("", None, None, "PYSEC-2019-217", HIGH)]),
        ("written/pip_audit/clean_list.json", 0, []),
    ],
)
def test_a_report_of_a_scanner_is_read_as_it_means_it(
    name: str, exits: int, rows: list[Row]
) -> None:
    assert_reads(name, exits, rows)


def test_what_a_package_brings_in_is_named() -> None:
    report = read_problems(ProblemFormat.NPM_AUDIT, content_of("written/npm_audit/problems.json"))

    assert [one.message for one in report.problems] == [
        "minimist <=0.2.3: Prototype Pollution in minimist",
        "mkdirp 0.4.1 - 0.5.1: through minimist",
    ]


def test_a_package_that_is_not_safe_is_told_with_its_fix() -> None:
    report = read_problems(ProblemFormat.PIP_AUDIT, content_of("written/pip_audit/problems.json"))

    assert report.problems[0].message.startswith("jinja2 2.10 (fixed in 2.10.1): In Pallets")


def test_a_message_by_its_id_is_looked_up_among_the_rules() -> None:
    report = read_problems(ProblemFormat.SARIF, content_of("written/sarif/scored.sarif"))

    assert report.problems[2].message == "A weak algorithm."


@check_rows(
    ("format", "content"),
    [
        ("npm_audit", content_of("recorded/npm_audit/refused.json")),
        ("npm_audit", b""),
        ("npm_audit", b'{"auditReportVersion": 2}'),
        ("pip_audit", content_of("recorded/pip_audit/skipped.json")),
        ("pip_audit", b""),
        ("pip_audit", b"{}"),
        ("sarif", b""),
        ("sarif", b'{"version": "2.1.0", "runs": []}'),
        ("sarif", b'{"version": "2.1.0", "runs": [{"results": null}]}'),
        ("sarif", b'{"runs": [{"results": [], "invocations": [{"executionSuccessful": false}]}]}'),
        (
            "sarif",
            b'{"runs": [{"results": [{"suppressions": [{}]}],'
            b' "invocations": [{"executionSuccessful": false}]}]}',
        ),
        ("bandit", b""),
        ("bandit", b'{"results": []}'),
    ],
)
def test_a_scanner_that_did_not_look_found_nothing_out(format: str, content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_problems(ProblemFormat(format), content)
