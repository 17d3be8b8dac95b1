"""Taking the next review while many wait, compared with few."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.benchmarks.django_process import call_in_django
from tests.benchmarks.environments import DATABASE
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.stack import Stack

if TYPE_CHECKING:
    from loomverify.accounts.access import Access

WARM_UP = 5


@dataclass(frozen=True, slots=True)
class Size:
    few: int
    many: int
    rounds: int


def measure(stack: Stack, size: Size) -> Figures:
    few, many = call_in_django(stack, __name__, "measure_seconds", size.few, size.many, size.rounds)
    return {"many": many, "ratio": many / few}


BENCHMARK = Benchmark(
    name="review-queue",
    summary="A reviewer takes the next review and releases it",
    environment=DATABASE,
    measure=measure,
    full=Size(few=100, many=100_000, rounds=50),
    smoke=Size(few=10, many=50, rounds=3),
    metrics=(
        Metric("many", "next review of {many:,}", Unit.SECONDS, at_most=0.05),
        Metric("ratio", "next review of {many:,} / of {few:,}", Unit.RATIO, at_most=1.5),
    ),
)


def measure_seconds(few: int, many: int, rounds: int) -> list[float]:
    """Return the median seconds for few and for many. Needs Django."""
    from loomverify.accounts.access import Access, person
    from loomverify.accounts.models import Role
    from tests.builders import make_project, make_user
    from tests.reviews.many import generate_reviews

    accesses = []
    for count in (few, many):
        project = make_project(f"queue-{count}")
        generate_reviews(project, count)
        reviewer = make_user(project, Role.REVIEWER, f"queue-{count}")
        accesses.append(Access(project, Role.REVIEWER, person(reviewer)))
    seconds = [[_claim_seconds(access) for access in accesses] for _ in range(WARM_UP + rounds)]
    return [statistics.median(column) for column in zip(*seconds[WARM_UP:], strict=True)]


def _claim_seconds(access: Access) -> float:
    """Claim the next review and release it; return the seconds of the claim."""
    from verification.reviews.queue import claims

    began = time.perf_counter()
    review = claims.claim_next(access=access)
    seconds = time.perf_counter() - began
    assert review is not None
    claims.release(access=access, review=review.uuid)
    return seconds
