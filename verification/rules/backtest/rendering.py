"""A backtest as plain values."""

from __future__ import annotations

from typing import Any

from verification.engine.backtest import Bucket
from verification.rules.backtest.running import Changed, Progress


def figures_of(progress: Progress) -> dict[str, Any]:
    return {
        "evaluated": progress.evaluated,
        "matched": progress.matched,
        "counted_as": progress.counted_as,
        "buckets": {bucket.value: progress.buckets[bucket] for bucket in Bucket},
    }


def whole(progress: Progress) -> dict[str, Any]:
    return {
        **figures_of(progress),
        "total": progress.total,
        "seconds": round(progress.seconds, 3),
        "stopped": progress.stopped,
        "runs": [_changed(one) for one in progress.newest_first],
    }


def _changed(changed: Changed) -> dict[str, Any]:
    run, place = changed.run, changed.place or {}
    after = changed.after or (None, None)
    return {
        "id": run.uuid,
        "task": run.task,
        "phase": run.phase_id,
        "bucket": changed.bucket,
        "path": place.get("path", ""),
        "evidence": place.get("evidence", ""),
        "line": place.get("line"),
        "column": place.get("column"),
        "quote": place.get("quote", ""),
        "before": run.outcome,
        "before_verdict": run.verdict,
        "after": after[0],
        "after_verdict": after[1],
        "final_outcome": run.label or None,
        "why": changed.why,
    }
