"""What the description of the API shows of reviews. Tests send the bodies and read the answers."""

from __future__ import annotations

from typing import Any

FINGERPRINT = "1:9f2c4e7ab01d"
DECIDE: dict[str, Any] = {
    "outcome": "pass_with_warnings",
    "comment": "The figure is in the second table.",
    "findings": {FINGERPRINT: "false_positive"},
    "golden": True,
}
AGREE: dict[str, Any] = {"outcome": None}
NEXT: dict[str, Any] = {"process": "general", "without": []}
ASSIGN: dict[str, Any] = {"user": "ann"}
UNDO: dict[str, Any] = {"decision": None}
REVIEW_ID = "3f0d5c1e-8a51-4a3b-9d62-0d7f1c2b6a90"
TOGETHER: dict[str, Any] = {"reviews": [REVIEW_ID], "outcome": "fail", "comment": "All of them."}
REVIEW: dict[str, Any] = {
    "id": REVIEW_ID,
    "url": f"https://verify.example.com/p/default/review/{REVIEW_ID}/",
    "state": "pending",
    "run": "a4b1f7d2-52f0-4c5c-8d14-6a2d1f0a7a11",
    "run_url": "https://verify.example.com/p/default/runs/a4b1f7d2-52f0-4c5c-8d14-6a2d1f0a7a11/",
    "title": "Sum up the third quarter.",
    "process": "general",
    "phase": "work",
    "task": "q3-summary",
    "urgency": 52,
    "round": 1,
    "reviewers": 1,
    "is_adjudication": False,
    "is_blind": False,
    "is_revealed": True,
    "is_flagged": True,
    "sample_rate": None,
    "reasons": ["vote_divergence"],
    "rule": "figures-have-sources",
    "fingerprint": FINGERPRINT,
    "engine": {
        "evaluation": "0f6e9c55-0c83-4a5e-8f39-5d1d2b8d3c77",
        "outcome": "fail",
        "verdict": "undecided",
        "reason_code": "vote_divergence",
        "confidence": 0.5,
        "confidence_level": "MEDIUM",
        "tier_achieved": 3,
        "process_version": 1,
        "verifier_version": 1,
    },
    "outcome": None,
    "holder": "key nightly",
    "is_mine": True,
    "lease_until": "2026-03-02T09:05:00Z",
    "assigned_to": None,
    "created_at": "2026-03-02T08:30:00Z",
    "expires_at": None,
    "decided_at": None,
    "findings": [],
    "decisions": [],
}
SUMMARY: dict[str, Any] = {
    name: value for name, value in REVIEW.items() if name not in {"findings", "decisions"}
}
FREE: dict[str, Any] = {"holder": None, "is_mine": False, "lease_until": None}
QUEUE: dict[str, Any] = {"items": [{**SUMMARY, **FREE}], "next": None}
DECISION: dict[str, Any] = {
    "id": "c9a0a7b4-6a0e-4f0c-8f6f-3a7be0b4f6d1",
    "round": 1,
    "is_adjudication": False,
    "reviewer": "key nightly",
    "is_mine": True,
    "first_outcome": None,
    "outcome": "pass_with_warnings",
    "comment": "The figure is in the second table.",
    "findings": {FINGERPRINT: "false_positive"},
    "seconds": 41,
    "created_at": "2026-03-02T09:00:41Z",
    "settled_at": "2026-03-02T09:00:41Z",
}
DECIDED: dict[str, Any] = {
    "decision": DECISION,
    "review": {
        **REVIEW,
        **FREE,
        "state": "decided",
        "outcome": DECISION["outcome"],
        "decided_at": DECISION["created_at"],
        "decisions": [DECISION],
    },
}
DECIDED_TOGETHER: dict[str, Any] = {
    "decided": [REVIEW_ID],
    "refused": {"7c6d0a52-0b9f-4b58-9d6c-5f3f5a0e1c44": "review.held"},
}
UNDONE: dict[str, Any] = {"review": DECIDED["review"], "erased": False}
CASES: dict[str, Any] = {
    "items": [
        {
            "id": "5b1c2c7e-3f4d-4a55-8f0e-9b8f6d2f7a10",
            "run": REVIEW["run"],
            "run_url": REVIEW["run_url"],
            "review": REVIEW_ID,
            "outcome": "pass_with_warnings",
            "made_by": "key nightly",
            "created_at": "2026-03-02T09:00:41Z",
        }
    ],
    "next": None,
}


def shown(*examples: dict[str, Any]) -> dict[str, Any]:
    """For the description of a schema."""
    return {"examples": list(examples)}
