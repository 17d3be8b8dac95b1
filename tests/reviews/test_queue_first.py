from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.builders import make_user, signed_in
from tests.runs.conftest import Caller, new_project
from verification.runs import worker
from verification.runs.models import Review, ReviewState, Run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_evidence(tmp_path: Path, settings: LazySettings) -> None:
    storages: dict[str, Any] = dict(settings.STORAGES)
    storages["evidence"] = {**storages["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = storages


@pytest.fixture
def project() -> Project:
    return new_project("ours")


def test_what_the_empty_page_shows_fills_it(project: Project) -> None:
    client = signed_in(make_user(project, Role.VIEWER))
    url = reverse("review_queue", args=[project.slug])
    html = unescape(client.get(url).content.decode())
    body = re.search(r"-d '(\{.*?\})'</pre>", html, re.DOTALL)
    assert body is not None

    answer = Caller(project, Role.AGENT).post("/runs", json.loads(body[1]))
    worker.work_on(Run.objects.get(uuid=answer.json()["id"]).pk)

    review = Review.objects.get()
    assert (review.state, review.reasons) == (ReviewState.PENDING, ["attempts_exhausted"])
    assert "All attempts of the task are used" in client.get(url).content.decode()
