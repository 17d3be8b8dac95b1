"""Projects whose judge is a server of the suite, and runs that ask it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project
from tests.model_server import ModelServer, Said
from tests.runs.conftest import Caller, body_of
from verification.engine.verifier import Flags, JudgeModels, VerifierSpec
from verification.runs import worker
from verification.runs.models import ModelCall, Run
from verification.verifiers.models import JudgeConnection
from verification.verifiers.services import activate, add_version

PASSING = '{"passed": true, "confidence": 0.9}'
FAILING = '{"passed": false, "issues": ["The third quarter is missing."], "confidence": 0.9}'
NOISE = "I have read it with interest."
AWAY = Said("try later", status=503)


def connect(project: Project, name: str, server: ModelServer, **fields: Any) -> JudgeConnection:
    usual: dict[str, Any] = {
        "model": f"openai/{name}",
        "base_url": server.url,
        "input_usd_per_million": 10,
        "output_usd_per_million": 100,
        "timeout_seconds": 5,
    }
    return JudgeConnection.objects.create(project=project, name=name, **{**usual, **fields})


def judged_by(
    project: Project,
    primary: ModelServer,
    alternate: ModelServer | None = None,
    *,
    votes: int = 3,
    **fields: Any,
) -> None:
    """From now on the project's runs are judged there. `fields` are the connections'."""
    connect(project, "first", primary, **fields)
    if alternate:
        connect(project, "second", alternate, **fields)
    models = JudgeModels("first", "second" if alternate else "")
    spec = VerifierSpec(replace(Flags(), tier3_vote_count=votes), models)
    with transaction.atomic():
        version = add_version(project=project, spec=spec)
        activate(
            project=project,
            number=version.number,
            actor=SYSTEM,
            reason="test",
            corpus_reason="test",
        )


def submit(agent: Caller, **fields: Any) -> Run:
    """Submit for tier 2, unless another is asked for; nobody evaluates it yet."""
    answer = agent.post("/runs", body_of(**{"tier": 2, **fields}))
    assert answer.status_code == 202, answer.content
    return Run.objects.get(uuid=answer.json()["id"])


def work_on(run: Run) -> Run:
    worker.work_on(run.pk)
    run.refresh_from_db()
    return run


def make_due(run: Run) -> None:
    """As if the pause before the next verification were over."""
    past = timezone.now() - timedelta(seconds=1)
    Run.objects.filter(pk=run.pk).update(next_at=past, lease_until=past)


def pass_deadline(run: Run) -> None:
    """As if the run had been undecided for an hour."""
    Run.objects.filter(pk=run.pk).update(undecided_since=timezone.now() - timedelta(hours=1))
    make_due(run)


def calls_of(run: Run) -> list[ModelCall]:
    return list(ModelCall.objects.filter(evaluation__run=run).order_by("id"))
