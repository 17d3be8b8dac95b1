from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.judged import (
    claim,
    count_calls,
    judged_run,
    live_of,
    make_artefact,
    make_call,
    make_votes,
    set_claims,
)
from verification.runs.models import Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def judged(scene: Scene) -> Run:
    count_calls(scene.project, {"strict_json": 90, "embedded_json": 6, "unreadable": 1, "": 2})
    return judged_run(scene.project)


@pytest.fixture
def hostile(scene: Scene) -> Run:
    """Every word that a judge or a claim can bring along is as long and as bad as it gets."""
    live = live_of(scene.hostile)
    bad = f"{MARKUP}{LONG_WORD}"
    make_call(live, judge=MARKUP, model=MARKUP, system=bad, reply=bad, recovery="unreadable")
    make_votes(live, [True, False, None], why=bad)
    set_claims(live, [claim(bad, MARKUP, said="x", section=bad, evidence=(bad,), note=bad, quote=bad)])  # fmt: skip
    make_artefact(live, bad.encode(), path=MARKUP)
    return scene.hostile


def url_of(run: Run) -> str:
    return reverse("run_detail", args=[run.project.slug, run.uuid])


def paths_of(run: Run) -> list[str]:
    url, live = url_of(run), live_of(run)
    call, made = live.model_calls.latest("id"), live.artefacts.latest("id")
    return [
        url,
        f"{url}?claims=unsupported",
        f"{url}?made={made.uuid}",
        f"{url}?evidence=market-2025",
        f"{url}calls/{live.uuid}/{call.tier}/{call.seq}/",
        reverse("overview", args=[run.project.slug]),
        reverse("run_list", args=[run.project.slug]) + "?recovery=restated&only=retried",
    ]


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_no_page_complains_or_runs_over_its_edge(
    visit: Visit, judged: Run, hostile: Run, width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)
    paths = [*paths_of(judged), *paths_of(hostile)]

    overflowing = [path for path in paths if visitor.go(path).evaluate(OVERFLOW) > 0]

    assert overflowing == []
    assert visitor.complaints == []
    assert visitor.page.title() != "owned"


def test_every_page_has_one_heading_unique_ids_and_named_controls(
    visit: Visit, judged: Run
) -> None:
    visitor = visit()

    faults = {
        path: found for path in paths_of(judged) if (found := visitor.go(path).evaluate(FAULTS))
    }

    assert faults == {}


def test_a_call_opens_in_its_place_with_what_was_read_marked(visit: Visit, judged: Run) -> None:
    page = visit().go(url_of(judged))

    page.get_by_text("Asked to restate").click()

    said = page.locator("#call-2-3")
    expect(said.get_by_text("I hope that helps!")).to_be_visible()
    expect(said.locator(".reply mark").first).to_have_text("{")
    expect(page).to_have_url(re.compile(r"/runs/[0-9a-f-]+/$"))


def test_a_call_is_reached_by_keyboard_alone(visit: Visit, judged: Run) -> None:
    page = visit().go(url_of(judged))

    page.locator("#calls summary").nth(2).focus()
    page.keyboard.press("Enter")

    expect(page.locator("#call-2-3 .reply")).to_be_visible()


def test_without_a_script_a_call_has_a_page_of_its_own(visit: Visit, judged: Run) -> None:
    page = visit(script=False).go(url_of(judged))

    page.get_by_text("Asked to restate").click()
    page.locator("#call-2-3").get_by_role("link", name="Show prompt and reply").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Tier 2, call 3: asked to restate")
    expect(page.get_by_text("I hope that helps!")).to_be_visible()


def test_the_filter_of_claims_stands_in_the_address_and_survives_going_back(
    visit: Visit, judged: Run
) -> None:
    page = visit().go(url_of(judged))
    rows = page.locator("#claims tbody tr")

    page.locator("#claims nav").get_by_role("link", name=re.compile("^pruned")).click()
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("claims=pruned"))
    page.go_back()

    expect(rows).to_have_count(5)


def test_evidence_of_a_claim_opens_with_the_words_that_confirm_it(
    visit: Visit, judged: Run
) -> None:
    page = visit().go(url_of(judged))

    page.locator("#claims").get_by_role("link", name="market-2025").first.click()

    expect(page.locator("#artefact mark")).to_have_text("grew by 4 % in 2025, to 1.3 billion")


def test_what_was_pruned_is_shown_beside_the_text_that_was_made(visit: Visit, judged: Run) -> None:
    page = visit().go(url_of(judged))

    page.get_by_role("link", name="Without the pruned claims").click()

    taken_out = page.locator("#artefact .del")
    expect(taken_out).to_have_text("-Most customers would switch within a year.")
