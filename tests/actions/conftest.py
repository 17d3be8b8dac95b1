from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.test import Client
from kombu import Queue

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import ApiKey, Member, Project, Role, User
from loomverify.celery import BULK, app
from tests.actions.receiver import Receiver, running_receiver
from verification.actions import services
from verification.actions.models import Webhook
from verification.runs import outbox


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as receiver:
        yield receiver


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(slug="loom", name="Loom")


@pytest.fixture
def other_project(db: None) -> Project:
    return Project.objects.create(slug="other", name="Other")


@pytest.fixture
def webhook(project: Project, receiver: Receiver) -> Webhook:
    return hooked(project, receiver.url)


def hooked(
    project: Project, url: str, topics: Sequence[str] = (outbox.RUN_FINISHED,), **fields: Any
) -> Webhook:
    subscription = services.Subscription(url, topics, **fields)
    return services.create_webhook(project=project, actor=SYSTEM, subscription=subscription)


@pytest.fixture
def empty_queue() -> Iterator[None]:
    drain_queue()
    yield
    drain_queue()


def drain_queue() -> list[tuple[Any, ...]]:
    """The arguments of the wake-ups that lie on the bulk queue, which is empty afterwards."""
    return [arguments for _name, arguments in drain_messages()]


def drain_messages() -> list[tuple[str, tuple[Any, ...]]]:
    """The tasks' names and arguments on the bulk queue, which is empty afterwards."""
    found: list[tuple[str, tuple[Any, ...]]] = []
    with app.connection_for_read() as connection:
        queue = Queue(BULK, exchange=BULK, routing_key=BULK)(connection.default_channel)
        queue.declare()
        while (message := queue.get(no_ack=True)) is not None:
            arguments, _options, _embed = message.decode()
            found.append((str(message.headers["task"]), tuple(arguments)))
    return found


def key_of(project: Project, role: Role) -> str:
    """A key in force; only its hash is stored."""
    key = f"lv_{secrets.token_urlsafe(32)}"
    ApiKey.objects.create(
        project=project,
        name=role.value,
        prefix=key[:7],
        sha256=hashlib.sha256(key.encode()).hexdigest(),
        role=role,
    )
    return key


def signed_in(project: Project, role: Role) -> Client:
    user = User.objects.create_user(username=f"{role.value}-of-{project.slug}")
    Member.objects.create(project=project, user=user, role=role)
    client = Client()
    client.force_login(user, backend="loomverify.accounts.backends.NameOrEmailBackend")
    return client
