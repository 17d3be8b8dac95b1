"""Taking the next review while 100,000 wait, beside the same while 100 do."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.stack import Stack

if TYPE_CHECKING:
    from loomverify.accounts.access import Access

FEW, MANY = 100, 100_000
WARM_UP, ROUNDS = 5, 50
TARGET, TARGET_SECONDS = 1.5, 0.05
MEASURE = """
import json, django; django.setup()
from tests.benchmarks.queue import measured
print(json.dumps(measured()))
"""


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    answer = subprocess.run(
        [sys.executable, "-c", MEASURE], env=stack.environment, check=True, capture_output=True
    )
    few, many = json.loads(answer.stdout)
    ratio = many / few
    what = f"taking the next review of {MANY:,}"
    return [
        (f"{what}, to the next of {FEW}", f"{ratio:.2f}", f"at most {TARGET}", ratio <= TARGET),
        (what, f"{many * 1000:.1f} ms", f"under {TARGET_SECONDS * 1000:.0f} ms",
         many < TARGET_SECONDS),
    ]  # fmt: skip


def measured() -> tuple[float, float]:
    """Seconds, medians, for few and for many. Runs beside Django."""
    from loomverify.accounts.access import Access, person
    from loomverify.accounts.models import Role
    from tests.builders import make_project, make_user
    from tests.reviews.many import generate_reviews

    accesses = []
    for count in (FEW, MANY):
        project = make_project(f"queue-{count}")
        generate_reviews(project, count)
        accesses.append(Access(project, Role.REVIEWER, person(make_user(project, Role.REVIEWER))))
    few, many = accesses
    return _seconds(few), _seconds(many)


def _seconds(access: Access) -> float:
    """How long a claim takes, each given back in between."""
    from verification.reviews.queue import claims

    took = []
    for number in range(WARM_UP + ROUNDS):
        began = time.perf_counter()
        taken = claims.claim_next(access=access)
        if number >= WARM_UP:
            took.append(time.perf_counter() - began)
        assert taken is not None
        claims.release(access=access, review=taken.uuid)
    return statistics.median(took)
