"""What the description of the API shows of cases. Tests send the bodies and read the answers."""

from __future__ import annotations

from typing import Any

CASE_ID = "5b0a6d1e-7c3f-4a86-9d11-20f4c9b7e615"
RUN_ID = "a4b1f7d2-52f0-4c5c-8d14-6a2d1f0a7a11"
DOCUMENT: dict[str, Any] = {
    "id": "one-company-is-enough",
    "guards": "A rule that speaks of companies is met by a single one.",
    "process": "general",
    "phase": "work",
    "tags": ["false-fail"],
    "run": {
        "task": {"id": "t1", "description": "Describe the companies in this market."},
        "output": "There is one company in this market. It makes valves.",
    },
    "expected": {"outcome": "pass", "verdict": "accept"},
}
OF_RUN: dict[str, Any] = {
    "run": RUN_ID,
    "expected": {"outcome": "pass", "verdict": "accept"},
    "tags": ["false-fail"],
}
CHANGE: dict[str, Any] = {
    "case": {**DOCUMENT, "guards": "One company is as good as many."},
    "reason": "Says what it is about.",
    "instead_of": 1,
}
ENTRY: dict[str, Any] = {
    "id": CASE_ID,
    "url": f"https://verify.example.com/p/default/golden/cases/{CASE_ID}/",
    "name": "one-company-is-enough",
    "guards": "A rule that speaks of companies is met by a single one.",
    "process": "general",
    "phase": "work",
    "tags": ["false-fail"],
    "owner": "",
    "origin": "own",
    "version": 1,
    "standing": "held",
    "run": None,
    "created_by": "key ci",
    "created_at": "2026-03-02T10:14:03Z",
    "changed_at": "2026-03-02T10:14:03Z",
    "retired_at": None,
}
NEAR: dict[str, Any] = {"id": RUN_ID, "name": "companies-in-the-plural", "likeness": 0.86}
WHOLE: dict[str, Any] = {**ENTRY, "case": DOCUMENT, "near": [NEAR]}
CASES: dict[str, Any] = {"items": [ENTRY], "next": None}
VERSION: dict[str, Any] = {
    "number": 1,
    "is_current": True,
    "reason": "",
    "created_by": "key ci",
    "created_at": "2026-03-02T10:14:03Z",
}
VERSION_WHOLE: dict[str, Any] = {**VERSION, "case": DOCUMENT}
VERSIONS: dict[str, Any] = {"items": [VERSION]}
IMPORTED: dict[str, Any] = {
    "created": ["one-company-is-enough"],
    "changed": [],
    "same": [],
    "near": {"one-company-is-enough": ["companies-in-the-plural"]},
    "is_stored": True,
}
YAML_FILE = """\
- id: one-company-is-enough
  guards: A rule that speaks of companies is met by a single one.
  process: general
  phase: work
  run:
    task: {id: t1, description: Describe the companies in this market.}
    output: There is one company in this market. It makes valves.
  expected: {outcome: pass}
"""


def shown(example: Any) -> dict[str, Any]:
    return {"examples": [example]}
