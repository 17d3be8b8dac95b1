from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from loomverify.accounts.models import Role
from tests.actions.report.builders import full_night
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from verification.verifiers.models import Budget

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_an_admin_reads_the_night_and_has_it_reported(
    visit: Visit, scene: Scene, width: int, theme: str
) -> None:
    full_night(scene.project, title=f"{MARKUP} {LONG_WORD}"[:200])
    Budget.objects.create(project=scene.project, usd_per_day=0)
    visitor = visit(scene.member(Role.ADMIN), width=width, theme=theme)

    page = visitor.go(reverse("overview", args=[scene.project.slug]))
    page.get_by_role("link", name="Last night").click()
    expect(page.get_by_role("heading", name="Morning report", exact=True)).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert (page.evaluate(OVERFLOW), page.evaluate(FAULTS)) == (0, [])
    page.get_by_role("link", name="Night before").click()
    expect(page.get_by_role("link", name="Night after")).to_be_visible()
    assert (page.evaluate(OVERFLOW), page.evaluate(FAULTS)) == (0, [])

    page = visitor.go(reverse("settings_reports", args=[scene.project.slug]))
    page.get_by_label("Make a report of each night").check()
    page.get_by_label("Nobody is mailed from").fill("22:00")
    assert (page.evaluate(OVERFLOW), page.evaluate(FAULTS)) == (0, [])
    page.get_by_role("button", name="Save").press("Enter")

    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_label("Make a report of each night")).to_be_checked()
    assert page.title() != "owned"
    assert visitor.complaints == []
