from __future__ import annotations

import hashlib
import json

import pytest

from processes.definition.model import Enforcement
from tests.processes.builtin_cases import definition_of, evaluate, good_work, works
from tests.tables import check_rows


@check_rows(
    ("name", "phase", "path"),
    [
        (name, phase, deliverable.path)
        for name, phase in works()
        for deliverable in next(
            one for one in definition_of(name).phases if one.id == phase
        ).deliverables
    ],
)
def test_a_missing_deliverable_is_named(name: str, phase: str, path: str) -> None:
    conclusion = evaluate(name, phase, good_work(name, phase).without_file(path))

    hard = [one for one in conclusion.findings if one.reason_code == "deliverable_missing"]
    assert [(one.path, one.enforcement) for one in hard] == [(path, Enforcement.HARD)]
    assert conclusion.verdict == "reject"


@pytest.mark.parametrize(
    ("phase", "path", "old", "new", "line"),
    [
        ("scope", "record.schema.json", '"type": "object",', '"type": "object"', 5),
        ("extract", "raw.jsonl", '"place": "p. 1, row 3",', '"place": "p. 1, row 3', 3),
        ("reconcile", "manifest.json", '"expected": 24,', '"expected": 24', 5),
    ],
)
def test_a_data_file_that_does_not_parse_is_rejected_at_its_line(
    phase: str, path: str, old: str, new: str, line: int
) -> None:
    work = good_work("data-extract", phase)
    text = work.files[path].decode()
    assert old in text

    conclusion = evaluate("data-extract", phase, work.with_file(path, text.replace(old, new)))

    found = [(one.rule, one.reason_code, one.path, one.line) for one in conclusion.findings]
    assert found == [("syntax", "syntax_invalid", path, line)]
    assert conclusion.verdict == "reject"


@pytest.mark.parametrize(
    ("name", "phase", "call"),
    [
        ("code-change", "implement", {"tool": "bash", "error": "npm test: 1 failing"}),
        ("data-extract", "extract", {"tool": "bash", "error": "UnicodeDecodeError: byte 0xfc"}),
        ("market-research", "market-size", {"tool": "web_fetch", "error": "504 Gateway Timeout"}),
        ("research-report", "search", {"tool": "web_search", "error": "429 Too Many Requests"}),
        ("competitive-intelligence", "collection", {"tool": "web_fetch", "error": "404 Not Found"}),
    ],
)
def test_a_stumble_on_the_way_does_not_reject_good_work(
    name: str, phase: str, call: dict[str, str]
) -> None:
    work = good_work(name, phase)
    calls = [{**call, "success": False}, *work.run["tool_calls"]]

    conclusion = evaluate(name, phase, work.saying(tool_calls=calls))

    found = [(one.rule, one.enforcement) for one in conclusion.findings]
    assert found == [("tool-calls", Enforcement.ADVISORY)]
    assert conclusion.verdict == "accept"


def test_the_manifest_of_the_good_extract_tells_the_truth() -> None:
    manifest = json.loads(good_work("data-extract", "reconcile").files["manifest.json"])
    made_in = {"raw.jsonl": "extract", "rejects.csv": "extract", "records.csv": "normalise"}

    for entry in manifest["files"]:
        data = good_work("data-extract", made_in[entry["path"]]).files[entry["path"]]
        rows = len(data.splitlines()) - entry["path"].endswith(".csv")
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
        assert (entry["bytes"], entry["rows"]) == (len(data), rows)
    assert manifest["found"] == manifest["kept"] + manifest["joined"] + manifest["rejected"]
