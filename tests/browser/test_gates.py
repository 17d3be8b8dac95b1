from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.gates import PROBLEMS, TESTS, make_gate
from tests.judged import live_of
from verification.engine.outcome import Status

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BAD = f"{MARKUP}{LONG_WORD}"


def unfold(page: Page, gate: str) -> None:
    page.locator("#gates summary").filter(has_text=gate).focus()
    page.keyboard.press("Enter")


@pytest.mark.parametrize("width", [1280, 390])
def test_gates_unfold_by_keyboard_within_the_edges_of_the_page(
    visit: Visit, scene: Scene, width: int
) -> None:
    live = live_of(scene.hostile)
    make_gate(live, "build", component=BAD[:600], command=BAD, detail=BAD)
    make_gate(live, "test", status=Status.FAILED, tests=TESTS, started_ms=1_500)
    make_gate(live, "lint", status=Status.FAILED, problems=PROBLEMS)
    visitor = visit(width=width)
    page = visitor.go(reverse("run_detail", args=[scene.project.slug, scene.hostile.uuid]))

    for gate in ("build", "test", "lint"):
        unfold(page, gate)

    expect(page.locator("#gate-1").get_by_text("assert 3 == 4")).to_be_visible()
    expect(page.locator("#gate-2").get_by_text("F401")).to_be_visible()
    expect(page.locator("#gate-0").get_by_text("What it wrote")).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate(FAULTS) == []
    assert visitor.complaints == []
