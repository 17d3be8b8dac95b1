from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from loomverify.accounts.models import Project, Role
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import make_user
from tests.reviewing import make_review
from tests.reviews.agreement_rows import make_decided, make_matrix
from tests.reviews.deciding_rows import make_decision, over
from verification.engine.outcome import Outcome
from verification.runs.models import ReviewState

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NAMES = ("review_agreement", "review_agreement_runs", "review_calibration")


@pytest.fixture
def measured(scene: Scene) -> Project:
    """Figures of every kind, some of them under hostile names."""
    project = scene.project
    cells = {("fail", "fail"): 22, ("fail", "pass"): 15, ("pass", "pass"): 30, ("pass", "fail"): 4}
    drawn = {"sample_rate": 0.05, "is_flagged": False}
    make_matrix(project, cells, rule="sober-tone", model="acme/large", confidence=0.83, **drawn)
    make_decided(project, rule=LONG_WORD[:200], model=LONG_WORD[:120], confidence=0.31)
    make_decided(project, rule=MARKUP[:200], model=MARKUP[:120], confidence=0.52, phase=MARKUP[:90])
    review = make_review(project, reviewers=2, state=ReviewState.DECIDED)
    for name, said in ((LONG_WORD[:140], Outcome.PASS), ("mira", Outcome.FAIL)):
        make_decision(review, make_user(project, name=name), said)
    over(review, Outcome.FAIL)
    return project


def path_of(project: Project, name: str = "review_agreement", query: str = "") -> str:
    return reverse(name, args=[project.slug]) + query


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_the_pages_stay_within_their_edges_and_have_no_faults(
    visit: Visit, measured: Project, width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)

    for name in NAMES:
        page = visitor.go(path_of(measured, name))
        assert page.evaluate(OVERFLOW) == 0, name
        assert page.evaluate(FAULTS) == [], name
        assert page.title() != "owned"
    assert visitor.complaints == []


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_a_viewer_follows_a_bad_rule_to_its_runs(
    visit: Visit, scene: Scene, measured: Project, script: bool
) -> None:
    page = visit(scene.member(Role.VIEWER), script=script).go(path_of(measured))

    page.get_by_role("link", name=re.compile("sober-tone")).first.click()

    expect(page.get_by_role("heading", level=1)).to_have_text("15 decided reviews")
    page.locator(".decided-rows .row-link").first.click()
    expect(page.locator(".verdict")).to_be_visible()


def test_a_cell_of_the_matrix_opens_its_runs(visit: Visit, measured: Project) -> None:
    page = visit().go(path_of(measured))

    page.get_by_title("4 reviews: accept by the verifier, fail by people").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("4 decided reviews")
    expect(page.get_by_role("link", name="the verifier said accept")).to_be_visible()


def test_the_figures_narrow_down_without_losing_the_other_filters(
    visit: Visit, measured: Project
) -> None:
    page = visit().go(path_of(measured, query="?since=90d&model=acme/large"))

    page.get_by_label("Decisions").select_option("only")

    expect(page).to_have_url(re.compile("sample=only"))
    assert {"since=90d", "model=acme%2Flarge"} <= set(page.url.partition("?")[2].split("&"))
    expect(page.get_by_text("These are decisions about the random sample alone.")).to_be_visible()


def test_a_dot_of_the_diagram_says_what_it_stands_for_and_opens_its_runs(
    visit: Visit, measured: Project
) -> None:
    page = visit().go(path_of(measured, "review_calibration"))
    dot = page.locator(".reliability a", has_text="said 0.83")
    expect(dot.locator("title")).to_have_text("said 0.83, people agreed with 73 % of 71 verdicts")

    dot.locator("circle").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("71 decided reviews")


def test_an_editor_goes_from_a_proposed_floor_to_the_phases_of_a_draft(
    visit: Visit, scene: Scene, measured: Project
) -> None:
    page = visit(scene.member(Role.EDITOR)).go(path_of(measured, "review_calibration"))

    page.get_by_role("button", name="Edit small-work").click()

    expect(page).to_have_url(re.compile(r"/draft/phases/"))
