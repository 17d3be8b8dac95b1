"""Which processes are at work: written by themselves, read by `/readyz`."""

from __future__ import annotations

import os
import socket
from datetime import datetime

from django.db.models import Max
from django.utils import timezone

from verification.runs.models import Heartbeat

WORKER = "worker"
WORKER_BESIDE = "worker-beside"
"""A worker that takes trials, or what may wait, and no live run."""


def beat(role: str) -> None:
    name = f"{role}@{socket.gethostname()}:{os.getpid()}"
    Heartbeat.objects.update_or_create(name=name, defaults={"role": role, "at": timezone.now()})


def last_seen(role: str) -> datetime | None:
    seen: datetime | None = Heartbeat.objects.filter(role=role).aggregate(at=Max("at"))["at"]
    return seen
