"""Clients of the API for tests of processes."""

from __future__ import annotations

import hashlib
from typing import Any

from django.test import Client

from loomverify.accounts.models import ApiKey, Project, Role

TOKEN = "lv_" + "k" * 40


class Api:
    """A client with a key of one role."""

    def __init__(self, project: Project, role: Role) -> None:
        token = f"{TOKEN}{project.slug}{role}"
        sha256 = hashlib.sha256(token.encode()).hexdigest()
        if not ApiKey.objects.filter(sha256=sha256).exists():
            ApiKey.objects.create(project=project, name=role, role=role, sha256=sha256)
        self.client = Client(headers={"Authorization": f"Bearer {token}"})

    def get(self, path: str) -> Any:
        return self.client.get(f"/api/v1{path}")

    def add(self, source: str | bytes) -> Any:
        return self.client.post("/api/v1/processes", source, content_type="application/yaml")

    def post(self, path: str, body: object) -> Any:
        return self.client.post(f"/api/v1{path}", body, content_type="application/json")
