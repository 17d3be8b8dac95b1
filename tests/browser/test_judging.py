"""Judging in a browser: one key, the next one at once, nothing lost, nothing given away."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from loomverify.accounts.models import Role, User
from tests.browser.conftest import LOOKS, Visit, Visitor, until
from tests.browser.scenes import LONG_WORD, MARKUP, TURNED, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import make_project, make_user
from tests.judged import make_call
from tests.trials.builders import make_trial
from tests.trials.judged import ADVISORY, HARD, compared, url_of, walk_url
from verification.trials.judging.blinding import is_old_first
from verification.trials.models import Comparison, ComparisonNote, Judgement, Trial

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
UUID = re.compile(r"[0-9a-f-]{36}")


@pytest.fixture
def trial(scene: Scene) -> Trial:
    return make_trial(make_project("shadowed"))


@pytest.fixture
def mira(trial: Trial) -> User:
    return make_user(trial.project, Role.REVIEWER, "mira")


def begin(visitor: Visitor, trial: Trial, *, is_last: bool = False) -> Page:
    """At the first that waits, with the next one there as well."""
    page = visitor.go(walk_url(trial))
    if not is_last:
        expect(page.locator("#judging")).to_have_attribute("data-next", UUID)
    return page


def shown(page: Page) -> str:
    return page.locator("#judging-one").get_attribute("data-comparison") or ""


def press(page: Page, key: str, act: str = "said") -> None:
    """Press a key, and wait until the server has answered what it does."""
    with page.expect_response(lambda answer: answer.url.split("?")[0].endswith(f"/{act}/")):
        page.keyboard.press(key)


KEYS = {"o": "first", "n": "second", "b": "both", "x": "neither"}


@pytest.mark.parametrize("key", KEYS)
def test_a_key_says_it_and_the_next_one_is_there(
    visit: Visit, trial: Trial, mira: User, key: str
) -> None:
    for _ in range(3):
        compared(trial)
    visitor = visit(mira)
    page = begin(visitor, trial)
    first = shown(page)

    press(page, key)

    expect(page.locator("#judging-one")).not_to_have_attribute("data-comparison", first)
    expect(page.locator("#judging-one [data-progress]")).to_have_text("1 of 3 judged")
    expect(page.locator("#told")).to_contain_text("Undo")
    made = Judgement.objects.get()
    old_first = is_old_first("mira", made.comparison)
    words = {"first": ("new", "old")[old_first], "second": ("old", "new")[old_first]}
    assert str(made.comparison.uuid) == first
    assert made.said == words.get(KEYS[key], KEYS[key])
    assert visitor.complaints == []


def test_a_key_held_down_judges_once(visit: Visit, trial: Trial, mira: User) -> None:
    for _ in range(4):
        compared(trial)
    page = begin(visit(mira), trial)

    with page.expect_response("**/said/"):
        for _ in range(20):
            page.keyboard.down("b")
    page.keyboard.up("b")

    expect(page.locator("#judging-one [data-progress]")).to_have_text("1 of 4 judged")
    assert Judgement.objects.count() == 1


def test_a_slip_is_undone_with_its_note_and_said_again(
    visit: Visit, trial: Trial, mira: User
) -> None:
    compared(trial), compared(trial)
    page = begin(visit(mira), trial)
    first = shown(page)
    page.keyboard.press("c")
    page.keyboard.type("old new box")  # these are letters, not keys
    page.keyboard.press("Escape")
    press(page, "x")
    expect(page.locator("#judging-one")).not_to_have_attribute("data-comparison", first)

    press(page, "u", "undo")

    expect(page.locator("#judging-one")).to_have_attribute("data-comparison", first)
    expect(page.locator("#note")).to_have_value("old new box")
    press(page, "b")
    until(page, lambda: Comparison.objects.get(uuid=first).judged == "both", "the second word")
    assert ComparisonNote.objects.first() is not None


def test_skipping_comes_back_to_it_at_the_end(visit: Visit, trial: Trial, mira: User) -> None:
    compared(trial), compared(trial)
    page = begin(visit(mira), trial)
    first = shown(page)

    page.keyboard.press("s")

    expect(page.locator("#judging-one")).not_to_have_attribute("data-comparison", first)
    expect(page.locator("#judging")).to_have_attribute("data-next", first)
    press(page, "o")
    expect(page.locator("#judging-one")).to_have_attribute("data-comparison", first)


def test_after_the_last_one_nothing_is_left_and_it_can_still_be_undone(
    visit: Visit, trial: Trial, mira: User
) -> None:
    compared(trial)
    page = begin(visit(mira), trial, is_last=True)
    last = shown(page)

    press(page, "b")
    expect(page.get_by_role("heading", name="Nothing else waits for you.")).to_be_visible()
    press(page, "u", "undo")

    expect(page.locator("#judging-one")).to_have_attribute("data-comparison", last)
    assert not Judgement.objects.filter(withdrawn_at__isnull=True).exists()


def test_what_the_server_did_not_hear_is_sent_again(visit: Visit, trial: Trial, mira: User) -> None:
    compared(trial), compared(trial)
    page = begin(visit(mira), trial)
    failed: list[str] = []

    def fail_once(route: Route) -> None:
        if failed:
            route.continue_()
        else:
            failed.append(route.request.url)
            route.fulfill(status=503, body="")

    page.route("**/said/", fail_once)

    page.keyboard.press("b")

    expect(page.locator("#told")).to_contain_text("Stored.")
    until(page, lambda: Judgement.objects.count() == 1, "what was said")


def test_findings_are_walked_and_show_their_places(visit: Visit, trial: Trial, mira: User) -> None:
    compared(trial, findings=((HARD, {**HARD, "line": 1, "quote": "Figures", "rule": "tone", "fingerprint": "9" * 64}), (ADVISORY,)))  # fmt: skip
    page = begin(visit(mira), trial, is_last=True)
    places = set()

    for key in "jk":
        page.keyboard.press(key)
        current = page.locator(".finding[aria-current=true]")
        expect(current).to_be_focused()
        mark = page.locator("#artefact mark").first
        expect(mark).to_be_visible()
        places.add(current.get_attribute("id"))

    assert len(places) == 2


def test_a_comparison_opens_its_questions_line_by_line(
    visit: Visit, trial: Trial, mira: User
) -> None:
    row = compared(trial, "pass", "pass_with_warnings")
    for side, words in ((row.old_evaluation, "strict"), (row.new_evaluation, "fair")):
        assert side is not None
        make_call(side, prompt=f"Judge it.\nBe {words}.")
    visitor = visit(mira)
    page = visitor.go(url_of("comparison_detail", row))

    page.locator(".pair > summary").click()

    expect(page.locator(".pair .add").first).to_have_text("+Be fair.")
    page.keyboard.press("c")
    expect(page.locator("#note")).to_be_focused()
    assert visitor.complaints == []


def test_judging_works_without_a_script(visit: Visit, trial: Trial, mira: User) -> None:
    compared(trial), compared(trial)
    page = visit(mira, script=False).go(walk_url(trial))
    first = shown(page)

    page.get_by_role("button", name="Both are right").click()

    assert shown(page) != first
    expect(page.get_by_text("Both are right: kept.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    assert shown(page) == first


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_pages_fit_also_with_hostile_texts(
    visit: Visit, trial: Trial, mira: User, width: int, theme: str
) -> None:
    asked, free = hostile(trial, "fail", "pass"), hostile(trial, "pass", "pass_with_warnings")
    visitor = visit(mira, width=width, theme=theme)
    addresses = [
        url_of("comparison_judge", asked),
        url_of("comparison_detail", asked),
        url_of("comparison_detail", free),
        url_of("comparison_asked", free, 1),
        walk_url(make_trial(trial.project)),
    ]

    for address in addresses:
        page = visitor.go(address)
        assert page.evaluate(OVERFLOW) <= 0, address
        assert not page.evaluate(FAULTS), address
        assert page.title() != "owned"
    assert visitor.complaints == []


def hostile(trial: Trial, old: str, new: str) -> Comparison:
    given: dict[str, Any] = {
        "rule": f"{MARKUP}{'r' * 90}"[:200], "message": f"{MARKUP} {TURNED} {LONG_WORD}",
        "quote": LONG_WORD, "fingerprint": "f" * 64,
    }  # fmt: skip
    row = compared(
        trial, old, new,
        findings=((given,), ({**given, "enforcement": "advisory", "message": MARKUP},)),
        run={"title": f"{MARKUP} {TURNED}"[:200], "output": f"{MARKUP}\n{TURNED}\n{LONG_WORD}"},
        title=f"{MARKUP}{TURNED}"[:200], summary=MARKUP, phase=MARKUP[:120],
    )  # fmt: skip
    for side in (row.old_evaluation, row.new_evaluation):
        assert side is not None
        make_call(side, judge=f"{MARKUP}"[:120], reply=f"{MARKUP}\n{LONG_WORD}{side.pk}")
    return row
