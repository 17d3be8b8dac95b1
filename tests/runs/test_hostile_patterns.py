"""Patterns that would run for hours, in processes of real runs, with real workers."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.runs.conftest import body_of
from tests.stack import Stack, running_stack

MAX_MS = 6_000
"""2,000 on an idle machine; suites share theirs."""
MAX_MEGABYTES = 400
SLOW_TEXT = b"a" * 3_000_000
HEAD = """\
name: {name}
phases: [{{id: work, description: Work.}}]
verification:
  rules:
"""
RULE = (
    "    - {{name: {name}, type: regex, check: {pattern}, target: deliverables,"
    " applies_to_phases: '*', enforcement: {enforcement}}}\n"
)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("patterns"), "web", "worker", "relay") as stack:
        yield stack


@pytest.fixture
def client(stack: Stack) -> Iterator[httpx.Client]:
    with stack.client() as client:
        yield client


def process_of(client: httpx.Client, name: str, patterns: list[str], enforcement: str) -> None:
    rules = [
        RULE.format(name=f"r{number}", pattern=json.dumps(pattern), enforcement=enforcement)
        for number, pattern in enumerate(patterns)
    ]
    answer = client.post("/processes", content=(HEAD.format(name=name) + "".join(rules)).encode())
    assert answer.status_code == 201, answer.text


def submitted(client: httpx.Client, name: str, workspace: io.BytesIO, wait: int) -> dict[str, Any]:
    run = json.dumps(body_of(process=name))
    files = {"workspace": ("w.zip", workspace.getvalue())}
    answer = client.post(f"/runs?wait={wait}", data={"run": run}, files=files)
    found: dict[str, Any] = answer.json()
    return found


def in_files(text: bytes, count: int) -> io.BytesIO:
    """Not compressed: text that is all the same would be a bomb."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for number in range(count):
            archive.writestr(f"{number}.txt", text)
    return packed


@pytest.mark.extended
@pytest.mark.parametrize(
    ("name", "patterns", "text", "count"),
    [
        ("one", ["(a?){1000}b", "aab"], SLOW_TEXT, 3),
        ("nested", ["((a{1,10}){1,10}){1,9}b", "(?:(?:a?){30}){30}y"], SLOW_TEXT, 1),
        ("many", [f"(a?){{{number}}}b" for number in range(501, 1_000)], b"a" * 3_000, 1_000),
        ("counted", [".{900}b", "(?s).{0,800}Q"], SLOW_TEXT, 2),
        ("empty", ["a*", "$", "(?m)^", "()"], b"b\n" * 10_000_000, 1),
    ],
)
def test_no_pattern_holds_a_run_or_blames_its_work(
    client: httpx.Client, name: str, patterns: list[str], text: bytes, count: int
) -> None:
    process_of(client, name, patterns, "observe" if name == "empty" else "hard")

    run = submitted(client, name, in_files(text, count), wait=60)

    assert run["state"] == "finished"
    assert run["verdict"] == ("accept" if name == "empty" else "undecided")
    assert run["tiers"][0]["duration_ms"] < MAX_MS
    verdicts = {one["rule"]: one["verdict"] for one in run["rules"]["applied"]}
    assert len(verdicts) == len(patterns)
    if name == "one":
        assert verdicts == {"r0": "unknown", "r1": "satisfied"}


@pytest.mark.extended
def test_other_runs_go_on_meanwhile(stack: Stack, client: httpx.Client) -> None:
    process_of(client, "holding", [f"(a?){{{number}}}b" for number in range(900, 920)], "hard")
    held = submitted(client, "holding", in_files(SLOW_TEXT, 1), wait=0)

    other = client.post("/runs?wait=60", json=body_of()).json()

    assert (other["verdict"], held["state"]) == ("accept", "queued")
    assert client.get(f"/runs/{held['id']}?wait=60").json()["verdict"] == "undecided"
    assert max(stack.peak_megabytes("worker").values()) < MAX_MEGABYTES


@pytest.mark.extended
def test_a_pattern_of_old_is_named_with_its_column_and_only_observed(client: httpx.Client) -> None:
    rule = RULE.format(name="old", pattern="'TODO(?!ne)'", enforcement="hard")
    added = client.post("/processes", content=(HEAD.format(name="old") + rule).encode())

    run = client.post("/runs?wait=60", json=body_of(process="old")).json()

    [warning] = [one for one in added.json()["warnings"] if "pattern" in one["code"]]
    assert "lookahead" in warning["message"]
    assert "column 5" in warning["message"]
    assert run["verdict"] == "accept"
    assert [(one["reason_code"], one["enforcement"]) for one in run["findings"]] == [
        ("unsupported_pattern", "observe")
    ]
