from __future__ import annotations

from verification.engine.protocol.mentions import all_mentions, quoted_mentions


def test_a_key_in_the_place_of_a_value_keeps_its_text_and_is_no_verdict() -> None:
    text = '{"passed": "passed": false}'

    for mentions in (all_mentions(text), quoted_mentions(text)):
        assert [(mention.value, mention.truth) for mention in mentions][:1] == [("passed:", None)]
