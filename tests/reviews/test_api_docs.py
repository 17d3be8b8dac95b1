"""What docs/api.md and docs/exports.md show of reviews is what happens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import loomverify.urls
from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from loomverify.accounts.services import create_api_key
from loomverify.api import api
from tests.builders import make_process, make_project, make_run
from tests.reviewing import DOUBTED, make_review
from tests.runs.conftest import Caller
from verification.reviews.exports import COLUMNS
from verification.runs.models import Review, ReviewState

assert loomverify.urls.urlpatterns, "every room has added its addresses"

DOCS = Path(__file__).resolve().parents[2] / "docs"
FINGERPRINT = "1:9f2c4e7ab01d"


def section(name: str, title: str) -> str:
    text = (DOCS / name).read_text()
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def requests(text: str) -> Iterator[tuple[str, str, str]]:
    """Method, path and body of each curl command."""
    for command in re.findall(r"\$ (curl .+?)(?=\n\$|\n```)", text, re.DOTALL):
        path = re.search(r'\$LOOMVERIFY_URL/api/v1([^"]+)"', command)
        body = re.search(r"-d '(.+)'", command, re.DOTALL)
        assert path, command
        yield ("POST" if "-X POST" in command else "GET"), path[1], body[1] if body else ""


@pytest.fixture
def project(db: None) -> Project:
    project = make_project("ours")
    make_process(project, slug="general")
    return project


@pytest.fixture
def review(project: Project) -> Review:
    general = project.processes.get(slug="general")
    found = [{"fingerprint": FINGERPRINT}]
    return make_review(project, make_run(project, process=general, **DOUBTED, findings=found))


@pytest.mark.parametrize(
    ("name", "title", "count"), [("api.md", "Reviews", 2), ("exports.md", "Labels", 1)]
)
def test_every_request_is_answered(
    project: Project, review: Review, name: str, title: str, count: int
) -> None:
    caller = Caller(project, Role.REVIEWER)
    shown = list(requests(section(name, title)))

    for method, path, body in shown:
        sent = body.replace("'$FINGERPRINT'", FINGERPRINT)
        answer = caller.client.generic(
            method,
            f"/api/v1{path.replace('$REVIEW', str(review.uuid))}",
            sent,
            content_type="application/json",
        )
        assert answer.status_code == 200, answer.content
        assert not sent or json.loads(sent)

    assert len(shown) == count


@pytest.mark.extended
def test_the_table_names_every_operation() -> None:
    rows = re.findall(r"^\| (`(?:GET|POST) .+?) \|", section("api.md", "Reviews"), re.MULTILINE)

    named = set()
    for row in rows:
        [method, first], *more = (part.split() for part in re.findall(r"`([^`]+)`", row))
        named.add((method, first))
        for [last] in more:
            named.add((method, f"{first.rpartition('/')[0]}{last}"))
    known = {
        (method.upper(), path.removeprefix("/api/v1").replace("{review_id}", "{id}"))
        for path, methods in api.get_openapi_schema()["paths"].items()
        for method in methods
        if path.startswith("/api/v1/reviews")
    }
    measured = {("GET", "/reviews/agreement"), ("GET", "/reviews/calibration")}  # agreement.md
    assert named == known - measured


def test_the_table_of_labels_names_every_column() -> None:
    table = re.findall(r"^\| (`.+?) \|", section("exports.md", "Labels"), re.MULTILINE)

    named = [name for row in table for name in re.findall(r"`(\w+)`", row)]
    assert sorted([*named, "kind"]) == sorted(COLUMNS)


@pytest.mark.extended
def test_the_script_that_works_the_queue_decides_and_skips_as_it_says(
    project: Project, review: Review, live_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    harmless = [make_review(project, reasons=["low_confidence"]) for _ in range(2)]
    _, secret = create_api_key(project=project, name="nightly", role=Role.REVIEWER, actor=SYSTEM)
    monkeypatch.setenv("LOOMVERIFY_URL", live_server.url)
    monkeypatch.setenv("LOOMVERIFY_API_KEY", secret)
    [script] = re.findall(r"```python\n(.+?)```", section("api.md", "Reviews"), re.DOTALL)

    exec(compile(script, "docs/api.md", "exec"), {})  # noqa: S102 - our own manual

    states = {one.pk: one.state for one in Review.objects.all()}
    assert states.pop(review.pk) == ReviewState.PENDING
    assert states == {one.pk: ReviewState.DECIDED for one in harmless}
    assert review.skips.count() == 1
