from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.judged import live_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def part(name: str, points: float, most: float, why: str, *, is_measured: bool = True) -> object:
    return {"name": name, "points": points, "most": most, "is_measured": is_measured, "why": why}


SCORE = {
    "total": 7.5,
    "source": "semantic",
    "parts": [
        part("build", 3, 3, "built"),
        part("tests", 3, 4, "9 of 12"),
        part("lint", 0, 2, f"lost: lint of {MARKUP}{LONG_WORD}"[:200], is_measured=False),
        part("no critical errors", 0, 1, "1 found"),
    ],
    "semantic": [part("correctness", 2.5, 3, "given"), part("practice", 1, 1, "given")],
}


def bars(page: Page) -> int:
    return page.locator("#score progress").count()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_bars_of_a_score_stay_within_the_edges_of_the_page(
    visit: Visit, scene: Scene, width: int
) -> None:
    live = live_of(scene.hostile)
    live.score = SCORE
    live.loop = {"decision": "iterate", "why": "7.5 of 8, round 1 of 10."}
    live.save()
    visitor = visit(width=width)

    page = visitor.go(reverse("run_detail", args=[scene.project.slug, scene.hostile.uuid]))

    expect(page.locator("#score").get_by_text("7.5 of 10")).to_be_visible()
    assert bars(page) == 6
    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate(FAULTS) == []
    assert visitor.complaints == []
