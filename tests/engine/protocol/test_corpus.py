from __future__ import annotations

from collections import Counter

from tests.engine.protocol.corpus import READ, UNREAD, Malformed, corpus
from tests.tables import check_rows
from verification.engine.protocol.recovery import recover
from verification.engine.protocol.reply import Stage


@check_rows("malformed", corpus(), ids=str)
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


@check_rows("malformed", corpus(), ids=str)
def test_a_strict_reading_knows_the_first_stage_alone(malformed: Malformed) -> None:
    found = recover(malformed.text, strict=True)

    assert (found.reply is not None) is (malformed.kind == Stage.STRICT)
    assert found.stage in (Stage.STRICT, Stage.UNREADABLE)
