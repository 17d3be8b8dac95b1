"""One running container: filled, worked in, stopped, and removed."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace

from docker import APIClient
from docker.errors import APIError, DockerException, NotFound
from requests.exceptions import RequestException

from verification.adapters.sandbox.archive import archive
from verification.adapters.sandbox.capture import HeadAndTail
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
_FAULTS = (DockerException, RequestException, OSError)

# Whatever the command left running ends with it: else it would work on while others judge.
_WRAPPED = '(set -e; eval "$LV_COMMAND"); code=$?; kill -9 -1; exit $code'
# Without a stream of its own, which would have to be written to while another one is read.
_GIVEN = 'printf %s "$LV_INPUT" | (unset LV_INPUT; set -e; eval "$LV_COMMAND")'
_FED = f"{_GIVEN}; code=$?; kill -9 -1; exit $code"

TIME, ROOM, LOST = "time", "room", "lost"
"""Why a container was stopped."""
_FULL = 1

Output = Callable[[bytes], None]


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
            ended = self._execute(
                f"mkdir -p {folder} && head -c {size} | tar -xf - -C {folder}",
                seconds=PUT_SECONDS,
                given=iter(lambda: spool.read(CHUNK_BYTES), b""),
            )
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
        output: Output | None = None,
        watch: Callable[[], bool] | None = None,
        given: str = "",
        covers: str | None = None,
    ) -> Ended:
        """Run a command, which may read what is given.

        `covers`: it also tells which lines it ran, in a folder under this name; '' in a file.
        `watch` is asked now and then whether it is still within its bounds.
        """
        report = f"/tmp/{secrets.token_hex(16)}"  # noqa: S108 - in the container
        ended = self._execute(
            _FED if given else _WRAPPED,
            seconds=seconds,
            folder=folder,
            environment={
                **environment,
                "HOME": "/tmp",  # noqa: S108 - in the container
                "LV_COMMAND": command,
                "LV_REPORT": report,
                **({"LV_INPUT": given} if given else {}),
            },
            output=output,
            watch=watch,
        )
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
        if self._execute("exit 0", seconds=READ_SECONDS).exit_code != 0:
            self.has_ended = True
            raise SandboxLost("The sandbox was ended by somebody else.")

    def close(self) -> None:
        self.has_ended = True
        with suppress(*_FAULTS):
            self.client.remove_container(self.id, force=True, v=True)

    def _read(self, path: str) -> bytes | None:
        """A report, by a process of its own: what is no plain file is none."""
        command = f"test -f {path} && test ! -L {path} && head -c {MAX_REPORT_BYTES + 1} {path}"
        ended = self._execute(command, seconds=READ_SECONDS, limit=2 * MAX_REPORT_BYTES + 2)
        return ended.out if ended.exit_code == 0 else None

    def _execute(
        self,
        command: str,
        *,
        seconds: float,
        folder: str = "/",
        environment: Mapping[str, str] | None = None,
        output: Output | None = None,
        watch: Callable[[], bool] | None = None,
        given: Iterator[bytes] | None = None,
        limit: int = 0,
    ) -> Ended:
        out, err = (HeadAndTail(limit) if limit else HeadAndTail() for _ in range(2))
        started = time.monotonic()
        with faults("The sandbox did not answer"):
            made = self.client.exec_create(
                self.id, ["/bin/sh", "-c", command], user=self.user, workdir=folder,
                environment=dict(environment or {}), stdin=given is not None,
            )  # fmt: skip
            stream = Stream(self.client, made["Id"])
            with closing(stream), self._guarded(stream, seconds, watch) as stopped:
                for chunk in given or ():
                    stream.feed(chunk)
                for is_error, chunk in stream.chunks():
                    (err if is_error else out).add(chunk)
                    if output:
                        output(chunk)
            code = None if stopped else self._exit_code(made["Id"])
        if LOST in stopped:
            raise SandboxLost("The sandbox did not answer while a command ran in it.")
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
    def _guarded(
        self, stream: Stream, seconds: float, watch: Callable[[], bool] | None
    ) -> Iterator[list[str]]:
        """Stop the container when time or room is over; the list then says which."""
        stopped: list[str] = []
        over = threading.Event()

        def guard() -> None:
            until = time.monotonic() + seconds
            unanswered = 0
            while not over.wait(min(WATCH_SECONDS if watch else seconds, seconds)):
                is_within = _asked(watch)
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

        thread = threading.Thread(target=guard, daemon=True)
        thread.start()
        try:
            yield stopped
        except (OSError, ValueError):
            if not stopped:
                raise
        finally:
            over.set()
            thread.join()

    def _end(self, stream: Stream, over: threading.Event) -> None:
        """Kill until it is dead; a connection that stays open all the same is cut."""
        self.has_ended = True
        for _ in range(KILLS):
            with suppress(*_FAULTS):
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


def _asked(watch: Callable[[], bool] | None) -> bool | None:
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
    except _FAULTS as error:
        raise SandboxLost(f"{what}: {type(error).__name__}.") from error
