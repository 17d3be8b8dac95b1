"""What a page shows of gates that run: which one, since when, and the last it wrote."""

from __future__ import annotations

import codecs
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from verification.engine.gates import GateReport
from verification.runs.models import GateProgress

TAIL_CHARS = 64_000
SAVE_SECONDS = 1.0

Place = tuple[str, str]
"""Component and gate."""
Decoder = codecs.IncrementalDecoder


def _decoder() -> Decoder:
    """A character may come in two pieces."""
    return codecs.getincrementaldecoder("utf-8")("replace")


@dataclass(slots=True)
class Shown:
    started_at: datetime
    tail: str = ""
    written: int = 0
    status: str = ""
    ended_at: datetime | None = None
    is_saved: bool = False
    decoder: Decoder = field(default_factory=_decoder)

    def add(self, chunk: bytes) -> None:
        text = self.decoder.decode(chunk)
        self.written += len(text)
        self.tail = (self.tail + text)[-TAIL_CHARS:]


@dataclass(slots=True)
class Progress:
    """Gathered by every thread as it comes, and written by one now and then."""

    evaluation_id: int
    shown: dict[Place, Shown] = field(default_factory=dict)
    saved: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)
    now: Callable[[], datetime] = timezone.now

    def add(self, component: str, gate: str, chunk: bytes) -> None:
        """No bytes: it begins, perhaps once more."""
        with self.lock:
            shown = self._of(component, gate)
            if shown.status:
                shown = self.shown[component, gate] = Shown(self.now())
            shown.add(chunk)
            shown.is_saved = False

    def end(self, component: str, report: GateReport) -> None:
        with self.lock:
            shown = self._of(component, report.gate)
            shown.status = report.status.value
            shown.ended_at = self.now()
            shown.is_saved = False

    def save(self) -> None:
        if time.monotonic() - self.saved < SAVE_SECONDS:
            return
        self.saved = time.monotonic()
        with self.lock:
            changed = [(place, one) for place, one in self.shown.items() if not one.is_saved]
            rows = [self._row(place, one) for place, one in changed]
            for _, one in changed:
                one.is_saved = True
        if not rows:
            return
        GateProgress.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["evaluation", "gate", "component"],
            update_fields=["status", "started_at", "ended_at", "written", "tail"],
        )

    def _of(self, component: str, gate: str) -> Shown:
        return self.shown.setdefault((component, gate), Shown(self.now()))

    def _row(self, place: Place, one: Shown) -> GateProgress:
        component, gate = place
        return GateProgress(
            evaluation_id=self.evaluation_id,
            component=component,
            gate=gate,
            status=one.status,
            started_at=one.started_at,
            ended_at=one.ended_at,
            written=one.written,
            tail=one.tail.replace("\x00", "\ufffd"),
        )
