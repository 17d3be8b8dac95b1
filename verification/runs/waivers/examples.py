"""What the description of the API shows of waivers."""

from __future__ import annotations

from typing import Any

FINGERPRINT = "9f2c0d51b7e84a63c1d09b7a5e3f4d2286bb0f6f1c9a4e07d53b8a916e4c2f70"
RUN_ID = "3f6c1f0e-1d8b-4d9e-9a55-0c1f7a7f2b10"
WISH: dict[str, Any] = {
    "run": RUN_ID,
    "fingerprint": FINGERPRINT,
    "reason": "The command is made of constants of this file alone.",
    "until": "2027-02-28",
}
WAIVER: dict[str, Any] = {
    "id": "b0a7f3c2-6f0e-4f3f-8a3a-5a3b8f6f9a11",
    "state": "active",
    "process": "general",
    "run": RUN_ID,
    "fingerprint": FINGERPRINT,
    "rule": "security",
    "path": "tools/release.py",
    "message": "S602: `subprocess` call with `shell=True` identified, security issue",
    "reason": WISH["reason"],
    "created_by": "Ann (ann)",
    "created_at": "2026-12-01T09:12:30Z",
    "until": WISH["until"],
    "ended_by": None,
    "ended_at": None,
}
LIST: dict[str, Any] = {"items": [WAIVER], "next": None}


def shown(example: Any) -> dict[str, Any]:
    return {"examples": [example]}
