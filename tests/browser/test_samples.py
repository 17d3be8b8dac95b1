"""A judge is asked about a rule that is typed, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from loomverify.accounts.models import User
from tests.browser.conftest import Visit
from tests.browser.scenes import Scene
from tests.browser.test_backtest import editor, faults_of, url
from tests.browser.test_pages import OVERFLOW
from tests.model_server import ModelServer, model_server
from tests.rules.sampled import blames_bad, past
from tests.runs.judged import judged_by
from verification.rules import tasks
from verification.rules.models import Sample
from verification.rules.samples import waking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

__all__ = ["editor"]


@pytest.fixture
def server(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A judge, and nobody who works before we say so."""
    monkeypatch.setattr(waking, "wake", lambda sample_id: True)
    with model_server(blames_bad) as server:
        judged_by(scene.project, server)
        yield server


def test_the_price_is_agreed_to_and_the_answers_come(
    visit: Visit,
    scene: Scene,
    editor: User,
    server: ModelServer,
) -> None:
    past(scene.project, "fine\nBAD")
    past(scene.project, "fine")
    visitor = visit(editor)
    page = visitor.go(url(scene))
    pane = page.locator("[data-history]")
    page.locator("[name=name]").fill("tone")
    page.locator("[name=type]").select_option("llm")
    page.locator("[name=where][value=named]").check()
    page.locator("[name=phases][value=write]").check()
    page.locator("[name=enforcement]").select_option("hard")
    page.locator("[name=check]").fill("The tone is polite")

    expect(pane.get_by_text("The judge first is asked about 2 of 2 runs.")).to_be_visible()
    pane.locator("[name=sample-size]").select_option("10")
    expect(pane.locator("[name=sample-size]")).to_have_value("10")
    assert page.locator("[name=check]").input_value() == "The tone is polite"
    pane.get_by_role("button", name="Ask the judge").click()
    expect(pane.get_by_text("0 of 2 runs")).to_be_visible()
    expect(pane.get_by_role("button", name="Stop")).to_be_visible()
    tasks.work_on_sample(Sample.objects.get().pk)

    expect(pane.get_by_text("2 of 2 runs")).to_be_visible()
    expect(pane.locator("#bucket-unlabelled mark")).to_have_text("BAD")
    expect(pane.locator(".history-said")).to_have_text("It is rude.")
    expect(pane.get_by_text("It costs nothing.")).to_be_visible()
    expect(pane.get_by_role("button", name="Stop")).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate(OVERFLOW) <= 0
    assert faults_of(visitor) == []

    page.locator("[name=check]").fill("The tone is very polite")
    expect(pane.get_by_text("is asked about 2 of 2 runs.")).to_be_visible()
    expect(pane.locator("#sample")).to_have_count(0)
