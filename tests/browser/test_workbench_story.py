"""Two people work on one rule, from the file it came in to the version that is taken back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import FilePayload, Page, expect

from loomverify.accounts.models import AuditEntry, Role
from processes.models import Draft, Process, ProcessVersion
from tests.browser.conftest import Visit, Visitor
from tests.browser.scenes import Scene
from tests.builders import make_run, make_user
from verification.rules.models import Pin
from verification.runs.models import Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The house's own field, its comments and its spacing are to be found again at the end.
FILE = """\
# Letters to customers.   Ask Ada before you change them.
name: letters
house_style: "7b"   # not ours
phases:
  - id: write
    description: Write the letter
    acceptance_criteria: It answers the question
verification:
  rules:
    - name: no-open-places   # the one that everybody stumbles over
      check:   "TODO"
      type: regex
      enforcement: hard
      applies_to_phases: [write]
"""
BENS = FILE.replace('"TODO"', '"TODO|FIXME"')
OPEN_PLACE = "Dear Sir,\nyour account XX% is open"
FAX = "Our fax: N/A"
REFUSED_ON_PURPOSE = re.compile("409|422|htmx:(after|sendAbort)")


@dataclass
class Story:
    scene: Scene
    ada: Visitor
    ben: Visitor

    @property
    def process(self) -> Process:
        return Process.objects.get(project=self.scene.project, slug="letters")

    def path(self, name: str, *more: object) -> str:
        return reverse(name, args=[self.scene.project.slug, "letters", *more])

    def version(self, number: int) -> ProcessVersion:
        return ProcessVersion.objects.get(process=self.process, number=number)

    def text(self, number: int) -> str:
        return self.version(number).source_text


@pytest.fixture
def story(visit: Visit, scene: Scene) -> Iterator[Story]:
    ada, ben = (make_user(scene.project, Role.ADMIN, name) for name in ("ada", "ben"))
    story = Story(scene, visit(ada), visit(ben))
    yield story
    for visitor in (story.ada, story.ben):
        unexpected = [said for said in visitor.complaints if not REFUSED_ON_PURPOSE.search(said)]
        assert unexpected == []


@pytest.mark.story
def test_two_people_work_on_one_rule_and_nothing_of_either_is_lost(story: Story) -> None:
    ada_imports_the_file(story)
    open_run, fax_run = letters_that_were_judged(story)
    ada_begins_a_change(story)
    ben_publishes_his_meanwhile(story)
    ada_sees_the_conflict_and_goes_on_with_hers(story)
    ada_types_a_pattern_and_sees_what_it_would_have_done(story)
    ada_pins(story, open_run, "Must be caught", "Let through on Monday")
    ada_pins(story, fax_run, "Must pass", "We have no fax")
    ada_is_refused_until_she_says_why(story)
    ben_compares_and_goes_back(story)
    all_is_where_it_should_be(story, open_run)


def ada_imports_the_file(story: Story) -> None:
    page = story.ada.go(reverse("process_import", args=[story.scene.project.slug]))
    file: FilePayload = {"name": "letters.yaml", "mimeType": "text/yaml", "buffer": FILE.encode()}
    page.get_by_label("or files").set_input_files(file)
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("heading", name="A new process: letters")).to_be_visible()
    page.get_by_label("Note").fill("As the house has it")
    page.get_by_role("button", name="Make the process").click()
    expect(page.get_by_text("Stored as v1.")).to_be_visible()


def letters_that_were_judged(story: Story) -> tuple[Run, Run]:
    """One that nobody decided on, and one that a person accepted."""
    about: dict[str, Any] = {"process": story.process, "phase": "write"}
    accepted: dict[str, Any] = {"review_state": "decided", "final_outcome": "pass"}
    make_run(story.scene.project, output="All is well", **about)
    open_run = make_run(story.scene.project, output=OPEN_PLACE, **about)
    return open_run, make_run(story.scene.project, output=FAX, **about, **accepted)


def form_of_the_rule(visitor: Visitor, story: Story) -> Page:
    """From the process's page by the keyboard: edit, the tab of rules, the first of them."""
    page = visitor.go(story.path("process_detail"))
    page.keyboard.press("e")
    page.get_by_role("link", name="Rules", exact=True).last.click()
    page.get_by_role("link", name="no-open-places", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="no-open-places")).to_be_visible()
    page.wait_for_load_state()  # keys work once the scripts have run
    return page


def saved_with(page: Page, pattern: str) -> None:
    field = page.get_by_label("Looks for")
    field.press("Control+a")
    field.press_sequentially(pattern)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("no-open-places is saved in your draft.")).to_be_visible()


def ada_begins_a_change(story: Story) -> None:
    saved_with(form_of_the_rule(story.ada, story), "XX%")


def ben_publishes_his_meanwhile(story: Story) -> None:
    page = form_of_the_rule(story.ben, story)
    saved_with(page, "TODO|FIXME")
    page.get_by_role("link", name="Publish", exact=True).click()
    page.get_by_label("Why", exact=True).fill("FIXME is an open place, too")
    page.get_by_role("button", name="Publish v2").click()
    expect(page.get_by_text("v2 is published.")).to_be_visible()


def ada_sees_the_conflict_and_goes_on_with_hers(story: Story) -> None:
    page = story.ada.page
    page.get_by_role("link", name="Publish", exact=True).click()
    told = page.locator(".notice.behind")
    expect(told).to_contain_text("v2 was added since you began with v1, by ben.")
    expect(told).to_contain_text("Nothing is lost")
    expect(page.get_by_role("button", name="Publish v")).to_have_count(0)

    told.get_by_role("link", name="See what it changes").click()
    expect(page.get_by_role("region", name="Rules")).to_contain_text("TODO|FIXME")
    page.go_back()
    # The two changes meet in one line: there is nothing to put together by itself.
    expect(told.get_by_role("button", name="Put my changes into v2")).to_have_count(0)
    told.get_by_role("button", name="Keep my text, and replace v2 by it").click()

    expect(page.get_by_text("Your text goes on from v2 now.")).to_be_visible()
    expect(page.locator("del").first).to_contain_text("TODO|FIXME")
    expect(page.locator("ins").first).to_contain_text("XX%")
    assert story.text(2) == BENS


def ada_types_a_pattern_and_sees_what_it_would_have_done(story: Story) -> None:
    page = form_of_the_rule(story.ada, story)
    pane = page.locator("[data-history]")
    expect(pane.locator("#bucket-unlabelled mark")).to_have_text("XX%")
    expect(pane.locator("#bucket-false_alarm")).to_have_count(0)

    field = page.get_by_label("Looks for")
    field.press("End")
    field.press_sequentially("|N/A")

    expect(pane.locator("#bucket-false_alarm mark")).to_have_text("N/A")
    expect(pane.get_by_role("status")).to_have_text("3 of 3 runs")
    expect(pane.get_by_text("100% of what it newly speaks against is wrong")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("no-open-places is saved in your draft.")).to_be_visible()


def ada_pins(story: Story, run: Run, expected: str, note: str) -> None:
    page = story.ada.go(reverse("run_detail", args=[story.scene.project.slug, run.uuid]))
    page.get_by_role("link", name="Pin to a rule…").first.click()
    page.get_by_label("Pin to").select_option("no-open-places")
    page.get_by_label(expected).check()
    page.get_by_label("Note").fill(note)
    page.get_by_role("button", name="Pin it").click()
    expect(page.get_by_text("It is pinned:")).to_be_visible()


def ada_is_refused_until_she_says_why(story: Story) -> None:
    page = story.ada.go(story.path("draft_publish"))
    expect(page.get_by_text("1 of 2 examples broken.")).to_be_visible()
    expect(page.locator("#examples")).to_contain_text("We have no fax")
    page.get_by_label("Why", exact=True).fill("Open places cost us a customer")
    page.get_by_role("button", name="Publish v3").click()

    expect(page.get_by_text("Say why it is to judge runs all the same.")).to_be_visible()
    assert story.process.published == story.version(2)
    page.get_by_label("Why all the same").fill("The fax is gone by Friday")
    page.get_by_role("button", name="Publish v3").click()
    expect(page.get_by_text("v3 is published.")).to_be_visible()


def ben_compares_and_goes_back(story: Story) -> None:
    page = story.ben.go(story.path("process_detail"))
    page.get_by_role("link", name="compare with v3").first.click()
    expect(page.get_by_role("heading", name="v2 → v3")).to_be_visible()
    rules = page.get_by_role("region", name="Rules")
    expect(rules).to_contain_text("no-open-places")
    expect(rules.locator("del")).to_contain_text(["TODO|FIXME"])
    expect(rules.locator("ins")).to_contain_text(["XX%|N/A"])

    page = story.ben.go(story.path("process_detail"))
    page.get_by_role("listitem").filter(has_text="FIXME is an open place, too").get_by_role(
        "link", name="go back to it"
    ).click()
    page.get_by_label("Why", exact=True).fill("Customers do write XX%")
    page.get_by_role("button", name="Go back to v2").click()
    expect(page.get_by_text("Say why it is to judge runs all the same.")).to_be_visible()
    page.get_by_label("Why all the same").fill("What Ada pinned is mended on Monday")
    page.get_by_role("button", name="Go back to v2").click()
    expect(page.get_by_text("v2 is published.")).to_be_visible()


def all_is_where_it_should_be(story: Story, judged: Run) -> None:
    texts = (FILE, BENS, FILE.replace("TODO", "XX%|N/A"))
    versions = [story.text(number) for number in (1, 2, 3)]
    assert versions == list(texts)
    assert told_of(story, "process_version.added") == [
        ("ada", "As the house has it"),
        ("ben", "FIXME is an open place, too"),
        ("ada", "Open places cost us a customer"),
    ]
    assert told_of(story, "process.published") == [
        ("ada", "The first version."),
        ("ben", "FIXME is an open place, too"),
        ("ada", "Open places cost us a customer"),
        ("ben", "Customers do write XX%"),
    ]
    assert story.process.published == story.version(2)
    assert not Draft.objects.filter(process=story.process, discarded_at=None).exists()
    judged.refresh_from_db()
    assert judged.process_version == story.version(1)
    assert set(Pin.objects.values_list("expected", "text", "note")) == {
        ("caught", OPEN_PLACE, "Let through on Monday"),
        ("passed", FAX, "We have no fax"),
    }


def told_of(story: Story, verb: str) -> list[tuple[str, str]]:
    """Who did it and why, the oldest first."""
    entries = AuditEntry.objects.filter(project=story.scene.project, verb=verb).order_by("pk")
    return [(entry.actor, entry.reason) for entry in entries]
