"""How a container is made: what it may do, and what of the machine it may take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from docker import APIClient

from processes.definition.phases import MAX_GATE_SECONDS
from verification.adapters.sandbox.container import Container, faults
from verification.adapters.sandbox.settings import Bounds, SandboxSettings
from verification.engine.reports.model import WORKSPACE

USER, HOST = "1000:1000", "sandbox"
OWNER, WORKER, UNTIL = "loomverify.owner", "loomverify.worker", "loomverify.until"
MAX_LIFE_SECONDS = 6 * MAX_GATE_SECONDS
"""Six gates at most are run in one container."""
# A shell that outlives every signal of its own user, and buries what is left behind.
_FIRST_PROCESS = ["/bin/sh", "-c", "trap '' TERM INT HUP; while :; do sleep 3600 & wait; done"]


@dataclass(frozen=True, slots=True)
class Opened:
    """How a container is made. `is_open`: its root can be written to, and it has the network."""

    image: str
    is_open: bool = False
    user: str = USER


@contextmanager
def opened(client: APIClient, settings: SandboxSettings, wanted: Opened) -> Iterator[Container]:
    """A running container, removed at the end."""
    bounds = settings.bounds
    labels = {
        OWNER: settings.owner,
        WORKER: settings.worker,
        UNTIL: str(round(time.time()) + MAX_LIFE_SECONDS),
    }
    with faults(f"A container of {wanted.image} could not be made"):
        config = _confined(bounds, settings.runtime, wanted)
        if wanted.is_open:
            config["network_mode"] = _network(client, settings.network)
        made = client.create_container(
            wanted.image,
            _FIRST_PROCESS,
            user=wanted.user,
            labels=labels,
            hostname=HOST,
            host_config=client.create_host_config(**config),
        )
    container = Container(client, made["Id"], wanted.user, bounds)
    try:
        with faults(f"A container of {wanted.image} could not be started"):
            client.start(container.id)
        yield container
    finally:
        container.close()


def _network(client: APIClient, name: str) -> str:
    """Outbound, and not to each other; or what the operator made under this name."""
    if not client.networks(names=[name]):
        options = {"com.docker.network.bridge.enable_icc": "false"}
        client.create_network(name, driver="bridge", options=options, check_duplicate=True)
    return name


def _confined(bounds: Bounds, runtime: str, wanted: Opened) -> dict[str, Any]:
    """Source: docs/gates.md, "What holds the work in"."""
    own = "uid=1000,gid=1000,mode=0700,exec,nosuid,nodev"
    config: dict[str, Any] = {
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "mem_limit": bounds.memory_bytes,
        "memswap_limit": bounds.memory_bytes,
        "nano_cpus": round(bounds.cpus * 1e9),
        "pids_limit": bounds.processes,
        "log_config": {"type": "none", "config": {}},
        "shm_size": bounds.temporary_bytes,
        "extra_hosts": {HOST: "127.0.0.1"},
    }
    if runtime:
        config["runtime"] = runtime
    if not wanted.is_open:
        config["read_only"] = True
        config["network_mode"] = "none"  # its loopback alone, which has a name: localhost
        kept = f"{own},nr_inodes={bounds.workspace_files}"
        config["tmpfs"] = {
            WORKSPACE: f"{kept},size={bounds.workspace_bytes}",
            "/tmp": f"{kept},size={bounds.temporary_bytes}",  # noqa: S108
            "/var/tmp": f"{kept},size={bounds.temporary_bytes}",  # noqa: S108
        }
    return config
