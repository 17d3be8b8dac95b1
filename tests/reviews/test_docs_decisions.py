"""What the manual says of decisions is what happens."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.builders import make_project, make_run
from tests.reviewing import DOUBTED, make_review
from tests.reviews.people import reviewer_of, says, settled, told
from verification.reviews import settling, undoing
from verification.reviews.deciding import MAX_TOGETHER
from verification.reviews.saying import MAX_COMMENT_CHARS

DOCS = Path(__file__).resolve().parents[2] / "docs"
REVIEW = (DOCS / "review.md").read_text()


@pytest.mark.django_db
def test_the_webhooks_payload_has_the_documented_fields() -> None:
    text = (DOCS / "webhooks.md").read_text()
    [example] = [
        json.loads(block)
        for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)
        if "final_outcome" in block
    ]
    project = make_project()
    run = make_run(project, findings=[{"fingerprint": "one"}], **DOUBTED)
    review = make_review(project, run)
    says(reviewer_of(project), review, comment="Fine.", findings={"one": False})
    settled(review)

    [payload] = told(review.run)

    assert {name: type(value) for name, value in payload.items()} == {
        name: type(value) for name, value in example.items()
    }


def test_the_documented_bounds_are_the_ones_kept() -> None:
    assert f"{settling.UNDO_SECONDS} seconds" in REVIEW
    assert f"last {undoing.UNDOABLE}" in REVIEW
    assert f"{MAX_COMMENT_CHARS:,} characters" in REVIEW
    assert f"{MAX_TOGETHER} at once" in REVIEW
