from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from loomverify.accounts.models import Role
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.reviewing import make_review
from tests.reviews.noticing import make_reader
from verification.reviews.models import Notice, NoticePreference
from verification.reviews.notices import lists, services

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_the_choice_stays_within_the_page_and_has_no_fault(
    visit: Visit, scene: Scene, width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)

    page = visitor.go(reverse("review_notices", args=[scene.project.slug]))

    expect(page.locator(".tabs [aria-current]")).to_be_in_viewport(ratio=0.9)  # the last of six
    for choice in page.locator("label:has([type=radio])").all():
        assert choice.evaluate("(one) => one.offsetHeight") < 40  # one line, with its radio
    assert page.evaluate(OVERFLOW) == 0
    assert page.evaluate(FAULTS) == []
    assert visitor.complaints == []


@pytest.mark.parametrize("script", [True, False])
def test_a_reviewer_chooses_gets_an_example_and_ends_it_from_a_mail(
    visit: Visit, scene: Scene, script: bool
) -> None:
    preference = make_reader(scene.project, Notice.OFF, role=Role.REVIEWER)
    visitor = visit(preference.member.user, script=script)
    page = visitor.go(reverse("review_notices", args=[scene.project.slug]))

    page.get_by_label("Every morning").check()
    page.get_by_label("From urgency").fill("40")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_label("Every morning")).to_be_checked()
    page.get_by_role("button", name="Send me an example").click()
    expect(page.get_by_text("An example is on its way")).to_be_visible()

    assert mail.outbox[0].to == [preference.member.user.email]
    preference.refresh_from_db()
    assert (preference.notice, preference.min_urgency) == (Notice.DAILY, 40)

    make_review(scene.project, created_at=timezone.now() - timedelta(days=2))
    assert services.send_notice(preference.pk)
    [ended] = [line for line in str(mail.outbox[1].body).splitlines() if "No more" in line]
    path = reverse("notice_unsubscribe", args=[lists.token_of(preference.member)])
    visitor.page.context.clear_cookies()
    visitor.go(path).get_by_role("button", name="Stop the mails").click()
    expect(page.get_by_role("heading", name="No more mails")).to_be_visible()

    assert "/unsubscribe/" in ended
    assert NoticePreference.objects.get().notice == Notice.OFF
    assert visitor.complaints == []
