"""The rules' settings and their order, in the matrix."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, Route, expect

from loomverify.accounts.access import person
from loomverify.accounts.models import Role, User
from processes.definition.load import load
from processes.definition.model import Definition
from processes.models import Draft
from processes.services import open_draft
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import SOURCE_TEXT

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def editor(scene: Scene) -> User:
    user = scene.member(Role.EDITOR)
    open_draft(process=scene.project.processes.get(), editor=user, actor=person(user))
    return user


@pytest.fixture
def address(scene: Scene) -> str:
    return reverse("draft_matrix", args=[scene.project.slug, "small-work"])


def saved(user: User) -> Definition:
    definition = load(Draft.objects.get(editor=user).source_text).definition
    assert definition
    return definition


def head(page: Page, name: str) -> Locator:
    return page.locator(f"th[data-name={name}] a")


def test_a_rule_is_set_and_moved_without_a_mouse(visit: Visit, address: str, editor: User) -> None:
    visitor = visit(editor)
    page = visitor.go(address)
    link = head(page, "no-placeholders")
    link.focus()

    page.keyboard.press("Enter")
    counts = page.get_by_label("Counts as, no-placeholders")
    expect(counts).to_be_focused()
    counts.select_option("observe")
    expect(page.locator("#matrix-rule .tag-observe")).to_be_visible()
    expect(counts).to_be_focused()
    expect(page.locator("#t0-0")).to_contain_text("O")
    page.keyboard.press("Escape")
    expect(page.locator("#matrix-rule")).to_have_count(0)
    expect(link).to_be_focused()
    page.keyboard.press("Alt+ArrowDown")
    expect(page.locator("table.matrix thead a").last).to_have_text("no-placeholders")
    expect(link).to_be_focused()

    assert [rule.name for rule in saved(editor).rules] == [
        "figures-have-sources",
        "no-placeholders",
    ]
    assert saved(editor).rules[1].enforcement == "observe"
    assert visitor.complaints == []


def test_rules_and_phases_are_dragged_in_the_matrix(
    visit: Visit, address: str, editor: User
) -> None:
    visitor = visit(editor)
    page = visitor.go(address)

    head(page, "no-placeholders").drag_to(head(page, "figures-have-sources"))
    expect(page.locator("table.matrix thead a").last).to_have_text("no-placeholders")
    expect(head(page, "no-placeholders")).to_be_focused()
    page.locator("tr[data-name=write] a").drag_to(page.locator("tr[data-name=build] a"))
    expect(page.locator("table.matrix tbody a").first).to_have_text("write")
    page.locator("tr[data-name=build] a").drag_to(head(page, "no-placeholders"))
    page.locator("#t0-0").click()
    expect(page.locator("#t0-0")).to_have_attribute("aria-pressed", "true")

    assert [rule.name for rule in saved(editor).rules] == [
        "figures-have-sources",
        "no-placeholders",
    ]
    assert [phase.id for phase in saved(editor).phases] == ["write", "build"]
    assert visitor.complaints == []


def test_what_is_open_stays_open_while_cells_and_rows_change(
    visit: Visit, address: str, editor: User
) -> None:
    page = visit(editor).go(address)
    head(page, "figures-have-sources").click()

    page.locator("#t1-1").click()
    expect(page.locator("#t1-1")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Move figures-have-sources left").click()

    expect(page.locator("table.matrix thead a").first).to_have_text("figures-have-sources")
    expect(page.get_by_role("button", name="Move figures-have-sources left")).to_be_focused()
    expect(page.locator("#matrix-rule-title")).to_have_text("figures-have-sources")


def test_a_press_while_settings_open_neither_closes_them_nor_loses_focus(
    visit: Visit, address: str, editor: User
) -> None:
    page = visit(editor).go(address)
    held: list[Route] = []
    page.route(re.compile(r"\?rule="), lambda route: held.append(route))
    with page.expect_request(re.compile(r"\?rule=")):
        head(page, "figures-have-sources").click()

    page.locator("#t1-1").click()
    held[0].continue_()

    expect(page.locator("#t1-1")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#matrix-rule-title")).to_have_text("figures-have-sources")
    expect(page.locator("#t1-1")).to_be_focused()


def test_a_wide_matrix_stays_where_it_was_scrolled_to(
    visit: Visit, address: str, editor: User
) -> None:
    rules = "".join(f"    - {{name: rule-{n}, type: regex, check: x{n}}}\n" for n in range(60))
    Draft.objects.filter(editor=editor).update(source_text=SOURCE_TEXT + rules)
    page = visit(editor, width=700).go(address)
    scrolled = "document.querySelector('.matrix-scroll').scrollLeft"
    page.locator("#t1-55").scroll_into_view_if_needed()
    before = page.evaluate(scrolled)

    page.locator("#t1-55").click()
    expect(page.locator("#t1-55")).to_have_attribute("aria-pressed", "true")
    after_a_cell = page.evaluate(scrolled)
    head(page, "rule-53").click()
    expect(page.locator("#matrix-rule-title")).to_have_text("rule-53")

    assert before > 0
    assert after_a_cell == before
    assert page.evaluate(scrolled) == before


def test_without_a_script_the_settings_are_a_page_of_the_matrix(
    visit: Visit, address: str, editor: User
) -> None:
    page = visit(editor, script=False).go(address)

    head(page, "no-placeholders").click()
    page.get_by_label("Severity, no-placeholders").select_option("error")
    page.get_by_role("button", name="Set the fields of no-placeholders").click()
    expect(page.get_by_label("Severity, no-placeholders")).to_have_value("error")
    page.get_by_role("button", name="Move no-placeholders right").click()
    expect(page.locator("table.matrix thead a").last).to_have_text("no-placeholders")
    page.locator("#t0-0").click()

    expect(page.locator("#matrix-rule-title")).to_have_text("no-placeholders")
    page.get_by_role("link", name="Close").click()
    expect(page.locator("#matrix-rule")).to_have_count(0)


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_open_settings_fit_the_page(
    visit: Visit, address: str, editor: User, width: int, theme: str
) -> None:
    visitor = visit(editor, width=width, theme=theme)
    page = visitor.go(address)
    head(page, "no-placeholders").click()
    expect(page.locator("#matrix-rule")).to_be_visible()

    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate(FAULTS) == visitor.go(address).evaluate(FAULTS)
    assert visitor.complaints == []
