"""Failures of the corpus that somebody accepted by name. Source: docs/golden.md, "In CI"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element, ParseError, SubElement, tostring

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from loomverify.submitting.errors import NoAnswer, UsageError
from verification.engine.golden.standing import DOES_NOT_HOLD
from verification.golden.telling import ReplayTold
from verification.runs.exporting.texts import xml_text

MAX_REASON_CHARS = 500
MAX_LINE = 1_000


def parse_accepted(entries: Sequence[str]) -> dict[str, str]:
    """Read entries `NAME=REASON` as reasons by the name of a case.

    Raises:
        UsageError: an entry without a name or a reason, or two of one name.
    """
    accepted: dict[str, str] = {}
    for entry in entries:
        name, _, reason = (part.strip() for part in entry.partition("="))
        if not name or not reason:
            raise UsageError(
                f"--accept-failure {entry[:100]!r} must be NAME=REASON: the name of a case, and "
                "why its failure is accepted."
            )
        if len(reason) > MAX_REASON_CHARS:
            raise UsageError(f"The reason for {name!r} is over {MAX_REASON_CHARS} characters.")
        if name in accepted:
            raise UsageError(f"--accept-failure names {name!r} twice.")
        accepted[name] = reason
    return accepted


def accept_failures(replay: ReplayTold, accepted: Mapping[str, str]) -> ReplayTold:
    """Mark the failing cases that are accepted, and note each name that accepts nothing."""
    cases = tuple(
        replace(case, accepted=accepted.get(case.name, ""))
        if case.change in DOES_NOT_HOLD
        else case
        for case in replay.cases
    )
    used = {case.name for case in cases if case.accepted}
    notes = tuple(
        f"No failure of {name} to accept: remove its --accept-failure."
        for name in accepted
        if name not in used
    )
    return replace(replay, cases=cases, notes=notes)


def mark_in_report(report: Mapping[str, Any], replay: ReplayTold) -> dict[str, Any]:
    """Return the report with the reason of each accepted failure in its result."""
    reasons = {case.name: case.accepted for case in replay.cases if case.accepted}
    results = [
        {**result, "accepted_failure": reasons[result["name"]]}
        if result.get("name") in reasons
        else result
        for result in report["results"]
    ]
    return {**report, "results": results}


def skip_in_junit(document: bytes, replay: ReplayTold) -> bytes:
    """Return the document with accepted failures as skipped tests, with their reasons.

    Raises:
        NoAnswer: the document is no XML.
    """
    reasons = {
        xml_text(case.name, MAX_LINE): case.accepted for case in replay.cases if case.accepted
    }
    if not reasons:
        return document
    try:
        root: Element = fromstring(document)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise NoAnswer("The JUnit report of the replay cannot be read.") from error
    for case in root.iter("testcase"):
        failure = case.find("failure")
        reason = reasons.get(case.get("name", ""))
        if failure is not None and reason:
            case.remove(failure)
            message = xml_text(f"accepted failure: {reason}", MAX_LINE)
            SubElement(case, "skipped", {"type": "xfail", "message": message}).text = failure.text
    for suite in root.iter():
        if suite.tag in ("testsuites", "testsuite"):
            for name, tag in (("failures", "failure"), ("skipped", "skipped")):
                suite.set(name, str(sum(1 for _ in suite.iter(tag))))
    marked: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return marked
