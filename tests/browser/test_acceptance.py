"""The targets of the rollout in a browser."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.scenes import Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import make_run
from tests.judged import live_of, make_tier
from verification.engine.outcome import Outcome

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_number_of_a_target_opens_its_rows_on_a_wide_and_on_a_narrow_screen(
    visit: Visit, scene: Scene
) -> None:
    run = make_run(scene.project, phase="write", title="Read by nobody", tier_achieved=2)
    make_tier(live_of(run), recovery="unreadable")
    make_run(scene.project, outcome=Outcome.FAIL, reason_code="rule_violated")
    there = reverse("acceptance", args=[scene.project.slug])

    for width in (1280, 390):
        visitor = visit(width=width)
        page = visitor.go(reverse("trial_list", args=[scene.project.slug]))
        page.get_by_role("link", name="Acceptance").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Acceptance")
        assert page.url.endswith(there)
        page.wait_for_load_state()
        expect(page.locator("nav a[aria-current=page]", has_text="Shadow")).to_have_count(1)
        assert page.evaluate(OVERFLOW) == 0
        assert page.evaluate(FAULTS) == []

        page.locator("#unreadable").get_by_role("link", name="1 not readable").click()
        expect(page.get_by_role("link", name="Read by nobody")).to_be_visible()
        page.wait_for_load_state()
        assert page.evaluate(OVERFLOW) == 0
        assert visitor.complaints == []
