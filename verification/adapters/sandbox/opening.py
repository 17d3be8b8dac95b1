"""How a container is made: what it may do, and what of the machine it may take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from docker import APIClient
from docker.errors import APIError

from processes.definition.phases import MAX_GATE_SECONDS
from verification.adapters.sandbox.container import Container, faults
from verification.adapters.sandbox.settings import Bounds, SandboxSettings
from verification.engine.reports.model import WORKSPACE

USER, HOST = "1000:1000", "sandbox"
OWNER, WORKER, UNTIL = "loomverify.owner", "loomverify.worker", "loomverify.until"
MAX_LIFE_SECONDS = 6 * MAX_GATE_SECONDS
"""Six gates at most are run in one container."""
CONFLICT = 409
STARTS, START_AGAIN_SECONDS = 10, 0.3
AMBIGUOUS = "is ambiguous"
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
            _start(client, container)
        yield container
    finally:
        container.close()


def _network(client: APIClient, name: str) -> str:
    """Outbound, and not to each other; or what the operator made under this name.

    Several who find none make one each, and none can be used while there is more than one.
    """
    if not _named(client, name):
        options = {"com.docker.network.bridge.enable_icc": "false"}
        try:
            client.create_network(name, driver="bridge", options=options, check_duplicate=True)
        except APIError as error:
            if error.status_code != CONFLICT:  # newer engines refuse the second
                raise
    for surplus in _named(client, name)[1:]:
        with suppress(APIError):  # somebody else has removed it
            client.remove_network(surplus)
    return name


def _named(client: APIClient, name: str) -> list[str]:
    """Their ids, the eldest first. The engine itself looks for a part of a name."""
    found = [one for one in client.networks(names=[name]) if one["Name"] == name]
    return [one["Id"] for one in sorted(found, key=lambda one: (one["Created"], one["Id"]))]


def _start(client: APIClient, container: Container) -> None:
    """Until whoever made a network of the same name has removed it."""
    for left in reversed(range(STARTS)):
        try:
            client.start(container.id)
            return
        except APIError as error:
            if not left or AMBIGUOUS not in str(error.explanation):
                raise
            time.sleep(START_AGAIN_SECONDS)


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
