from __future__ import annotations

import io
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loomverify.accounts.models import Project, Role
from loomverify.submit_command import RUN_FILE
from loomverify.submitting.packing import pack
from loomverify.submitting.selecting import Choice, select_files
from tests.adapters.custom_cases import entry_points_of
from tests.runs.conftest import Caller, new_process, new_project
from verification.runs import worker

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "custom_verifier"
DOCUMENT = ROOT / "docs" / "custom-verifiers.md"


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example as an installer leaves it, for this process and its children."""
    packaging = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    points = packaging["project"]["entry-points"]["loomverify.verifiers"]
    entry_points_of(tmp_path, "invoice_checks", points)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLE))
    worker.custom.cache_clear()
    yield
    worker.custom.cache_clear()


@pytest.fixture
def agent(db: None) -> Caller:
    project: Project = new_project("ours")
    new_process(project, (EXAMPLE / "process.yaml").read_text())
    return Caller(project, Role.AGENT)


def verified(agent: Caller, name: str, **changed: Any) -> dict[str, Any]:
    folder = EXAMPLE / name
    body = json.loads((folder / RUN_FILE).read_text()) | changed
    body["task"]["id"] = "invoice-17"
    workspace = io.BytesIO(pack(select_files(folder, Choice(all_files=True, without=RUN_FILE))))
    workspace.name = "workspace.tar.gz"

    answer = agent.post_parts("/runs", run=json.dumps(body), workspace=workspace)
    assert answer.status_code == 202, answer.content
    return agent.verified(answer.json()["id"])


@pytest.mark.usefixtures("_installed")
def test_the_sound_invoice_is_accepted_with_its_total_as_the_result(agent: Caller) -> None:
    run = verified(agent, "invoice")

    assert (run["outcome"], run["verdict"], run["findings"]) == ("pass", "accept", [])
    assert run["result"] == {"task": "invoice-17", "invoice": "2026-017", "total": "44.30"}
    assert "INFO 2 lines come to 44.30" in run["tiers"][0]["detail"]


@pytest.mark.usefixtures("_installed")
def test_the_broken_invoice_is_rejected_where_the_order_says_otherwise(agent: Caller) -> None:
    run = verified(agent, "invoice-broken")

    [found] = run["findings"]
    assert (run["verdict"], run["reason_code"]) == ("reject", "custom_rejected")
    assert (found["rule"], found["source"]) == ("custom-verifier", "custom")
    assert (found["path"], found["line"]) == ("order.csv", 3)
    assert found["message"] == "lamp: 2 were ordered, 1 are on the invoice."
    assert run["task"]["attempts_used"] == 1
    assert "Invoice what was ordered." in run["feedback"]["text"]


@pytest.mark.usefixtures("_installed")
def test_an_output_of_another_shape_costs_no_attempt_and_names_each_error(agent: Caller) -> None:
    run = verified(agent, "invoice", output='{"number": 17, "lines": []}')

    assert (run["verdict"], run["reason_code"]) == ("reject", "invalid_output")
    assert (run["task"]["attempts_used"], run["task"]["last_outcome"]) == (0, "rejected")
    places = {one["message"].split(":")[0] for one in run["feedback"]["items"]}
    assert places == {"lines", "number", "total"}


def test_where_the_example_is_not_installed_nobody_is_blamed(agent: Caller) -> None:
    worker.custom.cache_clear()

    run = verified(agent, "invoice-broken")

    assert (run["outcome"], run["verdict"]) == ("partial_verified", "undecided")
    assert (run["reason_code"], run["task"]["attempts_used"]) == ("verifier_unavailable", 0)


def test_the_document_shows_the_example_as_it_is() -> None:
    [shown] = [part.split("\n```\n")[0] for part in DOCUMENT.read_text().split("```python\n")[1:]]

    assert shown == (EXAMPLE / "invoice_checks.py").read_text().rstrip("\n")
