"""The figures of agreement over 100,000 decisions, beside the same over 1,000."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from tests.benchmarks.beside_django import called
from tests.stack import Stack

FEW, MANY = 1_000, 100_000
REQUESTS = 5
TARGET, TARGET_SECONDS = 30.0, 3.0
ALIKE = 20
"""Reviews that differ in what was said, found and decided; the others are their copies."""


def rows(stack: Stack) -> list[tuple[str, str, str, bool]]:
    few, many, calibrated = called(stack, __name__, "measured")
    ratio = many / few
    what = f"figures of agreement over {MANY:,} decisions"
    return [
        (f"{what}, to those over {FEW:,}", f"{ratio:.0f}", f"at most {TARGET:.0f}", ratio <= TARGET),
        (what, f"{many:.2f} s", f"under {TARGET_SECONDS:.0f} s", many < TARGET_SECONDS),
        (f"calibration over {MANY:,} decisions", f"{calibrated:.2f} s",
         f"under {TARGET_SECONDS:.0f} s", calibrated < TARGET_SECONDS),
    ]  # fmt: skip


def measured() -> tuple[float, float, float]:
    """Seconds for few, for many, and for the calibration of many. Runs beside Django."""
    from django.db import connection

    from tests.builders import make_project
    from verification.reviews.agreement.calibrating import calibration
    from verification.reviews.agreement.filters import AgreementFilters
    from verification.reviews.agreement.selectors import agreement_figures

    few, many = make_project("agreement-few"), make_project("agreement-many")
    _fill(few, FEW)
    _fill(many, MANY)
    with connection.cursor() as cursor:
        cursor.execute("analyze")
    every = AgreementFilters()
    return (
        _seconds(lambda: agreement_figures(few, every)),
        _seconds(lambda: agreement_figures(many, every)),
        _seconds(lambda: calibration(many, every)),
    )


def _fill(project: object, count: int) -> None:
    from tests.builders import make_user
    from tests.reviews.agreement_rows import copy_decided, make_decided
    from tests.reviews.deciding_rows import make_decision
    from verification.engine.outcome import Outcome

    people = [make_user(project, name=f"{project}-{n}") for n in range(3)]  # type: ignore[arg-type]
    made = []
    for number in range(ALIKE):
        review = make_decided(
            project,  # type: ignore[arg-type]
            ("pass", "fail", "undecided", "pass_with_warnings")[number % 4],
            ("pass", "fail")[number % 3 == 0],
            by=people[0],
            rule=f"rule-{number % 7}",
            labels=[number % 5 > 0] * (number % 2),
            model=f"acme/model-{number % 3}",
            confidence=0.4 + number * 0.03,
            phase=("build", "write")[number % 2],
            sample_rate=(None, 0.05)[number % 2],
        )
        if number % 4 == 0:
            said = (Outcome.PASS, Outcome.FAIL)[number % 8 == 0]
            make_decision(review, people[1], said)
        made.append(review)
    decisions = ALIKE + ALIKE // 4
    copy_decided(made, count // decisions)


def _seconds(call: Callable[[], object]) -> float:
    took = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    return statistics.median(took)
