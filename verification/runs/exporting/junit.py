"""A run as JUnit XML, as CI servers read it. Source: docs/exports.md, "JUnit"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from xml.etree.ElementTree import Element, SubElement, tostring

from verification.engine.finding import TraceVerdict
from verification.engine.outcome import Verdict
from verification.runs.exporting.gathered import Found, RunReport
from verification.runs.exporting.texts import clipped, one_line, xml_text
from verification.runs.places import place_of

MAX_TOLD = 50
"""Findings told under one rule."""
MAX_LINE = 1_000
MAX_TEXT = 60_000
VERDICT = "verdict"
NOT_LOOKED_INTO = "It could not be looked into."
LEFT_OUT = "It is violated; the page of the run shows how, for which there is no room here."


class Colour(StrEnum):
    """How a test case ends; the value is the element that says so."""

    PASSED = ""
    SKIPPED = "skipped"
    FAILURE = "failure"
    ERROR = "error"


RED = (Colour.FAILURE, Colour.ERROR)
ALLOWED = {
    Verdict.ACCEPT: (),
    Verdict.REJECT: RED,
    Verdict.UNDECIDED: (Colour.ERROR,),
}
"""What may be red under a verdict: a failure blames the work, an error only says doubt."""
OF_VERDICT = {
    Verdict.ACCEPT: Colour.PASSED,
    Verdict.REJECT: Colour.FAILURE,
    Verdict.UNDECIDED: Colour.ERROR,
}


@dataclass(frozen=True, slots=True)
class TestCase:
    name: str
    group: str
    colour: Colour
    message: str = ""
    text: str = ""


def junit(report: RunReport) -> bytes:
    cases = list(test_cases(report))
    seconds = report.evaluation.duration_ms / 1000 if report.evaluation else 0
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.colour is Colour.FAILURE for case in cases)),
        "errors": str(sum(case.colour is Colour.ERROR for case in cases)),
        "time": f"{seconds:.3f}",
    }
    root = Element("testsuites", {"name": "LoomVerify", **counts})
    name = f"{report.run.process.slug}.{report.run.phase_id}"
    suite = SubElement(root, "testsuite", {"name": xml_text(name, MAX_LINE), **counts})
    suite.set("skipped", str(sum(case.colour is Colour.SKIPPED for case in cases)))
    suite.set("timestamp", report.run.created_at.isoformat(timespec="seconds"))
    _add_properties(suite, report)
    for case in cases:
        _add_case(suite, case, f"{name}.{case.group}")
    answer: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return answer


def test_cases(report: RunReport) -> Iterator[TestCase]:
    """The verdict, each rule once, and each check that found something. Red follows the verdict."""
    head = report.headline
    said = f"{head.title} {head.detail}".strip()
    yield TestCase(VERDICT, VERDICT, OF_VERDICT[report.verdict], said, f"{said}\n{report.url}")
    by_rule: dict[str, list[Found]] = defaultdict(list)
    for one in report.found:
        by_rule[one.row.rule].append(one)
    for entry in report.trace:
        found = by_rule.pop(entry["rule"], [])
        if entry["applied"] or found:
            yield _applied(report, entry["rule"], "rules", found=found, traced=entry["verdict"])
        else:
            why = f"Not applied: {entry['reason'].replace('_', ' ')}."
            yield TestCase(entry["rule"], "rules", Colour.SKIPPED, why)
    for check, found in by_rule.items():
        yield _applied(report, check, "checks", found=found)


def _applied(
    report: RunReport,
    name: str,
    group: str,
    *,
    found: Sequence[Found],
    traced: str = TraceVerdict.UNKNOWN,
) -> TestCase:
    colour = _colour(found, traced)
    if colour in RED and colour not in ALLOWED[report.verdict]:
        was_accepted = colour is Colour.FAILURE and report.verdict is Verdict.ACCEPT
        colour = Colour.PASSED if was_accepted else Colour.SKIPPED
    unfound = LEFT_OUT if traced == TraceVerdict.VIOLATED else NOT_LOOKED_INTO
    message = found[0].message if found else unfound
    return TestCase(
        name=name,
        group=group,
        colour=colour,
        message="" if colour is Colour.PASSED else message,
        text="\n".join(_lines(found)),
    )


def _colour(found: Sequence[Found], traced: str) -> Colour:
    violated = [one for one in found if one.is_violated]
    if any(one.is_hard for one in violated):
        return Colour.FAILURE
    if any(one.is_hard for one in found):
        return Colour.ERROR
    if violated or traced == TraceVerdict.SATISFIED:
        return Colour.PASSED
    return Colour.SKIPPED


def _lines(found: Sequence[Found]) -> Iterator[str]:
    for one in found[:MAX_TOLD]:
        unknown = "" if one.is_violated else ", unknown"
        place = place_of(one.row)
        told = f"[{one.row.enforcement}{unknown}] {place} {one.message} {one.suggestion}"
        quoted = f" Found: {one.quote}" if one.quote else ""
        yield clipped(one_line(told + quoted), MAX_LINE)
    if len(found) > MAX_TOLD:
        yield f"And {len(found) - MAX_TOLD} more."


def _add_properties(suite: Element, report: RunReport) -> None:
    run = report.run
    given = {
        "run": str(run.uuid),
        "url": report.url,
        "task": run.task.external_id,
        "state": run.state,
        "outcome": run.outcome or "",
        "verdict": report.verdict.value,
        "reason_code": run.reason_code,
        "process_version": str(run.process_version.number),
        "verifier_version": str(run.verifier_version.number),
        "findings_left_out": str(report.left_out),
    }
    properties = SubElement(suite, "properties")
    for name, value in given.items():
        SubElement(properties, "property", {"name": name, "value": xml_text(value, MAX_LINE)})


def _add_case(suite: Element, case: TestCase, group: str) -> None:
    element = SubElement(
        suite,
        "testcase",
        {"name": xml_text(case.name, MAX_LINE), "classname": xml_text(group, MAX_LINE)},
    )
    text = xml_text(case.text, MAX_TEXT)
    if case.colour is Colour.PASSED:
        if text:
            SubElement(element, "system-out").text = text
        return
    message = xml_text(one_line(case.message), MAX_LINE)
    ended = SubElement(element, case.colour.value, {"message": message})
    # GitLab shows the text alone, others the message alone.
    ended.text = text or message
