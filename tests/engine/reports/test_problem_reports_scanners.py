from __future__ import annotations

import json

import pytest

from tests.engine.reports.problem_reports import HIGH, LOW, MEDIUM, Row, assert_reads, content_of
from tests.tables import check_rows
from verification.engine.reports.model import ProblemSeverity, Unreadable
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
            "written/sarif/roslyn_1_0_0.sarif",
            1,
            [
                ("", None, None, "CS5001", HIGH),
                ("src/My Shop/Price.cs", 9, 17, "CS0219", MEDIUM),
                ("src/My Shop/Shop.cs", 21, 20, "CA1822", LOW),
            ],
        ),
        (
            "written/sarif/binary_1_0_0.sarif",
            1,
            [
                ("bin/cart.dll", None, None, "BinSkim", HIGH),
                ("bin/shop.dll", None, None, "BA2009", HIGH),
                ("", None, None, "BinSkim", MEDIUM),
                ("src/shop.c", 4, None, "BA2001", LOW),
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


def test_a_message_of_sarif_1_0_0_is_the_template_of_its_rule_with_its_arguments() -> None:
    report = read_problems(ProblemFormat.SARIF, content_of("written/sarif/binary_1_0_0.sarif"))

    assert [one.message for one in report.problems] == [
        "bin/cart.dll could not be loaded.",
        "'shop.dll' is not marked for ASLR, and {2} is no argument.",
        "shop.dll has no symbols.",
        "The image loads above 4 GB.",
    ]


def sarif(*results: object, **run: object) -> bytes:
    """A report of one run in SARIF 2.1.0."""
    tool = {"driver": {"name": "lint", "rules": run.pop("rules", [])}}
    whole = {"version": "2.1.0", "runs": [{"tool": tool, "results": results, **run}]}
    return json.dumps(whole).encode()


OFF = {"id": "r", "defaultConfiguration": {"level": "none"}}
NOISY = {"descriptor": {"id": "r"}, "configuration": {"level": "error"}}
QUIET = {"descriptor": {"index": 0}, "configuration": {"level": "none"}}


@check_rows(
    ("result", "run", "severities"),
    [
        ({}, {}, [MEDIUM]),
        ({"level": "none"}, {}, []),
        ({"kind": "fail", "level": "none"}, {}, []),
        ({"kind": "pass"}, {}, []),
        ({"kind": "notApplicable"}, {}, []),
        ({"kind": "informational"}, {}, []),
        ({"kind": "pass", "ruleId": "r"}, {"rules": [{**OFF, "properties": {"security-severity": 9}}]}, []),
        # Nobody has decided yet whether it is a problem.
        ({"kind": "open"}, {}, [LOW]),
        ({"kind": "review", "level": "none"}, {}, [LOW]),
        ({"ruleId": "r"}, {"rules": [OFF]}, []),
        ({"ruleId": "r", "level": "error"}, {"rules": [OFF]}, [HIGH]),
        ({"ruleId": "r"}, {"rules": [OFF],
         "invocations": [{"ruleConfigurationOverrides": [NOISY]}]}, [HIGH]),
        ({"ruleIndex": 0}, {"rules": [{"id": "r"}],
         "invocations": [{"ruleConfigurationOverrides": [QUIET]}]}, []),
        ({"level": "warning"}, {"invocations": [{"executionSuccessful": False}]}, [MEDIUM]),
    ],
)  # fmt: skip
def test_a_result_of_sarif_counts_by_its_level_and_its_kind(
    result: dict[str, object], run: dict[str, object], severities: list[ProblemSeverity]
) -> None:
    report = read_problems(ProblemFormat.SARIF, sarif(result, **run))

    assert [one.severity for one in report.problems] == severities
    assert report.total == len(severities)


@check_rows(
    ("content", "why"),
    [
        ('{"version": "2.0.0", "runs": [{"results": []}]}', "is SARIF 2.0.0"),
        ('{"version": "2.0.0-csd.2.beta.2018-10-10", "runs": [{"results": []}]}', "is SARIF 2.0.0-csd"),
        ('{"version": "0.1.0", "runLogs": []}', "is SARIF 0.1.0"),
        ('{"version": "3.0.0", "runs": [{"results": []}]}', "is SARIF 3.0.0"),
        ('{"version": 2, "runs": [{"results": []}]}', "which version of SARIF"),
        ('{"runs": [{"results": []}]}', "which version of SARIF"),
        ('{"version": "1.0.0", "runs": [{"tool": {"name": "a"}}]}', "did not report"),
        ('{"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]}', "did not report"),
        ('{"version": "2.1.0", "runs": [{"tool": {"name": "a"}, "results": []}]}', "another version"),
        ('{"version": "1.0.0", "runs": [{"tool": {"driver": {}}, "results": []}]}', "another version"),
        ('{"version": "2.1.0", "runs": [{"results": [{"message": "a"}]}]}', "another version"),
        ('{"version": "1.0.0", "runs": [{"results": [{"message": {"text": "a"}}]}]}', "another version"),
        ('{"version": "2.1.0", "runs": [{"results": [{"locations": [{"resultFile": {}}]}]}]}',
         "another version"),
        ('{"version": "1.0.0", "runs": [{"results": [{"locations": [{"physicalLocation": {}}]}]}]}',
         "another version"),
        ('{"version": "2.1.0", "runs": [{"results": [{"level": "note"}],'
         ' "invocations": [{"executionSuccessful": false}]}]}', "did not succeed"),
    ],
)  # fmt: skip
def test_sarif_of_an_unknown_version_or_shape_is_refused_by_name(content: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_problems(ProblemFormat.SARIF, content.encode())


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
        ("sarif", sarif(invocations=[{"executionSuccessful": False}])),
        ("sarif", sarif({"suppressions": [{}]}, invocations=[{"executionSuccessful": False}])),
        ("bandit", b""),
        ("bandit", b'{"results": []}'),
    ],
)
def test_a_scanner_that_did_not_look_found_nothing_out(format: str, content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_problems(ProblemFormat(format), content)
