from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.engine.cases import evaluate
from verification.engine.checks.own_settings import MAX_PROBLEMS
from verification.engine.finding import Finding
from verification.engine.gating.overrides import read_overrides
from verification.engine.gating.planned import planned_of
from verification.engine.gating.stages import OWN_FILE

DOCUMENT = Path(__file__).parents[3] / "docs" / "gates.md"


def found(content: str, **about: Any) -> list[Finding]:
    files = {"setup.py": "x = 1\n", OWN_FILE: content}
    findings = evaluate(files=files, **{"gates": ["test"], **about}).findings
    return [one for one in findings if one.rule == "loomverify-yaml"]


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("run: python main.py\nnetwork: host\n", 2, "network is not a known key"),
        ("components:\n  - {path: web}\n", 2, "No component was found in web"),
        ("run: [\n", 2, "Not YAML"),
    ],
)
def test_what_cannot_be_followed_is_an_advisory_at_its_line(
    content: str, line: int, said: str
) -> None:
    [finding] = found(content)

    assert (finding.enforcement, finding.reason_code) == ("advisory", "file_type_mismatch")
    assert (finding.path, finding.line) == (OWN_FILE, line)
    assert finding.message.startswith(said)


def test_where_no_gate_is_asked_for_nobody_reads_it() -> None:
    assert found("network: host\n", gates=[]) == []


@pytest.mark.parametrize(
    ("folder", "more", "is_told"),
    [("my-app", {}, True), ("my-app", {"README.md": "x"}, False), ("src", {}, False)],
)
def test_in_a_folder_before_every_path_it_is_read_too(
    folder: str, more: dict[str, str], *, is_told: bool
) -> None:
    files = {f"{folder}/setup.py": "x = 1\n", f"{folder}/{OWN_FILE}": "colour: red\n", **more}

    told = [
        one
        for one in evaluate(files=files, gates=["test"]).findings
        if one.rule == "loomverify-yaml"
    ]

    assert [one.path for one in told] == [f"{folder}/{OWN_FILE}"] * is_told


def test_of_very_many_problems_the_first_are_told_and_the_rest_counted() -> None:
    told = found("".join(f"k{number}: 1\n" for number in range(MAX_PROBLEMS + 3)))

    assert len(told) == MAX_PROBLEMS + 1
    assert "3 more problems." in {one.message for one in told}


def test_the_examples_of_the_manual_are_read_as_they_stand() -> None:
    own, block = re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)[:2]

    overrides = read_overrides(own.encode())
    named = planned_of(f"Run:\n```yaml\n{block}```\n")

    assert overrides.problems == ()
    assert (len(overrides.owns), len(overrides.starts)) == (1, 1)
    assert [bool(one.ready) for one in named[None].starts] == [False, True]
