"""A shadow trial with many comparisons, compared with few: its criteria and its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tests.benchmarks.django_process import call_in_django
from tests.benchmarks.environments import DATABASE
from tests.benchmarks.framework import Benchmark, Figures, Metric, Unit
from tests.benchmarks.timing import median_seconds_in_turns
from tests.stack import Stack

if TYPE_CHECKING:
    from verification.trials.models import Trial


@dataclass(frozen=True, slots=True)
class Size:
    few: int
    many: int
    rounds: int


def measure(stack: Stack, size: Size) -> Figures:
    few_criteria, many_criteria, few_page, many_page = call_in_django(
        stack, __name__, "measure_seconds", size.few, size.many, size.rounds
    )
    return {
        "criteria": many_criteria,
        "criteria_ratio": many_criteria / few_criteria,
        "page": many_page,
        "page_ratio": many_page / few_page,
    }


BENCHMARK = Benchmark(
    name="trial-pages",
    summary="Cutover criteria and page of a shadow trial",
    environment=DATABASE,
    measure=measure,
    full=Size(few=1_000, many=100_000, rounds=9),
    smoke=Size(few=20, many=60, rounds=1),
    metrics=(
        Metric("criteria", "cutover criteria, {many:,} comparisons", Unit.SECONDS, at_most=0.1),
        Metric(
            "criteria_ratio",
            "cutover criteria, {many:,} / {few:,} comparisons",
            Unit.RATIO,
            at_most=3,
        ),
        Metric("page", "page of the trial, {many:,} comparisons", Unit.SECONDS, at_most=0.25),
        Metric(
            "page_ratio",
            "page of the trial, {many:,} / {few:,} comparisons",
            Unit.RATIO,
            at_most=3,
        ),
    ),
)


def measure_seconds(few: int, many: int, rounds: int) -> list[float]:
    """Return the seconds for few and many: of the criteria, then of the page. Needs Django."""
    from tests.builders import make_project
    from tests.trials.builders import generate_comparisons, make_cutover_replay, make_trial
    from verification.trials.selectors import gates_of

    trials = []
    for count in (few, many):
        trial = make_trial(make_project(f"trials-{count}"))
        generate_comparisons(trial, count)
        make_cutover_replay(trial)
        trials.append(trial)
    criteria = [partial(gates_of, [trial]) for trial in trials]
    pages = [_page_loader(trial) for trial in trials]
    return median_seconds_in_turns([*criteria, *pages], rounds)


def _page_loader(trial: Trial) -> Callable[[], None]:
    """Return a function that loads the trial's page as a signed-in reviewer."""
    from django.urls import reverse

    from loomverify.accounts.models import Role
    from tests.builders import make_user, signed_in

    client = signed_in(make_user(trial.project, Role.REVIEWER, trial.project.slug))
    url = reverse("trial", args=[trial.project.slug, trial.uuid])

    def load_page() -> None:
        response = client.get(url, SERVER_NAME="127.0.0.1")
        assert response.status_code == 200, response.content

    load_page()  # compiles the templates
    return load_page
