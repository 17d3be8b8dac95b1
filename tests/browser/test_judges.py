from __future__ import annotations

from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from loomverify.accounts.access import SYSTEM
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from verification.verifiers import budgets, connections
from verification.verifiers.connections import Terms
from verification.verifiers.models import JudgeConnection

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ANSWERED = {
    "state": "answered",
    "token": "t",
    "by": "Ada (ada)",
    "text": '{"passed": true, "issues": [], "confidence": 1, "suggestion": ""}',
    "stage": "strict_json",
    "key_seen": True,
    "latency_ms": 1240,
    "prompt_tokens": 96,
    "completion_tokens": 18,
    "cost_usd": "0.00042",
    "is_priced": True,
}
LOST = {"state": "lost", "token": "t", "by": "Ada", "detail": "The key was refused (HTTP 401)."}
HOSTILE = {**ANSWERED, "state": "unreadable", "stage": "", "text": MARKUP + LONG_WORD[:400]}


@pytest.fixture
def judges(scene: Scene) -> list[JudgeConnection]:
    """One of the environment's, two of the project's own, each with another test behind it."""
    project = scene.project
    JudgeConnection.objects.create(
        project=project,
        name="anthropic/claude-sonnet-4-5",
        model="anthropic/claude-sonnet-4-5",
        key_reference="LOOMVERIFY_JUDGE_API_KEY",
        is_environment=True,
        tested_at=timezone.now(),
        test_result=ANSWERED,
    )
    for name, result in (("refused", LOST), ("w" * 60, HOSTILE)):
        connections.add_connection(
            project=project,
            actor=SYSTEM,
            name=name,
            model=f"openai/{'m' * 100}",
            base_url=f"https://{'host.' * 30}example.com/v1",
            terms=Terms(key_reference="LOOMVERIFY_KEY_" + "X" * 80),
        )
        rows = JudgeConnection.objects.filter(name=name)
        rows.update(tested_at=timezone.now(), test_result=result)
    connections.choose_judges(
        project=project,
        actor=SYSTEM,
        primary="anthropic/claude-sonnet-4-5",
        alternate="refused",
        panel=("w" * 60,),
        reason="So.",
    )
    budgets.set_budget(project=project, process=None, usd_per_day=Decimal(5), actor=SYSTEM)
    return list(JudgeConnection.objects.order_by("pk"))


def paths(scene: Scene, judges: list[JudgeConnection]) -> list[str]:
    slug = scene.project.slug
    edits = [reverse("judge_edit", args=[slug, judge.uuid]) for judge in judges]
    return [
        reverse("settings_judges", args=[slug]),
        reverse("settings_budgets", args=[slug]),
        *edits,
    ]


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_judges_and_budgets_fit_and_nothing_complains(
    visit: Visit, scene: Scene, judges: list[JudgeConnection], width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)

    found = {
        path: (visitor.go(path).evaluate(OVERFLOW), visitor.page.evaluate(FAULTS))
        for path in paths(scene, judges)
    }

    assert {path: one for path, one in found.items() if one[0] > 0 or one[1]} == {}
    assert visitor.page.title() != "owned"
    assert visitor.complaints == []


def test_the_page_without_a_judge_fits_a_phone(visit: Visit, scene: Scene) -> None:
    visitor = visit(width=390)

    page = visitor.go(reverse("settings_judges", args=[scene.project.slug]))

    expect(page.get_by_text("No judge yet")).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0


@pytest.mark.usefixtures("judges")
def test_a_test_is_waited_for_on_the_page_and_shown_when_it_is_over(
    visit: Visit, scene: Scene
) -> None:
    page = visit().go(reverse("settings_judges", args=[scene.project.slug]))

    page.get_by_role("button", name="Test the connection refused").click()
    expect(page.get_by_text("A worker asks it a small question.")).to_be_visible()
    JudgeConnection.objects.filter(name="refused").update(test_result=ANSWERED)

    expect(page.get_by_text("It answers", exact=False).nth(1)).to_be_visible()
    expect(page.get_by_text("A worker asks it a small question.")).to_be_hidden()


@pytest.mark.usefixtures("judges")
def test_a_test_is_seen_without_a_script_too(visit: Visit, scene: Scene) -> None:
    page = visit(script=False).go(reverse("settings_judges", args=[scene.project.slug]))

    page.get_by_role("button", name="Test the connection refused").click()
    expect(page.get_by_text("A worker asks it a small question.")).to_be_visible()
    JudgeConnection.objects.filter(name="refused").update(test_result=LOST)
    page.get_by_role("link", name="Look again").click()

    expect(page.get_by_text("The key was refused (HTTP 401).")).to_be_visible()
