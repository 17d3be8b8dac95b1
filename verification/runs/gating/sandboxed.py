"""The gates of one evaluation in a sandbox: tracks side by side, told of as they run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace

from verification.adapters.sandbox.docker import DockerSandbox, connect
from verification.adapters.sandbox.docker import Work as Tried
from verification.engine.case import Case
from verification.engine.evidence import Workspace
from verification.engine.gates import OUT_OF_MEMORY_EXIT_CODE, GateReport
from verification.engine.gating.judging import Judged
from verification.engine.gating.running import Track, run_track, tracks_of
from verification.engine.gating.sandbox import SandboxLost
from verification.engine.gating.stages import Ended, Part, Stage
from verification.engine.outcome import Purpose, Status
from verification.runs.evidence_store import Digest, digest_of, store_contents
from verification.runs.gating.known import REUSED, REUSED_AGAIN, inputs_sha256, known_reports
from verification.runs.gating.planning import plan_of
from verification.runs.gating.ports import LostGates
from verification.runs.gating.progress import Progress
from verification.runs.gating.settings import sandbox_settings
from verification.runs.holding import Hold
from verification.runs.work import Begun, Work

TURN_SECONDS = 0.2
MAX_TOLD = 200
CHECK_SECONDS = 5.0
NOTHING_KNOWN = "Nothing here is known to be built or tried: there is no file that says how."


@dataclass(frozen=True, slots=True)
class SandboxGates:
    """The engine's port `Gates`, by the Docker engine that this worker reaches."""

    work: Work
    begun: Begun
    files: dict[str, Digest]
    workspace: Workspace
    hold: Hold
    began: float = field(default_factory=time.monotonic)

    def run(self, case: Case) -> Sequence[GateReport]:
        try:
            client = connect(sandbox_settings())
        except SandboxLost as lost:
            return LostGates(str(lost)).run(case)
        try:
            return self._run(case, client)
        except SandboxLost as lost:
            return LostGates(str(lost)).run(case)
        finally:
            client.close()

    def _run(self, case: Case, client: object) -> Sequence[GateReport]:
        plan = plan_of(case, self.workspace)
        parts = plan.parts
        if not parts:
            return [
                GateReport(gate, Status.ERROR, detail=NOTHING_KNOWN) for gate in case.phase.gates
            ]
        progress = Progress(self.begun.evaluation_id)
        sandbox = DockerSandbox(
            client,  # type: ignore[arg-type]
            sandbox_settings(),
            Tried(self.work.project_uuid.hex, sorted(self.files), self.workspace.read),
            progress.add,
        )
        key = self._key(sandbox, parts)
        reused = REUSED if self.begun.purpose == Purpose.LIVE else REUSED_AGAIN
        known = known_reports(self.work.project_id, parts, key, reused)
        tracks = tracks_of(parts, case.phase.gates, known)

        def tell(part: Part, stage: Stage, ended: Ended, judged: Judged) -> GateReport:
            report = self._kept(part, stage, ended, judged, key)
            progress.end(part, report)
            return report

        pool = ThreadPoolExecutor(max_workers=sandbox.room())
        found = _side_by_side(tracks, sandbox, tell, pool, self._watched(progress))
        reports = [report for reports in found for report in reports]
        return bounded([*reports, *_left_out(case, plan.left_out)])

    def _key(self, sandbox: DockerSandbox, parts: Sequence[Part]) -> Callable[[Part, Stage], str]:
        images = {part.component.name: sandbox.image(part) for part in parts}

        def key(part: Part, stage: Stage) -> str:
            image = images[part.component.name]
            return inputs_sha256(self.work.project_uuid.hex, image, part, stage, self.files)

        return key

    def _kept(
        self,
        part: Part,
        stage: Stage,
        ended: Ended,
        judged: Judged,
        key: Callable[[Part, Stage], str],
    ) -> GateReport:
        """Store what was written and reported, and name it."""
        log = _log(ended)
        record = json.dumps(
            {
                "tests": asdict(judged.tests) if judged.tests else None,
                "problems": asdict(judged.problems) if judged.problems else None,
            }
        ).encode()
        has_record = judged.tests is not None or judged.problems is not None
        store_contents(self.work.project, [log, *([record] if has_record else ())])
        report = judged.report
        is_reused = (
            report.status in REUSED
            and not report.contradiction
            and report.exit_code != OUT_OF_MEMORY_EXIT_CODE
        )
        return replace(
            judged.report,
            log=digest_of(log),
            record=digest_of(record) if has_record else None,
            inputs_sha256=key(part, stage) if is_reused else "",
            started_ms=max(0, round((time.monotonic() - self.began) * 1000) - ended.duration_ms),
        )

    def _watched(self, progress: Progress) -> Callable[[], None]:
        """Raises `LeaseLost`: the run was cancelled, or another worker has it."""
        checked = time.monotonic()

        def watch() -> None:
            nonlocal checked
            progress.save()
            if time.monotonic() - checked > CHECK_SECONDS:
                checked = time.monotonic()
                self.hold.check()

        return watch


def _side_by_side(
    tracks: Sequence[Track],
    sandbox: DockerSandbox,
    tell: Callable[[Part, Stage, Ended, Judged], GateReport],
    pool: ThreadPoolExecutor,
    watch: Callable[[], None],
) -> list[list[GateReport]]:
    """Run every track; in this thread alone is the database written to."""
    with pool:
        running = [pool.submit(_finished, one, sandbox, tell) for one in tracks]
        try:
            while wait(running, timeout=TURN_SECONDS).not_done:
                watch()
        except BaseException:
            for one in running:
                one.cancel()
            sandbox.stop()
            raise
    return [one.result() for one in running]


def _left_out(case: Case, count: int) -> list[GateReport]:
    """What is not tried is not passed."""
    if not count:
        return []
    why = f"{count} more components than are tried."
    return [GateReport(gate, Status.ERROR, "all others", detail=why) for gate in case.phase.gates]


def bounded(reports: Sequence[GateReport]) -> list[GateReport]:
    """So many failures and problems are told one by one; the rest are counted, and on record."""
    left, found = MAX_TOLD, []
    for report in reports:
        failures = report.failures[:left]
        problems = report.problems[: left - len(failures)]
        left -= len(failures) + len(problems)
        found.append(replace(report, failures=failures, problems=problems))
    return found


def _finished(
    track: Track,
    sandbox: DockerSandbox,
    tell: Callable[[Part, Stage, Ended, Judged], GateReport],
) -> list[GateReport]:
    return list(run_track(track, sandbox, tell))


def _log(ended: Ended) -> bytes:
    if not ended.err:
        return ended.out
    return ended.out + (b"\n" if ended.out else b"") + ended.err
