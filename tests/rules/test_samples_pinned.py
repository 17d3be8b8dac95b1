"""What a judge says of the runs that are pinned to an instruction."""

from __future__ import annotations

from typing import Any

import pytest

from loomverify.accounts.models import Project
from loomverify.guarding import Objected
from tests.golden.guarding import put_live, version_of
from tests.model_server import ModelServer
from tests.rules.sampled import (
    asked,
    editor,
    past,
    wish,
)
from tests.runs.judged import NOISE
from verification.rules.backtest.wish import Wish
from verification.rules.examples.judged import is_caught
from verification.rules.examples.listing import listing
from verification.rules.examples.services import pin
from verification.rules.examples.sources import Source
from verification.rules.examples.trying import Standing
from verification.rules.models import (
    Drawn,
    Expected,
    Pin,
)
from verification.rules.samples.results import progress_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("nobody_waits_long"),
]


def test_pinned_runs_are_asked_about_and_a_broken_pin_stands_in_the_way(
    project: Project, server: ModelServer
) -> None:
    put_live(version_of(project, wish(project).source_text))
    past(project, "BAD but not pinned")
    access, tone = editor(project), wish(project)
    sources: dict[str, dict[str, Any]] = {
        "caught": {"source": Source(past(project, "BAD"))},
        "let go": {"source": Source(past(project, "fine", tier_achieved=1))},
        "pasted": {"text": "BAD, too"},
    }
    pinned = {
        what: pin(access=access, process=tone.process, name="tone", expected=Expected.CAUGHT, **of)
        for what, of in sources.items()
    }

    before = standings(tone)
    sample = asked(project, tone, how=Drawn.PINNED)
    after = standings(tone)

    assert set(before.values()) == {Standing.UNTRIED}
    assert progress_of(sample).evaluated == 2
    assert after == {
        pinned["caught"].pin.pk: Standing.HOLDS,
        pinned["let go"].pin.pk: Standing.BROKEN,
        pinned["pasted"].pin.pk: Standing.UNTRIED,
    }
    with pytest.raises(Objected, match=r"1 of 3 examples broken.*passes, must be caught"):
        put_live(version_of(project, f"{tone.source_text}\n# Said anew.\n"))
    assert set(standings(wish(project, "The tone is warm")).values()) == {Standing.UNTRIED}


def test_what_a_judge_leaves_open_says_nothing_of_a_pin(
    project: Project, server: ModelServer
) -> None:
    put_live(version_of(project, wish(project).source_text))
    source = Source(past(project, "BAD"))
    tone = wish(project)
    pin(
        access=editor(project), process=tone.process, name="tone", expected=Expected.CAUGHT,
        source=source,
    )  # fmt: skip
    server.script = [NOISE]

    asked(project, tone, how=Drawn.PINNED)

    assert set(standings(tone).values()) == {Standing.UNTRIED}


@pytest.mark.parametrize(
    ("own", "places", "caught"),
    [
        (("", ""), set(), False),
        (("", ""), {("a.md", "")}, True),
        (("a.md", ""), {("a.md", ""), ("", "")}, True),
        (("a.md", ""), {("b.md", "")}, False),
        (("a.md", ""), {("", "")}, None),
        (("", "e1"), {("", "e1")}, True),
        (("", "e1"), set(), False),
    ],
)
def test_a_pinned_place_is_caught_where_the_judge_names_it(
    own: tuple[str, str], places: set[tuple[str, str]], caught: bool | None
) -> None:
    assert is_caught(Pin(path=own[0], evidence=own[1]), places) is caught


def standings(wish_: Wish) -> dict[int, Standing]:
    shown = listing(wish_.process, "tone", wish_.rule)
    return {row.pin.pk: row.tried.standing for row in shown.rows}
