"""What the description of the API shows of trials. Tests send the bodies and read the answers."""

from __future__ import annotations

from typing import Any

TRIAL_ID = "0b9f7f0e-6a1e-4a0f-9d55-6f0d8f5a3c11"
COMPARISON_ID = "5c2a1a34-9a3e-4f1c-8a76-2b0f9f6f7d20"
REPLAY_ID = "b7d0a6a2-1c0b-4d55-8f6e-1f2b3c4d5e6f"
RUN_ID = "3c0f6f0e-6a0b-4f0e-8f43-0d7a4f4d9d0b"
START: dict[str, Any] = {"candidate_verifier": 1, "baseline_verifier": 2, "sample_rate": 0.25}
PAST: dict[str, Any] = {"origin": "past", "limit": 200}
STOP: dict[str, Any] = {"reason": "We know enough."}
PROMOTE: dict[str, Any] = {
    "reason": "Half of the false fails are gone.",
    "override": False,
    "corpus_reason": "",
}
ROLL_BACK: dict[str, Any] = {"reason": "Undecided runs doubled."}
SUMMARY: dict[str, Any] = {
    "id": TRIAL_ID,
    "url": f"https://verify.example.com/p/default/shadow/{TRIAL_ID}/",
    "title": "policy v1 beside legacy v2",
    "state": "running",
    "stop_reason": None,
    "stop_text": "",
    "baseline_verifier": 2,
    "candidate_verifier": 1,
    "baseline_process_version": None,
    "candidate_process_version": None,
    "process": None,
    "sample_rate": 0.25,
    "aa_rate": 0.1,
    "budget_usd": None,
    "cost_usd": "0.000000",
    "standing": False,
    "watches": None,
    "drift": [],
    "drift_at": None,
    "created_by": "key ci",
    "created_at": "2026-03-02T08:00:00Z",
    "ends_at": None,
    "finished_at": None,
    "promoted_at": None,
    "rolled_back_at": None,
}
CRITERION: dict[str, Any] = {
    "name": "unsafe_passes",
    "state": "waiting",
    "value": 0.0,
    "limit": 0.01,
    "n": 140,
    "low": None,
    "high": 0.0212,
    "missing": "judge 160 more",
}
GATE: dict[str, Any] = {
    "state": "insufficient_data",
    "n": 1284,
    "discordant": 312,
    "p_value": 0.0001,
    "criteria": [CRITERION],
    "shown": [{"name": "stricter_wrong", "value": 0.2, "n": 10, "low": 0.057, "high": 0.51}],
}
TRIAL: dict[str, Any] = {
    **SUMMARY,
    "pairs": 1284,
    "waiting": 0,
    "judged": 60,
    "classes": {"no_diff": 868, "old_fail_new_pass": 303, "old_pass_new_fail": 9},
    "matrix": {"pass": {"pass": 702, "fail": 9}, "fail": {"pass": 61, "fail": 166}},
    "gate": GATE,
    "corpus_replay": None,
    "promotion": None,
    "watched_by": None,
    "replays": [],
}
PAGE: dict[str, Any] = {"items": [SUMMARY], "next": None}
SIDE: dict[str, Any] = {
    "outcome": "fail",
    "verdict": "reject",
    "reason_code": "rule_violated",
    "again": None,
    "cost_usd": "0.000000",
    "duration_ms": 21,
}
COMPARISON: dict[str, Any] = {
    "id": COMPARISON_ID,
    "url": f"https://verify.example.com/p/default/shadow/{TRIAL_ID}/comparisons/{COMPARISON_ID}/",
    "origin": "live",
    "run": RUN_ID,
    "process": "market-study",
    "phase": "write",
    "title": "market-7",
    "old": SIDE,
    "new": {**SIDE, "outcome": "pass_with_warnings", "verdict": "accept"},
    "diff_class": "old_fail_new_pass",
    "finer": ["outcome", "enforcement"],
    "rules": ["no-placeholders"],
    "summary": "no-placeholders: hard → advisory",
    "kind": "9f2c4e7ab01d55aa",
    "judged": None,
    "judged_at": None,
    "acknowledged": False,
    "asked_again": 0,
    "failed": False,
    "error": "",
    "compared_at": "2026-03-02T08:00:02Z",
}
COMPARISONS: dict[str, Any] = {"items": [COMPARISON], "next": None}
STOPPED: dict[str, Any] = {"id": TRIAL_ID, "state": "stopped", "stopped": True}
TRIAL_REPLAY: dict[str, Any] = {
    "id": REPLAY_ID,
    "origin": "past",
    "since": None,
    "until": None,
    "total": 200,
    "done": 40,
    "not_compared": 0,
    "share": 0.2,
    "cancelled": False,
    "cancel_text": "",
    "created_by": "key ci",
    "created_at": "2026-03-02T08:01:00Z",
    "finished_at": None,
}
CORPUS_REPLAY: dict[str, Any] = {
    "id": "8c1d0b5e-3c57-4d0c-9d8c-0b6f2a1e4d33",
    "url": "https://verify.example.com/p/default/golden/replays/"
    "8c1d0b5e-3c57-4d0c-9d8c-0b6f2a1e4d33/",
    "state": "queued",
}


def shown(example: dict[str, Any]) -> dict[str, Any]:
    """For the description of a schema."""
    return {"examples": [example]}
