"""The matrix and the gate of a trial with 100,000 comparisons, beside one with 1,000."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from tests.stack import Stack

FEW, MANY = 1_000, 100_000
REQUESTS = 9
TARGET, TARGET_SECONDS = 6.0, 0.5
MEASURE = """
import json, django; django.setup()
from tests.benchmarks.trials import measured
print(json.dumps(measured()))
"""
PLAIN = "select old, new, diff_class, count(*) from trials_comparison where trial_id = %s group by 1, 2, 3"
"""The least that a matrix needs of the same rows."""


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    answer = subprocess.run(
        [sys.executable, "-c", MEASURE], env=stack.environment, check=True, capture_output=True
    )
    few, many, plain = json.loads(answer.stdout)
    ratio = many / plain
    what = f"matrix and gate over {MANY:,} comparisons"
    return [
        (what, f"{many * 1000:.0f} ms", f"under {TARGET_SECONDS * 1000:.0f} ms",
         many < TARGET_SECONDS),
        (f"{what}, to one plain count of them", f"{ratio:.1f}", f"at most {TARGET:.0f}",
         ratio <= TARGET),
        (f"the same over {FEW:,}", f"{few * 1000:.0f} ms", "", True),
    ]  # fmt: skip


def measured() -> tuple[float, float, float]:
    """Seconds for few, for many, and for one plain count of many. Runs beside Django."""
    from django.db import connection

    from tests.builders import make_project
    from tests.trials.builders import generate_comparisons, make_cutover_replay, make_trial
    from verification.trials.selectors import gates_of

    few, many = (make_trial(make_project(f"trials-{count}")) for count in (FEW, MANY))
    for trial, count in ((few, FEW), (many, MANY)):
        generate_comparisons(trial, count)
        make_cutover_replay(trial)

    def plain() -> None:
        with connection.cursor() as cursor:
            cursor.execute(PLAIN, [many.pk])
            cursor.fetchall()

    return (
        _seconds(lambda: gates_of([few])),
        _seconds(lambda: gates_of([many])),
        _seconds(plain),
    )


def _seconds(call: Callable[[], object]) -> float:
    took = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    return statistics.median(took)
