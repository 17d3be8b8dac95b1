"""The gates of a run as its page shows them: on one time axis, and what they write as they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.utils import timezone

from loomverify.env import environment
from verification.engine.gates import named
from verification.engine.gating.stages import ORDER
from verification.engine.outcome import Status
from verification.engine.reports.coverage import unreported_words
from verification.runs import wording
from verification.runs.gating.axis import Axis, Bar, Tick
from verification.runs.gating.going import Going, evaluation_under_way, going_of
from verification.runs.gating.selectors import shown_rows, with_told
from verification.runs.models import (
    BaseGateResult,
    Evaluation,
    GateResult,
    Run,
)
from verification.runs.models.evaluation import GateRow
from verification.runs.wording import Badge

MAX_POSITION = 32_767
TO_DO = (
    "Start a worker that reaches a Docker engine, "
    "or set LOOMVERIFY_SANDBOX=off where no submitted code may run."
)
TO_DO_WHEN_OFF = (
    "The sandbox is switched off here. Set LOOMVERIFY_SANDBOX=docker, start a worker that reaches "
    "a Docker engine, and verify the run again."
)
COUNTED = (("passed", "passed"), ("failed", "failed"), ("errors", "broken"), ("skipped", "skipped"))


def gate_of(run: Run, evaluation: UUID, position: int) -> GateResult | None:
    """One gate with its report and what is kept beside it."""
    if position > MAX_POSITION:
        return None
    here = GateResult.objects.filter(
        evaluation__run=run, evaluation__uuid=evaluation, position=position
    )
    beside = ("evaluation", "reused_from", "log__project", "record__project")
    found = with_told(here).select_related(*beside)
    return found.defer("reused_from__search", "reused_from__result").first()


@dataclass(frozen=True, slots=True)
class ShownGate:
    """`axis` is the time axis that its bar stands on."""

    row: GateRow
    axis: Axis | None = None

    @property
    def badge(self) -> Badge:
        """What contradicts itself says nothing of the work."""
        status = Status.ERROR if self.contradiction else Status(self.row.status)
        return wording.STATUSES[status]

    @property
    def contradiction(self) -> str:
        return str(_told(self.row, "contradiction") or "")

    @property
    def is_guess(self) -> bool:
        return bool(_told(self.row, "is_guess"))

    @property
    def is_word(self) -> bool:
        return bool(_told(self.row, "is_word"))

    @property
    def is_coverage_word(self) -> bool:
        return bool(_told(self.row, "is_coverage_word"))

    @property
    def is_lost(self) -> bool:
        return bool(_told(self.row, "is_lost"))

    @property
    def is_reused(self) -> bool:
        return bool(self.row.reused_from_id or _told(self.row, "reused_from"))

    @property
    def is_skipped(self) -> bool:
        return self.row.status == Status.SKIPPED

    @property
    def has_run(self) -> bool:
        """Not what was left out, nor what was lost before it began."""
        return not self.is_skipped and bool(self.row.duration_ms or self.row.exit_code is not None)

    @property
    def said(self) -> str:
        """What it counted, in words; else why nothing ran."""
        if counted := self.counted:
            return " · ".join(filter(None, (counted, self.covered)))
        if self.row.status == Status.PASSED and self.row.duration_ms and not self.contradiction:
            return ""
        said = f"It {self.contradiction}." if self.contradiction else self.row.detail
        return _without(self._names, next(iter(said.splitlines()), ""))

    @property
    def _names(self) -> tuple[str, ...]:
        """What a sentence may begin with; older ones have the component's name as it is kept."""
        gate, component = self.row.gate, self.row.component
        return named(gate, component), f"{gate} of {component}" if component else gate

    @property
    def counted(self) -> str:
        found = ""
        if self.row.tests and any(self.row.tests.values()):
            found = counted_words(self.row.tests)
        elif problems := _told(self.row, "problem_count"):
            found = f"{problems:,} problem{'' if problems == 1 else 's'}"
        return " · ".join(filter(None, (found, self._before, self._waived))) if found else ""

    @property
    def _before(self) -> str:
        old = sum(int(_told(self.row, name) or 0) for name in ("old_failures", "old_problems"))
        return f"{old} of them before the work" if old else ""

    @property
    def _waived(self) -> str:
        waived = _told(self.row, "waived")
        return f"{waived} waived" if waived else ""

    @property
    def covered(self) -> str:
        """The share of new lines that the tests ran; of all lines, where none is new."""
        silent = unreported_words(_told(self.row, "unreported") or ())
        said = ""
        if changed := _told(self.row, "changed_lines"):
            said = f"{changed[0]:,} of {changed[1]:,} new lines run"
        elif (lines := _told(self.row, "coverage")) and lines[1]:
            said = f"{lines[0] / lines[1]:.0%} of lines run"
        return "; ".join(filter(None, (said, silent)))

    @property
    def bar(self) -> Bar | None:
        """None: it took no time of this run."""
        if self.axis is None or self.is_reused or not self.has_run:
            return None
        return self.axis.bar(self.row.started_ms, self.row.duration_ms)


@dataclass
class GatesPart:
    """Of the evaluation shown, or of one that is under way. Read when the template asks for it."""

    shown: Evaluation | None = None
    going: Evaluation | None = None
    is_missing: bool = False
    """A finding says that there was no sandbox."""
    asked: Sequence[str] = ()
    """The gates of the phase."""

    @property
    def evaluation(self) -> Evaluation | None:
        return self.shown or self.going

    @cached_property
    def gates(self) -> list[ShownGate]:
        if self.evaluation is None or self.running:
            return []
        rows = sorted(shown_rows(GateResult).filter(evaluation=self.evaluation), key=_order)
        axis = Axis(_end_ms([ShownGate(row) for row in rows]))
        return [ShownGate(row, axis) for row in rows]

    @cached_property
    def base(self) -> list[ShownGate]:
        """What was told of the workspace before the work."""
        if not self.gates:
            return []
        rows = shown_rows(BaseGateResult).filter(evaluation=self.evaluation)
        return [ShownGate(row) for row in sorted(rows, key=_order)]

    @cached_property
    def running(self) -> Going | None:
        """What goes on, where something does."""
        found = going_of(self.going, timezone.now()) if self.going else None
        return found if found and found.rows else None

    @property
    def is_there(self) -> bool:
        return bool(self.gates or self.running or self.is_missing or self.prepared)

    @property
    def prepared(self) -> str:
        """The gates that are being prepared, in words; '' where one has begun, or none will."""
        has_begun = bool(self.gates or self.running)
        if self.going is None or has_begun or environment().sandbox == "off":
            return ""
        return ", ".join(sorted(self.asked, key=_stage))

    @property
    def components(self) -> list[tuple[str, list[ShownGate]]]:
        names = dict.fromkeys(one.row.component for one in self.gates)
        return [(name, [one for one in self.gates if one.row.component == name]) for name in names]

    @property
    def ticks(self) -> list[Tick]:
        return Axis(self.duration_ms).ticks if self.duration_ms else []

    @property
    def duration_ms(self) -> int:
        """From the first gate's begin to the last one's end, of those that ran."""
        return _end_ms(self.gates)

    @property
    def saved_ms(self) -> int:
        """What the gates took that were not run again, when they were."""
        return sum(one.row.duration_ms for one in self.reused)

    @property
    def counts(self) -> str:
        words = [one.badge.word for one in self.gates]
        return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))

    @property
    def reused(self) -> list[ShownGate]:
        return [one for one in self.gates if one.is_reused]

    @property
    def origins(self) -> list[Run]:
        """The runs whose results are used again."""
        found = {one.row.reused_from_id: one.row.reused_from for one in self.reused}
        return [run for run in found.values() if run is not None]

    @property
    def to_do(self) -> str:
        """What gives the gates a sandbox, where there was none."""
        is_wanting = self.is_missing or any(one.is_lost for one in self.gates)
        if self.running or not is_wanting:
            return ""
        return TO_DO_WHEN_OFF if environment().sandbox == "off" else TO_DO


def gates_part(
    run: Run,
    shown: Evaluation | None,
    evaluations: Sequence[Evaluation],
    codes: Sequence[str],
    asked: Sequence[str] = (),
) -> GatesPart:
    """`codes` are the reason codes of what was found, `asked` the gates of the phase."""
    going = evaluation_under_way(run, evaluations)
    return GatesPart(shown, going, "sandbox_unavailable" in codes, asked)


def counted_words(tests: dict[str, int]) -> str:
    """Counts in words.

    >>> counted_words({"passed": 2, "flaky": 1, "skipped": 3})
    '2 passed (1 flaky), 3 skipped'
    """
    counts = (f"{tests[name]:,} {word}" for name, word in COUNTED if tests.get(name))
    words = ", ".join(counts)
    if flaky := tests.get("flaky"):
        words = words.replace(" passed", f" passed ({flaky:,} flaky)", 1)
    return words


def _told(row: GateRow, name: str) -> Any:
    return getattr(row, f"told_{name}", None)


def _without(names: Sequence[str], said: str) -> str:
    """A sentence without the gate's own name, which stands beside it."""
    for name in names:
        if said.startswith((f"{name}: ", f"{name} ")):
            said = said.removeprefix(name).removeprefix(":").lstrip()
            break
    return f"{said[:1].upper()}{said[1:]}"


def _end_ms(gates: Sequence[ShownGate]) -> int:
    ran = [one.row for one in gates if not one.is_reused]
    return max((row.started_ms + row.duration_ms for row in ran), default=0)


def _order(row: GateRow) -> int:
    return _stage(row.gate)


def _stage(gate: str) -> int:
    return ORDER.index(gate) if gate in ORDER else len(ORDER)
