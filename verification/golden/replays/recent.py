"""The last replays of a project, whatever became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loomverify.accounts.models import Project
from verification.golden.models import Replay, ReplayState
from verification.golden.replays.shown import STATES, Mark, count_rows, over_words
from verification.runs.wording import Badge

SHOWN = 6


@dataclass(frozen=True, slots=True)
class Recent:
    replay: Replay
    badge: Badge
    over: str
    counts: Sequence[tuple[str, Mark, int]]


def recent(project: Project, *, count: int = SHOWN) -> list[Recent]:
    related = ("verifier_version", "process", "process_version")
    heavy = ("candidate_text", "verifier_version__spec", "process_version__source_text")
    rows = Replay.objects.filter(project=project).select_related(*related).defer(*heavy)
    return [
        Recent(one, STATES[ReplayState(one.state)], over_words(one), count_rows(one))
        for one in rows.order_by("-created_at", "-id")[:count]
    ]
