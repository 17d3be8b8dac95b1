"""One running container: filled, worked in, stopped, and removed."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace

from docker import APIClient
from docker.errors import APIError, DockerException, NotFound

from verification.adapters.sandbox.archive import archive
from verification.adapters.sandbox.capture import MAX_STREAM_BYTES, HeadAndTail
from verification.adapters.sandbox.settings import Bounds
from verification.adapters.sandbox.stream import Stream
from verification.engine.gates import OUT_OF_MEMORY_EXIT_CODE
from verification.engine.gating.sandbox import SandboxLost
from verification.engine.gating.stages import Ended
from verification.engine.reports.model import MAX_REPORT_BYTES, WORKSPACE

PUT_SECONDS = 120
READ_SECONDS = 30
WATCH_SECONDS = 2.0
MOST_UNANSWERED = 2
KILLS, KILL_SECONDS = 3, 5.0
CHUNK_BYTES = 65_536
FAULTS = (DockerException, OSError)
"""What the client raises where its engine is at fault: what a request fails by is an `OSError`."""

# Whatever the command left running ends with it: else it would work on while others judge.
_WRAPPED = '(set -e; eval "$LV_COMMAND"); code=$?; kill -9 -1; exit $code'
# Without a stream of its own, which would have to be written to while another one is read.
_GIVEN = 'printf %s "$LV_INPUT" | (unset LV_INPUT; set -e; eval "$LV_COMMAND")'
_FED = f"{_GIVEN}; code=$?; kill -9 -1; exit $code"

TIME, ROOM, LOST = "time", "room", "lost"
"""Why a container was stopped."""
_FULL = 1

Output = Callable[[bytes], None]
"""Told what a command writes, as it is written."""
Watch = Callable[[], bool]
"""Asked now and then whether a command is still within its bounds."""


def _unheard(_chunk: bytes) -> None:
    pass


@dataclass(frozen=True, slots=True)
class _Command:
    """A shell's text, and how it is run."""

    text: str
    seconds: float
    folder: str = "/"
    environment: Mapping[str, str] = field(default_factory=dict)
    output: Output = _unheard
    watch: Watch | None = None


@dataclass(slots=True, eq=False)
class Container:
    """Raises `SandboxLost` where the engine is gone, never what the work is to blame for."""

    client: APIClient
    id: str
    user: str
    bounds: Bounds
    has_ended: bool = False

    def put(self, files: Iterable[tuple[str, bytes]], folder: str = WORKSPACE) -> None:
        spool, size = archive(files)
        with spool, faults("Files could not be brought into the sandbox"):
            text = f"mkdir -p {folder} && head -c {size} | tar -xf - -C {folder}"
            given = iter(lambda: spool.read(CHUNK_BYTES), b"")
            ended = self._execute(_Command(text, PUT_SECONDS), given=given)
        if ended.exit_code != 0:
            said = ended.err.decode(errors="replace").strip()[-300:]
            raise SandboxLost(f"Files could not be brought into the sandbox: {said}")

    def run(
        self,
        command: str,
        *,
        seconds: float,
        folder: str = WORKSPACE,
        environment: Mapping[str, str],
        output: Output = _unheard,
        watch: Watch | None = None,
        given: str = "",
        covers: str | None = None,
    ) -> Ended:
        """Run a command, which may read what is given.

        `covers`: it also tells which lines it ran, in a folder under this name; '' in a file.
        """
        report = f"/tmp/{secrets.token_hex(16)}"  # noqa: S108 - in the container
        own = {"HOME": "/tmp", "LV_COMMAND": command, "LV_REPORT": report}  # noqa: S108
        if given:
            own["LV_INPUT"] = given
        text, variables = _FED if given else _WRAPPED, {**environment, **own}
        ended = self._execute(_Command(text, seconds, folder, variables, output, watch))
        if self.has_ended:
            return ended
        if ended.exit_code == OUT_OF_MEMORY_EXIT_CODE:
            self._check_running()
        ended = replace(ended, report=self._read(report))
        if covers is None:
            return ended
        return replace(ended, coverage=self._read(f"{report}.coverage/{covers}".rstrip("/")))

    def commit(self, repository: str, tag: str, *, told: str = "") -> None:
        with faults("What was installed could not be kept"):
            self.client.commit(self.id, repository=repository, tag=tag, message=told, pause=False)

    def written_bytes(self) -> int:
        """What was written to its root since it was made."""
        with faults("The sandbox did not answer"):
            found = self.client.containers(filters={"id": self.id}, size=True)
        return int(found[0].get("SizeRw", 0)) if found else 0

    def _check_running(self) -> None:
        """A command that runs out of memory ends alone; who ends the container is not the work."""
        if self._execute(_Command("exit 0", READ_SECONDS)).exit_code != 0:
            self.has_ended = True
            raise SandboxLost("The sandbox was ended by somebody else.")

    def close(self) -> None:
        self.has_ended = True
        with suppress(*FAULTS):
            self.client.remove_container(self.id, force=True, v=True)

    def _read(self, path: str) -> bytes | None:
        """A report, by a process of its own: what is no plain file is none."""
        command = f"test -f {path} && test ! -L {path} && head -c {MAX_REPORT_BYTES + 1} {path}"
        ended = self._execute(_Command(command, READ_SECONDS), limit=2 * MAX_REPORT_BYTES + 2)
        return ended.out if ended.exit_code == 0 else None

    def _execute(
        self,
        command: _Command,
        *,
        given: Iterable[bytes] | None = None,
        limit: int = MAX_STREAM_BYTES,
    ) -> Ended:
        out, err = HeadAndTail(limit), HeadAndTail(limit)
        started = time.monotonic()
        with faults("The sandbox did not answer"):
            made = self.client.exec_create(
                self.id, ["/bin/sh", "-c", command.text], user=self.user, workdir=command.folder,
                environment=dict(command.environment), stdin=given is not None,
            )  # fmt: skip
            stream = Stream(self.client, made["Id"])
            with closing(stream), self._guarded(stream, command) as stopped:
                for chunk in given or ():
                    stream.feed(chunk)
                for is_error, chunk in stream.chunks():
                    (err if is_error else out).add(chunk)
                    command.output(chunk)
            code = None if stopped else self._exit_code(made["Id"])
        if ROOM in stopped:
            err.add(b"\nIt wrote more than there is room for.\n")
        return Ended(
            exit_code=_FULL if ROOM in stopped else code,
            is_timed_out=TIME in stopped,
            out=out.content(),
            err=err.content(),
            is_whole=out.is_whole and err.is_whole,
            duration_ms=round((time.monotonic() - started) * 1000),
        )

    @contextmanager
    def _guarded(self, stream: Stream, command: _Command) -> Iterator[list[str]]:
        """Stop the container when time or room is over; the list then says which."""
        stopped: list[str] = []
        over = threading.Event()
        thread = threading.Thread(
            target=self._guard, args=(stream, command, over, stopped), daemon=True
        )
        thread.start()
        try:
            yield stopped
        except (OSError, ValueError):
            if not stopped:
                raise
        finally:
            over.set()
            thread.join()
        if LOST in stopped:
            raise SandboxLost("The sandbox did not answer while a command ran in it.")

    def _guard(
        self, stream: Stream, command: _Command, over: threading.Event, stopped: list[str]
    ) -> None:
        until, unanswered = time.monotonic() + command.seconds, 0
        turn = min(WATCH_SECONDS, command.seconds) if command.watch else command.seconds
        while not over.wait(turn):
            is_within = _asked(command.watch)
            unanswered = unanswered + 1 if is_within is None else 0
            if time.monotonic() >= until:
                stopped.append(TIME)
            elif is_within is False:
                stopped.append(ROOM)
            elif unanswered > MOST_UNANSWERED:
                stopped.append(LOST)
            if stopped:
                self._end(stream, over)
                return

    def _end(self, stream: Stream, over: threading.Event) -> None:
        """Kill until it is dead; a connection that stays open all the same is cut."""
        self.has_ended = True
        for _ in range(KILLS):
            with suppress(*FAULTS):
                self.client.kill(self.id)
            if over.wait(KILL_SECONDS):
                return
        stream.abort()

    def _exit_code(self, exec_id: str) -> int | None:
        try:
            code = self.client.exec_inspect(exec_id)["ExitCode"]
        except NotFound:
            code = None
        if code is None:
            raise SandboxLost("The sandbox ended while a command ran in it.")
        return int(code)


def _asked(watch: Watch | None) -> bool | None:
    """None: no answer came."""
    try:
        return watch() if watch else True
    except SandboxLost:
        return None


@contextmanager
def faults(what: str) -> Iterator[None]:
    try:
        yield
    except SandboxLost:
        raise
    except APIError as error:
        raise SandboxLost(f"{what}: {error.explanation or error}") from error
    except FAULTS as error:
        raise SandboxLost(f"{what}: {type(error).__name__}.") from error
