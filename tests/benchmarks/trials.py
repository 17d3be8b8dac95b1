"""A trial with 100,000 comparisons, beside one with 1,000: its matrix and gate, and its page."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks.beside_django import called
from tests.stack import Stack

FEW, MANY = 1_000, 100_000
REQUESTS = 9
TARGET, GATE_SECONDS, PAGE_SECONDS = 3.0, 0.1, 0.25
Row = tuple[str, str, str, bool]


def rows(stack: Stack) -> list[Row]:
    gate, page = called(stack, __name__, "measured")
    return [
        *_beside(f"matrix and gate over {MANY:,} comparisons", gate, GATE_SECONDS),
        *_beside(f"the page of a trial with {MANY:,} comparisons", page, PAGE_SECONDS),
    ]


def _beside(what: str, took: tuple[float, float], target: float) -> list[Row]:
    few, many = took
    ratio = many / few
    return [
        (what, f"{many * 1000:.0f} ms", f"under {target * 1000:.0f} ms", many < target),
        (f"{what}, to the same with {FEW:,}", f"{ratio:.1f}", f"at most {TARGET:.0f}",
         ratio <= TARGET),
    ]  # fmt: skip


def measured() -> tuple[tuple[float, float], tuple[float, float]]:
    """Seconds for few and for many: matrix and gate, and the page. Runs beside Django."""
    from tests.builders import make_project
    from tests.trials.builders import generate_comparisons, make_cutover_replay, make_trial
    from verification.trials.selectors import gates_of

    few, many = (make_trial(make_project(f"trials-{count}")) for count in (FEW, MANY))
    for trial, count in ((few, FEW), (many, MANY)):
        generate_comparisons(trial, count)
        make_cutover_replay(trial)
    show_few, show_many = _shows(few), _shows(many)
    return (
        (_seconds(lambda: gates_of([few])), _seconds(lambda: gates_of([many]))),
        (_seconds(show_few), _seconds(show_many)),
    )


def _shows(trial: Any) -> Callable[[], object]:
    """Asks for its page as somebody who is signed in."""
    from django.urls import reverse

    from loomverify.accounts.models import Role
    from tests.builders import make_user, signed_in

    client = signed_in(make_user(trial.project, Role.REVIEWER, trial.project.slug))
    url = reverse("trial", args=[trial.project.slug, trial.uuid])

    def show() -> None:
        answer = client.get(url, SERVER_NAME="127.0.0.1")
        assert answer.status_code == 200, answer.content

    show()  # its templates are read once
    return show


def _seconds(call: Callable[[], object]) -> float:
    took = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    return statistics.median(took)
