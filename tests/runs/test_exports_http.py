from __future__ import annotations

import csv
import io
import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_run, make_user, signed_in
from tests.openapi import openapi_document
from tests.runs.conftest import Caller, body_of, problem
from tests.tables import check_rows
from verification.engine.outcome import Outcome
from verification.runs.exporting.answers import CONTENT_TYPES, CUT_HEADER, EVIDENCE, RunExport
from verification.runs.models import Run, RunState

pytestmark = pytest.mark.django_db

TABLES = ("/runs.csv", "/findings.csv")
OF_A_RUN = tuple(export.value for export in RunExport)
EVERY_OF_A_RUN = (*OF_A_RUN, EVIDENCE)


def content_of(answer: Any) -> str:
    assert answer.status_code == 200, answer.content
    raw = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return str(raw.decode())


def broken(caller: Caller) -> dict[str, Any]:
    """A rejected run: a file that it declares does not parse."""
    task = {"expected_outputs": ["a.json"]}
    return caller.submit(task=task, files={"a.json": "{"})


@pytest.mark.extended
@pytest.mark.parametrize("export", RunExport)
def test_an_export_is_an_attachment_of_its_type(
    agent: Caller, viewer: Caller, export: RunExport
) -> None:
    run = agent.submit()["id"]

    answer = viewer.get(f"/runs/{run}/{export}")

    assert answer.status_code == 200
    assert answer["Content-Type"] == CONTENT_TYPES[export]
    assert answer["Content-Disposition"] == f'attachment; filename="run-{run[:8]}-{export}"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"


def test_a_real_run_tells_the_same_in_every_format(agent: Caller) -> None:
    run = broken(agent)
    (finding,) = [one for one in run["findings"] if one["rule"] == "syntax"]

    sarif = json.loads(content_of(agent.get(f"/runs/{run['id']}/findings.sarif")))
    junit = content_of(agent.get(f"/runs/{run['id']}/junit.xml"))
    report = content_of(agent.get(f"/runs/{run['id']}/report.md"))
    rows = list(
        csv.DictReader(content_of(agent.get(f"/runs/{run['id']}/findings.csv")).splitlines())
    )

    assert run["verdict"] == "reject"
    assert sarif["runs"][0]["results"][0]["ruleId"] == "syntax"
    assert '<testcase name="syntax" classname="general.' in junit
    assert "# Rejected: a file does not parse." in report
    assert finding["fingerprint"] in {row["fingerprint"] for row in rows}


@pytest.mark.extended
@pytest.mark.parametrize("name", EVERY_OF_A_RUN)
def test_a_run_under_way_is_not_exported(agent: Caller, name: str) -> None:
    run = agent.post("/runs", body_of()).json()["id"]

    answer = agent.get(f"/runs/{run}/{name}")

    assert problem(answer) == (409, "run.not_over", [])


@pytest.mark.extended
@pytest.mark.parametrize("name", EVERY_OF_A_RUN)
def test_a_run_of_another_project_does_not_exist(
    agent: Caller, outsider: Caller, name: str
) -> None:
    run = agent.submit()["id"]

    answers = [outsider.get(f"/runs/{run}/{name}"), agent.get(f"/runs/{uuid4()}/{name}")]

    assert [problem(answer)[:2] for answer in answers] == [(404, "run.unknown")] * 2


@pytest.mark.parametrize(
    "path", [*TABLES, *(f"/runs/{UUID(int=7)}/{name}" for name in EVERY_OF_A_RUN)]
)
def test_without_a_key_nothing_is_exported(path: str) -> None:
    assert Client().get(f"/api/v1{path}").status_code == 401


@pytest.mark.extended
@pytest.mark.parametrize("path", TABLES)
def test_a_table_holds_what_the_filters_find_in_this_project(
    agent: Caller, outsider: Caller, path: str
) -> None:
    broken(outsider)
    agent.submit()
    run = broken(agent)

    answer = agent.get(f"{path}?verdict=reject")
    rows = list(csv.DictReader(io.StringIO(content_of(answer))))

    assert {row.get("run") or row["id"] for row in rows} == {run["id"]}
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer[CUT_HEADER] == "false"


@check_rows("path", TABLES)
@check_rows(
    ("query", "status", "code"),
    [
        ("outcom=fail", 422, "parameter.unknown"),
        ("limit=5", 422, "parameter.unknown"),
        ("outcome=splendid", 422, "filter.invalid"),
        ("since=yesterday", 400, "filter.invalid"),
    ],
    rollback=True,
)
def test_a_filter_with_a_typing_error_exports_nothing(
    viewer: Caller, path: str, query: str, status: int, code: str
) -> None:
    assert problem(viewer.get(f"{path}?{query}"))[:2] == (status, code)


def page(project: Project, name: str, *arguments: object, query: str = "") -> Any:
    client = signed_in(make_user(project))
    return client.get(reverse(name, args=[project.slug, *arguments]) + query)


def test_the_page_of_a_run_offers_its_exports() -> None:
    project = make_project()
    run = make_run(project)

    html = page(project, "run_detail", run.uuid).content.decode()

    for name in OF_A_RUN:
        assert f'href="/p/{project.slug}/runs/{run.uuid}/export/{name}"' in html


def test_a_run_under_way_offers_none() -> None:
    project = make_project()
    run = make_run(project, state=RunState.RUNNING)

    html = page(project, "run_detail", run.uuid).content.decode()
    answer = page(project, "run_export_file", run.uuid, "report.md")

    assert "/export/" not in html
    assert answer["Location"] == f"/p/{project.slug}/runs/{run.uuid}/"


@pytest.mark.parametrize("export", RunExport)
def test_the_link_on_the_page_leads_to_the_file(export: RunExport) -> None:
    project = make_project()
    run = make_run(project, findings=[{}])

    answer = page(project, "run_export_file", run.uuid, export.value)

    name = f"run-{run.uuid.hex[:8]}-{export}"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert content_of(answer).startswith("\ufeff") == (export is RunExport.FINDINGS)


@pytest.mark.parametrize("name", ["findings.exe", "..%2f", "REPORT.MD"])
def test_no_other_file_is_made(name: str) -> None:
    project = make_project()
    run = make_run(project)

    answer = page(project, "run_export_file", run.uuid, name)

    assert answer.status_code == 404


def test_outsiders_get_no_export() -> None:
    run = make_run(make_project())
    elsewhere = make_project()
    client = signed_in(make_user(elsewhere, Role.ADMIN))

    through_theirs = page(elsewhere, "run_export_file", run.uuid, "report.md")
    through_ours = client.get(
        reverse("run_export_file", args=[run.project.slug, run.uuid, "report.md"])
    )

    assert (through_theirs.status_code, through_ours.status_code) == (404, 404)


def test_the_list_offers_runs_and_findings_of_its_filters() -> None:
    project = make_project()
    make_run(project, outcome=Outcome.FAIL, findings=[{"message": "Kept."}])
    make_run(project, findings=[{"message": "Left out."}])

    html = page(project, "run_list", query="?outcome=fail").content.decode()
    found = content_of(page(project, "finding_export", query="?outcome=fail"))

    assert f'href="/p/{project.slug}/runs/findings.csv?outcome=fail"' in html
    assert f'href="/p/{project.slug}/runs/runs.csv?outcome=fail"' in html
    assert "Kept." in found
    assert "Left out." not in found


@pytest.mark.parametrize("name", ["run_export", "finding_export"])
def test_a_page_filter_that_makes_no_sense_is_said_so(name: str) -> None:
    answer = page(make_project(), name, query="?outcome=splendid")

    assert answer.status_code == 400
    assert "outcome takes one of pass" in answer.content.decode()


@pytest.mark.extended
def test_exports_are_described_with_every_status() -> None:
    document = openapi_document()
    described = {
        path.removeprefix("/api/v1"): operations["get"]
        for path, operations in document["paths"].items()
        if operations.get("get", {}).get("tags") == ["Exports"]
    }

    assert set(described) == {*TABLES, *(f"/runs/{{run_id}}/{name}" for name in EVERY_OF_A_RUN)}
    for path, operation in described.items():
        refused = {"401", "400", "422"} if path in TABLES else {"401", "404", "409"}
        assert set(operation["responses"]) == {"200", *refused}


def test_a_run_deleted_meanwhile_takes_its_exports_with_it(agent: Caller) -> None:
    run = agent.submit()["id"]
    Run.objects.filter(uuid=run).delete()

    assert agent.get(f"/runs/{run}/report.md").status_code == 404
