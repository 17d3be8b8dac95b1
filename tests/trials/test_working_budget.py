"""A trial whose budget is spent still takes what costs nothing."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from loomverify.accounts.models import Project
from tests.golden.builders import make_case
from tests.trials.builders import make_trial
from tests.trials.replaying import over_corpus
from verification.trials.models import StopReason, TrialState
from verification.trials.working import working

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("state", [TrialState.RUNNING, TrialState.STOPPED, TrialState.PROMOTED])
def test_the_corpus_is_worked_off_though_the_budget_is_spent(
    project: Project, own_evidence: None, state: TrialState
) -> None:
    trial = make_trial(
        project,
        state=state,
        stop_reason=StopReason.BUDGET,
        budget_usd=Decimal("2.50"),
        cost_usd=Decimal("2.50"),
    )
    make_case(project)
    replay = over_corpus(trial)

    working.work_on(trial.pk, seconds=math.inf)

    replay.refresh_from_db()
    assert not replay.is_cancelled
    assert replay.comparisons.filter(compared_at__isnull=False).count() == 1
