"""The Docker engine of the tests, and what is tried in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from docker import APIClient
from docker.errors import DockerException, ImageNotFound

from verification.adapters.sandbox.docker import DockerSandbox, Work, connect
from verification.adapters.sandbox.settings import Bounds, SandboxSettings
from verification.engine.gates import GateReport
from verification.engine.gating.components import components_of
from verification.engine.gating.given import with_given
from verification.engine.gating.judging import Judged
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.running import run_track, tracks_of
from verification.engine.gating.sandbox import SandboxLost
from verification.engine.gating.stages import Ended, Part, Stage

IMAGE = "loomverify-test"
IMAGES = dict.fromkeys(("python", "node", "go"), IMAGE)
MEGABYTE = 1_000_000
SETTINGS = SandboxSettings(
    owner=f"tests-{os.getpid()}",
    worker="tests:0",
    images=IMAGES,
    bounds=Bounds(
        memory_bytes=500 * MEGABYTE,
        workspace_bytes=100 * MEGABYTE,
        temporary_bytes=100 * MEGABYTE,
        processes=128,
    ),
)
ALL = ("install", "build", "types", "test", "lint", "security", "run")


@cache
def lacking_engine() -> str:
    """Why no Docker engine can be tested with; '' where one can."""
    try:
        client = connect(SETTINGS)
    except SandboxLost:
        return "no Docker engine answers"
    try:
        client.inspect_image(IMAGE)  # type: ignore[no-untyped-call]
    except ImageNotFound:
        return f"the Docker engine has no image {IMAGE}: see .ci/sandbox"
    except DockerException as error:
        return f"the Docker engine cannot be used: {error}"
    finally:
        client.close()
    return ""


@dataclass(slots=True)
class Tried:
    """What was told of a work, by gate; `ended` how each command ended."""

    reports: dict[str, GateReport] = field(default_factory=dict)
    ended: dict[str, Ended] = field(default_factory=dict)
    images: list[str] = field(default_factory=list)


def parts_of(files: Mapping[str, str], plan: Mapping[str, Sequence[str]]) -> list[Part]:
    contents = {path: content.encode() for path, content in files.items()}
    known = Files(list(contents), contents.get)
    parts = [part_of(one, known) for one in components_of(contents, contents.get).found]
    return with_given(parts, plan, list(contents))


def sandbox_of(
    client: APIClient, files: Mapping[str, str], settings: SandboxSettings = SETTINGS
) -> DockerSandbox:
    work = Work("tests", sorted(files), lambda path: files[path].encode())
    return DockerSandbox(client, settings, work)


def tried(
    client: APIClient,
    files: Mapping[str, str],
    *gates: str,
    plan: Mapping[str, Sequence[str]] | None = None,
    seconds: int = 0,
    settings: SandboxSettings = SETTINGS,
) -> Tried:
    """Run gates over a work with one component. `seconds` bounds every stage but the install."""
    found = Tried()

    def tell(_part: Part, stage: Stage, ended: Ended, judged: Judged) -> GateReport:
        found.ended[stage.gate] = ended
        return judged.report

    parts = parts_of(files, plan or {})
    if seconds:
        parts = [
            replace(one, stages=tuple(replace(stage, seconds=seconds) for stage in one.stages))
            for one in parts
        ]
    for track in tracks_of(parts, gates or ALL, {}):
        for report in run_track(track, sandbox_of(client, files, settings), tell):
            found.reports[report.gate] = report
    return found
