from __future__ import annotations

import re
from itertools import product
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring

from tests.builders import make_project, make_run
from verification.engine.outcome import Outcome, Verdict
from verification.runs.exporting.gathered import report_of
from verification.runs.exporting.junit import junit
from verification.runs.models import Run, RunState

pytestmark = pytest.mark.django_db

# What the schema of Jenkins' xUnit plugin allows, which is the narrowest in use.
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"skipped", "error", "failure", "system-out"},
}
ATTRIBUTES = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set()),
    "testsuite": (
        {"name", "tests", "failures", "errors", "time", "skipped", "timestamp"},
        {"name", "tests", "failures", "errors"},
    ),
    "property": ({"name", "value"}, {"name", "value"}),
    "testcase": ({"name", "classname"}, {"name"}),
    "failure": ({"message"}, set()),
    "error": ({"message"}, set()),
    "skipped": ({"message"}, set()),
}
TIME = re.compile(r"[0-9]{1,3}\.[0-9]{3}")


def document_of(run: Run) -> Element:
    root = fromstring(junit(report_of(run)).decode())
    follow_shape(root)
    suite = root[0]
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert suite.get(name) == str(len(list(suite.iter(tag))))
    assert suite.get("tests") == str(len(list(suite.iter("testcase"))))
    assert TIME.fullmatch(suite.get("time") or "")
    return root


def follow_shape(element: Element) -> None:
    allowed, needed = ATTRIBUTES.get(element.tag, (set(), set()))
    assert needed <= set(element.keys()) <= allowed
    assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
    for child in element:
        follow_shape(child)


def cases_of(run: Run) -> dict[str, tuple[str, str]]:
    """How each test case ended, and its text, by name."""
    ended = {}
    for case in document_of(run).iter("testcase"):
        assert len(case) <= 1
        last = case[0] if len(case) else None
        tag = "passed" if last is None or last.tag == "system-out" else last.tag
        name = str(case.get("name"))
        assert name not in ended
        ended[name] = (tag, (last.text or "") if last is not None else "")
    return ended


def made(
    verdict: Verdict = Verdict.ACCEPT, *findings: dict[str, Any], trace: tuple[Any, ...] = ()
) -> Run:
    entries = [
        {"rule": rule, "phase": "build", "applied": applied, "verdict": how, "reason": why}
        for rule, applied, how, why in trace
    ]
    outcome = Outcome.PASS if verdict is Verdict.ACCEPT else Outcome.FAIL
    return make_run(
        make_project(),
        outcome=outcome,
        verdict=verdict,
        findings=list(findings),
        evaluation={"rule_trace": entries},
    )


@pytest.mark.parametrize(
    ("verdict", "ended"),
    [
        (Verdict.ACCEPT, "passed"),
        (Verdict.REJECT, "failure"),
        (Verdict.UNDECIDED, "error"),  # doubt is not blame
    ],
)
def test_the_verdict_is_a_test(verdict: Verdict, ended: str) -> None:
    cases = cases_of(made(verdict))

    assert cases["verdict"][0] == ended
    assert "http" in cases["verdict"][1]


FOUND = list(product(("hard", "advisory", "observe"), ("violated", "unknown")))


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize(("enforcement", "found"), FOUND)
def test_ci_is_red_as_the_verdict_is_whatever_was_found(
    verdict: Verdict, enforcement: str, found: str
) -> None:
    run = made(verdict, {"enforcement": enforcement, "verdict": found})

    ended = [tag for tag, _ in cases_of(run).values()]

    assert ("failure" in ended) == (verdict is Verdict.REJECT)
    assert ("error" in ended) <= (verdict is not Verdict.ACCEPT)
    if verdict is Verdict.UNDECIDED:
        assert "error" in ended


@pytest.mark.parametrize(
    ("enforcement", "found", "ended"),
    [
        ("hard", "violated", "failure"),
        ("hard", "unknown", "error"),
        ("advisory", "violated", "passed"),
        ("observe", "violated", "passed"),
        ("advisory", "unknown", "skipped"),  # nobody looked: that is no pass
    ],
)
def test_a_check_ends_as_its_findings_count(enforcement: str, found: str, ended: str) -> None:
    finding = {"rule": "syntax", "enforcement": enforcement, "verdict": found, "path": "a.py"}

    tag, text = cases_of(made(Verdict.REJECT, finding))["syntax"]

    assert tag == ended
    assert "a.py A placeholder is left." in text


@pytest.mark.parametrize(
    ("verdict", "ended"),
    [(Verdict.ACCEPT, "passed"), (Verdict.REJECT, "failure"), (Verdict.UNDECIDED, "skipped")],
)
def test_a_hard_violation_passes_only_where_the_work_was_accepted(
    verdict: Verdict, ended: str
) -> None:
    finding = {"rule": "syntax", "enforcement": "hard", "verdict": "violated"}

    assert cases_of(made(verdict, finding))["syntax"][0] == ended


@pytest.mark.parametrize(
    ("applied", "verdict", "reason", "ended"),
    [
        (True, "satisfied", "phase", "passed"),
        (True, "unknown", "phase", "skipped"),
        (True, "violated", "phase", "skipped"),  # thousands of others are told first
        (False, "not_reached", "other_phase", "skipped"),
    ],
)
def test_each_rule_is_a_test_even_where_nothing_was_found(
    applied: bool, verdict: str, reason: str, ended: str
) -> None:
    run = made(trace=(("no-placeholders", applied, verdict, reason),))

    assert cases_of(run)["no-placeholders"][0] == ended


def test_a_skipped_rule_says_why() -> None:
    run = made(trace=(("figures-have-sources", False, "not_reached", "tier_not_reached"),))

    assert cases_of(run)["figures-have-sources"] == ("skipped", "Not applied: tier not reached.")


def test_many_findings_of_one_rule_are_one_test() -> None:
    run = made(Verdict.REJECT, *({"message": f"Problem {n}."} for n in range(60)))

    tag, text = cases_of(run)["no-placeholders"]

    assert tag == "failure"
    assert text.count("Problem") == 50
    assert text.endswith("And 10 more.")


@pytest.mark.parametrize("state", [RunState.ERRORED, RunState.CANCELLED])
def test_a_run_without_a_verdict_is_an_error_not_a_pass(state: RunState) -> None:
    assert cases_of(make_run(make_project(), state=state))["verdict"][0] == "error"


def test_hostile_text_leaves_the_document_sound() -> None:
    text = "]]><failure/>\x01\ufffe\ud7ff &amp; \U0001f600 [[ATTACHMENT|/etc/passwd]] \x1b[31m"
    run = made(Verdict.REJECT, {"message": text, "quote": text, "rule": text, "suggestion": text})

    ((tag, told),) = [ended for name, ended in cases_of(run).items() if name != "verdict"]

    assert tag == "failure"
    assert "]]><failure/>" in told
    assert "[[" not in told


def test_very_long_texts_are_cut() -> None:
    text = "x" * 100_000
    run = made(Verdict.REJECT, *({"message": text, "quote": text} for _ in range(60)))

    assert len(junit(report_of(run))) < 200_000
