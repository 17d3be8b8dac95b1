"""What befalls a container from outside is not the work's fault, and nothing waits for ever."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest
from docker import APIClient
from docker.errors import APIError

from tests.sandbox.engine import IMAGE, SETTINGS, parts_of, sandbox_of, tried
from tests.sandbox.test_languages import PYTHON
from verification.adapters.sandbox.docker import connect
from verification.adapters.sandbox.images import Images
from verification.adapters.sandbox.opening import Opened, opened
from verification.adapters.sandbox.sweeping import prune
from verification.engine.gating.findings import findings_of
from verification.engine.gating.sandbox import SandboxLost
from verification.engine.gating.stages import Part, Stage

pytestmark = pytest.mark.docker


def test_a_container_that_somebody_ends_is_lost_and_blames_nobody(engine: APIClient) -> None:
    label = {"label": f"loomverify.owner={SETTINGS.owner}"}
    somebody = connect(SETTINGS)

    def end_it(_part: Part, _gate: str, chunk: bytes) -> None:
        for one in somebody.containers(filters=label) if chunk else ():
            somebody.kill(one["Id"])

    plan = {"test": ["echo began", "sleep 600"]}
    found = tried(engine, PYTHON, "test", plan=plan, listen=end_it).reports["test"]
    somebody.close()

    assert [one.reason_code for one in findings_of(found)] == ["sandbox_unavailable"]


def test_that_a_gate_begins_is_told_before_it_writes_anything(engine: APIClient) -> None:
    heard: list[tuple[str, bytes]] = []

    def hear(_part: Part, gate: str, chunk: bytes) -> None:
        heard.append((gate, chunk))

    tried(engine, PYTHON, "test", plan={"test": ["echo began"]}, listen=hear)

    own = [chunk for gate, chunk in heard if gate == "test"]
    assert (own[0], b"".join(own)) == (b"", b"began\n")


def test_of_images_that_were_made_the_newest_are_kept(engine: APIClient) -> None:
    repository = f"loomverify-{SETTINGS.owner}"
    for number in range(4):
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            archive.addfile(tarfile.TarInfo(f"{number}"))
        engine.import_image_from_data(content.getvalue(), repository, str(number))

    pruned = [prune(engine, {repository: most}) for most in (4, 3, 1, 1, 0)]

    assert (pruned, engine.images(name=repository)) == ([0, 1, 2, 0, 1], [])


@pytest.fixture
def network(engine: APIClient) -> Iterator[str]:
    """The name of one that is not there yet."""
    name = f"{SETTINGS.owner}-outbound"
    yield name
    for one in engine.networks(names=[name]):
        engine.remove_network(one["Id"])


def test_those_who_need_the_network_first_at_once_all_have_it(
    engine: APIClient, network: str
) -> None:
    settings = replace(SETTINGS, network=network)
    together = Barrier(4)

    def reached(_number: int) -> int | None:
        together.wait()
        wanted = Opened(IMAGE, is_open=True)
        with closing(connect(settings)) as client, opened(client, settings, wanted) as container:
            return container.run("true", seconds=20, folder="/", environment={}).exit_code

    with ThreadPoolExecutor(4) as pool:
        first = list(pool.map(reached, range(4)))
        later = list(pool.map(reached, range(4)))

    assert (first, later) == ([0] * 4, [0] * 4)


def test_a_network_whose_name_holds_that_of_installs_is_another_one(
    engine: APIClient, network: str
) -> None:
    engine.create_network(f"{network}-of-others", driver="bridge", internal=True)

    with opened(engine, replace(SETTINGS, network=network), Opened(IMAGE, is_open=True)) as one:
        found = engine.inspect_container(one.id)["NetworkSettings"]["Networks"]

    assert list(found) == [network]


def test_time_is_over_though_the_engine_refuses_to_kill(
    engine: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    def refuse(container: str, *_rest: Any) -> None:
        refused.append(container)
        raise APIError("not now")

    monkeypatch.setattr("verification.adapters.sandbox.container.KILL_SECONDS", 0.2)
    image = Images(engine, SETTINGS).tools("python")
    with opened(engine, SETTINGS, Opened(image)) as container:
        monkeypatch.setattr(engine, "kill", refuse)
        ended = container.run("sleep 600", seconds=1, environment={})

    assert ended.is_timed_out
    assert len(refused) == 3


def test_a_run_that_is_taken_back_opens_nothing_more(engine: APIClient) -> None:
    sandbox = sandbox_of(engine, PYTHON)
    sandbox.stop()

    with pytest.raises(SandboxLost, match="taken back"), sandbox._opened(Opened("any")):
        pass


def test_everything_that_is_written_comes_through_however_soon_it_is_written(
    engine: APIClient,
) -> None:
    image = Images(engine, SETTINGS).tools("python")
    with opened(engine, SETTINGS, Opened(image)) as container:
        written = [container.run("echo here", seconds=20, environment={}).out for _ in range(15)]

    assert written == [b"here\n"] * 15


def test_an_image_that_is_nowhere_is_said(engine: APIClient) -> None:
    nowhere = {"python": "127.0.0.1:9/nowhere:1"}
    sandbox = sandbox_of(engine, PYTHON)
    lacking = type(sandbox)(
        engine, type(SETTINGS)("tests", "tests:0", images=nowhere), sandbox.work
    )

    with pytest.raises(SandboxLost, match="could not be pulled"):
        lacking.images.tools("python")


COMPONENTS = {
    f"{folder}/{path}": text
    for folder in ("api", "web", "worker")
    for path, text in {**PYTHON, "pyproject.toml": "[project]\nname='x'\nversion='1'\n"}.items()
}
LOOKS = ("lint", "security")


def test_components_that_are_only_looked_at_share_a_container(
    engine: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    create = engine.create_container

    def counting(image: str, *rest: Any, **options: Any) -> Any:
        made.append(image)
        return create(image, *rest, **options)

    tried(engine, COMPONENTS, *LOOKS)  # its tools are there
    monkeypatch.setattr(engine, "create_container", counting)

    found = tried(engine, {**COMPONENTS, "web/bad.py": "import os\n"}, *LOOKS)

    assert len(made) == 1
    assert found.told == {
        "api": {"lint": "passed", "security": "passed"},
        "web": {"lint": "failed", "security": "passed"},
        "worker": {"lint": "passed", "security": "passed"},
    }


def test_a_container_that_ran_out_of_time_looks_at_nothing_more(engine: APIClient) -> None:
    sandbox = sandbox_of(engine, COMPONENTS)
    first, second, _third = parts_of(COMPONENTS, "")
    endless = Stage("lint", "sleep 60", is_apart=True, seconds=1)

    with closing(sandbox):
        with sandbox.box(first) as box:
            assert box.run(endless).is_timed_out
        with sandbox.box(second) as box:
            assert box.run(Stage("lint", "ls bad.py || pwd", is_apart=True, seconds=20)).out == (
                b"/workspace/web\n"
            )
