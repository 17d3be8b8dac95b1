from __future__ import annotations

import re
from pathlib import Path

import pytest

from verification.reviews.notices import services, times
from verification.reviews.notices.telling import TOP
from verification.reviews.notices.text import MAX_TITLE_CHARS

ROOT = Path(__file__).resolve().parents[2]
DOCS = (ROOT / "docs" / "notifications.md").read_text()


@pytest.mark.parametrize(
    ("sentence", "is_so"),
    [
        ("What comes within ten seconds is one mail", times.GATHERS.seconds == 10),
        ("at most one in five minutes", times.PAUSE.seconds == 300),
        ("at 8:00 in the project's time zone", times.MORNING.hour == 8),
        ("the ten most urgent", TOP == 10),
        ("one line of 80 characters", MAX_TITLE_CHARS == 80),
        ("tried again after 30 seconds", services.FIRST_WAIT.seconds == 30),
        ("at most after five minutes", services.LONGEST_WAIT.seconds == 300),
    ],
)
def test_the_manual_names_the_figures_that_are_kept(sentence: str, is_so: bool) -> None:
    assert sentence in DOCS
    assert is_so


def test_every_page_that_the_manual_leads_to_is_there() -> None:
    linked = re.findall(r"\]\(([\w-]+\.md)", DOCS)

    assert linked
    assert [name for name in linked if not (ROOT / "docs" / name).exists()] == []
