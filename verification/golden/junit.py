"""Results of a replay as JUnit XML, which every CI reads. Source: docs/golden.md, "In CI"."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verification.engine.golden.standing import DOES_NOT_HOLD, Change
from verification.runs.exporting.texts import xml_text

MAX_LINE = 1_000
MAX_TEXT = 60_000
WORDS = {
    Change.REGRESSED: "regressed",
    Change.STILL_FAILING: "still failing",
    Change.NEW: "new, does not hold",
    Change.NOT_JUDGED: "could not be judged",
}


@dataclass(frozen=True, slots=True)
class TestCase:
    """`why`: what kept it from being judged."""

    __test__ = False

    name: str
    process: str
    phase: str
    change: Change
    differences: Sequence[Mapping[str, Any]] = ()
    why: str = ""


def junit_xml(name: str, cases: Iterable[TestCase]) -> bytes:
    """Return the document: a suite for each process; a case that does not hold is a failure.

    What could not be judged is an error, never a pass.
    """
    by_process: dict[str, list[TestCase]] = {}
    for case in cases:
        by_process.setdefault(case.process, []).append(case)
    root = ET.Element("testsuites", {"name": xml_text(name, MAX_LINE)})
    for process, found in sorted(by_process.items()):
        root.append(_suite(process, found))
    everything = [case for found in by_process.values() for case in found]
    root.attrib.update(_counts(everything))
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _suite(process: str, cases: Sequence[TestCase]) -> ET.Element:
    suite = ET.Element("testsuite", {"name": xml_text(process, MAX_LINE), **_counts(cases)})
    suite.extend(_case(case) for case in cases)
    return suite


def _counts(cases: Sequence[TestCase]) -> dict[str, str]:
    return {
        "tests": str(len(cases)),
        "failures": str(sum(case.change in DOES_NOT_HOLD for case in cases)),
        "errors": str(sum(case.change is Change.NOT_JUDGED for case in cases)),
        "skipped": "0",
    }


def _case(case: TestCase) -> ET.Element:
    told = {
        "name": xml_text(case.name, MAX_LINE),
        "classname": xml_text(f"{case.process}.{case.phase}", MAX_LINE),
    }
    element = ET.Element("testcase", told)
    if case.change in DOES_NOT_HOLD:
        places = ", ".join(str(one.get("place")) for one in case.differences)
        _add(element, "failure", case.change, places, _differences(case))
    elif case.change is Change.NOT_JUDGED:
        _add(element, "error", case.change, case.why, case.why)
    return element


def _add(element: ET.Element, tag: str, change: Change, message: str, text: str) -> None:
    word = WORDS[change]
    short = xml_text(f"{word}: {message}" if message else word, MAX_LINE)
    told = ET.SubElement(element, tag, {"type": change.value, "message": short})
    told.text = xml_text(text, MAX_TEXT)


def _differences(case: TestCase) -> str:
    lines = [
        f"{one.get('place')}\n  expected {_value(one.get('expected'))}\n"
        f"  observed {_value(one.get('observed'))}"
        for one in case.differences
    ]
    return "\n".join(lines)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
