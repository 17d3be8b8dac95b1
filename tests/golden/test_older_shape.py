"""Cases in the shape of before, `{id, context, legacy, policy, expected}`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from loomverify.errors import InputError
from verification.golden.documents.older import from_older
from verification.golden.documents.parsing import parse_cases
from verification.golden.documents.reading import read_case

DOCS = Path(__file__).resolve().parents[2] / "docs" / "golden.md"
OLDER: dict[str, Any] = {
    "id": "market_research/single company",
    "context": {
        "process": "market-research",
        "phase_id": "analyse",
        "subtask": "Describe the companies.",
        "acceptance_criteria": "Each company has a section.",
        "result_summary": "Only one company is in this market: Acme.",
        "files": {"report.md": "# Acme\n"},
        "run_id": "cowork-17",
        "date": "2026-02-18",
    },
    "legacy": {"passed": False, "reason_code": "hard_invariant_failed"},
    "policy": {"passed": True, "outcome": "pass_with_warnings"},
    "expected": {"shadow_classification": "old_fail_new_pass", "retry_strategy": "none"},
}


def changed(**fields: Any) -> dict[str, Any]:
    return {**OLDER, **fields}


def without(context: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in context.items() if name not in names}


def test_the_context_is_submitted_and_the_expectations_are_kept() -> None:
    case = read_case(from_older(OLDER))

    given = case.given
    assert case.document.id == "market-research-single-company"
    assert (case.document.process, given.phase) == ("market-research", "analyse")
    assert given.submission.output == "Only one company is in this market: Acme."
    assert given.submission.task.description == "Describe the companies."
    assert given.submission.task.acceptance_criteria == "Each company has a section."
    assert dict(case.files) == {"report.md": b"# Acme\n"}
    assert case.expected == {"shadow": "old_fail_new_pass", "retry_strategy": "none"}


def test_recorded_verdicts_are_provenance_and_nothing_that_is_replayed() -> None:
    document = from_older(OLDER)

    kept = document["provenance"]
    assert kept["recorded legacy"] == '{"passed": false, "reason_code": "hard_invariant_failed"}'
    assert kept["recorded policy"] == '{"passed": true, "outcome": "pass_with_warnings"}'
    assert (kept["context run_id"], kept["context date"]) == ("cowork-17", "2026-02-18")
    assert "replies" not in document
    assert read_case(document).given.recordings == ()


def test_a_reply_that_was_kept_is_played_again() -> None:
    context = {**OLDER["context"], "replies": [{"tier": 2, "text": '{"passed": true}'}]}

    [recording] = read_case(from_older(changed(context=context))).given.recordings

    assert (recording.tier, recording.number, recording.text) == (2, 1, '{"passed": true}')


@pytest.mark.parametrize(
    ("older", "code", "loc"),
    [
        (changed(context="a summary"), "case.context", ("context",)),
        (changed(context={"notes": "none"}), "case.nothing_submitted", ("context",)),
        (changed(expected={}), "case.expects_nothing", ("expected",)),
        (changed(expected=None), "case.expects_nothing", ("expected",)),
        (changed(id=""), "case.id", ("id",)),
        (changed(verdicts=[]), "case.field", ("verdicts",)),
        (
            changed(expected={"retry_strategy": "none", "mood": "good"}),
            "case.field",
            ("expected", "mood"),
        ),
    ],
    ids=["context-text", "nothing", "expects-nothing", "no-expected", "no-name", "field", "mood"],
)
def test_what_cannot_be_a_case_is_told_with_its_place(
    older: dict[str, Any], code: str, loc: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as found:
        from_older(older, loc=("body", 0))

    assert [(one.code, one.loc) for one in found.value.issues] == [(code, ("body", 0, *loc))]


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ({"shadow_classification": "old_worse"}, "enum"),
        ({"retry_strategy": "pray"}, "enum"),
    ],
    ids=["class", "strategy"],
)
def test_a_class_or_strategy_that_is_none_is_refused(expected: dict[str, str], code: str) -> None:
    with pytest.raises(InputError) as found:
        read_case(from_older(changed(expected=expected)))

    assert found.value.code == code


@pytest.mark.parametrize(
    ("said", "shadow"),
    [
        ("old-fail/new-pass", "old_fail_new_pass"),
        ("both_fail_reason_diff", "both_fail_reason_diff"),
        ("no_diff", "no_diff"),
    ],
)
def test_classes_are_known_by_their_older_spelling(said: str, shadow: str) -> None:
    found = from_older(changed(expected={"shadow_classification": said}))

    assert found["expected"] == {"shadow": shadow}


def test_without_process_and_phase_it_is_general_work() -> None:
    context = without(OLDER["context"], "process", "phase_id", "subtask")

    found = from_older(changed(context=context))

    assert (found["process"], found["phase"]) == ("general", "work")
    assert found["run"]["task"]["description"] == "As it was in the older case."


def test_the_manuals_example_is_read_as_it_says() -> None:
    part = DOCS.read_text().partition("### The older shape")[2].partition("\n## ")[0]
    older, today = re.findall(r"```yaml\n(.+?)```", part, re.DOTALL)[:2]

    [converted] = parse_cases(older.encode()).documents
    [shown] = parse_cases(today.encode()).documents

    assert converted == shown
    read_case(converted)
