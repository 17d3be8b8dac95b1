from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from loomverify.accounts.models import Role
from tests.actions.builders import make_delivery
from tests.actions.conftest import hooked
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, Scene
from tests.builders import evaluate, make_run
from verification.runs.models import Run, RunState

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

FAULTS = """() => {
  const faults = [];
  if (document.querySelectorAll("h1").length !== 1) faults.push("h1");
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  faults.push(...ids.filter((id, at) => ids.indexOf(id) !== at));
  const named = (element) =>
    element.labels?.length || element.ariaLabel || element.textContent.trim() || element.title;
  for (const element of document.querySelectorAll("a, button, select, input:not([type=hidden])"))
    if (!named(element)) faults.push(element.outerHTML);
  return faults;
}"""


def url_of(scene: Scene, run: Run) -> str:
    return reverse("run_detail", args=[scene.project.slug, run.uuid])


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_no_page_complains_or_runs_over_its_edge(
    visit: Visit, scene: Scene, width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)

    overflowing = [path for path in scene.paths if visitor.go(path).evaluate(OVERFLOW) > 0]

    assert overflowing == []
    assert visitor.complaints == []


def test_every_page_has_one_heading_unique_ids_and_named_controls(
    visit: Visit, scene: Scene
) -> None:
    visitor = visit()

    faults = {path: found for path in scene.paths if (found := visitor.go(path).evaluate(FAULTS))}

    assert faults == {}


def test_on_a_phone_the_place_one_is_in_can_be_seen(visit: Visit, scene: Scene) -> None:
    visitor = visit(width=390)
    slug = scene.project.slug

    for name in ("overview", "action_list", "settings_repositories", "settings_project"):
        page = visitor.go(reverse(name, args=[slug]))
        expect(page.locator(".nav [aria-current]")).to_be_in_viewport(ratio=0.95)
    expect(visitor.go(reverse("run_list", args=[slug])).locator(".nav a").first).to_be_in_viewport()


def test_on_a_phone_the_size_of_a_file_stays_in_one_line(visit: Visit, scene: Scene) -> None:
    page = visit(width=390).go(url_of(scene, scene.rejected))

    size = page.locator("#artefact > header > small")

    expect(size).to_be_visible()
    assert size.evaluate("one => one.offsetHeight") < 24
    assert page.evaluate(OVERFLOW) <= 0


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_deliveries_to_long_addresses_stay_within_the_page(
    visit: Visit, scene: Scene, width: int, theme: str
) -> None:
    webhook = hooked(scene.project, f"http://127.0.0.1:9/{'hooks/' * 30}")
    told = {"state": "dead", "attempts": 12, "last_error": LONG_WORD[:300]}
    delivery = make_delivery(webhook, **told)
    visitor = visit(width=width, theme=theme)
    slug = scene.project.slug
    paths = [
        reverse("settings_webhooks", args=[slug]),
        reverse("delivery_list", args=[slug]),
        reverse("delivery_detail", args=[slug, delivery.uuid]),
    ]

    found = {path: visitor.go(path).evaluate(OVERFLOW) for path in paths}

    assert found == dict.fromkeys(paths, 0)
    assert visitor.complaints == []


@pytest.mark.parametrize("script", [True, False])
def test_on_a_phone_filters_need_no_button_where_they_send_themselves(
    visit: Visit, scene: Scene, script: bool
) -> None:
    page = visit(width=390, script=script).go(reverse("run_list", args=[scene.project.slug]))

    button = page.locator(".filters-first button")

    expect(button).to_be_visible(visible=not script)


def test_hostile_text_never_runs(visit: Visit, scene: Scene) -> None:
    visitor = visit()

    for path in scene.paths:
        visitor.go(path)
        assert visitor.page.title() != "owned"
        assert visitor.page.locator("main img").count() == 0


def test_every_page_is_readable_without_a_script(visit: Visit, scene: Scene) -> None:
    page = visit(script=False).go(url_of(scene, scene.rejected))

    page.get_by_role("link", name=re.compile("TODO is left")).click()

    expect(page.locator("#artefact mark")).to_have_text("TODO")


def test_keys_walk_through_the_list_and_open_a_run(visit: Visit, scene: Scene) -> None:
    page = visit().go(reverse("run_list", args=[scene.project.slug]))
    titles = page.locator("[data-walk]")

    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(titles.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(titles.nth(0)).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator(".verdict")).to_be_visible()


def test_a_slash_searches_and_keys_are_silent_while_typing(visit: Visit, scene: Scene) -> None:
    page = visit().go(reverse("run_list", args=[scene.project.slug]))

    page.keyboard.press("/")
    page.keyboard.type("jk?")

    search = page.get_by_role("searchbox")
    expect(search).to_be_focused()
    expect(search).to_have_value("jk?")
    expect(page.locator("#keys")).not_to_be_visible()


def test_a_question_mark_shows_and_hides_the_sheet_of_keys(visit: Visit, scene: Scene) -> None:
    page = visit().go(reverse("overview", args=[scene.project.slug]))

    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")

    expect(page.locator("#keys")).not_to_be_visible()


def test_walking_the_findings_turns_the_artefact_without_a_new_page(
    visit: Visit, scene: Scene
) -> None:
    visitor = visit()
    page = visitor.go(url_of(scene, scene.rejected))
    page.evaluate("window.kept = true")
    expect(page.locator("#artefact .hit")).to_have_attribute("data-n", "4")

    page.keyboard.press("j")

    expect(page.locator("#artefact mark")).to_have_text("TODO")
    expect(page.locator("#finding-2")).to_have_attribute("aria-current", "true")
    expect(page.locator("#finding-1")).not_to_have_attribute("aria-current", "true")
    expect(page).to_have_url(re.compile("at=2"))
    assert page.evaluate("window.kept")
    page.go_back()
    expect(page.locator("#artefact .hit")).to_have_attribute("data-n", "4")
    assert visitor.complaints == []


def test_the_feedback_is_copied_by_key(visit: Visit, scene: Scene) -> None:
    visitor = visit()
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.page.clock.install()
    page = visitor.go(url_of(scene, scene.rejected))
    page.clock.pause_at(timezone.now() + timedelta(days=1))  # "Copied" stands for a moment only

    page.keyboard.press("c")

    expect(page.locator("[data-copy=feedback]")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "Give cost a value."


def test_a_run_that_ends_shows_its_verdict_by_itself(visit: Visit, scene: Scene) -> None:
    page = visit().go(url_of(scene, scene.running))
    expect(page.locator(".verdict")).to_contain_text("Being verified.")

    _finish(scene.running)

    expect(page.locator(".verdict")).to_contain_text("Accepted:")
    expect(page.locator("#body")).not_to_have_attribute("hx-get", re.compile("."))
    expect(page.get_by_role("button", name="Verify again")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page).to_have_title(re.compile("^pass ·"))


def test_a_row_that_ends_changes_in_its_place(visit: Visit, scene: Scene) -> None:
    page = visit().go(reverse("run_list", args=[scene.project.slug]))
    row = page.locator(f"#run-{scene.running.uuid}")
    expect(row).to_contain_text("running")
    before = row.bounding_box()

    _finish(scene.running)
    make_run(scene.project)

    expect(row).to_contain_text("pass")
    expect(page.locator("#live")).to_contain_text("1 new")
    assert row.bounding_box() == before


def test_a_chosen_theme_stays(visit: Visit, scene: Scene) -> None:
    visitor = visit(theme="light")
    page = visitor.go(reverse("overview", args=[scene.project.slug]))
    page.locator(".side-end summary").click()
    toggle = page.locator("[data-theme-toggle]")
    expect(toggle).to_have_text("Theme: system")

    toggle.click()
    toggle.click()
    expect(toggle).to_have_text("Theme: dark")
    dark = _ground(page)
    visitor.go(reverse("run_list", args=[scene.project.slug]))

    assert _ground(page) == dark == "rgb(19, 20, 24)"


def test_the_system_theme_is_followed(visit: Visit, scene: Scene) -> None:
    path = reverse("overview", args=[scene.project.slug])

    assert _ground(visit(theme="dark").go(path)) == "rgb(19, 20, 24)"
    assert _ground(visit(theme="light").go(path)) == "rgb(245, 244, 240)"


def test_a_chosen_filter_applies_at_once(visit: Visit, scene: Scene) -> None:
    page = visit(scene.member(Role.VIEWER)).go(reverse("run_list", args=[scene.project.slug]))

    page.get_by_label("Outcome").select_option("pass_with_warnings")

    expect(page.locator(".c-outcome").first).to_have_text("warnings")
    expect(page).to_have_url(re.compile("outcome=pass_with_warnings"))


@transaction.atomic
def _finish(run: Run) -> None:
    run.state, run.outcome, run.verdict = RunState.FINISHED, "pass", "accept"
    run.finished_at = run.created_at
    run.save()
    evaluate(run)


def _ground(page: Any) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))
