from __future__ import annotations

import logging
import re
from statistics import median
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Dialog, Page, Route, expect

from loomverify.accounts.access import access_of_user
from loomverify.accounts.models import Project, Role, User
from tests.browser.conftest import LOOKS, Visit, Visitor, until
from tests.browser.scenes import LONG_WORD, MARKUP, TURNED, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import make_project, make_run, make_user, signed_in
from tests.judged import live_of, make_call, make_votes
from tests.reviewing import DOUBTED, make_review
from verification.engine.outcome import Outcome
from verification.reviews import settling
from verification.reviews.models import Decision, FindingLabel
from verification.reviews.queue import claims
from verification.runs.models import Review, ReviewState, Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LOGGER = logging.getLogger(__name__)
OUTPUT = "# Figures\n\nRevenue rose.\n\nCosts fell.\n"
SHOWN = 4
SHOWN_WITHIN_MS = 100
FINDINGS = [
    {"rule": "figures-have-sources", "message": "No source.", "line": 3, "quote": "Revenue rose."},
    {"enforcement": "advisory", "rule": "tone", "message": "Too short.", "line": 5},
]


@pytest.fixture
def project(scene: Scene) -> Project:
    return make_project("reviewed")


@pytest.fixture
def mira(project: Project) -> User:
    return make_user(project, Role.REVIEWER, "mira")


@pytest.fixture
def jonas(project: Project) -> User:
    return make_user(project, Role.REVIEWER, "jonas")


def doubted(project: Project, title: str, **columns: Any) -> Review:
    run = make_run(project, **DOUBTED, title=title, output=OUTPUT, findings=FINDINGS)
    return make_review(project, run, **columns)


def three(project: Project, **columns: Any) -> list[Review]:
    """By urgency."""
    names = ("First", "Second", "Third")
    return [
        doubted(project, name, urgency=90 - 10 * number, **columns)
        for number, name in enumerate(names)
    ]


UUID = re.compile(r"[0-9a-f-]{36}")


def begin(visitor: Visitor, project: Project, user: User, query: str = "") -> Page:
    """Take the first that waits, and look at it until the next one is there as well."""
    access = access_of_user(user, project.slug)
    assert access is not None
    taken = claims.claim_next(access=access)
    assert taken is not None
    page = visitor.go(reverse("review_item", args=[project.slug, taken.uuid]) + query)
    expect_title(page, taken.run.title)
    if Review.objects.filter(project=project, claimed_by=None, state="pending").exists():
        expect_next(page)
    return page


def expect_title(page: Page, title: str) -> None:
    expect(page.locator("h1")).to_have_text(title)


def expect_next(page: Page) -> None:
    expect(page.locator("#review")).to_have_attribute("data-next", UUID)


def press(page: Page, key: str, act: str = "decide") -> None:
    """Press a key, and wait until the server has answered what it does."""
    with page.expect_response(lambda answer: answer.url.split("?")[0].endswith(f"/{act}/")):
        page.keyboard.press(key)


@pytest.mark.parametrize(("key", "outcome"), list(zip("1234", Outcome, strict=True)))
def test_a_number_decides_and_the_next_one_is_there(
    visit: Visit, project: Project, mira: User, key: str, outcome: Outcome
) -> None:
    first, second, _ = three(project)
    visitor = visit(mira)
    page = begin(visitor, project, mira)

    press(page, key)

    expect_title(page, "Second")
    expect(page.locator("#told")).to_contain_text("Decided as")
    expect(page.locator(".nav #waiting")).to_have_text(", waiting: 2")
    expect(page).to_have_url(re.compile(f"/{second.uuid}/$"))
    assert Decision.objects.get(review=first).outcome == outcome
    assert visitor.complaints == []


def test_enter_decides_as_the_verifier_did_also_from_a_finding(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)
    page.keyboard.press("j")

    press(page, "Enter")

    expect_title(page, "Second")
    assert Decision.objects.get().outcome == Outcome.FAIL


def test_a_key_held_down_decides_once(visit: Visit, project: Project, mira: User) -> None:
    three(project)
    page = begin(visit(mira), project, mira)

    with page.expect_response("**/prefetch/"), page.expect_response("**/decide/"):
        for _ in range(20):
            page.keyboard.down("4")
    page.keyboard.up("4")

    expect_title(page, "Second")
    expect_next(page)
    assert Decision.objects.count() == 1


def test_findings_are_walked_and_found_right_or_wrong(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)
    expect(page.locator("#artefact .hit")).to_have_attribute("data-n", "3")

    page.keyboard.press("y")
    page.keyboard.press("j")
    expect(page.locator("[data-walk][aria-current=true]")).to_contain_text("Too short.")
    page.keyboard.press("n")
    press(page, "1")

    labels = FindingLabel.objects.order_by("finding__position").values_list("is_right", flat=True)
    assert list(labels) == [True, False]


def test_a_finding_found_right_by_mistake_is_left_open(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)

    page.keyboard.press("y")
    page.keyboard.press("y")
    press(page, "1")

    assert not FindingLabel.objects.exists()


def test_keys_still_decide_after_a_click_on_right_or_wrong(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)

    page.get_by_label("wrong").first.click()
    press(page, "1")

    expect_title(page, "Second")
    assert FindingLabel.objects.get().is_right is False


def test_keys_are_letters_while_a_comment_is_written(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)

    page.keyboard.press("c")
    page.keyboard.type("4 of 10 say so: sky, gnu?")
    page.keyboard.press("Enter")

    expect_title(page, "First")
    expect(page.locator("#keys")).not_to_be_visible()
    page.keyboard.press("Escape")
    press(page, "2")
    decision = Decision.objects.get()
    assert (decision.outcome, decision.comment) == (
        Outcome.PASS_WITH_WARNINGS,
        "4 of 10 say so: sky, gnu?",
    )


def test_control_and_enter_decide_from_the_comment(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)
    page.keyboard.press("c")
    page.keyboard.type("No source.")

    press(page, "Control+Enter")

    decision = Decision.objects.get()
    assert (decision.outcome, decision.comment) == (Outcome.FAIL, "No source.")


def test_every_key_is_printed_on_its_button_and_on_the_sheet(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)
    printed = page.locator("#item [data-key]").evaluate_all(
        """(all) => all.map((one) => [one.dataset.key,
          [...(one.closest(".field") ?? one).querySelectorAll("kbd")].map((key) => key.innerText)])"""
    )

    page.keyboard.press("?")

    assert {key for key, _ in printed} == set("1234cgsu")
    assert [key for key, found in printed if key not in found] == []
    sheet = page.locator("#keys kbd").all_inner_texts()
    assert set("1234cgsuynjk?") <= set(sheet)


def test_no_key_decides_while_the_sheet_is_open(visit: Visit, project: Project, mira: User) -> None:
    three(project)
    page = begin(visit(mira), project, mira)
    page.keyboard.press("?")

    for key in "14ysu":
        page.keyboard.press(key)
    page.keyboard.press("?")

    press(page, "g", "case")
    expect_title(page, "First")
    assert not Decision.objects.exists()


def test_the_next_one_is_there_while_the_server_still_thinks(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)
    waiting: list[Route] = []
    page.route("**/decide/**", lambda route: waiting.append(route))

    page.keyboard.press("4")

    expect_title(page, "Second")
    until(page, lambda: waiting, "what was said")
    assert not Decision.objects.exists()
    with page.expect_response("**/decide/**"):
        waiting[0].continue_()
    assert Decision.objects.get().outcome == Outcome.FAIL


def test_the_next_one_is_shown_within_a_tenth_of_a_second(
    visit: Visit, project: Project, mira: User
) -> None:
    for number in range(SHOWN + 1):
        doubted(project, f"Number {number}", urgency=90 - number)
    page = begin(visit(mira), project, mira)
    shown_ms = []

    for number in range(1, SHOWN + 1):
        press(page, "4")
        expect_title(page, f"Number {number}")
        shown = page.locator("#review[data-shown-ms]")
        shown_ms.append(float(shown.get_attribute("data-shown-ms") or ""))
        shown.evaluate("(one) => one.removeAttribute('data-shown-ms')")
        if number < SHOWN:
            expect_next(page)

    LOGGER.info("The next one was shown %s ms after the key.", shown_ms)
    assert median(shown_ms) < SHOWN_WITHIN_MS


@pytest.mark.story
def test_undo_brings_the_last_ones_back_one_by_one(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)
    page.keyboard.press("c")
    page.keyboard.type("In haste.")
    page.keyboard.press("Escape")
    press(page, "4")
    expect_title(page, "Second")
    expect_next(page)
    press(page, "1")
    expect_title(page, "Third")

    press(page, "u", "undo")
    expect_title(page, "Second")
    press(page, "u", "undo")
    expect_title(page, "First")

    assert not Decision.objects.filter(undone_at__isnull=True).exists()
    assert page.locator("#comment").input_value() == "In haste."
    press(page, "1")
    expect_title(page, "Second")
    assert Decision.objects.get(undone_at__isnull=True).outcome == Outcome.PASS


def test_the_bar_says_what_was_decided_and_undoes_it(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)
    press(page, "4")

    with page.expect_response("**/undo/**"):
        page.locator("#told").get_by_role("button", name="Undo").click()

    expect_title(page, "First")
    expect(page.locator("#told > span")).to_have_text("Undone.")


def test_after_it_took_effect_undo_leads_to_a_change_of_mind(
    visit: Visit, project: Project, mira: User
) -> None:
    review = doubted(project, "Only")
    page = begin(visit(mira), project, mira)
    press(page, "4")
    expect(page.get_by_role("heading", name="Nothing is left that you can take.")).to_be_visible()
    settling.settle_due(now=timezone.now() + settling.UNDO)

    with page.expect_response("**/undo/**"):
        page.locator("#told").get_by_role("button", name="Undo").click()
    expect_title(page, "Only")
    page.locator(".decided").get_by_role("button", name="pass").click()

    expect(page.get_by_text("Decided as pass.")).to_be_visible()
    settling.settle_due(now=timezone.now() + settling.UNDO)
    assert Run.objects.get(pk=review.run_id).final_outcome == Outcome.PASS


def test_after_it_took_effect_undo_goes_on_back_and_a_key_changes_it(
    visit: Visit, project: Project, mira: User
) -> None:
    first, *_ = three(project)
    page = begin(visit(mira), project, mira)
    for title in ("Second", "Third"):
        press(page, "4")
        expect_title(page, title)
    settling.settle_due(now=timezone.now() + settling.UNDO)

    for title in ("Second", "First"):
        press(page, "u", "undo")
        expect_title(page, title)
    expect(page.get_by_role("button", name="Undo u")).to_be_disabled()  # there is none before it
    press(page, "1")

    expect_title(page, "Third")
    assert Decision.objects.filter(review=first).latest("pk").outcome == Outcome.PASS


def test_what_somebody_else_took_is_not_stored_and_says_so(
    visit: Visit, project: Project, mira: User, jonas: User
) -> None:
    first, _, _ = three(project)
    page = begin(visit(mira), project, mira)
    Review.objects.filter(pk=first.pk).update(claimed_by=jonas)

    press(page, "4")

    expect_title(page, "Second")
    expect(page.locator("#told")).to_be_hidden()
    refused = page.locator("#refused")
    expect(refused).to_contain_text("Not stored: Somebody else took it meanwhile.")
    assert refused.get_by_role("link", name="First").get_attribute("href") == reverse(
        "review_item", args=[project.slug, first.uuid]
    )


def test_what_the_network_lost_is_kept_and_sent_again(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)
    page.route("**/decide/**", lambda route: route.abort())
    page.keyboard.press("4")
    expect(page.locator("#told")).to_contain_text("Not stored yet")
    expect_title(page, "Second")

    page.unroute("**/decide/**")

    expect(page.locator("#told > span")).to_have_text("Stored.")
    assert Decision.objects.get().outcome == Outcome.FAIL


def test_what_was_not_sent_warns_who_leaves_and_outlives_the_page(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    page = begin(visit(mira), project, mira)
    warned: list[str] = []

    def leave(dialog: Dialog) -> None:
        warned.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    page.route("**/decide/**", lambda route: route.continue_() if warned else route.abort())
    page.keyboard.press("4")
    expect(page.locator("#told")).to_contain_text("Not stored yet")

    with page.expect_response("**/decide/**"):
        page.reload()

    assert warned == ["beforeunload"]
    assert Decision.objects.get().outcome == Outcome.FAIL


def test_who_signs_in_anew_in_another_tab_loses_nothing(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    visitor = visit(mira)
    page = begin(visitor, project, mira)
    page.context.clear_cookies()
    page.keyboard.press("4")
    expect(page.locator("#told")).to_contain_text("you are signed out")

    session = signed_in(mira).cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": visitor.address}])

    expect(page.locator("#told > span")).to_have_text("Stored.")
    assert Decision.objects.get().outcome == Outcome.FAIL


def test_a_page_loaded_again_still_has_what_it_had(
    visit: Visit, project: Project, mira: User
) -> None:
    first, second, _ = three(project)
    page = begin(visit(mira), project, mira)

    with page.expect_response("**/heartbeat/"):
        page.reload()

    expect_next(page)
    held = Review.objects.filter(claimed_by=mira).values_list("uuid", flat=True)
    assert set(held) == {first.uuid, second.uuid}
    press(page, "4")
    expect_title(page, "Second")


def test_what_is_held_is_renewed_while_the_page_is_used_and_not_after(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project)
    visitor = visit(mira)
    visitor.page.clock.install()
    page = begin(visitor, project, mira)
    renewed: list[str] = []
    page.on("request", lambda one: renewed.append(one.url) if "/heartbeat/" in one.url else None)

    with page.expect_response("**/heartbeat/"):
        page.clock.fast_forward(61_000)
    expect(page.locator("[data-lease-left]")).to_have_text(re.compile("^yours for (4:5|5:0)"))
    assert len(set(renewed)) == 2  # this one and the next
    renewed.clear()
    page.clock.fast_forward(420_000)
    expect(page.locator("[data-lease-left]")).to_have_text("not yours any more")
    assert renewed == []

    with page.expect_response("**/heartbeat/"):
        page.keyboard.press("j")
        page.clock.fast_forward(2_000)
    page.clock.fast_forward(1_000)
    expect(page.locator("[data-lease-left]")).to_contain_text("yours for 4:")


def test_one_key_keeps_a_golden_case(visit: Visit, project: Project, mira: User) -> None:
    three(project)
    page = begin(visit(mira), project, mira)

    press(page, "g", "case")

    expect(page.locator("[data-key=g]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#told > span")).to_have_text("Kept as a golden case.")


def test_what_is_skipped_comes_back_last(visit: Visit, project: Project, mira: User) -> None:
    three(project)
    page = begin(visit(mira), project, mira)

    press(page, "s", "skip")
    expect_title(page, "Second")
    expect_next(page)
    press(page, "1")
    expect_title(page, "Third")
    expect_next(page)
    press(page, "1")

    expect_title(page, "First")


def test_filters_go_along_and_back_leads_to_the_queue(
    visit: Visit, project: Project, mira: User
) -> None:
    _, second, third = three(project)
    Review.objects.filter(pk__in=[second.pk, third.pk]).update(phase_id="write")
    page = visit(mira).go(reverse("review_queue", args=[project.slug]) + "?phase=write")
    page.get_by_role("button", name="Review next").first.click()
    expect_title(page, "Second")
    expect_next(page)

    page.keyboard.press("j")
    expect(page).to_have_url(re.compile(r"phase=write&at=[12]"))
    press(page, "4")
    expect_title(page, "Third")
    expect(page).to_have_url(re.compile(rf"/{third.uuid}/\?phase=write$"))
    press(page, "4")

    expect(page.get_by_role("heading", name="Nothing is left that you can take.")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile(r"/review/\?phase=write$"))


def test_a_blind_answer_reveals_and_enter_confirms_it(
    visit: Visit, project: Project, mira: User
) -> None:
    three(project, is_blind=True)
    visitor = visit(mira)
    page = begin(visitor, project, mira)
    assert "No source." not in page.content()
    expect(page.locator("#artefact mark")).to_have_count(0)

    page.keyboard.press("Enter")
    press(page, "1")

    expect(page.locator(".first-said")).to_have_text(re.compile(r"You said\s+pass\s+and the"))
    expect(page.get_by_text("No source.")).to_be_visible()
    press(page, "Enter")
    expect_title(page, "Second")
    assert "No source." not in page.content()
    said = Decision.objects.values_list("first_outcome", "outcome")
    assert list(said) == [("pass", "pass")]
    assert visitor.complaints == []


def test_without_a_script_reviews_are_taken_labelled_decided_and_undone(
    visit: Visit, project: Project, mira: User
) -> None:
    first, _, _ = three(project)
    page = visit(mira, script=False).go(reverse("review_item", args=[project.slug, first.uuid]))

    page.get_by_role("button", name="Take it").click()
    expect(page.get_by_role("button", name="Take it")).to_have_count(0)
    page.get_by_role("link", name="Too short.").click()
    expect(page).to_have_url(re.compile("at=2"))
    page.get_by_label("wrong").first.check()
    page.get_by_label("Why").fill("It is cited.")
    page.get_by_role("button", name="pass").click()

    expect_title(page, "Second")
    decision = Decision.objects.get()
    assert (decision.outcome, decision.comment) == (Outcome.PASS, "It is cited.")
    assert FindingLabel.objects.get().is_right is False
    page.get_by_role("button", name="Undo").click()
    expect_title(page, "First")
    expect(page.get_by_text("It is undone.")).to_be_visible()


def hostile(project: Project) -> Review:
    run = make_run(
        project,
        **DOUBTED,
        title=f"{MARKUP} {TURNED} {'w' * 60}"[:200],
        output=f"{MARKUP}\n{TURNED}\n{LONG_WORD}\n",
        files={f"{number}{'x' * 120}": b"x" for number in range(12)},
        findings=[
            {"rule": f"{MARKUP}{'r' * 90}"[:200], "message": f"{MARKUP} {LONG_WORD}"},
            {"line": 2, "message": TURNED, "quote": LONG_WORD},
        ],
        body={
            "evidence": [{"id": MARKUP, "text": LONG_WORD}],
            "claims": [{"text": LONG_WORD, "label": "confirmed", "section": "supporting"}],
            "tool_calls": [{"tool": MARKUP, "success": False, "error": LONG_WORD}],
            "task": {"plan": LONG_WORD, "acceptance_criteria": MARKUP},
        },
    )
    make_votes(live_of(run), (True, False, None), why=MARKUP + LONG_WORD)
    make_call(live_of(run))
    return make_review(project, run, urgency=95)


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_every_stage_stays_within_the_page(
    visit: Visit, project: Project, mira: User, jonas: User, width: int, theme: str
) -> None:
    reviews = [
        hostile(project),
        doubted(project, "Plain"),
        doubted(project, "Blind", is_blind=True),
        doubted(project, "Of two", reviewers=2),
        doubted(project, "Held back", state=ReviewState.HELD),
    ]
    taken = doubted(project, "Taken", claimed_by=jonas, lease_until=timezone.now() + claims.LEASE)
    visitor = visit(mira, width=width, theme=theme)
    access = access_of_user(mira, project.slug)
    assert access is not None
    for review in reviews[:4]:
        claims.claim(access=access, review=review.uuid)

    faults = {}
    for review in (*reviews, taken):
        page = visitor.go(reverse("review_item", args=[project.slug, review.uuid]))
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        faults[review.run.title[:20]] = (page.evaluate(OVERFLOW), page.evaluate(FAULTS))

    assert [found for found in faults.values() if found != (0, [])] == []
    assert page.title() != "owned"
    assert visitor.complaints == []
