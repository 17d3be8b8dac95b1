from __future__ import annotations

import re
from typing import Any

import pytest

from processes.definition.load import load
from processes.definition.reading import Fields
from processes.definition.vocabulary import PHASE_ID, PLACES
from tests.processes.files import WITH_EVERYTHING, with_rule
from tests.tables import check_rows

NESTED = "examples: {pass: [aa b a], fail: [b]}"


def asked_for(source: str, monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """Each place of a file with the fields that its reader looks for there."""
    asked: set[tuple[str, str]] = set()
    get = Fields.get

    def noted(fields: Fields, key: str) -> Any:
        place = re.sub(r"\[[0-9]+\]", "[]", fields.value.path)
        if fields.values:
            asked.add((place, key))
        return get(fields, key)

    monkeypatch.setattr(Fields, "get", noted)
    assert load(source).definition is not None
    return asked


def test_completion_offers_exactly_what_the_reader_looks_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = WITH_EVERYTHING.replace(
        "review: {sample_rate: 0.1}", "review: {sample_rate: 0.1, reasons: {partial: usual}}"
    ).replace("iteration: {max: 2}", "rules: [{name: own, check: c, examples: {pass: [a]}}]")

    offered = {(place, key) for place, fields in PLACES.items() for key in fields}

    reasons = {one for one in offered if one[0].endswith("reasons")}
    assert offered - reasons == asked_for(text, monkeypatch) - reasons


@check_rows(
    ("field", "word"),
    [(key, word) for key, words in PLACES["verification.rules[]"].items() for word in words],
)
def test_each_word_that_is_offered_for_a_rule_is_one(field: str, word: str) -> None:
    word = "build" if word == PHASE_ID else word

    assert load(with_rule(**{field: word})).errors == ()
