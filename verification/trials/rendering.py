"""Trials as JSON: for the API, for exports, and for what a promotion keeps."""

from __future__ import annotations

from typing import Any

from verification.engine.cutover import Gate
from verification.engine.shadow import SideOutcome
from verification.golden.models import Replay
from verification.golden.replays.places import url_of as replay_url
from verification.runs.models import Evaluation
from verification.runs.rendering import usd, whole_evaluation
from verification.trials import selectors
from verification.trials.figures import figures_of
from verification.trials.models import Comparison, Trial, TrialReplay
from verification.trials.places import comparison_url, url_of
from verification.trials.replays import cutover
from verification.trials.replays.selectors import Progress, progress_of, replays

MAX_REPLAYS = 20
Rendered = dict[str, Any]


def summary(trial: Trial) -> Rendered:
    same = ("title", "state", "stop_text", "sample_rate", "aa_rate", "drift", "drift_at",
            "created_by", "created_at", "ends_at", "finished_at", "promoted_at",
            "rolled_back_at")  # fmt: skip
    old, new = trial.baseline_process_version, trial.candidate_process_version
    return {
        "id": trial.uuid,
        "url": url_of(trial),
        "stop_reason": trial.stop_reason or None,
        "baseline_verifier": trial.baseline_verifier.number,
        "candidate_verifier": trial.candidate_verifier.number,
        "baseline_process_version": old.number if old else None,
        "candidate_process_version": new.number if new else None,
        "process": trial.process.slug if trial.process else None,
        "budget_usd": None if trial.budget_usd is None else usd(trial.budget_usd),
        "cost_usd": usd(trial.cost_usd),
        "standing": trial.is_standing,
        "watches": trial.watches.uuid if trial.watches else None,
        **{name: getattr(trial, name) for name in same},
    }


def whole(trial: Trial) -> Rendered:
    """The summary with figures and gate, of live and past runs."""
    figures = figures_of(trial)
    watch = Trial.objects.filter(watches=trial).first()
    listed = list(replays(trial)[:MAX_REPLAYS])
    progress = progress_of(listed)
    replayed = cutover.under_way(trial) or selectors.cutover_replay(trial)
    return {
        **summary(trial),
        "pairs": figures.count,
        "waiting": Comparison.objects.filter(trial=trial, compared_at=None).count(),
        "judged": figures.judged,
        "classes": {found.value: count for found, count in figures.classes.items()},
        "matrix": {
            old.value: {new.value: count for new, count in row.items()}
            for old, row in figures.matrix.items()
        },
        "gate": gate_out(selectors.gate_of(trial, figures)),
        "corpus_replay": corpus_replay(replayed) if replayed else None,
        "promotion": trial.promotion or None,
        "watched_by": watch.uuid if watch else None,
        "replays": [trial_replay(one, progress[one.pk]) for one in listed],
    }


def gate_out(gate: Gate) -> Rendered:
    same = ("name", "value", "limit", "n", "low", "high", "missing")
    return {
        "state": gate.state.value,
        "n": gate.pairs.all,
        "discordant": gate.pairs.discordant,
        "p_value": gate.p_value,
        "criteria": [
            {"state": one.state.value, **{name: getattr(one, name) for name in same}}
            for one in gate.criteria
        ],
        "shown": [
            {name: getattr(one, name) for name in ("name", "value", "n", "low", "high")}
            for one in gate.shown
        ],
    }


def trial_replay(replay: TrialReplay, progress: Progress) -> Rendered:
    same = ("origin", "since", "until", "created_by", "created_at", "finished_at")
    return {
        "id": replay.uuid,
        "total": progress.total,
        "done": progress.done,
        "not_compared": progress.not_compared,
        "share": progress.share,
        "cancelled": replay.is_cancelled,
        "cancel_text": replay.cancel_text,
        **{name: getattr(replay, name) for name in same},
    }


def corpus_replay(replay: Replay) -> Rendered:
    return {"id": replay.uuid, "url": replay_url(replay), "state": replay.state}


def comparison(trial: Trial, row: Comparison) -> Rendered:
    """One of `selectors.comparisons`."""
    same = ("origin", "process", "phase", "title", "finer", "rules", "summary", "kind",
            "judged_at", "asked_again", "compared_at")  # fmt: skip
    return {
        "id": row.uuid,
        "url": comparison_url(trial, row),
        "run": row.run.uuid if row.run else None,
        "old": _side(row, "old"),
        "new": _side(row, "new"),
        "diff_class": row.diff_class or None,
        "judged": row.judged or None,
        "acknowledged": row.is_acknowledged,  # type: ignore[attr-defined]
        "failed": row.has_failed,
        "error": row.error_text,
        **{name: getattr(row, name) for name in same},
    }


def whole_comparison(trial: Trial, row: Comparison) -> Rendered:
    """With both sides' full results."""
    return {
        **comparison(trial, row),
        "old_evaluation": _evaluation(row, row.old_evaluation),
        "new_evaluation": _evaluation(row, row.new_evaluation),
        "old_observed": row.old_observed or None,
        "new_observed": row.new_observed or None,
    }


def _side(row: Comparison, side: str) -> Rendered:
    outcome = getattr(row, side)
    return {
        "outcome": outcome or None,
        "verdict": SideOutcome(outcome).verdict.value if outcome else None,
        "reason_code": getattr(row, f"{side}_reason") or None,
        "again": getattr(row, f"{side}_again") or None,
        "cost_usd": usd(getattr(row, f"{side}_cost_usd")),
        "duration_ms": getattr(row, f"{side}_ms"),
    }


def _evaluation(row: Comparison, found: Evaluation | None) -> Any:
    if found is None or row.run is None:
        return None
    return whole_evaluation(found, row.run)
