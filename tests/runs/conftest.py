from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from django.conf import LazySettings
from django.http import HttpResponse
from django.test import Client

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from loomverify.accounts.services import create_api_key, create_project
from processes.models import Process
from processes.services import add_version
from verification.runs import worker
from verification.runs.models import Run

_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def _own_evidence(tmp_path: Any, settings: LazySettings) -> None:
    storages: dict[str, Any] = dict(settings.STORAGES)
    storages["evidence"] = {**storages["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = storages


@pytest.fixture
def project(db: None) -> Project:
    return new_project("ours")


@pytest.fixture
def agent(project: Project) -> Caller:
    return Caller(project, Role.AGENT)


@pytest.fixture
def viewer(project: Project) -> Caller:
    return Caller(project, Role.VIEWER)


@pytest.fixture
def outsider(db: None) -> Caller:
    return Caller(new_project("theirs"), Role.ADMIN)


def new_project(slug: str) -> Project:
    return create_project(name=slug.capitalize(), slug=slug, actor=SYSTEM)


def new_process(project: Project, source: str) -> Process:
    version, _ = add_version(project=project, source_text=source, actor=SYSTEM, role=Role.ADMIN)
    return version.process


class Caller:
    """Somebody with a key of one role."""

    def __init__(self, project: Project, role: Role) -> None:
        self.project = project
        _, secret = create_api_key(project=project, name=role, role=role, actor=SYSTEM)
        self.client = Client(headers={"Authorization": f"Bearer {secret}"})

    def get(self, path: str) -> Any:
        return self.client.get(f"/api/v1{path}")

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.client.post(
            f"/api/v1{path}", body or {}, content_type="application/json", headers=headers
        )

    def post_raw(self, path: str, raw: bytes, content_type: str = "application/json") -> Any:
        return self.client.post(f"/api/v1{path}", raw, content_type=content_type)

    def post_parts(self, path: str, **parts: Any) -> Any:
        return self.client.post(f"/api/v1{path}", parts)

    def submit(self, **fields: Any) -> dict[str, Any]:
        """Submit and have the run evaluated by a worker in this process."""
        answer = self.post("/runs", body_of(**fields))
        assert answer.status_code == 202, answer.content
        return self.verified(answer.json()["id"])

    def verified(self, run: str) -> dict[str, Any]:
        worker.work_on(Run.objects.get(uuid=run).pk)
        found: dict[str, Any] = self.get(f"/runs/{run}").json()
        return found


def body_of(**fields: Any) -> dict[str, Any]:
    """A submission that the process `general` accepts, with fields changed."""
    task = {"id": f"task-{next(_numbers)}", "description": "Write the summary."}
    task |= fields.pop("task", {})
    return {"process": "general", "task": task, "output": "All quarters are summed up.", **fields}


def problem(answer: HttpResponse) -> tuple[int, str, list[Any]]:
    """Status, first code and its place, of a problem document."""
    assert answer["Content-Type"] == "application/problem+json", answer.content
    document = json.loads(answer.content)
    assert document["status"] == answer.status_code
    first = document["errors"][0]
    return answer.status_code, first["code"], first["loc"]
