"""What a container is made with, as the engine itself says of one that runs, and what it reaches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from docker import APIClient

from tests.sandbox.engine import SETTINGS, tried
from tests.sandbox.test_languages import PYTHON
from verification.adapters.sandbox.images import Images
from verification.adapters.sandbox.opening import Opened, opened
from verification.adapters.sandbox.settings import Bounds, SandboxSettings
from verification.engine.gating.findings import findings_of

pytestmark = pytest.mark.docker

GIGABYTE = 10**9
CONFINED: dict[str, Any] = {
    "NanoCpus": GIGABYTE,
    "Memory": 2 * GIGABYTE,
    "MemorySwap": 2 * GIGABYTE,
    "PidsLimit": 256,
    "CapDrop": ["ALL"],
    "CapAdd": None,
    "SecurityOpt": ["no-new-privileges:true"],  # no seccomp is named: the engine's own
    "Privileged": False,
    "Binds": None,
    "Devices": None,
    "PidMode": "",
    "IpcMode": "private",
}


def made_with(engine: APIClient, *, is_open: bool) -> dict[str, Any]:
    settings = replace(SETTINGS, bounds=Bounds())
    wanted = Opened(Images(engine, settings).tools("python"), is_open=is_open)
    with opened(engine, settings, wanted) as container:
        found: dict[str, Any] = engine.inspect_container(container.id)
    return found


@pytest.mark.parametrize("is_open", [False, True])
def test_a_container_has_the_bounds_that_are_promised(engine: APIClient, is_open: bool) -> None:
    found = made_with(engine, is_open=is_open)

    assert {name: found["HostConfig"][name] for name in CONFINED} == CONFINED
    assert found["HostConfig"]["ReadonlyRootfs"] is not is_open
    assert found["HostConfig"]["NetworkMode"] == (SETTINGS.network if is_open else "none")
    assert found["Config"]["User"] == "1000:1000"
    assert [one["Type"] for one in found["Mounts"]] == []


def test_a_kernel_that_asks_is_answered_the_same(engine: APIClient) -> None:
    asked = (
        "grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; "
        "(: > /etc/new) 2>/dev/null || echo the root is read-only"
    )
    image = Images(engine, SETTINGS).tools("python")
    with opened(engine, SETTINGS, Opened(image)) as container:
        ended = container.run(asked, seconds=20, environment={})

    assert ended.out.decode().split("\n") == [
        "CapEff:\t0000000000000000",
        "CapBnd:\t0000000000000000",
        "NoNewPrivs:\t1",
        "Seccomp:\t2",
        "the root is read-only",
        "",
    ]


def test_a_runtime_that_the_engine_has_not_blames_nobody(engine: APIClient) -> None:
    lacking = replace(SETTINGS, runtime="no-such-runtime")

    found = tried(engine, PYTHON, "test", "lint", settings=lacking).reports

    assert {gate: [one.reason_code for one in findings_of(found[gate])] for gate in found} == {
        "test": ["sandbox_unavailable"],
        "lint": ["sandbox_unavailable"],
    }
    assert "no-such-runtime" in found["test"].detail


def test_a_runtime_that_is_named_is_what_runs_it(engine: APIClient) -> None:
    named = replace(SETTINGS, runtime="runc")
    image = Images(engine, named).tools("python")
    with opened(engine, named, Opened(image)) as container:
        found = engine.inspect_container(container.id)

    assert found["HostConfig"]["Runtime"] == "runc"


def test_a_proxy_is_told_to_installs_and_to_nothing_else(engine: APIClient) -> None:
    proxy = "http://127.0.0.1:9"
    proxied = replace(SETTINGS, proxy=proxy)
    asked = "env | grep -i '^https*_proxy=' | sort || true"
    plan = {"install": [f": {uuid4()}", asked], "test": [asked]}

    found = tried(engine, PYTHON, "install", "test", plan=plan, settings=proxied)

    names = ("HTTPS_PROXY", "HTTP_PROXY", "http_proxy", "https_proxy")
    said = found.ended["install"].out.decode().split()
    assert sorted(said) == [f"{name}={proxy}" for name in names]
    assert found.ended["test"].out == b""


FETCH = (
    "/opt/loomverify/python/bin/python -m pip download "
    "--retries 0 --timeout 5 --no-deps --dest /tmp iniconfig==2.3.0"
)


PORT = 3128
ASKED = f"python3 -c \"import socket; socket.create_connection(('%s', {PORT}), 3)\" 2>/dev/null"


@contextmanager
def a_proxy_in(engine: APIClient, settings: SandboxSettings) -> Iterator[str]:
    """The address of what listens in the operator's network, as a proxy of theirs would."""
    image = Images(engine, settings).tools("python")
    with opened(engine, settings, Opened(image, is_open=True)) as container:
        listening = f"python3 -m http.server {PORT}"
        until = f"until {ASKED % '127.0.0.1'}; do :; done"
        for command, is_waited_for in ((listening, False), (until, True)):
            made = engine.exec_create(container.id, ["sh", "-c", command], user=container.user)
            engine.exec_start(made["Id"], detach=not is_waited_for)
        networks = engine.inspect_container(container.id)["NetworkSettings"]["Networks"]
        yield networks[settings.network]["IPAddress"]


def test_an_install_reaches_no_more_than_the_operators_network_does(engine: APIClient) -> None:
    inner = replace(SETTINGS, network=f"{SETTINGS.owner}-inner")
    engine.create_network(inner.network, driver="bridge", internal=True)
    try:
        with a_proxy_in(engine, inner) as address:
            asked = [
                f"if {ASKED % address}; then echo a proxy; fi",
                f"if {FETCH} >/dev/null 2>&1; then echo an index; fi",
            ]
            found = [
                # What was installed once is not installed again.
                tried(
                    engine,
                    PYTHON,
                    "install",
                    plan={"install": [f": {uuid4()}", *asked]},
                    settings=one,
                )
                for one in (inner, SETTINGS)
            ]
    finally:
        engine.remove_network(inner.network)

    said = [one.ended["install"].out.decode() for one in found]
    assert said == ["a proxy\n", "an index\n"]


def test_an_install_that_reaches_nothing_blames_nobody(engine: APIClient) -> None:
    nowhere = replace(SETTINGS, proxy="http://127.0.0.1:9")
    # Pip says why it does not reach its index as often as it tries again.
    fetch = FETCH.replace("--retries 0", "--retries 1")
    plan = {"install": [f": {uuid4()}", fetch]}

    found = tried(engine, PYTHON, "install", plan=plan, settings=nowhere)

    assert [one.reason_code for one in findings_of(found.reports["install"])] == [
        "sandbox_unavailable"
    ]
