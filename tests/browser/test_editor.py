from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Dialog, FilePayload, Page, expect

from loomverify.accounts.access import person
from loomverify.accounts.models import Role, User
from processes.definition.load import load
from processes.models import Draft, ProcessVersion
from processes.services import open_draft
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import Scene
from tests.browser.test_pages import FAULTS, OVERFLOW

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

EDITOR = "ace.edit(document.querySelector('.code-editor'))"
REFUSED = re.compile("Content Security Policy|Refused to")


@pytest.fixture
def editor(scene: Scene) -> User:
    """An editor who has begun a draft."""
    user = scene.member(Role.EDITOR)
    open_draft(process=scene.project.processes.get(), editor=user, actor=person(user))
    return user


def url(scene: Scene, name: str, *args: object) -> str:
    return reverse(name, args=[scene.project.slug, "small-work", *args])


def text_of(user: User) -> str:
    return Draft.objects.get(editor=user).source_text


def type_at(page: Page, line: int, text: str) -> None:
    """Type at the beginning of a line, from 1."""
    page.wait_for_selector(".ace_text-input")
    page.evaluate(f"{EDITOR}.gotoLine({line}, 0)")
    page.evaluate(f"{EDITOR}.focus()")
    page.keyboard.type(text)


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_no_page_of_a_draft_complains_or_runs_over_its_edge(
    visit: Visit, scene: Scene, editor: User, width: int, theme: str
) -> None:
    visitor = visit(editor, width=width, theme=theme)
    pages = [
        "draft_yaml",
        "draft_matrix",
        "draft_rules",
        "draft_rule_new",
        "draft_phases",
        "draft_process",
        "draft_review",
    ]
    paths = [url(scene, name) for name in (*pages, "draft_publish")]
    paths += [url(scene, "draft_rule", 0), url(scene, "draft_phase", 0)]
    paths.append(reverse("process_import", args=[scene.project.slug]))

    overflowing = [path for path in paths if visitor.go(path).evaluate(OVERFLOW) > 0]
    faults = {path: found for path in paths if (found := visitor.go(path).evaluate(FAULTS))}

    assert overflowing == []
    assert faults == {}
    assert visitor.complaints == []


def test_errors_stand_beside_their_lines_while_typing(
    visit: Visit, scene: Scene, editor: User
) -> None:
    visitor = visit(editor)
    page = visitor.go(url(scene, "draft_yaml"))

    type_at(page, 2, "advisory_note: [\n")

    expect(page.locator("#problems-title")).to_have_text("1 error")
    expect(page.locator(".ace_gutter-cell.ace_error, .ace_gutter-cell .ace_error")).to_have_count(1)
    assert "advisory_note" not in text_of(editor)
    assert [said for said in visitor.complaints if REFUSED.search(said)] == []


def test_an_error_in_the_list_leads_to_its_place(visit: Visit, scene: Scene, editor: User) -> None:
    page = visit(editor).go(url(scene, "draft_yaml"))
    type_at(page, 2, "risk_level: none\n")
    expect(page.locator("#problems-title")).to_have_text("1 error")
    page.locator("a[data-goto]").first.click()

    assert page.evaluate(f"{EDITOR}.getCursorPosition().row") == 1
    expect(page.locator(".code-editor .ace_text-input")).to_be_focused()


def test_control_s_saves_and_the_editor_stays_where_it_is(
    visit: Visit, scene: Scene, editor: User
) -> None:
    visitor = visit(editor)
    page = visitor.go(url(scene, "draft_yaml"))
    type_at(page, 2, "author: Eva\n")
    expect(page.locator("[data-dirty-note]").first).to_be_visible()

    page.keyboard.press("Control+s")

    expect(page.locator("[data-saved-note]")).to_contain_text("saved")
    expect(page.locator("[data-dirty-note]").first).not_to_be_visible()
    assert page.evaluate(f"{EDITOR}.getCursorPosition().row") == 2
    assert "\nauthor: Eva\n" in text_of(editor)
    page.keyboard.type("tags: [a]\n")
    page.keyboard.press("Control+s")
    expect(page.locator("#lock-version")).to_have_value("3")
    assert "\ntags: [a]\n" in text_of(editor)
    assert visitor.complaints == []


def test_what_is_not_saved_is_not_left_unasked(visit: Visit, scene: Scene, editor: User) -> None:
    page = visit(editor).go(url(scene, "draft_yaml"))
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    type_at(page, 2, "author: Eva\n")

    page.get_by_role("link", name="Matrix").click()

    expect(page.locator("#matrix")).to_be_visible()
    assert asked == ["beforeunload"]


def test_a_refused_form_is_not_left_unasked(visit: Visit, scene: Scene, editor: User) -> None:
    page = visit(editor).go(url(scene, "draft_rule", 0))
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    page.get_by_label("Type").select_option("regex")
    page.get_by_label("Looks for").fill("(unclosed")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".errorlist").get_by_text("Not a pattern")).to_be_visible()

    expect(page.locator("[data-dirty-note]").first).to_be_visible()
    page.get_by_role("link", name="Matrix").click()

    expect(page.locator("#matrix")).to_be_visible()
    assert asked == ["beforeunload"]


def test_marking_a_phase_says_that_the_rule_applies_to_the_marked_ones(
    visit: Visit, scene: Scene, editor: User
) -> None:
    page = visit(editor).go(url(scene, "draft_rule_new"))

    page.locator('[name="phases"]').first.check()

    expect(page.get_by_label("the phases marked here")).to_be_checked()


def test_a_button_beside_the_text_asks_before_it_drops_what_was_typed(
    visit: Visit, scene: Scene, editor: User
) -> None:
    page = visit(editor).go(url(scene, "draft_yaml"))
    page.on("dialog", lambda dialog: dialog.dismiss())
    type_at(page, 2, "author: Eva\n")

    with page.expect_event("dialog"):
        page.get_by_role("button", name="Discard draft").click(no_wait_after=True)

    assert "author: Eva" in page.evaluate(f"{EDITOR}.getValue()")
    assert Draft.objects.get(editor=editor).discarded_at is None


def test_escape_leaves_the_code_editor(visit: Visit, scene: Scene, editor: User) -> None:
    page = visit(editor).go(url(scene, "draft_yaml"))
    type_at(page, 2, "a")
    expect(page.locator(".ace_autocomplete")).to_be_visible()

    page.keyboard.press("Escape")
    expect(page.locator(".ace_autocomplete")).not_to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")

    assert not page.evaluate("!!document.activeElement.closest('.code-editor')")
    assert page.evaluate(f"{EDITOR}.getValue().includes('\\t')") is False


def test_without_a_script_the_text_is_saved_and_its_lines_are_numbered(
    visit: Visit, scene: Scene, editor: User
) -> None:
    page = visit(editor, script=False).go(url(scene, "draft_yaml"))

    page.get_by_role("textbox", name="small-work.yaml").fill("name: small-work\nphases: 3\n")
    page.get_by_role("button", name="Save").click()

    expect(page.locator("#problems-title")).to_contain_text("1 error")
    expect(page.locator("noscript .l, .lines .l").first).to_have_attribute("data-n", "1")
    page.locator("#problems a").first.click()
    expect(page).to_have_url(re.compile("#L2$"))
    assert text_of(editor) == "name: small-work\nphases: 3\n"


def test_a_cell_is_switched_in_its_place(visit: Visit, scene: Scene, editor: User) -> None:
    visitor = visit(editor)
    page = visitor.go(url(scene, "draft_matrix"))
    cell = page.get_by_role("button", name=re.compile("figures-have-sources in build"))
    expect(cell).to_have_attribute("aria-pressed", "false")
    before = cell.bounding_box()

    cell.focus()
    page.keyboard.press("Enter")

    expect(cell).to_have_attribute("aria-pressed", "true")
    expect(cell).to_be_focused()
    assert cell.bounding_box() == before
    expect(page.locator("#draft-bar")).to_contain_text("changed from")
    definition = load(text_of(editor)).definition
    assert definition is not None
    assert definition.rules[1].applies_to_phases == ("write", "build")
    assert visitor.complaints == []


def test_cells_pressed_quickly_after_each_other_all_count(
    visit: Visit, scene: Scene, editor: User
) -> None:
    page = visit(editor).go(url(scene, "draft_matrix"))

    page.evaluate("for (const id of ['t0-1', 't1-0']) document.getElementById(id).click()")

    expect(page.locator("#t0-1")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#t1-0")).to_have_attribute("aria-pressed", "false")


def test_a_cell_is_switched_without_a_script(visit: Visit, scene: Scene, editor: User) -> None:
    page = visit(editor, script=False).go(url(scene, "draft_matrix"))

    page.locator("#t0-1").click()

    expect(page.locator("#t0-1")).to_have_attribute("aria-pressed", "true")


def test_a_pattern_is_tried_while_it_is_typed(visit: Visit, scene: Scene, editor: User) -> None:
    visitor = visit(editor)
    page = visitor.go(url(scene, "draft_rule", 0))
    page.locator("[name=example_fail]").last.fill("one FIXME left")
    expect(page.locator("#tried")).to_contain_text("The example holds.")
    expect(page.locator("[name=example_fail]")).to_have_count(2)

    page.get_by_label("Looks for").fill("NOTHING")

    expect(page.locator("#tried")).to_contain_text("1 of 1 example broken.")
    page.get_by_label("Looks for").fill("FIXME(?=x)")
    expect(page.locator("#tried")).to_contain_text("has no lookahead")


def test_a_rule_saved_in_the_form_stands_in_the_yaml(
    visit: Visit, scene: Scene, editor: User
) -> None:
    page = visit(editor).go(url(scene, "draft_rule", 1))
    page.get_by_label("Counts as").select_option("observe")

    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("figures-have-sources is saved in your draft.")).to_be_visible()
    page.get_by_role("link", name="YAML", exact=True).click()

    page.wait_for_selector(".ace_text-input")
    assert "enforcement: observe" in page.evaluate(f"{EDITOR}.getValue()")


def test_two_windows_of_one_person_lose_no_text(visit: Visit, scene: Scene, editor: User) -> None:
    first = visit(editor).go(url(scene, "draft_yaml"))
    second = visit(editor).go(url(scene, "draft_yaml"))
    type_at(first, 2, "author: first\n")
    type_at(second, 2, "author: second\n")
    first.keyboard.press("Control+s")
    expect(first.locator("#lock-version")).to_have_value("2")

    second.keyboard.press("Control+s")

    expect(second.get_by_role("heading", name="Two texts of this draft")).to_be_visible()
    expect(second.get_by_role("textbox", name="Mine")).to_have_value(re.compile("author: second"))
    expect(second.get_by_role("textbox", name="Saved in the other window")).to_have_value(
        re.compile("author: first")
    )
    assert "author: first" in text_of(editor)
    second.get_by_role("button", name="Keep mine").click()
    expect(second.locator("#draft-bar")).to_contain_text("saved")
    assert "author: second" in text_of(editor)
    second.get_by_role("button", name="Undo").click()
    expect(second.get_by_text("The last change is undone.")).to_be_visible()
    assert "author: first" in text_of(editor)


def test_two_people_publish_one_after_the_other_and_see_each_others_change(
    visit: Visit, scene: Scene, editor: User
) -> None:
    admin = scene.member(Role.ADMIN)
    open_draft(process=scene.project.processes.get(), editor=admin, actor=person(admin))
    hers = visit(editor).go(url(scene, "draft_yaml"))
    his = visit(admin).go(url(scene, "draft_yaml"))
    for page, name in ((hers, "her"), (his, "his")):
        type_at(page, 2, f"author: {name}\n")
        page.keyboard.press("Control+s")
        expect(page.locator("#lock-version")).to_have_value("2")
        page.get_by_role("link", name="Publish", exact=True).click()
        page.get_by_label("Why").fill(f"{name} name")

    his.get_by_role("button", name="Publish v3").click()
    expect(his.get_by_text("v3 is published.")).to_be_visible()
    hers.get_by_role("button", name="Store v3").click()

    expect(hers.get_by_text("v3 was added since you began with v2")).to_be_visible()
    assert "author: her" in text_of(editor)
    hers.get_by_role("button", name="Keep my text").click()
    expect(hers.locator("ins").first).to_have_text("her")
    hers.get_by_label("Why").fill("her name after all")
    hers.get_by_role("button", name="Store v4").click()
    expect(hers.get_by_text("v4 is stored. An admin")).to_be_visible()
    assert "author: her" in ProcessVersion.objects.get(number=4).source_text


def test_a_pasted_process_is_looked_at_and_made(visit: Visit, scene: Scene) -> None:
    visitor = visit(scene.member(Role.ADMIN))
    page = visitor.go(reverse("process_import", args=[scene.project.slug]))
    source = "name: pasted\nphases:\n  - {id: a, description: A, acceptance_criteria: c}\n"
    page.wait_for_selector(".ace_text-input")
    page.evaluate(f"(text) => {EDITOR}.setValue(text)", source)

    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("heading", name="A new process: pasted")).to_be_visible()
    page.get_by_role("button", name="Make the process").click()

    expect(page.get_by_text("Stored as v1.")).to_be_visible()
    assert ProcessVersion.objects.get(process__slug="pasted").source_text == source
    assert visitor.complaints == []


def test_the_way_back_shows_what_it_changes(visit: Visit, scene: Scene) -> None:
    page = visit(scene.member(Role.ADMIN)).go(url(scene, "process_detail"))

    page.get_by_role("link", name="go back to it").click()
    expect(page.locator("del").first).to_have_text("TODO|TBD|FIXME")
    page.get_by_label("Why").fill("FIXME was too much")
    page.get_by_role("button", name="Go back to v1").click()

    expect(page.get_by_text("v1 is published.")).to_be_visible()


def rule_names(page: Page) -> list[str]:
    return page.locator("#rows a[data-walk]").all_inner_texts()


def test_a_field_is_set_in_the_row_and_focus_stays(
    visit: Visit, scene: Scene, editor: User
) -> None:
    visitor = visit(editor)
    page = visitor.go(url(scene, "draft_rules"))
    chooser = page.get_by_label("Counts as, no-placeholders")

    chooser.focus()
    chooser.select_option("observe")

    expect(page.locator("#rows .tag-observe")).to_have_count(1)
    expect(chooser).to_be_focused()
    expect(page.locator("#draft-bar")).to_contain_text("changed from")
    assert "enforcement: observe" in text_of(editor)
    assert visitor.complaints == []


def test_rules_are_ordered_by_keys_and_focus_follows(
    visit: Visit, scene: Scene, editor: User
) -> None:
    visitor = visit(editor)
    page = visitor.go(url(scene, "draft_rules"))
    link = page.get_by_role("link", name="no-placeholders", exact=True)
    link.focus()

    page.keyboard.press("Alt+ArrowDown")

    expect(page.locator("#rows a[data-walk]").last).to_have_text("no-placeholders")
    expect(link).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("#rows a[data-walk]").first).to_have_text("no-placeholders")
    page.get_by_role("button", name="Move figures-have-sources up").click()
    expect(page.locator("#rows a[data-walk]").first).to_have_text("figures-have-sources")
    expect(page.get_by_role("button", name="Move figures-have-sources up")).to_be_focused()
    assert visitor.complaints == []


def test_rules_are_ordered_by_dragging(visit: Visit, scene: Scene, editor: User) -> None:
    page = visit(editor).go(url(scene, "draft_rules"))
    row = page.locator("[data-row][data-name=no-placeholders]")

    row.locator("[data-grip]").drag_to(page.locator("[data-row][data-name=figures-have-sources]"))

    expect(page.locator("#rows a[data-walk]").last).to_have_text("no-placeholders")
    expect(row.locator("a[data-walk]")).to_be_focused()
    text = text_of(editor)
    assert text.index("figures-have-sources") < text.index("no-placeholders")


def test_rows_are_set_and_ordered_without_a_script(
    visit: Visit, scene: Scene, editor: User
) -> None:
    page = visit(editor, script=False).go(url(scene, "draft_rules"))

    page.get_by_role("button", name="Move no-placeholders down").click()
    assert rule_names(page) == ["figures-have-sources", "no-placeholders"]
    page.get_by_label("Severity, no-placeholders").select_option("error")
    page.get_by_role("button", name="Set the fields of no-placeholders").click()

    expect(page.get_by_label("Severity, no-placeholders")).to_have_value("error")
    page.goto(page.url.replace("/rules/", "/phases/"))
    page.get_by_role("button", name="Move write up").click()
    assert rule_names(page) == ["write", "build"]


COMPLETION = """\
name: small-work
phases:
  - id: plan-it
    description: A
  - {id: build, description: B}
verification:
  policy:
    semantic_checks:
      - id: s
        check: c
  rules:
    # about a
    - name: a
      check: |
        applies_to_phases:
      type: regex
    - name: b
      applies_to_phases:
        - build
"""


@pytest.mark.parametrize(
    ("line", "typed", "offered"),
    [
        (2, "des", "description"),
        (4, "    ver", "verification_tier"),
        (4, "    depends_on: [bu", "build"),
        (4, "    depends_on: [pl", "plan-it"),
        (8, "    mo", "mode"),
        (8, "    mode: st", "static_first"),
        (10, "        sev", "severity"),
        (14, "      enforcement: ob", "observe"),
        (14, "      applies_to_phases: [plan-it, bu", "build"),
        (18, "      rem", "remediation_mode"),
        (19, "        - pla", "plan-it"),
    ],
)
def test_fields_words_and_phases_are_completed_by_their_place(
    visit: Visit, scene: Scene, editor: User, line: int, typed: str, offered: str
) -> None:
    visitor = visit(editor)
    page = visitor.go(url(scene, "draft_yaml"))
    page.wait_for_selector(".ace_text-input")
    page.evaluate(f"(text) => {EDITOR}.setValue(text, 1)", COMPLETION)
    page.evaluate(f"([row]) => {EDITOR}.session.insert({{row, column: 0}}, '\\n')", [line - 1])
    page.evaluate(f"{EDITOR}.gotoLine({line}, 0)")
    page.evaluate(f"{EDITOR}.focus()")

    page.keyboard.insert_text(typed[:-1])
    page.keyboard.type(typed[-1])
    expect(page.locator(".ace_autocomplete .ace_line").first).to_be_visible()
    page.keyboard.press("Enter")

    assert offered in page.evaluate(f"{EDITOR}.session.getLine({line - 1})")
    assert [said for said in visitor.complaints if REFUSED.search(said)] == []


def test_enter_takes_nothing_that_fits_no_more_what_was_typed(
    visit: Visit, scene: Scene, editor: User
) -> None:
    page = visit(editor).go(url(scene, "draft_yaml"))
    type_at(page, 2, "autho")
    expect(page.locator(".ace_autocomplete .ace_line").first).to_be_visible()

    # On a busy machine keys are faster than the list, which is drawn anew a moment later.
    page.evaluate(f"{EDITOR}.completer.changeTimer.schedule = () => {{}}")
    page.keyboard.type("r: first\n")

    typed = page.evaluate(f"{EDITOR}.session.getLines(1, 2)")
    assert typed == ["author: first", "name: small-work"]


@pytest.mark.parametrize("width", [1280, 390])
def test_several_files_are_looked_at_and_stored_with_one_press(
    visit: Visit, scene: Scene, width: int
) -> None:
    visitor = visit(scene.member(Role.ADMIN), width=width)
    page = visitor.go(reverse("process_import", args=[scene.project.slug]))
    good = b"name: %s\nphases:\n  - {id: a, description: A, acceptance_criteria: c}\n"
    files: list[FilePayload] = [
        {"name": f"{name}.yaml", "mimeType": "text/yaml", "buffer": text}
        for name, text in (("one", good % b"one"), ("two", good % b"two"), ("bad", b"phases: 3\n"))
    ]

    page.get_by_label("or files").set_input_files(files)
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("heading", name="3 files, 2 to store")).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate(FAULTS) == []
    page.get_by_role("button", name="Store 2 files").click()

    expect(page.get_by_text("Stored: one v1, two v1.")).to_be_visible()
    assert visitor.complaints == []
