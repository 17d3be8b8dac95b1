"""Containers that a lost worker left behind."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress

import psutil
from docker import APIClient

from verification.adapters.sandbox.container import FAULTS
from verification.adapters.sandbox.images import DEPS, TOOLS
from verification.adapters.sandbox.opening import OWNER, UNTIL, WORKER
from verification.adapters.sandbox.settings import SandboxSettings

KEPT: Mapping[str, int] = {DEPS: 100, TOOLS: 20}
"""Of installs: one for each component and each state of its lock files. Tools: one a language."""


def sweep(client: APIClient, settings: SandboxSettings) -> int:
    """Remove this installation's containers whose worker is gone, or whose time is over."""
    swept = 0
    found = client.containers(all=True, filters={"label": f"{OWNER}={settings.owner}"})
    for container in found:
        if _is_left(container["Labels"], settings.worker.partition(":")[0]):
            with suppress(*FAULTS):
                client.remove_container(container["Id"], force=True, v=True)
                swept += 1
    return swept


def prune(client: APIClient, kept: Mapping[str, int] = KEPT) -> int:
    """Remove the oldest images of ours, by repository, beyond so many; what is in use stays."""
    pruned = 0
    for repository, most in kept.items():
        images = client.images(name=repository)
        images.sort(key=lambda one: one["Created"], reverse=True)
        for image in images[most:]:
            with suppress(*FAULTS):
                client.remove_image(image["Id"])
                pruned += 1
    return pruned


def _is_left(labels: dict[str, str], host: str) -> bool:
    until = labels.get(UNTIL, "")
    if not until.isdigit() or int(until) < time.time():
        return True
    own_host, _, process = labels.get(WORKER, "").partition(":")
    return own_host == host and process.isdigit() and not psutil.pid_exists(int(process))
