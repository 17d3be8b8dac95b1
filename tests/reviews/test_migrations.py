from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.builders import make_project, make_run
from tests.reviewing import DOUBTED, make_review
from verification.runs.models import Review

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = [("reviews", None), ("runs", "0004_rule_hours"), ("processes", "0002_draft_undo")]


def migrate(targets: list[tuple[str, str | None]] | None = None) -> None:
    """To the newest, where no targets are given."""
    executor = MigrationExecutor(connection)
    gc.disable()  # a third of the time
    try:
        executor.migrate(targets or executor.loader.graph.leaf_nodes())
    finally:
        gc.enable()


@pytest.fixture
def way_back() -> Iterator[None]:
    yield
    migrate()


@pytest.mark.extended
def test_what_waits_is_still_there_after_a_way_back_and_forth(way_back: None) -> None:
    project = make_project()
    review = make_review(project, make_run(project, **DOUBTED), urgency=40)

    migrate(BEFORE)
    migrate()

    after = Review.objects.get()
    assert (after.pk, after.evaluation, after.urgency) == (review.pk, review.evaluation, 40)
    assert (after.phase_id, after.process) == (review.phase_id, review.process)
