"""The gates of a component, one after another: what is run, what is left out, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import takewhile

from verification.engine.gates import GateReport
from verification.engine.gating.bench import Bench
from verification.engine.gating.judging import Judged, judged
from verification.engine.gating.sandbox import Sandbox, SandboxLost
from verification.engine.gating.stages import (
    BUILD,
    INSTALL,
    ORDER,
    TEST,
    Ended,
    Part,
    Stage,
)
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

Tell = Callable[[Part, Stage, Ended, Judged], GateReport]
"""Called as a gate ends; what it returns is the report."""


@dataclass(frozen=True, slots=True)
class Track:
    """What is run one after another in one container.

    `known` are reports of the same commands over the same work, by gate: they are not run again,
    unless something after them is, which may need what they leave in the container.
    """

    part: Part
    stages: tuple[Stage, ...]
    is_apart: bool
    wants_install: bool = False
    known: Mapping[str, GateReport] = field(default_factory=dict, hash=False)

    @property
    def is_known(self) -> bool:
        """Whether nothing is left to run; what was run before was installed before."""
        if not any(one.command for one in self.stages):
            return not (self.wants_install and self.part.install.command)
        return not self.left

    @property
    def left(self) -> tuple[Stage, ...]:
        """What is run, unless a build keeps it from it."""
        run = [one for one in self.stages if one.command]
        if self.is_apart:  # one of these leaves nothing that another one needs
            return tuple(one for one in run if one.gate not in self.known)
        built = self.known.get(BUILD)
        if built and built.status is not Status.PASSED:
            return ()
        while run and run[-1].gate in self.known:
            run.pop()
        return tuple(run)


def tracks_of(
    parts: Sequence[Part], wanted: Collection[str], known: Mapping[str, Mapping[str, GateReport]]
) -> list[Track]:
    """What can be run side by side: of each component what runs its code, and what only looks.

    `known` are reports of earlier runs, by the component's name and the gate.
    """
    found = []
    for part in parts:
        stages = _in_order(part, wanted)
        for is_apart in (False, True):
            own = tuple(one for one in stages if one.is_apart is is_apart)
            wants_install = not is_apart and INSTALL in wanted
            if own or wants_install:
                told = known.get(part.component.name, {})
                found.append(Track(part, own, is_apart, wants_install, told))
    return found


def leading_to(part: Part, gates: Collection[str], wanted: Collection[str]) -> frozenset[str]:
    """These gates, with those of the wanted ones that run before them in their container."""
    run = [one.gate for one in _in_order(part, wanted) if not one.is_apart]
    last = max((run.index(gate) for gate in gates if gate in run), default=-1)
    return frozenset(gates).union(run[: last + 1])


def before(part: Part, stage: Stage, wanted: Collection[str]) -> tuple[Stage, ...]:
    """What runs before a stage in its container, and may leave there what it needs."""
    if stage.is_apart:
        return ()
    run = (one for one in _in_order(part, wanted) if one.command and not one.is_apart)
    return tuple(takewhile(lambda one: one.gate != stage.gate, run))


def _in_order(part: Part, wanted: Collection[str]) -> list[Stage]:
    stages = (stage for stage in part.stages if stage.gate in wanted)
    return sorted(stages, key=lambda stage: ORDER.index(stage.gate))


def run_track(track: Track, sandbox: Sandbox, tell: Tell) -> Iterator[GateReport]:
    """Run it to its end; what is lost on the way is a report, too."""
    part, image = track.part, ""
    if not track.is_apart and not track.is_known:
        try:
            installed = sandbox.install(part)
        except SandboxLost as lost:
            yield from _all_lost(track, sandbox, lost)
            return
        image = installed.image
        report = _install_report(part, installed.ended, tell)
        if report:
            yield report
        elif track.wants_install:
            yield _nothing_installed(part, sandbox)
        if report and report.status is not Status.PASSED:
            yield from (_left_out(part, one, "The install failed.") for one in track.stages)
            return
    elif track.wants_install:
        yield _nothing_installed(part, sandbox)
    yield from _run_stages(track, sandbox, image, tell)


def _run_stages(track: Track, sandbox: Sandbox, image: str, tell: Tell) -> Iterator[GateReport]:
    part, why, left = track.part, "", track.left
    with ExitStack() as stack:
        bench = Bench(part, sandbox, image, stack)
        for stage in track.stages:
            if why or not stage.command:
                yield _left_out(part, stage, why or stage.skipped)
                continue
            report = None if stage in left else track.known.get(stage.gate)
            if report is None:
                report = tell(part, stage, *bench.run(stage))
                if bench.is_wanting:  # of no use to whoever has all that ran before
                    report = replace(report, inputs_sha256="")
            yield report
            if stage.gate == BUILD and report.status is not Status.PASSED:
                why = "The build did not pass."


def _install_report(part: Part, ended: Ended | None, tell: Tell) -> GateReport | None:
    if ended is None:
        return None
    stage = Stage(INSTALL, part.install.command, seconds=part.seconds[INSTALL])
    return tell(part, stage, ended, judged(part, stage, ended))


def _nothing_installed(part: Part, sandbox: Sandbox) -> GateReport:
    is_there = bool(part.install.command)
    why = "Nothing is to be installed."
    if is_there:
        why = f"It was installed before. {sandbox.told(part)}".rstrip()
    status = Status.PASSED if is_there else Status.SKIPPED
    return GateReport(
        INSTALL, status, part.component.name, command=part.install.command, detail=why
    )


def _left_out(part: Part, stage: Stage, why: str) -> GateReport:
    """Skipped is not passed; a test gate with nothing to run says that there are no tests.

    What somebody asked for, and nobody can read, is in doubt.
    """
    if stage.unreadable:
        return GateReport(stage.gate, Status.ERROR, part.component.name, detail=stage.unreadable)
    report = GateReport(
        stage.gate, Status.SKIPPED, part.component.name, command=stage.command, detail=why
    )
    has_none = stage.gate == TEST and not stage.command
    return replace(report, tests=TestCounts()) if has_none else report


def _all_lost(track: Track, sandbox: Sandbox, lost: SandboxLost) -> Iterator[GateReport]:
    stages = [Stage(INSTALL, track.part.install.command), *track.stages]
    for stage in stages:
        if stage.command:
            report = _left_out(track.part, stage, str(lost))
            yield replace(report, status=Status.ERROR, is_lost=True)
        elif stage.gate != INSTALL:
            yield _left_out(track.part, stage, stage.skipped)
        elif track.wants_install:
            yield _nothing_installed(track.part, sandbox)
