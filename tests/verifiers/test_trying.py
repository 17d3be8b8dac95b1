from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project
from loomverify.celery import app
from loomverify.errors import Conflict
from tests.model_server import Said, Script, model_server
from verification.verifiers import connections, trying
from verification.verifiers.connections import Terms
from verification.verifiers.models import JudgeConnection

JUDGES = "/p/loom/settings/judges/"
KEY = "a-key-that-nobody-may-see"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _keys_are_everybodys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OURS", "MISSING"):
        monkeypatch.setenv(f"LOOMVERIFY_KEY_{name}_PROJECTS", "*")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What was sent to workers."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(app, "send_task", lambda name, args, **_: found.append((name, *args)))
    return found


def tried(project: Project, *script: Script, **terms: Any) -> JudgeConnection:
    """A connection that was tested by a worker in this process."""
    with model_server(*script) as server:
        row = connections.add_connection(
            project=project,
            actor=SYSTEM,
            name="own",
            model="openai/of-our-own",
            base_url=server.url,
            terms=Terms(key_reference="LOOMVERIFY_KEY_OURS", **terms),
        )
        trying.ask_for_try(project=project, actor=SYSTEM, name="own")
        row.refresh_from_db()
        trying.try_connection(row.pk, row.test_result["token"])
    row.refresh_from_db()
    return row


@pytest.mark.quick_rows(2)
@pytest.mark.usefixtures("sent")
@pytest.mark.parametrize(
    ("script", "state", "shown"),
    [
        (
            ['{"passed": true, "issues": [], "confidence": 1, "suggestion": ""}'],
            "answered",
            "read as the JSON that was asked for",
        ),
        (
            ['Yes.\n```json\n{"passed": true, "issues": []}\n```'],
            "answered",
            "read from JSON inside other text",
        ),
        (["I think that it is so."], "unreadable", "It answers, and cannot be read"),
        ([Said(f"Incorrect key {KEY}", 401)], "lost", "The key was refused (HTTP 401)."),
        ([Said(status=404)], "lost", "There is no such model, or no such address"),
        ([Said(raw=b"<html>internal page</html>")], "lost", "what is not a completion"),
        ([Said("response_format?", 400), "passed: true"], "answered", "read as YAML"),
        ([f"The key is {KEY} <script>"], "unreadable", "The key is *** &lt;script&gt;"),
    ],
)
def test_what_a_test_shows(
    admin: Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    script: list[Script],
    state: str,
    shown: str,
) -> None:
    monkeypatch.setenv("LOOMVERIFY_KEY_OURS", KEY)

    row = tried(project, *script)
    page = admin.get(JUDGES).content.decode()

    assert row.test_result["state"] == state
    assert shown in page
    assert "internal page" not in page
    assert KEY not in page
    assert KEY not in str(row.test_result)
    assert "workers see it" in page


@pytest.mark.usefixtures("sent")
def test_a_test_tells_tokens_and_cost(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOMVERIFY_KEY_OURS", KEY)

    row = tried(
        project,
        '{"passed": true, "issues": []}',
        input_usd_per_million=Decimal(10),
        output_usd_per_million=Decimal(50),
    )

    last = trying.last_try(row, now=timezone.now())
    assert (last.prompt_tokens, last.completion_tokens) == (100, 20)
    assert (last.cost_usd, last.is_priced) == (Decimal("0.002"), True)


@pytest.mark.usefixtures("sent")
def test_a_key_that_workers_do_not_see_is_told_without_a_call(
    admin: Client, project: Project
) -> None:
    tried(project, "never asked")

    page = admin.get(JUDGES).content.decode()
    assert "Workers do not see the variable LOOMVERIFY_KEY_OURS." in page
    assert "workers do not see it" in page


def test_a_test_is_sent_to_a_worker_and_the_page_asks_for_its_end(
    admin: Client, project: Project, sent: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    row = connections.add_connection(
        project=project, actor=SYSTEM, name="own", model="openai/m", terms=Terms()
    )

    with django_capture_on_commit_callbacks(execute=True):
        answer = admin.post(f"{JUDGES}{row.uuid}/test/")
    waiting = admin.get(f"{JUDGES}{row.uuid}/tested/").content.decode()

    row.refresh_from_db()
    assert answer["Location"] == JUDGES
    assert sent == [(trying.TASK, row.pk, row.test_result["token"])]
    assert 'hx-trigger="every 1s"' in waiting
    assert f'href="{JUDGES}"' in waiting


@pytest.mark.usefixtures("sent")
def test_a_finished_test_asks_no_more(admin: Client, project: Project) -> None:
    row = tried(project, "never asked")

    part = admin.get(f"{JUDGES}{row.uuid}/tested/").content.decode()

    assert "hx-get" not in part


@pytest.mark.usefixtures("sent")
def test_one_test_at_a_time_until_it_is_too_late(admin: Client, project: Project) -> None:
    row = connections.add_connection(
        project=project, actor=SYSTEM, name="own", model="openai/m", terms=Terms()
    )
    trying.ask_for_try(project=project, actor=SYSTEM, name="own")

    with pytest.raises(Conflict, match="under way"):
        trying.ask_for_try(project=project, actor=SYSTEM, name="own")
    long_ago = timezone.now() - timedelta(seconds=trying.WAIT_SECONDS + 1)
    JudgeConnection.objects.filter(pk=row.pk).update(tested_at=long_ago)
    late = admin.get(JUDGES).content.decode()
    trying.ask_for_try(project=project, actor=SYSTEM, name="own")

    assert "No worker has taken the test" in late


@pytest.mark.usefixtures("sent")
def test_the_answer_to_an_earlier_test_does_not_overwrite_a_later_one(project: Project) -> None:
    row = connections.add_connection(
        project=project,
        actor=SYSTEM,
        name="own",
        model="openai/m",
        terms=Terms(key_reference="LOOMVERIFY_KEY_MISSING"),
    )
    trying.ask_for_try(project=project, actor=SYSTEM, name="own")
    row.refresh_from_db()
    first = row.test_result["token"]
    JudgeConnection.objects.update(tested_at=timezone.now() - timedelta(hours=1))
    trying.ask_for_try(project=project, actor=SYSTEM, name="own")

    trying.try_connection(row.pk, first)

    row.refresh_from_db()
    assert row.test_result["state"] == "waiting"


def test_without_a_broker_the_test_says_so(
    project: Project, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    def away(*_args: Any, **_options: Any) -> None:
        raise OSError("nobody listens")

    monkeypatch.setattr(app, "send_task", away)
    row = connections.add_connection(
        project=project, actor=SYSTEM, name="own", model="openai/m", terms=Terms()
    )

    with django_capture_on_commit_callbacks(execute=True):
        trying.ask_for_try(project=project, actor=SYSTEM, name="own")

    row.refresh_from_db()
    assert row.test_result["detail"] == "The broker cannot be reached."
