"""Whether a connection works: a worker asks it a small question, and the page waits for the row.

The web has neither the keys nor litellm.
"""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Project
from loomverify.celery import LIVE, app
from loomverify.errors import Conflict, NotFound
from verification.adapters.judge import Completion, Connection, Patience, price, retrying
from verification.adapters.judge_faults import masked
from verification.engine.protocol.recovery import recover
from verification.verifiers.models import JudgeConnection
from verification.verifiers.selectors import ConnectionUnusable, connection_of

logger = logging.getLogger(__name__)

TASK = "verification.verifiers.try_connection"
WAIT_SECONDS = 90
MAX_CALL_SECONDS = 30.0
MAX_SHOWN_CHARS = 500
PATIENCE = Patience(
    tries=2, first_wait_seconds=0.5, longest_wait_seconds=2.0, stop_after_seconds=45
)
SYSTEM = "You are asked to see whether this connection works. Answer with one JSON object alone."
PROMPT = (
    "Is this true: seven is more than three? Answer as JSON, such as "
    '{"passed": false, "issues": [], "confidence": 0.5, "suggestion": ""}.'
)
SCHEMA = {
    "type": "object",
    "properties": {
        "passed": {"type": "boolean"},
        "issues": {"type": "array", "items": {"type": "string"}},
        "confidence": {"type": "number"},
        "suggestion": {"type": "string"},
    },
    "required": ["passed", "issues", "confidence", "suggestion"],
    "additionalProperties": False,
}


State = Literal["none", "waiting", "late", "answered", "unreadable", "lost"]


@dataclass(frozen=True, slots=True)
class LastTry:
    """A test as pages show it. late: no worker took it; unreadable: no verdict was found."""

    state: State = "none"
    at: datetime | None = None
    by: str = ""
    detail: str = ""
    text: str = ""
    stage: str = ""
    key_seen: bool | None = None
    latency_ms: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    is_priced: bool = False

    @property
    def is_waiting(self) -> bool:
        return self.state == "waiting"


def ask_for_try(*, project: Project, actor: Actor, name: str) -> JudgeConnection:
    """Have a worker ask the connection a small question.

    Raises:
        NotFound, Conflict: one is under way.
    """
    now, token = timezone.now(), uuid.uuid4().hex
    with transaction.atomic():
        row = _in_use(project, name)
        if last_try(row, now=now).is_waiting:
            raise Conflict("judge.test_under_way", "A test of it is under way.")
        row.tested_at = now
        row.test_result = {"state": "waiting", "token": token, "by": actor.name[:200]}
        row.save(update_fields=["tested_at", "test_result"])
        transaction.on_commit(lambda: _send(row.pk, token))
    return row


def _in_use(project: Project, name: str) -> JudgeConnection:
    rows = JudgeConnection.objects.select_for_update().filter(project=project, is_removed=False)
    # PostgreSQL compares with no NUL.
    row = None if "\x00" in name else rows.filter(name=name).first()
    if row is None:
        raise NotFound("judge.unknown", "There is no judge connection of this name.")
    return row


def _send(connection_id: int, token: str) -> None:
    try:
        app.send_task(
            TASK, args=(connection_id, token), queue=LIVE, expires=WAIT_SECONDS, retry=False
        )
    except (OperationalError, OSError) as error:
        logger.warning("broker_unreachable error=%s", type(error).__name__)
        _keep(connection_id, token, {"state": "lost", "detail": "The broker cannot be reached."})


def try_connection(connection_id: int, token: str) -> None:
    """In a worker: ask, and keep what came of it. A test that was repeated meanwhile is dropped."""
    rows = JudgeConnection.objects.select_related("project")
    row = rows.filter(pk=connection_id, test_result__token=token).first()
    if row is None or row.test_result["state"] != "waiting":
        return
    try:
        connection = connection_of(row)
    except ConnectionUnusable as unusable:
        found: dict[str, Any] = {"state": "lost", "detail": str(unusable), "key_seen": False}
    else:
        found = _ask(connection)
    _keep(connection_id, token, found)


def _ask(connection: Connection) -> dict[str, Any]:
    tries: list[Completion] = []
    answer = retrying(
        connection,
        system=SYSTEM,
        prompt=PROMPT,
        schema=SCHEMA,
        patience=PATIENCE,
        on_try=lambda completion, _number: tries.append(completion),
        timeout=min(MAX_CALL_SECONDS, connection.timeout_seconds),
    )
    recovered = recover(answer.text)
    read = recovered.reply is not None
    text = masked(answer.text, connection.api_key).replace("\x00", "\ufffd")
    return {
        "state": "lost" if answer.lost else "answered" if read else "unreadable",
        "detail": answer.detail,
        "text": text[:MAX_SHOWN_CHARS],
        "stage": str(recovered.stage) if read else "",
        "key_seen": bool(connection.api_key),
        "latency_ms": answer.duration_ms,
        "prompt_tokens": sum(completion.prompt_tokens for completion in tries),
        "completion_tokens": sum(completion.completion_tokens for completion in tries),
        "cost_usd": str(sum((completion.cost_usd for completion in tries), Decimal(0))),
        "is_priced": price(connection) is not None,
    }


def _keep(connection_id: int, token: str, found: dict[str, Any]) -> None:
    with transaction.atomic():
        rows = JudgeConnection.objects.select_for_update()
        row = rows.filter(pk=connection_id, test_result__token=token).first()
        if row is None:
            return
        row.tested_at = timezone.now()
        row.test_result = {**found, "token": token, "by": row.test_result.get("by", "")}
        row.save(update_fields=["tested_at", "test_result"])


def last_try(row: JudgeConnection, *, now: datetime) -> LastTry:
    result = {name: value for name, value in row.test_result.items() if name != "token"}
    if not result or row.tested_at is None:
        return LastTry()
    if result["state"] == "waiting" and now - row.tested_at > timedelta(seconds=WAIT_SECONDS):
        result["state"] = "late"
    cost = Decimal(result.pop("cost_usd", "0"))
    return LastTry(at=row.tested_at, cost_usd=cost, **result)
