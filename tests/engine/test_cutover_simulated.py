"""How often the gate opens, over thousands of trials of verifiers whose truth is known.

People are taken to judge rightly. They judge all pairs on which the sides differ and the first
twenty that both sides rejected. Noise between two answers of one verifier, costs and the corpus
are given as fine, so that what is simulated is all that could keep the gate shut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pytest

from verification.engine.cutover import Corpus, Evidence, Flips, GateState, Pairs, People, gate

PAIRS = 400
TRIALS = 10_000
LOOKED_AT = 20
SEED = 1947
ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class Verifiers:
    """Shares, 0 to 1: of good work that each side rejects, and of bad work that it accepts.

    `is_nested`: the new one rejects only what the old one rejects too; else each errs by itself.
    """

    good: float
    old_false_fails: float
    new_false_fails: float
    unsafe: float = 0.0
    is_nested: bool = False


def drawn(about: Verifiers, trials: int, seed: int) -> Iterator[tuple[Evidence, int]]:
    """Evidence of many trials, each with how often it came up."""
    chance = np.random.default_rng(seed)
    good = round(PAIRS * about.good)
    refused = 1 - about.unsafe
    of_good = chance.multinomial(good, _shares(about), size=trials)
    of_bad = chance.multinomial(PAIRS - good, _both_ways(refused, refused), size=trials)
    looked_at = np.minimum(LOOKED_AT, of_good[:, 3] + of_bad[:, 3])
    kept_seen = chance.hypergeometric(of_good[:, 3], of_bad[:, 3], looked_at)
    columns = np.column_stack([of_good, of_bad, looked_at, kept_seen])
    found = Counter(map(tuple, columns.tolist()))
    return ((_evidence(*row), times) for row, times in found.items())


def _shares(about: Verifiers) -> list[float]:
    """Of good work: accepted by both, by the old one alone, by the new one alone, by neither."""
    old, new = about.old_false_fails, about.new_false_fails
    return [1 - old, 0, old - new, new] if about.is_nested else _both_ways(old, new)


def _both_ways(old: float, new: float) -> list[float]:
    """The same of two that reject these shares each by itself."""
    return [(1 - old) * (1 - new), (1 - old) * new, old * (1 - new), old * new]


def _evidence(
    accepted: int,
    added: int,
    fixed: int,
    kept: int,
    passed: int,
    caught: int,
    unsafe: int,
    refused: int,
    looked_at: int,
    kept_seen: int,
) -> Evidence:
    pairs = Pairs(
        both_accept=accepted + passed,
        both_reject=kept + refused,
        laxer=fixed + unsafe,
        stricter=added + caught,
    )
    people = People(
        laxer_judged=pairs.laxer,
        laxer_unsafe=unsafe,
        stricter_judged=pairs.stricter,
        stricter_wrong=added,
        stricter_right=caught,
        false_fails_fixed=fixed,
        false_fails_kept=kept_seen,
        false_fails_added=added,
        both_reject_judged=looked_at,
    )
    flips, corpus = Flips(1, 40), Corpus(126, 0, 0)
    return Evidence(pairs, people, flips, flips, ONE, ONE, 1000.0, 1000.0, corpus)


def opened(about: Verifiers, trials: int = TRIALS, seed: int = SEED) -> float:
    """The share of trials whose gate is open, 0 to 1."""
    found = drawn(about, trials, seed)
    return sum(times for one, times in found if gate(one).state is GateState.OPEN) / trials


EQUAL = {
    "false fails alone": Verifiers(1.0, 0.05, 0.05),
    "false fails, of mixed work": Verifiers(0.7, 0.05, 0.05),
    "both ways": Verifiers(0.7, 0.05, 0.05, unsafe=0.05),
    "both ways, of mostly good work": Verifiers(0.95, 0.05, 0.05, unsafe=0.05),
}
BETTER = {
    "each errs by itself": Verifiers(1.0, 0.15, 0.05),
    "the new one's errors are among the old one's": Verifiers(1.0, 0.15, 0.05, is_nested=True),
    "of mixed work": Verifiers(0.8, 0.15, 0.05),
    "of mixed work, nested": Verifiers(0.8, 0.15, 0.05, is_nested=True),
}


@pytest.mark.extended
@pytest.mark.parametrize("noise", EQUAL)
def test_two_equal_verifiers_with_five_percent_noise_open_it_in_one_of_twenty_at_most(
    noise: str,
) -> None:
    assert opened(EQUAL[noise]) <= 0.05


@pytest.mark.extended
@pytest.mark.parametrize("gain", BETTER)
def test_ten_points_less_of_false_fails_open_it_in_four_of_five_at_least(gain: str) -> None:
    assert opened(BETTER[gain]) >= 0.80


@pytest.mark.extended
def test_noise_of_any_size_opens_it_no_more_often() -> None:
    noises = [Verifiers(1.0, share, share) for share in (0.03, 0.04, 0.08, 0.2)]

    assert max(opened(one, trials=500) for one in noises) <= 0.05


def test_a_gain_that_lets_bad_work_pass_does_not_open_it() -> None:
    assert opened(Verifiers(0.8, 0.15, 0.05, unsafe=0.1), trials=1_000) <= 0.05


def test_a_worse_verifier_does_not_open_it() -> None:
    assert opened(Verifiers(1.0, 0.05, 0.10), trials=1_000) == 0
