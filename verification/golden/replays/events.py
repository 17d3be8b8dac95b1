"""What the outside world hears of a replay."""

from __future__ import annotations

from verification.engine.golden.standing import Change
from verification.golden.models import Replay, ReplayResult
from verification.golden.replays.places import url_of
from verification.runs import outbox

MOST_NAMED = 20


def regressed(replay: Replay) -> None:
    """Write the event, in the transaction that finishes the replay."""
    rows = ReplayResult.objects.filter(replay=replay, change=Change.REGRESSED)
    named = rows.select_related("case").defer("observed", "legacy", "played").order_by("pk")
    outbox.add(
        outbox.GOLDEN_REGRESSED,
        project_id=replay.project_id,
        payload={
            "replay": str(replay.uuid),
            "purpose": replay.purpose,
            "verifier": replay.verifier_version.number,
            "counts": replay.counts,
            "total": replay.total,
            "finished_at": replay.finished_at.isoformat() if replay.finished_at else None,
            "url": url_of(replay),
            "cases": [
                {
                    "case": str(one.case.uuid),
                    "name": one.case.name,
                    "process": one.case.process,
                    "differences": [each["place"] for each in one.differences[:MOST_NAMED]],
                }
                for one in named[:MOST_NAMED]
            ],
        },
    )
