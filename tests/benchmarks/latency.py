"""Submit to outcome, one agent on an idle machine."""

from __future__ import annotations

import statistics
import time
from typing import Any

from tests.stack import Stack

ROUNDS = 200
WARM_UP = 20


def submission(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "process": "general",
        "task": {"id": f"bench-{number}", "description": "Write the summary."},
        "output": "The summary covers all four quarters. " * 25,
        **fields,
    }


def rows(stack: Stack, broker: str) -> list[tuple[str, str, str, bool]]:
    took = sorted(_measure(stack, broker))
    p50 = statistics.median(took)
    p95 = took[int(len(took) * 0.95)]
    return [
        (f"submit to outcome, p50, {broker}", f"{p50 * 1000:.0f} ms", "under 60 ms", p50 < 0.060),
        (f"submit to outcome, p95, {broker}", f"{p95 * 1000:.0f} ms", "under 200 ms", p95 < 0.200),
    ]


def _measure(stack: Stack, label: str) -> list[float]:
    took = []
    with stack.client() as client:
        for number in range(WARM_UP + ROUNDS):
            body = submission(number, task={"id": f"{label}-{number}", "description": "Sum up."})
            began = time.perf_counter()
            answer = client.post("/runs?wait=30", json=body)
            if number >= WARM_UP:
                took.append(time.perf_counter() - began)
            assert answer.status_code == 200, answer.text
            assert answer.json()["verdict"] == "accept"
    return took
