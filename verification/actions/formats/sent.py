"""What goes out for a delivery: where to, under which headers, in which form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from loomverify.accounts.mails import link
from verification.actions.formats import chat, mail, status
from verification.actions.models import Delivery, Webhook, WebhookFormat
from verification.actions.signing import sign
from verification.actions.targets import Target, allowed_target
from verification.verifiers.selectors import token_in

COMMIT = re.compile(r"[0-9a-f]{40,64}")


def request_of(delivery: Delivery) -> tuple[Target, dict[str, str], bytes]:
    """Where to, the headers, the body.

    Raises:
        TargetRefused: the operator does not allow what its address leads to.
        ConnectionUnusable: nor the variable that holds its token.
    """
    webhook = delivery.webhook
    target = allowed_target(webhook.url.replace("{commit}", _commit(delivery)))
    body = body_of(delivery)
    timestamp = int(timezone.now().timestamp())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "LoomVerify-Webhook/1",
        "LoomVerify-Event": delivery.topic,
        "LoomVerify-Delivery": str(delivery.event_id),
        "LoomVerify-Timestamp": str(timestamp),
        "LoomVerify-Signature": sign(webhook.secret, timestamp=timestamp, body=body),
    }
    return target, headers | _credential(webhook), body


def _credential(webhook: Webhook) -> dict[str, str]:
    if not webhook.credential_reference:
        return {}
    token = token_in(webhook.credential_reference, project=webhook.project.slug)
    return {"Authorization": f"Bearer {token}"}


def _commit(delivery: Delivery) -> str:
    """In an address; a test is of no commit at all."""
    commit = str(delivery.payload.get("commit") or "")
    return commit if COMMIT.fullmatch(commit) else status.NO_COMMIT


def body_of(delivery: Delivery) -> bytes:
    """Return what is sent: the same bytes at each attempt."""
    webhook, payload = delivery.webhook, delivery.payload
    project = webhook.project.slug
    if webhook.format == WebhookFormat.CHAT:
        return _json(chat.message(delivery.topic, payload, _address(payload, project)))
    if webhook.format == WebhookFormat.MAIL:
        return mail.text_of(delivery, page_of(delivery)).encode()
    if webhook.format == WebhookFormat.STATUS:
        values = status.values_of(
            delivery.topic,
            payload,
            project=project,
            commit=_commit(delivery),
            url=_address(payload, project),
        )
        return _json(status.body(webhook.template, values))
    document = {
        "id": str(delivery.event_id),
        "topic": delivery.topic,
        "created_at": delivery.created_at.isoformat(),
        "project": project,
        "payload": payload,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def page_of(delivery: Delivery) -> str:
    """Where people read about it; '' where nothing is."""
    return _address(delivery.payload, delivery.webhook.project.slug)


def _json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()


def _address(payload: Mapping[str, Any], project: str) -> str:
    """Of the page that people read about it."""
    if payload.get("url"):
        return str(payload["url"])
    run = payload.get("run")
    return link("run_detail", project=project, run=run) if run else ""
