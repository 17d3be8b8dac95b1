from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from loomverify.accounts.models import Role
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.waivers import REASON, in_days, make_waiver, problem, rejected

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_a_reviewer_waives_a_finding_and_ends_it_by_keyboard_alone(
    visit: Visit, scene: Scene, width: int, theme: str
) -> None:
    hostile = problem(message=MARKUP + LONG_WORD[:900], path=LONG_WORD[:400])
    make_waiver(
        rejected(scene.project, hostile, title=LONG_WORD[:200]),
        reason=LONG_WORD[:900],
        ended_at=timezone.now(),
        ended_name=MARKUP,
    )
    run = rejected(scene.project)
    visitor = visit(scene.member(Role.REVIEWER), width=width, theme=theme)

    page = visitor.go(reverse("run_detail", args=[scene.project.slug, run.uuid]))
    page.get_by_role("link", name="Waive…").press("Enter")
    page.get_by_label("Why it is accepted").fill(REASON)
    page.get_by_role("button", name="90 days").press("Enter")
    expect(page.get_by_label("Until", exact=True)).to_have_value(str(in_days(90)))
    assert (page.evaluate(OVERFLOW), page.evaluate(FAULTS)) == (0, [])
    page.get_by_role("button", name="Waive it").press("Enter")
    expect(page.get_by_text("Waived since")).to_be_visible()

    visitor.go(reverse("waiver_list", args=[scene.project.slug]))
    page.evaluate("document.querySelectorAll('details.remediation').forEach(d => d.open = true)")
    assert (page.evaluate(OVERFLOW), page.evaluate(FAULTS)) == (0, [])
    page.get_by_role("button", name="End the waiver").press("Enter")
    expect(page.get_by_text("what it accepted counts again")).to_be_visible()
    page.keyboard.press("u")

    expect(page.get_by_text("It is in force again.")).to_be_visible()
    assert page.title() != "owned"
    assert visitor.complaints == []
