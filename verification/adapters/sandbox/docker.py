"""The engine's port `Sandbox`, by containers of a Docker engine."""

from __future__ import annotations

import hashlib
import shlex
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from docker import APIClient
from docker.utils import kwargs_from_env

from verification.adapters.sandbox.container import FAULTS, Container
from verification.adapters.sandbox.images import Images, installed_in
from verification.adapters.sandbox.looking import Lookers
from verification.adapters.sandbox.opening import Opened, opened
from verification.adapters.sandbox.settings import SandboxSettings
from verification.engine.gating.components import Language
from verification.engine.gating.judging import noted
from verification.engine.gating.sandbox import Box, Installed, SandboxLost
from verification.engine.gating.stages import INSTALL, Ended, Part, Stage, workdir

CLIENT_SECONDS = 60
MEMORY_SHARE = 0.7
PREPARE_SECONDS = 60

Listen = Callable[[Part, str, bytes], None]
"""Told that a gate of a component begins, by no bytes, and what it writes, as it is written."""

# A folder of links: runners keep their caches beside what was installed, and what is built in a
# package of a workspace is found by the others, whose links lead to it as they did where it lay.
_SPREAD = """spread() {
  mkdir -p "$2" &&
    find "$1" -mindepth 1 -maxdepth 1 ! -type l ! -name .cache ! -name '@*' \\
      -exec sh -c 'ln -s "$@" "$0"' "$2" {} + &&
    find "$1" -mindepth 1 -maxdepth 1 -type l -exec sh -c 'cp -P "$@" "$0"' "$2" {} + || return 1
  for scope in "$1"/@*/; do
    if [ -d "$scope" ] && [ ! -L "${scope%/}" ]; then
      spread "${scope%/}" "$2/$(basename "$scope")" || return 1
    fi
  done
}"""


@dataclass(frozen=True, slots=True)
class Work:
    """What is tried. `scope` keeps installs apart from those of other projects."""

    scope: str
    paths: Sequence[str]
    read: Callable[[str], bytes]

    def files(self) -> Iterator[tuple[str, bytes]]:
        return ((path, self.read(path)) for path in self.paths)


@dataclass(frozen=True, slots=True)
class DockerBox:
    container: Container
    part: Part
    listen: Listen

    def run(self, stage: Stage) -> Ended:
        seconds = stage.seconds or self.part.seconds[stage.gate]
        self.listen(self.part, stage.gate, b"")
        return self.container.run(
            stage.command,
            seconds=seconds,
            folder=workdir(self.part.component),
            environment={**self.part.environment, "LV_SECONDS": str(seconds)},
            output=lambda chunk: self.listen(self.part, stage.gate, chunk),
            given=stage.input,
            covers=stage.cover.inner if stage.cover else None,
        )


@dataclass(frozen=True, slots=True)
class DockerSandbox:
    """To be closed: what only looks at the work is open until then."""

    client: APIClient
    settings: SandboxSettings
    work: Work
    listen: Listen = lambda _part, _gate, _chunk: None
    open: set[Container] = field(default_factory=set)
    lookers: Lookers = field(default_factory=Lookers)
    stopped: threading.Event = field(default_factory=threading.Event)
    installing: dict[str, threading.Lock] = field(default_factory=dict)
    made: dict[tuple[str, tuple[str, ...]], str | SandboxLost] = field(default_factory=dict)

    def stop(self) -> None:
        """End all that runs, and begin nothing more; whoever waits is told that it was lost."""
        self.stopped.set()
        for container in list(self.open):
            container.close()

    def close(self) -> None:
        self.lookers.opened.close()

    @contextmanager
    def _opened(self, wanted: Opened) -> Iterator[Container]:
        self._check()
        with opened(self.client, self.settings, wanted) as container:
            self.open.add(container)
            try:
                self._check()
                yield container
            finally:
                self.open.discard(container)

    def room(self) -> int:
        """How many containers the engine's machine has processors and memory for, at least one."""
        try:
            machine = self.client.info()
        except FAULTS as error:
            raise SandboxLost(f"The Docker engine did not answer: {error}") from error
        memory = MEMORY_SHARE * machine["MemTotal"] / self.settings.bounds.memory_bytes
        return max(1, min(int(machine["NCPU"]), int(memory)))

    def _check(self) -> None:
        if self.stopped.is_set():
            raise SandboxLost("The run was taken back.")

    @property
    def images(self) -> Images:
        return Images(self.client, self.settings)

    def image(self, part: Part) -> str:
        """What a component is run in once its dependencies are installed; '' where nothing is run.

        Raises:
            SandboxLost: the tools' image cannot be had.
        """
        if not part.is_run:
            return ""
        tools = self._tools(part.tools, part.judges)
        if not part.install.command:
            return tools
        digests = [
            f"{path} {hashlib.sha256(self.work.read(path)).hexdigest()}"
            for path in part.install.inputs
        ]
        owner = part.install.owner or part.component
        said = [self.work.scope, owner.name, part.install.command, *digests]
        return self.images.deps(tools, said)

    def _tools(self, language: str, judges: tuple[str, ...] = ()) -> str:
        """Asked for once, however many components there are; so is what cannot be had."""
        wanted = language, judges
        if wanted not in self.made:
            try:
                tools = self.images.tools(language)
                self.made[wanted] = self.images.judging(tools, judges)
            except SandboxLost as lost:
                self.made[wanted] = lost
        found = self.made[wanted]
        if isinstance(found, SandboxLost):
            raise found
        return found

    def looking(self) -> str:
        """The image of what only looks at the work, whatever its language.

        Raises:
            SandboxLost: it cannot be had.
        """
        return self._tools(Language.PYTHON)

    def install(self, part: Part) -> Installed:
        image = self.image(part)
        with self.installing.setdefault(
            image, threading.Lock()
        ):  # packages of a workspace share it
            return Installed(image) if self.images.has(image) else self._install(part, image)

    def _install(self, part: Part, image: str) -> Installed:
        tools = self._tools(part.tools, part.judges)
        with self._opened(Opened(tools, is_open=True)) as container:
            folder = workdir(part.install.owner or part.component)
            container.put((path, self.work.read(path)) for path in part.install.inputs)
            self.listen(part, INSTALL, b"")
            ended = installed_in(
                container,
                f"mkdir -p {shlex.quote(folder)} && cd {shlex.quote(folder)} && {part.install.command}",
                seconds=part.seconds[INSTALL],
                environment={**part.environment, **self.images.outbound()},
                output=lambda chunk: self.listen(part, INSTALL, chunk),
            )
            if ended.exit_code == 0:
                container.commit(*image.split(":", 1), told=noted(part, ended))
        return Installed(image, ended)

    def told(self, part: Part) -> str:
        with suppress(SandboxLost):
            image = self.image(part)
            return (image and self.images.told(image)) or ""
        return ""

    @contextmanager
    def box(self, part: Part, image: str = "") -> Iterator[Box]:
        if not image:
            with self.lookers.box(lambda: self._filled(self.looking()), self._boxed(part)) as box:
                yield box
            return
        with self._filled(image) as container:
            _prepare(container, part)
            yield self._boxed(part)(container)

    def _boxed(self, part: Part) -> Callable[[Container], Box]:
        return lambda container: DockerBox(container, part, self.listen)

    @contextmanager
    def _filled(self, image: str) -> Iterator[Container]:
        with self._opened(Opened(image)) as container:
            container.put(self.work.files())
            yield container


def connect(settings: SandboxSettings) -> APIClient:
    """Raises `SandboxLost`: no engine answers."""
    try:
        said: dict[str, Any] = {**kwargs_from_env()}
        if settings.address:
            said["base_url"] = settings.address
        client = APIClient(**said, version="auto", timeout=CLIENT_SECONDS)
        client.ping()
    except FAULTS as error:
        raise SandboxLost(f"No Docker engine answers: {error}") from error
    return client


def _prepare(container: Container, part: Part) -> None:
    if not part.linked and not part.before:
        return
    folder = workdir(part.component)
    commands = (
        _linked(shlex.quote(f"./{name}"), shlex.quote(to)) for name, to in part.linked.items()
    )
    command = "\n".join(filter(None, [_SPREAD, *commands, part.before]))
    ended = container.run(command, seconds=PREPARE_SECONDS, folder=folder, environment={})
    if ended.exit_code != 0:
        raise SandboxLost("What was installed could not be linked into the workspace.")


def _linked(name: str, target: str) -> str:
    return f"[ -e {name} ] || [ ! -d {target} ] || spread {target} {name}"
