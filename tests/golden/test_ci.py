from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from verification.golden.command import _run_options

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SNIPPETS = BLOCK.findall((ROOT / "docs" / "ci.md").read_text())


def steps_of(value: Any) -> list[str]:
    """Every text in a document, however deep."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [step for part in parts for step in steps_of(part)]


def commands() -> list[str]:
    found = [step for snippet in SNIPPETS for step in steps_of(yaml.safe_load(snippet))]
    return [step for step in found if step.startswith("loomverify golden run ")]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=["github", "gitlab"])
def test_each_snippet_is_a_workflow_of_both_ways(snippet: str) -> None:
    document = yaml.safe_load(snippet)

    jobs = document.get("jobs") or {
        name: job for name, job in document.items() if not name.startswith(".")
    }
    assert len(jobs) == 2
    assert all("steps" in job or "script" in job for job in jobs.values())
    assert "LOOMVERIFY_API_KEY" in (ROOT / "docs" / "ci.md").read_text()


@pytest.mark.parametrize("command", commands(), ids=range(4))
def test_each_command_of_the_snippets_is_one_that_there_is(command: str) -> None:
    arguments = shlex.split(command.replace("${{ ", "${{").replace(" }}", "}}"))[3:]

    options = _run_options(arguments)

    assert options.junit == Path("golden.xml")
    assert (options.local is None) == bool(options.url)


def test_our_own_pipeline_replays_the_shipped_cases_within_bounds() -> None:
    run, make = (ROOT / ".ci" / "run").read_text(), (ROOT / "Makefile").read_text()

    assert re.search(r"^timeout \d+ make golden .*--junit ", run, re.MULTILINE)
    assert "\ngolden: $(VENV)/dev.stamp\n\t@exec $(BIN)/loomverify golden run --local" in make
    assert "|| true" not in run[run.index("make golden") : run.index("make test")]
