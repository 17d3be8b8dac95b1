from __future__ import annotations

import sys
from collections import Counter

import pytest

from tests.engine.protocol.generator import accepts, blames, made
from verification.engine.protocol.recovery import recover
from verification.engine.protocol.reply import Stage

SEEDS = 5_000


@pytest.mark.extended
def test_of_thousands_of_malformed_replies_none_is_read_for_its_opposite(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stages: Counter[Stage] = Counter()
    whole, unread, wrong = 0, [], []
    for seed in range(SEEDS):
        one = made(seed)
        found = recover(one.text)
        stages[found.stage] += 1
        whole += one.is_whole
        if one.is_whole and found.reply is None:
            unread.append((seed, one.how))
        if (accepts(found) and not one.passed) or (blames(found) and one.passed):
            wrong.append((seed, one.how))

    with capsys.disabled():
        sys.stdout.write(
            f"\n{SEEDS} generated replies, {whole} of them whole: "
            f"{len(unread)} unread, {len(wrong)} with the wrong polarity\n"
            + "".join(f"  {stage}: {stages[stage]}\n" for stage in Stage if stages[stage])
        )
    assert not wrong
    assert len(unread) < whole / 100, unread
    assert all(stages[stage] for stage in (*Stage,)[:5]), "every stage has its share"


def test_a_seed_makes_the_same_reply_again() -> None:
    assert [made(seed) for seed in range(50)] == [made(seed) for seed in range(50)]
