"""Damage to strings weighs equally: it costs a pass no more than a fail."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from tests.engine.protocol.generator import RULES, accepts, blames
from verification.engine.protocol.recovery import recover

CORPUS = Path(__file__).parents[3] / "verification" / "golden" / "corpus"
MAX_TEXT_CHARS = 600
SPEAKS_OF_A_VERDICT = re.compile(r"passed|verdict", re.IGNORECASE)


@cache
def corpus_texts() -> tuple[str, ...]:
    """Parts of the golden corpus that a judge could quote, each with a line break or a quote.

    Those that speak of verdicts themselves are left out: which one is meant is doubt.
    """
    texts: dict[str, None] = {}
    for file in sorted(CORPUS.rglob("*.yaml")):
        for case in yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader):
            for text in _texts([case.get("run"), case.get("files"), case.get("gates")]):
                for start in range(0, min(len(text), 10 * MAX_TEXT_CHARS), MAX_TEXT_CHARS):
                    part = text[start : start + MAX_TEXT_CHARS]
                    if ("\n" in part or '"' in part) and not SPEAKS_OF_A_VERDICT.search(part):
                        texts[part] = None
    return tuple(texts)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def replies(passed: bool) -> Iterator[dict[str, Any]]:
    """A reply for each text, which stands in it as a reason and as a quote."""
    random = Random(7)  # noqa: S311 - a seed makes the same replies again
    for text in corpus_texts():
        rules = [
            {"rule": rule, "verdict": "satisfied", "why": "It is so.", "quote": ""}
            for rule in RULES
        ]
        random.choice(rules)["quote"] = text
        random.choice(rules)["why"] = text
        if not passed:
            random.choice(rules)["verdict"] = "violated"
        acceptance = {"verdict": "satisfied", "why": text}
        yield {"passed": passed, "rules": rules, "acceptance": acceptance, "confidence": 0.9}


def raw_line_breaks(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t")


def unescaped_quotes(text: str) -> str:
    return text.replace('\\"', '"')


def both(text: str) -> str:
    return unescaped_quotes(raw_line_breaks(text))


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("damage", [raw_line_breaks, unescaped_quotes, both])
def test_damaged_strings_lose_no_more_passes_than_fails(
    damage: Callable[[str], str], indent: int | None
) -> None:
    read: Counter[bool] = Counter()
    damaged = 0
    for passing, failing in zip(replies(True), replies(False), strict=True):
        texts = [
            damage(json.dumps(reply, ensure_ascii=False, indent=indent))
            for reply in (passing, failing)
        ]
        if any(map(_is_json, texts)):
            continue
        damaged += 1
        as_pass, as_fail = map(recover, texts)
        assert not blames(as_pass)
        assert not accepts(as_fail)
        read[True] += accepts(as_pass)
        read[False] += blames(as_fail)

    assert damaged >= 60
    assert read[True] >= 0.9 * damaged
    assert read[False] >= 0.9 * damaged
    assert abs(read[True] - read[False]) <= max(1, 0.01 * damaged)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
