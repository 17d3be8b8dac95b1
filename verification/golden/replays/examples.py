"""What the description of the API shows of replays. Tests send the bodies and read the answers."""

from __future__ import annotations

from typing import Any

START: dict[str, Any] = {"tags": ["injection"], "purpose": "ci"}
REPLAY_ID = "8c1d0b5e-3c57-4d0c-9d8c-0b6f2a1e4d33"
CASE_ID = "51a7c7de-7f0c-4d9e-8a35-2f4f5be5a0c2"
DIFFERENCE: dict[str, Any] = {"place": "outcome", "expected": "pass", "observed": "fail"}
RESULT: dict[str, Any] = {
    "case": CASE_ID,
    "name": "research-cells-of-na-pass",
    "process": "market-study",
    "phase": "write",
    "case_version": 1,
    "process_version": 3,
    "standing": "failing",
    "change": "regressed",
    "outcome": "fail",
    "verdict": "reject",
    "reason_code": "incomplete_deliverable_placeholder",
    "differences": [DIFFERENCE],
    "legacy": {"outcome": "fail", "verdict": "reject", "reason_code": "rule_violated"},
    "questions": 1,
    "stale": 0,
    "missing": 0,
    "error": "",
    "duration_ms": 14,
}
SUMMARY: dict[str, Any] = {
    "id": REPLAY_ID,
    "url": f"https://verify.example.com/p/default/golden/replays/{REPLAY_ID}/",
    "state": "finished",
    "purpose": "ci",
    "verifier_version": 3,
    "process": None,
    "process_version": None,
    "candidate_sha256": "",
    "tags": ["injection"],
    "live": False,
    "live_line": True,
    "corpus_sha256": "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
    "total": 12,
    "counts": {
        "regressed": 1,
        "fixed": 0,
        "still_failing": 0,
        "new": 0,
        "not_judged": 0,
        "held": 11,
    },
    "stale_share": 0.0,
    "stale_warning": False,
    "cost_usd": "0.000000",
    "error": "",
    "created_by": "key ci",
    "created_at": "2026-03-02T02:00:00Z",
    "started_at": "2026-03-02T02:00:00.100000Z",
    "finished_at": "2026-03-02T02:00:01.900000Z",
}
REPLAY: dict[str, Any] = {
    **SUMMARY,
    "progress": {"done": 12, "total": 12, "share": 1.0},
    "regressed": [RESULT],
    "fixed": [],
    "still_failing": [],
    "new": [],
    "not_judged": [],
}
PAGE: dict[str, Any] = {"items": [SUMMARY], "next": None}
RESULTS: dict[str, Any] = {"items": [RESULT], "next": None}
CANCELLED: dict[str, Any] = {"id": REPLAY_ID, "state": "cancelled", "cancelled": True}


def shown(example: dict[str, Any]) -> dict[str, Any]:
    """For the description of a schema."""
    return {"examples": [example]}
