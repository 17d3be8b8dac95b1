from __future__ import annotations

from itertools import product

import pytest

from processes.definition.model import Phase
from tests.tables import check_rows
from verification.engine.floors import is_on_critical_path, tier_of, values_below_phase

TIERS = (1, 2, 3)


@check_rows(("of_phase", "tier"), list(product(TIERS, (None, *TIERS))))
def test_a_submission_raises_the_tier_of_its_phase_and_never_lowers_it(
    of_phase: int, tier: int | None
) -> None:
    phase = Phase("build", verification_tier=of_phase)

    below = [one.field for one in values_below_phase(phase, tier=tier, is_critical_path=None)]

    assert below == ([("tier",)] if tier in TIERS[: of_phase - 1] else [])
    assert tier_of(phase, tier) == max(of_phase, tier or 1)


@pytest.mark.parametrize(("of_phase", "of_task"), list(product((True, False), (None, True, False))))
def test_a_task_enters_the_critical_path_of_its_phase_and_never_leaves_it(
    of_phase: bool, of_task: bool | None
) -> None:
    phase = Phase("build", is_critical_path=of_phase)

    below = [one.field for one in values_below_phase(phase, tier=None, is_critical_path=of_task)]

    is_lowered = of_phase and of_task is False
    assert below == ([("task", "is_critical_path")] if is_lowered else [])
    assert is_on_critical_path(phase, of_task) is (of_phase or of_task is True)


def test_a_phase_may_let_submissions_lower_both() -> None:
    phase = Phase("build", verification_tier=3, is_critical_path=True, may_lower_tier=True)

    assert list(values_below_phase(phase, tier=1, is_critical_path=False)) == []
    assert tier_of(phase, 1) == 1
    assert is_on_critical_path(phase, False) is False


def test_each_value_below_the_phase_says_what_to_send() -> None:
    phase = Phase("build", verification_tier=3, is_critical_path=True)

    below = list(values_below_phase(phase, tier=2, is_critical_path=False))

    assert [one.message for one in below] == [
        "The phase build is verified at tier 3. Leave the tier out, or ask for 3 or more.",
        "The phase build is on the critical path. Leave this field out.",
    ]
