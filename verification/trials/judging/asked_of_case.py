"""What both sides asked over a golden case, beside the recorded answers that stood in."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from verification.golden.replays.side_by_side import recorded_of
from verification.runs import judge_wording, wording
from verification.runs.judge_wording import StageWords
from verification.trials.judging.asked_beside import AskedPair, Name, paired, question_of
from verification.trials.models import CaseQuestion, Comparison


@dataclass(frozen=True, slots=True)
class CaseCall:
    """`recorded`: the answer as the case keeps it, empty where there is none."""

    row: CaseQuestion
    recorded: Mapping[str, Any]

    @property
    def ask(self) -> str:
        words = judge_wording.ask(self.row.ask)
        return words if self.row.number == 1 else f"{words} {self.row.number}"

    @property
    def place(self) -> int:
        return self.row.position

    @property
    def question_key(self) -> Hashable:
        """The same content is kept once."""
        return self.row.blob_id

    @property
    def reply_key(self) -> Hashable:
        return self.reply() or None

    def question(self) -> str:
        return question_of(self.row.blob)

    def reply(self) -> str:
        return str(self.recorded.get("text") or "")

    @property
    def stage(self) -> StageWords | None:
        return judge_wording.stage(self.row.recovery)

    @property
    def lost(self) -> str:
        code = str(self.recorded.get("lost") or "")
        return wording.reason(code) if code else ""

    @property
    def is_cut(self) -> bool:
        return bool(self.recorded.get("is_cut"))

    @property
    def state(self) -> str:
        if self.row.is_missing:
            return "no answer recorded"
        return "the recording answered other words" if self.row.is_stale else ""


def pairs_of_case(row: Comparison) -> list[AskedPair]:
    spec = row.case_version.spec if row.case_version else {}
    recorded = recorded_of(spec)
    sides: dict[str, dict[Name, CaseCall]] = {"old": {}, "new": {}}
    questions = row.questions.select_related("blob__project").order_by("position")
    for one in questions:
        name = (one.tier, one.ask, one.number)
        sides[one.side][name] = CaseCall(one, recorded.get(name, {}))
    return paired(sides["old"], sides["new"])


def asked_before(row: Comparison) -> int:
    """How many questions it took, as each side counted them: also where they were not kept."""
    return max(int(one.get("questions") or 0) for one in (row.old_observed, row.new_observed))
