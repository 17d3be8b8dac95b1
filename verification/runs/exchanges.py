"""One call of a judge as its page shows it: what was sent, what came, and what was read of it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from verification.engine.protocol.reply import Stage
from verification.runs import artefacts, judge_wording, wording
from verification.runs.artefacts import Mark, Text
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.judge_wording import StageWords
from verification.runs.models import Blob, ModelCall, Run
from verification.runs.prompt_parts import parts_of_request

LINES_SHOWN = 60
"""Of each section, until more is asked for."""
MAX_LISTED = 200
MAX_SEARCHED_CHARACTERS = 200_000
MAX_OBJECTS_TRIED = 100
VERDICT_KEYS = frozenset({"passed", "verdict", "rules", "acceptance"})
VERDICT_LINE = re.compile(r"^[^\w\n]{0,8}verdict[^\w\n]{1,8}(pass|fail)\w{0,4}\b.*$", re.I | re.M)
LOST = "What was said is no longer stored."


@dataclass(frozen=True, slots=True)
class ListedCall:
    row: ModelCall

    @property
    def ask(self) -> str:
        return judge_wording.ask(self.row.ask)

    @property
    def stage(self) -> StageWords | None:
        return judge_wording.stage(self.row.recovery)

    @property
    def lost(self) -> str:
        return wording.reason(self.row.lost) if self.row.lost else ""


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    text: Text
    is_material: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    call: ListedCall
    prompt: Sequence[Section]
    reply: Section | None

    @property
    def is_cut(self) -> bool:
        sections = [*self.prompt, *([self.reply] if self.reply else [])]
        return any(section.text.after for section in sections)


def calls_of(evaluation_id: int) -> list[ListedCall]:
    rows = ModelCall.objects.filter(evaluation=evaluation_id).order_by("tier", "seq")
    return [ListedCall(row) for row in rows[:MAX_LISTED]]


def call_of(run: Run, evaluation: UUID, tier: int, seq: int) -> ModelCall | None:
    return (
        ModelCall.objects.select_related(
            "evaluation", "request__project", "reply__project"
        )
        .filter(evaluation__run=run, evaluation__uuid=evaluation, tier=tier, seq=seq)
        .first()
    )  # fmt: skip


def exchange(row: ModelCall, *, limit: int = LINES_SHOWN) -> Exchange:
    return Exchange(
        ListedCall(row),
        prompt=[
            Section(
                part.title,
                artefacts.shown_text(part.text, limit=limit),
                is_material=part.is_material,
            )
            for part in parts_of_request(_stored(row.request))
        ],
        reply=_reply(row, limit) if row.reply else None,
    )


def _reply(row: ModelCall, limit: int) -> Section:
    text = _stored(row.reply)
    first, marks = 1, []
    if place := place_read(text, row.recovery):
        line = text.count("\n", 0, place[0]) + 1
        column = place[0] - (text.rfind("\n", 0, place[0]) + 1) + 1
        marks = [Mark("", line, column, text[place[0] : place[1]])]
        first = max(1, line - 8) if line > limit else 1
    return Section("Reply", artefacts.shown_text(text, marks, first=first, limit=limit))


def place_read(text: str, recovery: str) -> tuple[int, int] | None:
    """Where in a reply that stands which was read. None: everywhere, or it cannot be told."""
    if recovery == Stage.VERDICT_LINE:
        lines = list(VERDICT_LINE.finditer(text[:MAX_SEARCHED_CHARACTERS]))
        return lines[0].span() if len(lines) == 1 else None
    if recovery in (Stage.EMBEDDED, Stage.RESTATED, Stage.ALTERNATE):
        return _last_object(text)
    return None


def _last_object(text: str) -> tuple[int, int] | None:
    """The last complete object with keys of a verdict; an object within it is part of it."""
    start = max(0, len(text) - MAX_SEARCHED_CHARACTERS)
    decoder = json.JSONDecoder()
    found: tuple[int, int] | None = None
    at, tried = text.find("{", start), 0
    while at >= 0 and tried < MAX_OBJECTS_TRIED:
        tried += 1
        following = at + 1
        try:
            document, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, dict) and VERDICT_KEYS & document.keys():
            found, following = (at, end), end
        at = text.find("{", following)
    return found


def _stored(blob: Blob | None) -> str:
    if blob is None:
        return ""
    try:
        return read_blob(blob).decode(errors="replace")
    except EvidenceLost:
        return LOST
