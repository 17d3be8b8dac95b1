"""Where the code editor marks what is wrong, and how one gets there."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from loomverify.accounts.access import person
from loomverify.accounts.models import Role, User
from processes.models import Draft
from processes.services import open_draft
from tests.browser.conftest import Visit
from tests.browser.scenes import Scene

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

EDITOR = "ace.edit(document.querySelector('.code-editor'))"
PHASES = "phases:\n  - id: write\n    description: Write it.\n    acceptance_criteria: [Good]\n"
MARKED = f"""() => [...document.querySelectorAll('.problem-mark')].map((mark) => {{
    const {{ renderer, session }} = {EDITOR};
    const box = mark.getBoundingClientRect();
    const from = renderer.screenToTextCoordinates(box.left + 1, box.top + box.height / 2);
    const to = renderer.screenToTextCoordinates(box.right - 1, box.top + box.height / 2);
    const level = mark.className.match(/problem-mark-(\\w+)/)[1];
    return [level, from.row + 1, from.column + 1, session.getLine(from.row).slice(from.column, to.column)];
}})"""


@pytest.fixture
def editor(scene: Scene) -> User:
    user = scene.member(Role.EDITOR)
    open_draft(process=scene.project.processes.get(), editor=user, actor=person(user))
    return user


def opened(visit: Visit, scene: Scene, editor: User, text: str, theme: str = "light") -> Page:
    Draft.objects.filter(editor=editor).update(source_text=text)
    path = reverse("draft_yaml", args=[scene.project.slug, "small-work"])
    page = visit(editor, theme=theme).go(path)
    page.wait_for_selector(".ace_text-input", state="attached")
    return page


def put(page: Page, old: str, new: str) -> None:
    page.evaluate(f"([old, put]) => {EDITOR}.replace(put, {{ needle: old }})", [old, new])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_place_of_an_error_and_of_a_warning_is_marked_until_it_is_mended(
    visit: Visit, scene: Scene, editor: User, theme: str
) -> None:
    page = opened(
        visit, scene, editor, f"name: small-work\nrisk_level: none\nzz: 1\n{PHASES}", theme
    )
    marks = page.locator(".problem-mark")
    expect(marks).to_have_count(2)

    assert page.evaluate(MARKED) == [["error", 2, 13, "none"], ["warning", 3, 5, "1"]]

    put(page, "risk_level: none", "# one more line\nrisk_level: low")
    expect(page.locator(".problem-mark-error")).to_have_count(0)
    assert page.evaluate(MARKED) == [["warning", 4, 5, "1"]]
    put(page, "zz: 1\n", "")
    expect(marks).to_have_count(0)


def test_a_mark_stands_right_after_other_signs_and_at_the_end_of_a_line(
    visit: Visit, scene: Scene, editor: User
) -> None:
    text = f"\ufeffname: small-work # \u2028\n'😀': {{'😀': [\t1]}}\nrisk_level:\n{PHASES}"

    page = opened(visit, scene, editor, text)

    expect(page.locator(".problem-mark")).to_have_count(2)
    assert page.evaluate(MARKED) == [["error", 3, 12, ""], ["warning", 2, 7, "{"]]


def test_a_mark_tells_what_is_wrong(visit: Visit, scene: Scene, editor: User) -> None:
    page = opened(visit, scene, editor, f"name: small-work\nrisk_level: none\n{PHASES}")

    page.locator(".problem-mark").hover(force=True)

    expect(page.locator(".ace_tooltip .problem-said")).to_contain_text("error risk_level must be")


def test_f8_walks_what_is_wrong_and_begins_anew(visit: Visit, scene: Scene, editor: User) -> None:
    page = opened(visit, scene, editor, f"name: small-work\nrisk_level: none\nzz: 1\n{PHASES}")
    place = f"{EDITOR}.getCursorPosition()"
    told = page.get_by_role("status").filter(has_text=":")

    page.keyboard.press("F8")
    assert page.evaluate(place) == {"row": 1, "column": 12}
    expect(page.locator(".code-editor .ace_text-input")).to_be_focused()
    expect(told).to_contain_text("2:13 error: risk_level must be")
    expect(page.locator(".ace_tooltip .problem-said")).to_be_visible()
    page.keyboard.press("F8")
    assert page.evaluate(place) == {"row": 2, "column": 4}
    page.keyboard.press("F8")
    assert page.evaluate(place) == {"row": 1, "column": 12}

    page.keyboard.press("Shift+F8")

    assert page.evaluate(place) == {"row": 2, "column": 4}
    expect(page.locator(".ace_tooltip .problem-said")).to_contain_text("zz is not a known key")
