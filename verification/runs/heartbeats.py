"""Which processes are at work: written by themselves, read by `/readyz`."""

from __future__ import annotations

import os
import socket
from datetime import datetime, timedelta

from django.db.models import Max
from django.utils import timezone

from verification.runs.models import Heartbeat

WORKER = "worker"
WORKER_BESIDE = "worker-beside"
"""A worker that takes trials, or what may wait, and no live run."""
WORKER_SANDBOX = "worker-sandbox"
"""A worker that a Docker engine answers: it beats no more once the engine is gone."""
ALIVE = timedelta(seconds=20)


def beat(role: str) -> None:
    name = f"{role}@{socket.gethostname()}:{os.getpid()}"
    Heartbeat.objects.update_or_create(name=name, defaults={"role": role, "at": timezone.now()})


def last_seen(role: str) -> datetime | None:
    seen: datetime | None = Heartbeat.objects.filter(role=role).aggregate(at=Max("at"))["at"]
    return seen


def is_alive(role: str) -> bool:
    return Heartbeat.objects.filter(role=role, at__gt=timezone.now() - ALIVE).exists()
