from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.builders import SOURCE_TEXT, make_project, make_run
from tests.tables import check_rows
from verification.engine.outcome import Outcome, Verdict
from verification.runs.exporting import gathered, sarif
from verification.runs.exporting.gathered import report_of
from verification.runs.models import Run, RunState
from verification.runs.run_page import run_of

pytestmark = pytest.mark.django_db

SCHEMA = json.loads(
    (Path(__file__).parent / "schemas" / "sarif-2.1.0-rtm.4.json").read_text(encoding="utf-8")
)
HOSTILE = "see [here](https://evil.example) {0} \u202egpj </script> \U0001f600 \x7f"


def document_of(run: Run) -> dict[str, Any]:
    """The one run of the SARIF document, which follows the schema."""
    document: dict[str, Any] = json.loads(sarif.sarif(report_of(run)))
    checker = jsonschema.Draft4Validator.FORMAT_CHECKER
    jsonschema.Draft4Validator(SCHEMA, format_checker=checker).validate(document)
    assert document["version"] == "2.1.0"
    (only,) = document["runs"]
    return dict(only)


def made(**columns: Any) -> Run:
    return make_run(make_project(), **columns)


def rejected(*findings: dict[str, Any], **columns: Any) -> Run:
    return made(
        outcome=Outcome.FAIL, reason_code="rule_violated", findings=list(findings), **columns
    )


def region(line: int, column: int, end: int) -> dict[str, int]:
    return {"startLine": line, "startColumn": column, "endLine": line, "endColumn": end}


@pytest.mark.parametrize(
    ("enforcement", "level"), [("hard", "error"), ("advisory", "warning"), ("observe", "note")]
)
def test_a_violated_rule_is_a_result_as_severe_as_it_counts(enforcement: str, level: str) -> None:
    run = rejected(
        {"enforcement": enforcement, "path": "src/a b.py", "line": 3, "column": 5, "quote": "TODO"}
    )

    (result,) = document_of(run)["results"]

    assert (result["ruleId"], result["level"], result["kind"]) == ("no-placeholders", level, "fail")
    assert result["message"] == {"text": "A placeholder is left."}
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "src/a%20b.py"}, "region": region(3, 5, 9)}


def test_the_most_severe_come_first() -> None:
    run = rejected({"enforcement": "observe"}, {"enforcement": "advisory"}, {"enforcement": "hard"})

    assert [one["level"] for one in document_of(run)["results"]] == ["error", "warning", "note"]


def test_an_alert_is_known_again_by_our_fingerprint() -> None:
    run = rejected({"fingerprint": "f" * 64})

    (result,) = document_of(run)["results"]

    assert result["partialFingerprints"]["primaryLocationLineHash"] == f"{'f' * 64}:1"


@check_rows(
    ("finding", "uri", "line"),
    [
        ({"path": "a.py", "line": None}, "a.py", 1),
        ({"path": "ü/a#b?.py", "line": 2}, "%C3%BC/a%23b%3F.py", 2),
        ({"path": "a:b.py"}, "a%3Ab.py", 1),
        ({"path": "", "line": 7}, ".loomverify/output", 7),
        ({"path": "", "target": "", "place": {"tool_call": 3}}, ".loomverify/tool_calls", 4),
        ({"path": "", "target": "", "place": {"claims": [2, 5]}}, ".loomverify/claims", 3),
        ({"path": "", "line": 4, "place": {"evidence": "e/2"}}, ".loomverify/evidence/e%2F2", 4),
        ({"path": "", "target": "", "place": {"tool_call": "x"}}, ".loomverify/submission", 1),
        ({"path": "../../etc/passwd", "line": 2}, ".loomverify/submission", 1),
        ({"path": "/etc/passwd"}, ".loomverify/submission", 1),
        ({"path": "C:\\a.txt"}, ".loomverify/submission", 1),
        ({"path": "", "target": ""}, ".loomverify/submission", 1),
    ],
    rollback=True,
)
def test_every_result_has_a_place_that_code_hosts_take(
    finding: dict[str, Any], uri: str, line: int
) -> None:
    (result,) = document_of(rejected(finding))["results"]

    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": uri}
    assert place["region"] == region(line, 1, 2)


def test_what_is_unknown_is_a_notification_and_blames_nobody() -> None:
    run = made(
        outcome=Outcome.FAIL,
        verdict=Verdict.UNDECIDED,
        reason_code="infra_verifier_error",
        findings=[
            {"verdict": "unknown", "reason_code": "infra_verifier_error", "message": "Lost."}
        ],
    )

    document = document_of(run)

    (invocation,) = document["invocations"]
    (told,) = invocation["toolExecutionNotifications"]
    assert document["results"] == []
    assert (told["level"], told["message"]["text"]) == ("error", "Lost.")
    assert told["associatedRule"]["id"] == "no-placeholders"
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    assert invocation["exitCodeDescription"].startswith(
        "Undecided: the verifier could not be reached"
    )


@pytest.mark.parametrize("state", [RunState.ERRORED, RunState.CANCELLED])
def test_a_run_that_ended_without_a_verdict_was_not_executed(state: RunState) -> None:
    (invocation,) = document_of(made(state=state))["invocations"]

    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)


@pytest.mark.parametrize(("outcome", "code"), [(Outcome.PASS, 0), (Outcome.FAIL, 1)])
def test_a_decided_run_was_executed(outcome: Outcome, code: int) -> None:
    (invocation,) = document_of(made(outcome=outcome))["invocations"]

    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, code)


def test_the_series_is_named_after_process_and_phase() -> None:
    run = made(phase="write/it down")

    automation = document_of(run)["automationDetails"]

    assert automation["id"] == f"loomverify/small-work/write%2Fit%20down/{run.uuid}"
    assert automation["guid"] == str(run.live_evaluation.uuid)  # type: ignore[union-attr]


def test_rules_are_described_as_their_author_did() -> None:
    trace = [{"rule": "no-placeholders", "phase": "build", "applied": True, "verdict": "satisfied"}]
    run = made(evaluation={"rule_trace": trace})

    (rule,) = document_of(run)["tool"]["driver"]["rules"]

    assert rule["id"] == "no-placeholders"
    assert rule["fullDescription"]["text"] == "The rule no-placeholders."
    assert rule["properties"]["pattern"] == "TODO|TBD"
    assert rule["defaultConfiguration"] == {"level": "warning"}
    assert rule["properties"]["tags"] == ["loomverify", "regex"]


def test_a_check_is_described_by_what_it_found() -> None:
    run = rejected({"rule": "syntax", "reason_code": "syntax_invalid"})

    (rule,) = document_of(run)["tool"]["driver"]["rules"]

    assert rule["shortDescription"]["text"] == "A file does not parse."


def test_every_required_text_of_a_rule_is_there_and_short() -> None:
    source = SOURCE_TEXT.replace(
        "check: Every figure", f"description: {'x' * 5000}\n      check: It"
    )
    run = make_run(make_project(source_text=source), findings=[{"rule": "figures-have-sources"}])

    (rule,) = document_of(run)["tool"]["driver"]["rules"]

    for name in ("shortDescription", "fullDescription", "help"):
        assert 0 < len(rule[name]["text"]) <= 1024


def test_submitted_text_is_neither_a_link_nor_a_placeholder() -> None:
    run = rejected({"message": HOSTILE, "quote": HOSTILE, "suggestion": HOSTILE, "rule": HOSTILE})

    (result,) = document_of(run)["results"]

    assert "](" not in result["message"]["text"]
    assert "{0}" not in result["message"]["text"]


def test_what_does_not_fit_is_counted_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered, "MAX_FINDINGS", 3)
    monkeypatch.setattr(sarif, "MAX_BYTES", 1_600)
    run = rejected(*({"message": f"Problem {n}."} for n in range(5)))

    document = document_of(run)

    (told,) = document["invocations"][0]["toolExecutionNotifications"]
    assert len(document["results"]) == 2
    assert told["message"]["text"].startswith("3 findings more do not fit in here: http")


def test_the_largest_document_stays_below_what_code_hosts_take() -> None:
    texts = dict.fromkeys(("message", "quote"), "\U0001f525" * 1_000)
    run = rejected(*({**texts, "path": f"{n}.py", "line": n + 1} for n in range(1_100)))

    text = sarif.sarif(report_of(run))

    assert len(text.encode()) < 10_000_000
    assert "findings more do not fit in here" in text


def test_an_export_takes_the_same_queries_however_many_findings(
    django_assert_num_queries: Any,
) -> None:
    project = make_project()
    few, many = (make_run(project, findings=[{}] * count) for count in (1, 200))
    document_of(few)  # the definition of a version is read once

    for run in (run_of(project, few.uuid), run_of(project, many.uuid)):
        assert run is not None
        with django_assert_num_queries(3):
            sarif.sarif(report_of(run))
