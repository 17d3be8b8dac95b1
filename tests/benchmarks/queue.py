"""Taking the next review while 100,000 wait, beside the same while 100 do."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from tests.benchmarks.beside_django import called
from tests.stack import Stack

if TYPE_CHECKING:
    from loomverify.accounts.access import Access

FEW, MANY = 100, 100_000
WARM_UP, ROUNDS = 5, 50
TARGET, TARGET_SECONDS = 1.5, 0.05


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    few, many = called(stack, __name__, "measured")
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
        reviewer = make_user(project, Role.REVIEWER, f"queue-{count}")
        accesses.append(Access(project, Role.REVIEWER, person(reviewer)))
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
