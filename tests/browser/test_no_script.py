"""The whole way of a rule in a browser that runs no script."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from loomverify.accounts.access import person
from loomverify.accounts.models import Role, User
from processes.definition.load import load
from processes.definition.model import Definition
from processes.models import Draft, Process
from processes.services import open_draft
from tests.browser.conftest import Visit, Visitor
from tests.browser.scenes import Scene
from verification.rules.models import Pin

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

IMPORTED = "name: letters\nphases:\n  - id: write\n    description: Write the letter\n"


@dataclass
class Desk:
    """An admin without scripts, before a draft of their own."""

    scene: Scene
    user: User
    visitor: Visitor

    def go(self, name: str, *more: object, query: str = "") -> Page:
        where = [self.scene.project.slug, *more]
        return self.visitor.go(reverse(name, args=where) + query)

    def draft(self) -> Definition:
        definition = load(Draft.objects.get(editor=self.user).source_text).definition
        assert definition is not None
        return definition


@pytest.fixture
def desk(visit: Visit, scene: Scene) -> Desk:
    user = scene.member(Role.ADMIN)
    open_draft(process=scene.project.processes.get(), editor=user, actor=person(user))
    return Desk(scene, user, visit(user, script=False))


def test_a_rule_goes_all_its_way_without_a_script(desk: Desk) -> None:
    a_rule_is_written(desk)
    its_row_sets_it(desk)
    its_row_moves_it(desk)
    the_matrix_switches_it(desk)
    a_text_is_pinned_and_taken_away_and_back(desk)
    it_is_published_with_a_reason(desk)
    it_is_found_and_takes_a_step(desk)
    versions_are_compared(desk)
    a_file_is_imported(desk)
    assert desk.visitor.complaints == []


def a_rule_is_written(desk: Desk) -> None:
    page = desk.go("draft_rules", "small-work")
    page.get_by_role("link", name="New rule").click()
    expect(page.get_by_text("It needs JavaScript")).to_be_visible()
    page.locator("[name=name]").fill("no-open-cells")
    page.locator("[name=type]").select_option("regex")
    page.locator("[name=check]").fill("N/A")
    page.get_by_label("the phases marked here").check()
    page.get_by_role("checkbox", name="build").check()
    page.locator("[name=example_fail]").last.fill("fax: none")
    page.get_by_role("button", name="Try them").click()
    expect(page.locator("#tried")).to_contain_text("1 of 1 example broken.")
    page.locator("[name=example_fail]").first.fill("fax: N/A")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("no-open-cells is saved in your draft.")).to_be_visible()
    assert desk.draft().rules[-1].applies_to_phases == ("build",)


def its_row_sets_it(desk: Desk) -> None:
    page = desk.go("draft_rules", "small-work")
    row = page.locator("[data-row]").last
    row.locator("[name=enforcement]").select_option("observe")
    row.locator("[name=severity]").select_option("warning")
    row.get_by_role("button", name="Set", exact=False).first.click()
    rule = desk.draft().rules[-1]
    assert (rule.enforcement, rule.severity) == ("observe", "warning")


def its_row_moves_it(desk: Desk) -> None:
    page = desk.go("draft_rules", "small-work")
    page.get_by_role("button", name="Move no-open-cells up").click()
    expect(page.locator("[data-row] [data-walk]").nth(1)).to_have_text("no-open-cells")
    page.get_by_role("button", name="Move no-open-cells down").click()
    expect(page.locator("[data-row] [data-walk]").last).to_have_text("no-open-cells")


def the_matrix_switches_it(desk: Desk) -> None:
    page = desk.go("draft_matrix", "small-work")
    cell = page.get_by_role("button", name="no-open-cells in write")
    expect(cell).to_have_attribute("aria-pressed", "false")
    cell.click()
    expect(cell).to_have_attribute("aria-pressed", "true")
    assert set(desk.draft().rules[-1].applies_to_phases) == {"build", "write"}


def a_text_is_pinned_and_taken_away_and_back(desk: Desk) -> None:
    page = desk.go("rule_examples", query="?process=small-work&rule=no-open-cells")
    page.locator("[name=text]").fill("Our fax: N/A")
    page.get_by_label("Must be caught").check()
    page.get_by_role("button", name="Pin it").click()
    expect(page.get_by_role("heading", name="1 pinned")).to_be_visible()
    page.get_by_role("button", name="Take away").click()
    expect(page.get_by_role("heading", name="0 pinned")).to_be_visible()
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("heading", name="1 pinned")).to_be_visible()
    assert Pin.objects.get(removed_at=None).text == "Our fax: N/A"


def it_is_published_with_a_reason(desk: Desk) -> None:
    page = desk.go("draft_publish", "small-work")
    expect(page.get_by_text("no-open-cells").first).to_be_visible()
    page.get_by_label("Why", exact=True).fill("Nobody fills these cells.")
    page.get_by_role("button", name="Publish v3").click()
    expect(page.get_by_text("v3 is published.")).to_be_visible()
    expect(page.get_by_text("Nobody fills these cells.").first).to_be_visible()


def it_is_found_and_takes_a_step(desk: Desk) -> None:
    page = desk.go("rule_search")
    page.get_by_role("searchbox").fill("cells")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("heading", name="1 rule", exact=True)).to_be_visible()
    page.get_by_role("link", name="no-open-cells").click()
    page.get_by_label("Why").fill("It is right.")
    page.get_by_role("button", name="Make advisory").click()
    expect(page.get_by_text("v4 is published: the rule is advisory.")).to_be_visible()


def versions_are_compared(desk: Desk) -> None:
    page = desk.go("process_compare", "small-work", query="?a=3&b=4")
    expect(page.get_by_text("advisory").first).to_be_visible()
    page.get_by_label("from").select_option("1")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="v1 → v4")).to_be_visible()


def a_file_is_imported(desk: Desk) -> None:
    page = desk.go("process_import")
    page.get_by_role("textbox", name="The process file, as YAML").fill(IMPORTED)
    page.get_by_role("button", name="Check it").click()
    page.get_by_role("button", name="Make the process").click()
    expect(page.get_by_text("Stored as v1.")).to_be_visible()
    version = Process.objects.get(slug="letters").versions.get()
    assert version.source_text == IMPORTED
