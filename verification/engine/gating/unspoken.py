"""Test files that ended well and told of no test, though they have some."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import replace

import re2

from verification.engine.gates import GateReport
from verification.engine.gating.components import Component
from verification.engine.gating.judging import Judged
from verification.engine.outcome import Status
from verification.engine.reports.model import CaseStatus, TestCase, inner_path

MAX_FILE_BYTES = 2_000_000
MAX_FILES = 1_000
MAX_FOLLOWED = 2_000
"""Of so many files it is looked up what they import; with more, nobody knows."""
ENDINGS = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx")
_IMPORTED = re2.compile(rb"['\"`]node:test['\"`]|\b(?:from|import|require)\s*\(?\s*['\"`]#")
"""What a package calls by a name of its own (`#it`) may be anything."""
_BESIDE = re2.compile(rb"['\"`](\.{1,2}(?:/[^'\"`\n\\]{0,300})?)['\"`]")

Read = Callable[[str], bytes | None]


def spoken(told: Judged, component: Component, read: Read) -> Judged:
    """Doubt a run in which a test file of Node ended before its tests did.

    Whatever calls `process.exit(0)` in a test takes all of the file's tests along, failed ones
    too: Node's runner then tells of the file itself, as if that were a test, and that it passed.
    `read` gives None for no file.
    """
    report = told.report
    if told.tests is None or report.status is not Status.PASSED or report.contradiction:
        return told
    named = [path for case in told.tests.cases if (path := _file_of(case, component))]
    seen: set[str] = set()
    for path in named[:MAX_FILES]:
        if _has_tests(path, read, seen):
            return replace(told, report=_doubted(report, path))
    return told


def _has_tests(path: str, read: Read, seen: set[str]) -> bool:
    """Whether a file imports Node's tests, by however many others; of a large one nobody knows."""
    waiting = [path]
    while waiting and len(seen) <= MAX_FOLLOWED:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        content = read(one) or b""
        if len(content) > MAX_FILE_BYTES or _IMPORTED.search(content):
            return True
        waiting += _imported(one, content, read)
    return bool(waiting)


def _imported(path: str, content: bytes, read: Read) -> Iterator[str]:
    """The files that a file names beside it, as Node and TypeScript find them."""
    for match in _BESIDE.finditer(content):
        said = match[1].decode(errors="replace")
        name = posixpath.normpath(posixpath.join(posixpath.dirname(path), said))
        bare, ending = posixpath.splitext(name)
        typed = [f"{bare}{ending.replace('js', 'ts')}"] if ending in ENDINGS else []
        inner = (f"{name}{between}{one}" for between in ("", "/index") for one in ENDINGS)
        known = (posixpath.normpath(one) for one in (name, *typed, *inner) if one.endswith(ENDINGS))
        found = next((one for one in known if read(one) is not None), "")
        if found:
            yield found


def _file_of(case: TestCase, component: Component) -> str:
    """Of a case that stands for a whole file."""
    is_one = case.status is CaseStatus.PASSED and not case.suite and case.name.endswith(ENDINGS)
    return inner_path(case.name, component.folder) if is_one else ""


def _doubted(report: GateReport, path: str) -> GateReport:
    why = f"ended well, and of the tests in {path} none was told: it ended before they did"
    return replace(report, contradiction=why)
