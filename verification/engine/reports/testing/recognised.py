"""A report of tests whose format nobody names: by what it says of itself, or it is unreadable."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from verification.engine.reports.contents import bounded, json_of
from verification.engine.reports.model import TestReport, Unreadable
from verification.engine.reports.testing import go, jest, junit, mocha, rspec, tap, trx
from verification.engine.reports.testing.xml_text import kind, tree_of

Reader = Callable[[bytes, str], TestReport]

_TAP = re.compile(rb"TAP version \d|1\.\.\d|(?:not )?ok \d")
_BY_ROOT: Mapping[str, Reader] = {
    "testsuites": junit.read,
    "testsuite": junit.read,
    "TestRun": trx.read,
    "TestRuns": trx.read,
}
_BY_KEYS: tuple[tuple[frozenset[str], Reader], ...] = (
    (frozenset({"testResults"}), jest.read),
    (frozenset({"stats", "passes", "failures"}), mocha.read),
    (frozenset({"examples", "summary"}), rspec.read),
)


def read(content: bytes, folder: str = "") -> TestReport:
    begin = bounded(content).removeprefix(b"\xef\xbb\xbf").lstrip()
    if begin.startswith(b"<"):
        reader = _BY_ROOT.get(kind(tree_of(content)))
    elif begin.startswith(b"{"):
        reader = _of_json(begin)
    else:
        reader = tap.read if _TAP.match(begin) else None
    if reader is None:
        raise Unreadable("The report is in no format of tests that is known.")
    return reader(content, folder)


def _of_json(content: bytes) -> Reader | None:
    """Go writes an object in each line, all others one."""
    if "Action" in _object(content.partition(b"\n")[0]):
        return go.read
    whole = json_of(content.decode(errors="replace"))
    keys = frozenset(whole) if isinstance(whole, dict) else frozenset[str]()
    return next((reader for needed, reader in _BY_KEYS if needed <= keys), None)


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
