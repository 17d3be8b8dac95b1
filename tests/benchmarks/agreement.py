"""The figures of agreement over many decisions, compared with the same over few."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tests.benchmarks.django_process import call_in_django
from tests.benchmarks.environments import DATABASE
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.timing import median_seconds_in_turns
from tests.stack import Stack

if TYPE_CHECKING:
    from loomverify.accounts.models import Project

PATTERN_REVIEWS = 20
"""Reviews that differ in outcome, findings and decision; the others are copies of them."""
PATTERN_DECISIONS = PATTERN_REVIEWS + PATTERN_REVIEWS // 4


@dataclass(frozen=True, slots=True)
class Size:
    few: int
    many: int
    rounds: int


def measure(stack: Stack, size: Size) -> Figures:
    few, many, few_calibration, many_calibration = call_in_django(
        stack, __name__, "measure_seconds", size.few, size.many, size.rounds
    )
    return {
        "many": many,
        "ratio": many / few,
        "calibration": many_calibration,
        "calibration_ratio": many_calibration / few_calibration,
    }


BENCHMARK = Benchmark(
    name="agreement",
    summary="All figures of the agreement page, unfiltered",
    environment=DATABASE,
    measure=measure,
    full=Size(few=1_000, many=100_000, rounds=5),
    smoke=Size(few=50, many=100, rounds=1),
    metrics=(
        Metric("many", "agreement, {many:,} decisions", Unit.SECONDS, at_most=3),
        Metric("ratio", "agreement, {many:,} / {few:,} decisions", Unit.RATIO, at_most=30),
        Metric("calibration", "calibration, {many:,} decisions", Unit.SECONDS, at_most=3),
        Metric(
            "calibration_ratio",
            "calibration, {many:,} / {few:,} decisions",
            Unit.RATIO,
            at_most=60,
        ),
    ),
)


def measure_seconds(few: int, many: int, rounds: int) -> list[float]:
    """Return the seconds of agreement for few and many, then of calibration. Needs Django."""
    from django.db import connection

    from tests.builders import make_project
    from verification.reviews.agreement.calibrating import calibration
    from verification.reviews.agreement.filters import AgreementFilters
    from verification.reviews.agreement.selectors import agreement_figures

    projects = []
    for count in (few, many):
        project = make_project(f"agreement-{count}")
        _fill(project, count)
        projects.append(project)
    with connection.cursor() as cursor:
        cursor.execute("analyze")
    calls = [
        partial(figures_of, project, AgreementFilters())
        for figures_of in (agreement_figures, calibration)
        for project in projects
    ]
    return median_seconds_in_turns(calls, rounds)


def _fill(project: Project, decisions: int) -> None:
    from tests.builders import make_user
    from tests.reviews.agreement_rows import copy_decided, make_decided
    from tests.reviews.deciding_rows import make_decision
    from verification.engine.outcome import Outcome

    reviewers = [make_user(project, name=f"{project.slug}-{number}") for number in range(2)]
    reviews = []
    for number in range(PATTERN_REVIEWS):
        review = make_decided(
            project,
            ("pass", "fail", "undecided", "pass_with_warnings")[number % 4],
            ("pass", "fail")[number % 3 == 0],
            by=reviewers[0],
            rule=f"rule-{number % 7}",
            labels=[number % 5 > 0] * (number % 2),
            model=f"acme/model-{number % 3}",
            confidence=0.4 + number * 0.03,
            phase=("build", "write")[number % 2],
            sample_rate=(None, 0.05)[number % 2],
        )
        if number % 4 == 0:
            second_outcome = (Outcome.PASS, Outcome.FAIL)[number % 8 == 0]
            make_decision(review, reviewers[1], second_outcome)
        reviews.append(review)
    copy_decided(reviews, decisions // PATTERN_DECISIONS - 1)
