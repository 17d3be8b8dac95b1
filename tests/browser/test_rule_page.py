from __future__ import annotations

import os
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Role
from processes.models import Rule
from processes.services import add_version, publish
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import SOURCE_TEXT, make_run
from tests.rules.test_figures import told
from verification.engine.outcome import Outcome

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NAME = "no-open-cells"
HOSTILE = MARKUP[:120].replace('"', "'") + " \\u202e" + LONG_WORD[:60]
SOURCE = f"""{SOURCE_TEXT}    - name: {NAME}
      check: "N/A"
      type: regex
      enforcement: observe
      applies_to_phases: [build]
      description: Cells that nobody filled
    - name: "{HOSTILE}"
      check: "{LONG_WORD[:400]}"
      type: regex
      description: "{HOSTILE}"
      applies_to_phases: [build, write]
"""


@pytest.fixture(autouse=True)
def _rules(scene: Scene) -> None:
    """A rule that speaks now and then, and one whose words are hostile."""
    version, _ = add_version(
        project=scene.project, source_text=SOURCE, actor=SYSTEM, role=Role.ADMIN, note=MARKUP
    )
    publish(process=version.process, number=version.number, actor=SYSTEM, reason="It is time.")
    now = timezone.now()
    shas = dict(Rule.objects.values_list("name", "versions__content_sha256"))
    for n in range(14):
        spoke = n % 4 == 0
        verdict = "violated" if spoke else "satisfied"
        make_run(
            scene.project,
            outcome=Outcome.FAIL if spoke else Outcome.PASS,
            created_at=now - timedelta(days=n * 2),
            findings=[{"rule": NAME, "enforcement": "observe"}] if spoke else (),
            evaluation={"rule_trace": [told(NAME, verdict, shas[NAME])]},
        )


def address_of(scene: Scene, *, is_hostile: bool = False) -> str:
    rules = Rule.objects.filter(process__project=scene.project)
    rule = rules.get(name__contains="script") if is_hostile else rules.get(name=NAME)
    return reverse("rule_page", args=[scene.project.slug, "small-work", rule.pk])


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_no_page_of_rules_complains_or_runs_over_its_edge(
    visit: Visit, scene: Scene, width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)
    search = reverse("rule_search", args=[scene.project.slug])
    paths = [search, f"{search}?q=nothing-like-it", address_of(scene)]
    paths.append(address_of(scene, is_hostile=True))

    for number, path in enumerate(paths):
        page = visitor.go(path)
        if folder := os.environ.get("LV_SHOTS"):
            page.screenshot(path=f"{folder}/{number}-{width}-{theme}.png", full_page=True)
        assert page.evaluate(OVERFLOW) <= 0, path
        assert page.evaluate(FAULTS) == [], path
        assert page.title() != "owned"
        assert page.locator("main img").count() == 0
    assert visitor.complaints == []


def test_keys_find_a_rule_and_open_its_page(visit: Visit, scene: Scene) -> None:
    page = visit().go(reverse("rule_search", args=[scene.project.slug]))

    page.keyboard.press("/")
    page.keyboard.type("nobody filled")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="1 rule", exact=True)).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name=NAME, level=1)).to_be_visible()


def test_an_admin_takes_a_step_without_a_script(visit: Visit, scene: Scene) -> None:
    page = visit(script=False).go(address_of(scene))

    page.get_by_label("Why").fill("Nobody called it wrong.")
    page.get_by_role("button", name="Make advisory").click()

    expect(page.get_by_text("v4 is published: the rule is advisory.")).to_be_visible()
    expect(page.get_by_role("button", name="Make hard")).to_be_visible()
    expect(page.get_by_role("button", name="Back to observe")).to_be_visible()
