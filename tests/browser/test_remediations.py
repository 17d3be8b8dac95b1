from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from loomverify.accounts.models import Role
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.judged import make_remediation
from verification.runs.models import Remediation

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def listed(scene: Scene) -> list[Remediation]:
    """One of each state, some of them hostile."""
    now = timezone.now()
    claims = [
        {"text": text, "label": "inferred", "section": "supporting", "evidence": ["source-1"]}
        for text in ("The market grew by 4 % in the third quarter.", MARKUP, LONG_WORD[:900])
    ]
    request = {
        "reason_code": "unconfirmed_above_threshold",
        "claims": claims,
        "instructions": "Find a source for each claim, or take it out.\n" + MARKUP,
    }
    ended = {"ended_at": now, "note": "Nobody answered it in time."}
    columns = [
        {},
        {"mode": "queue_follow_up", "attempts": 1},
        {"state": "claimed", "lease_until": now + timedelta(minutes=20)},
        {"state": "resolved", "resolved_by": scene.rejected, "ended_at": now},
        {"state": "failed", **ended, "note": LONG_WORD[:500]},
        {"state": "expired", **ended},
    ]
    runs = [scene.rejected, scene.hostile]
    return [
        make_remediation(runs[number % 2], **{"request": request, **one})
        for number, one in enumerate(columns)
    ]


def path_of(scene: Scene, query: str = "") -> str:
    return reverse("remediation_list", args=[scene.project.slug]) + query


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_remediations_stay_within_the_page_closed_and_open(
    visit: Visit, scene: Scene, listed: list[Remediation], width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)
    page = visitor.go(path_of(scene))
    closed = page.evaluate(OVERFLOW)

    page.evaluate("document.querySelectorAll('details.remediation').forEach(d => d.open = true)")

    assert (closed, page.evaluate(OVERFLOW)) == (0, 0)
    assert page.evaluate(FAULTS) == []
    assert page.title() != "owned"
    assert visitor.complaints == []


def test_a_reviewer_gives_one_up_by_keyboard_alone_and_without_script(
    visit: Visit, scene: Scene, listed: list[Remediation]
) -> None:
    visitor = visit(scene.member(Role.REVIEWER), script=False)
    page = visitor.go(path_of(scene, "?state=queued"))
    page.locator("details.remediation > summary").first.focus()
    page.keyboard.press("Enter")
    page.get_by_label("Why it is given up").first.fill("The source is gone.")
    page.keyboard.press("Enter")

    expect(page.get_by_text("nobody will answer it.")).to_be_visible()
    expect(page.locator("details.remediation")).to_have_count(1)
    assert page.url.endswith("?state=queued")


def test_an_empty_list_stays_within_the_page(visit: Visit, scene: Scene) -> None:
    page = visit(width=390).go(path_of(scene))

    assert page.evaluate(OVERFLOW) == 0
    assert page.evaluate(FAULTS) == []
