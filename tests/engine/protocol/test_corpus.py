from __future__ import annotations

import sys
from collections import Counter

import pytest

from tests.engine.protocol.corpus import READ, UNREAD, Malformed, corpus
from verification.engine.protocol.recovery import recover
from verification.engine.protocol.reply import Stage


@pytest.mark.parametrize("malformed", corpus(), ids=str)
def test_a_malformed_reply_has_its_right_reading(malformed: Malformed) -> None:
    found = recover(malformed.text)

    assert (found.stage, found.reply and found.reply.passed) == (malformed.stage, malformed.passed)
    if found.reply:
        rules = {answer.rule: str(answer.verdict) for answer in found.reply.rules}
        read = {
            "rules": rules,
            "confidence": found.reply.confidence,
            "issues": [*found.reply.issues],
        }
        expected = {key: malformed.reading[key] for key in read if key in malformed.reading}
        assert {key: read[key] for key in expected} == expected
    else:
        assert found.why


def test_the_corpus_is_large_distinct_and_even() -> None:
    kinds = Counter(malformed.kind for malformed in corpus())

    assert len(corpus()) >= 150
    assert len({malformed.text for malformed in corpus()}) == len(corpus())
    assert len({malformed.what for malformed in corpus()}) == len(corpus())
    assert all(kinds[kind] >= 10 for kind in (*READ, *UNREAD)), kinds


def test_of_the_readable_ones_under_one_percent_stay_unread_and_none_has_the_wrong_polarity(
    capsys: pytest.CaptureFixture[str],
) -> None:
    readable = [malformed for malformed in corpus() if malformed.passed is not None]
    read = [(malformed, recover(malformed.text)) for malformed in corpus()]
    stages = Counter(str(found.stage) for _, found in read)
    unread = [one for one, found in read if one.passed is not None and found.reply is None]
    wrong = [one for one, found in read if found.reply and found.reply.passed is not one.passed]

    with capsys.disabled():
        sys.stdout.write(
            f"\n{len(corpus())} malformed replies, {len(readable)} of them readable: "
            f"{len(unread)} unread, {len(wrong)} with the wrong polarity\n"
            + "".join(f"  {stage}: {stages[stage]}\n" for stage in Stage if stages[stage])
        )
    assert len(unread) < len(readable) / 100
    assert not wrong


@pytest.mark.quick_rows(30)
@pytest.mark.parametrize("malformed", corpus(), ids=str)
def test_a_strict_reading_knows_the_first_stage_alone(malformed: Malformed) -> None:
    found = recover(malformed.text, strict=True)

    assert (found.reply is not None) is (malformed.kind == Stage.STRICT)
    assert found.stage in (Stage.STRICT, Stage.UNREADABLE)
