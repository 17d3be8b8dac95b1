"""One state of a run's work in a sandbox: run, or known from before, and told of as it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial

from docker import APIClient

from verification.adapters.sandbox.docker import DockerSandbox
from verification.adapters.sandbox.docker import Work as Tried
from verification.engine.evidence import Workspace
from verification.engine.gates import GateReport
from verification.engine.gating.comparing import restored
from verification.engine.gating.judging import Judged
from verification.engine.gating.locating import located
from verification.engine.gating.running import Tell, Track, before, run_track, tracks_of
from verification.engine.gating.sandbox import SandboxLost
from verification.engine.gating.stages import INSTALL, Ended, Part, Stage
from verification.engine.gating.unspoken import spoken
from verification.engine.outcome import Purpose
from verification.engine.reports.record import Record
from verification.runs.evidence_store import (
    Digest,
    EvidenceLost,
    digest_of,
    read_content,
    store_contents,
)
from verification.runs.gating.known import (
    REUSED,
    REUSED_AGAIN,
    files_sha256,
    inputs_sha256,
    known_reports,
)
from verification.runs.gating.progress import Progress
from verification.runs.gating.redacting import Redacting
from verification.runs.gating.settings import sandbox_settings
from verification.runs.holding import Hold
from verification.runs.work import Begun, Work

TURN_SECONDS = 0.2
CHECK_SECONDS = 5.0

Key = Callable[[Part, Stage], str]
"""Names all that a gate's result depends on."""
Wanted = Callable[[Part], Sequence[str]]
"""The gates of a part that are to be told."""


@dataclass(frozen=True, slots=True)
class State:
    """Files by their digests, and how they are read."""

    files: Mapping[str, Digest]
    workspace: Workspace

    def read(self, path: str) -> bytes | None:
        """None, where there is no such file."""
        return self.workspace.read(path) if path in self.files else None


@dataclass(frozen=True, slots=True)
class Trial:
    """`label` stands before a component's name while it is shown."""

    work: Work
    begun: Begun
    hold: Hold
    state: State
    client: APIClient
    progress: Progress
    redacting: Redacting = field(default_factory=Redacting)
    label: str = ""
    began: float = field(default_factory=time.monotonic)
    records: dict[str, Record] = field(default_factory=dict)

    def run(self, parts: Sequence[Part], wanted: Wanted) -> list[GateReport]:
        """Raises `SandboxLost` where the engine is gone before anything ran, and `LeaseLost`."""
        sandbox = DockerSandbox(
            self.client,
            sandbox_settings(),
            Tried(self._scope, sorted(self.state.files), self.state.workspace.read),
            self._written,
        )
        key = self._key(sandbox, parts, wanted)
        reused = REUSED if self.begun.purpose == Purpose.LIVE else REUSED_AGAIN
        found = known_reports(self.work.project_id, parts, key, reused)
        known = {name: dict(self._restored(told)) for name, told in found.items()}
        tracks = [track for part in parts for track in tracks_of([part], wanted(part), known)]
        tell = partial(self._told, key)
        with closing(sandbox), ThreadPoolExecutor(max_workers=sandbox.room()) as pool:
            running = [pool.submit(_finished, one, sandbox, tell) for one in tracks]
            watch = self._watched()
            try:
                while wait(running, timeout=TURN_SECONDS).not_done:
                    watch()  # in this thread alone is the database written to
            except BaseException:
                for one in running:
                    one.cancel()
                sandbox.stop()
                raise
        return [report for one in running for report in one.result()]

    def _written(self, part: Part, gate: str, chunk: bytes) -> None:
        """What is to be redacted is shown when it is whole: a match may come in two pieces."""
        self.progress.add(self._name(part), gate, b"" if self.redacting.patterns else chunk)

    def judged(self, report: GateReport) -> Judged:
        """A report with all that was reported to it."""
        record = self._record(report.record[0]) if report.record else Record()
        return Judged(report, record.tests, record.problems, record.coverage)

    def _record(self, sha256: str) -> Record:
        """Read once, though a report is asked about it by whoever compares."""
        if sha256 not in self.records:
            content = read_content(self.work.project_uuid, sha256)
            self.records[sha256] = Record.from_json(content)
        return self.records[sha256]

    def _restored(self, known: Mapping[str, GateReport]) -> Iterator[tuple[str, GateReport]]:
        """What another run's evidence no longer holds is found out anew."""
        for gate, report in known.items():
            with suppress(EvidenceLost):
                yield gate, restored(self.judged(report))

    @property
    def _scope(self) -> str:
        return self.work.project_uuid.hex

    def _name(self, part: Part) -> str:
        return f"{self.label}{part.component.name}"

    def _key(self, sandbox: DockerSandbox, parts: Sequence[Part], wanted: Wanted) -> Key:
        """No image is asked for in which nothing is to be run.

        '' where one cannot be had: its gates are lost as they begin, and the others are run.
        """
        images: dict[str, str] = {}
        looking: str | None = None
        for part in parts:
            gates = wanted(part)
            apart = {one.is_apart for one in part.stages if one.command and one.gate in gates}
            is_run = INSTALL in gates or False in apart
            with suppress(SandboxLost):
                images[part.component.name] = sandbox.image(part) if is_run else ""
            if True in apart and looking is None:
                with suppress(SandboxLost):
                    looking = sandbox.looking()

        files = files_sha256(self.state.files)

        def key(part: Part, stage: Stage) -> str:
            image = looking if stage.is_apart else images.get(part.component.name)
            if image is None:
                return ""
            earlier = before(part, stage, wanted(part))
            scope = f"{self._scope}{self.redacting.name}"
            return inputs_sha256(scope, image, part, stage, files, earlier)

        return key

    def _told(self, key: Key, part: Part, stage: Stage, ended: Ended, judged: Judged) -> GateReport:
        """Store what was written and reported, and name it."""
        judged = located(judged, part.component, self.state.files)
        judged = self.redacting.judged(spoken(judged, part.component, self.state.read))
        log, record = self.redacting.log(_log(ended)), judged.record
        kept = None if record.is_empty else record.to_json()
        store_contents(self.work.project, [log, *([kept] if kept else ())])
        report = judged.report
        may_be_reused = (
            report.status in REUSED and not report.contradiction and not report.was_cut_off
        )
        self.progress.end(self._name(part), report)
        return replace(
            report,
            log=digest_of(log),
            record=digest_of(kept) if kept else None,
            inputs_sha256=key(part, stage) if may_be_reused else "",
            started_ms=max(0, round((time.monotonic() - self.began) * 1000) - ended.duration_ms),
        )

    def _watched(self) -> Callable[[], None]:
        """Raises `LeaseLost`: the run was cancelled, or another worker has it."""
        checked = time.monotonic()

        def watch() -> None:
            nonlocal checked
            self.progress.save()
            if time.monotonic() - checked > CHECK_SECONDS:
                checked = time.monotonic()
                self.hold.check()

        return watch


def _finished(track: Track, sandbox: DockerSandbox, tell: Tell) -> list[GateReport]:
    return list(run_track(track, sandbox, tell))


def _log(ended: Ended) -> bytes:
    if not ended.err:
        return ended.out
    return ended.out + (b"\n" if ended.out else b"") + ended.err
