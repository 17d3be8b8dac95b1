"""People look at the gate while a trial runs, and promote when it is open.

The tests of `tests/engine/test_cutover_simulated.py` look once, at the end.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache

import numpy as np
import pytest

from verification.engine.cutover import Corpus, Evidence, Flips, GateState, Pairs, People, gate

NOISE = 0.05
LOOKED_AT = 20
TRIALS = 400
EVERY, PAIRS = 50, 800


@cache
def is_open(accepted: int, added: int, fixed: int, kept: int) -> bool:
    """Of good work alone, all discordant pairs judged rightly, and some that both rejected."""
    looked_at = min(LOOKED_AT, kept)
    pairs = Pairs(both_accept=accepted, both_reject=kept, laxer=fixed, stricter=added)
    people = People(
        laxer_judged=fixed,
        stricter_judged=added,
        stricter_wrong=added,
        false_fails_fixed=fixed,
        false_fails_kept=looked_at,
        false_fails_added=added,
        both_reject_judged=looked_at,
    )
    flips, corpus, one = Flips(1, 40), Corpus(126, 0, 0), Decimal(1)
    evidence = Evidence(pairs, people, flips, flips, one, one, 1000.0, 1000.0, corpus)
    return gate(evidence).state is GateState.OPEN


@pytest.mark.extended
def test_looked_at_often_it_is_ever_open_in_one_of_twenty_equal_trials_at_most() -> None:
    chance = np.random.default_rng(1947)
    good = 1 - NOISE
    shares = [good * good, good * NOISE, NOISE * good, NOISE * NOISE]
    came = chance.multinomial(EVERY, shares, size=(TRIALS, PAIRS // EVERY))

    ever = sum(any(is_open(*row) for row in one) for one in came.cumsum(axis=1).tolist())

    assert 0 < ever / TRIALS <= 0.05
