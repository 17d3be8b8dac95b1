"""The Docker engine of the tests, and what is tried in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType

from docker import APIClient
from docker.errors import DockerException, ImageNotFound

from verification.adapters.sandbox.docker import DockerSandbox, Listen, Work, connect
from verification.adapters.sandbox.settings import Bounds, SandboxSettings
from verification.engine.gates import GateReport
from verification.engine.gating.changing import covering
from verification.engine.gating.components import components_of
from verification.engine.gating.given import Named
from verification.engine.gating.judging import Judged
from verification.engine.gating.overrides import placed, read_overrides
from verification.engine.gating.planned import planned_of
from verification.engine.gating.planning import parts_of as planned_parts
from verification.engine.gating.recipes import Files
from verification.engine.gating.running import run_track, tracks_of
from verification.engine.gating.sandbox import SandboxLost
from verification.engine.gating.stages import OWN_FILE, Ended, Part, Stage

IMAGE = "loomverify-test"
MORE = "loomverify-test-more"
IMAGES = {
    **dict.fromkeys(("python", "node", "go"), IMAGE),
    **dict.fromkeys(("rust", "ruby", "php", "make", "java", "gradle"), MORE),
}
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
        for image in (IMAGE, MORE):
            client.inspect_image(image)  # type: ignore[no-untyped-call]
    except ImageNotFound:
        return f"the Docker engine has not both {IMAGE} and {MORE}: see .ci/sandbox"
    except DockerException as error:
        return f"the Docker engine cannot be used: {error}"
    finally:
        client.close()
    return ""


@dataclass(slots=True)
class Tried:
    """What was told of a work, by gate; `ended` how each command ended.

    `told` is how each gate of each component ended, by the component's folder.
    """

    reports: dict[str, GateReport] = field(default_factory=dict)
    told: dict[str, dict[str, str]] = field(default_factory=dict)
    ended: dict[str, Ended] = field(default_factory=dict)
    judged: dict[str, Judged] = field(default_factory=dict)


def parts_of(files: Mapping[str, str], plan: Mapping[str, Sequence[str]] | str) -> list[Part]:
    """`plan` is a plan's text, or the commands that it names."""
    contents = {path: content.encode() for path, content in files.items()}
    known = Files(list(contents), contents.get)
    words = plan if isinstance(plan, str) else ""
    found = components_of(contents, contents.get, words).found
    own = placed(read_overrides(contents.get(OWN_FILE, b"{}")), found, list(contents))
    if isinstance(plan, str):
        return planned_parts(known, own, planned_of(plan))
    return planned_parts(known, own, {None: Named(plan)})


def sandbox_of(
    client: APIClient, files: Mapping[str, str], settings: SandboxSettings = SETTINGS
) -> DockerSandbox:
    work = Work("tests", sorted(files), lambda path: files[path].encode())
    return DockerSandbox(client, settings, work)


def tried(
    client: APIClient,
    files: Mapping[str, str],
    *gates: str,
    plan: Mapping[str, Sequence[str]] | str = "",
    seconds: int = 0,
    covers: bool = False,
    known: Mapping[str, GateReport] = MappingProxyType({}),
    settings: SandboxSettings = SETTINGS,
    listen: Listen = lambda _part, _gate, _chunk: None,
) -> Tried:
    """Run gates over a work with one component. `seconds` bounds every stage but the install.

    `known` are reports of earlier runs, by gate.
    """
    found = Tried()
    sandbox = replace(sandbox_of(client, files, settings), listen=listen)

    def tell(_part: Part, stage: Stage, ended: Ended, judged: Judged) -> GateReport:
        found.ended[stage.gate] = ended
        found.judged[stage.gate] = judged
        return judged.report

    parts = [covering(part, is_wanted=covers) for part in parts_of(files, plan)]
    if seconds:
        parts = [
            replace(one, stages=tuple(replace(stage, seconds=seconds) for stage in one.stages))
            for one in parts
        ]
    told = {part.component.name: known for part in parts}
    with closing(sandbox):
        for track in tracks_of(parts, gates or ALL, told):
            for report in run_track(track, sandbox, tell):
                found.reports[report.gate] = report
                folder = track.part.component.folder or "."
                found.told.setdefault(folder, {})[report.gate] = str(report.status)
    return found
