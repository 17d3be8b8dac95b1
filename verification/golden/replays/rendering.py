"""Replays as JSON: for the API, and for files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from verification.engine.golden.standing import STALE_WARNING, Change
from verification.golden.models import Replay, ReplayResult, ReplayState
from verification.golden.replays import selectors
from verification.golden.replays.places import url_of

MAX_LISTED = 50
MAX_DIFFERENCES = 20
MAX_VALUE_CHARS = 2_000
LISTED = (Change.REGRESSED, Change.FIXED, Change.STILL_FAILING, Change.NEW, Change.NOT_JUDGED)
OLD = ("outcome", "verdict", "reason_code")
Rendered = dict[str, Any]


def summary(replay: Replay) -> Rendered:
    share = replay.stale_share
    same = ("state", "purpose", "candidate_sha256", "tags", "corpus_sha256", "total", "counts",
            "stale_share", "created_by", "created_at", "started_at", "finished_at")  # fmt: skip
    return {
        "id": replay.uuid,
        "url": url_of(replay),
        "verifier_version": replay.verifier_version.number,
        "process": replay.process.slug if replay.process else None,
        "process_version": replay.process_version.number if replay.process_version else None,
        "live": replay.is_live,
        "live_line": replay.is_live_line,
        "stale_warning": share is not None and share > STALE_WARNING,
        "cost_usd": str(replay.cost_usd),
        "error": replay.error_text,
        **{name: getattr(replay, name) for name in same},
    }


def whole(replay: Replay) -> Rendered:
    """The summary with its progress, and what changed: the first fifty of each."""
    progress = selectors.progress(replay)
    told = {"done": progress.done, "total": progress.total, "share": progress.share}
    lists = {change.value: [result(one) for one in _of_change(replay, change)] for change in LISTED}
    return {**summary(replay), "progress": told, **lists}


def _of_change(replay: Replay, change: Change) -> Iterable[ReplayResult]:
    if replay.state != ReplayState.FINISHED or not replay.counts.get(change):
        return ()
    filters = selectors.ResultFilters(change=change)
    return selectors.with_legacy(selectors.results(replay, filters))[:MAX_LISTED]


def result(row: ReplayResult) -> Rendered:
    """Without what the engine saw beyond the differences."""
    same = ("reason_code", "questions", "stale", "missing", "duration_ms")
    version = row.process_version
    return {
        "case": row.case.uuid,
        "name": row.case.name,
        "process": row.case.process,
        "phase": row.case.phase,
        "case_version": row.case_version.number,
        "process_version": version.number if version else None,
        "standing": row.standing or None,
        "change": row.change or None,
        "outcome": row.outcome or None,
        "verdict": row.verdict or None,
        "differences": [_difference(one) for one in row.differences[:MAX_DIFFERENCES]],
        "legacy": {name: row.legacy.get(name) or "" for name in OLD} if row.legacy else None,
        "error": row.error_text,
        **{name: getattr(row, name) for name in same},
    }


def _difference(one: Rendered) -> Rendered:
    return {
        "place": one["place"],
        "expected": _bounded(one.get("expected")),
        "observed": _bounded(one.get("observed")),
    }


def _bounded(value: Any) -> Any:
    """As it is, or the beginning of its text where it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= MAX_VALUE_CHARS else f"{text[: MAX_VALUE_CHARS - 1]}…"
