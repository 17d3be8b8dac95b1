"""Shadow trials in a browser, and the whole way from a candidate to its cutover and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from django.db import connection
from django.urls import reverse
from playwright.sync_api import Page, expect

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role, User
from tests.browser.conftest import Visit, until
from tests.browser.scenes import Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import make_user
from tests.runs.conftest import Caller, new_project
from tests.trials.builders import (
    fill_open,
    make_comparison,
    make_comparisons,
    make_legacy,
    make_queued,
    make_trial,
)
from tests.trials.paging import list_url, start_url, url
from tests.trials.scene import make_shadow_scene
from tests.trials.worked import PLACEHOLDER
from verification.runs.models import Run
from verification.trials.judging.blinding import is_old_first
from verification.trials.models import Comparison, Judgement, Trial, TrialState
from verification.trials.working import working
from verification.verifiers.services import activate

T = TypeVar("T")
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def story(scene: Scene) -> Project:
    """The legacy engine judges runs, and rejected three good ones for a word in brackets."""
    project = new_project("story")
    legacy = project.verifiers.filter(engine="legacy").latest("number")
    activate(
        project=project, number=legacy.number, actor=SYSTEM, reason="As ever", corpus_reason="Known"
    )
    outputs = (PLACEHOLDER,) * 3 + ("All is told.",) * 2
    told = aside(lambda: [Caller(project, Role.AGENT).submit(output=one) for one in outputs])
    assert [one["outcome"] for one in told] == ["fail"] * 3 + ["pass"] * 2
    return project


def aside(work: Callable[[], T]) -> T:
    """In a thread of its own, as a server or worker would: the browser's loop holds this one."""

    def working_aside() -> T:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(working_aside).result()


def make_candidate_in_settings(page: Page, address: str, project: Project) -> None:
    page.goto(f"{address}{reverse('verifier_new', args=[project.slug])}?preset=policy")
    page.get_by_label("Votes of tier 3").fill("5")
    page.get_by_label("Note").fill("The policy engine")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text("It judges nothing yet.")).to_be_visible()


def try_it_over_past_runs(page: Page) -> Trial:
    page.get_by_role("link", name="Try in shadow").click()
    expect(page.get_by_text("5 past runs are taken at once.")).to_be_visible()
    page.get_by_role("button", name="Start it").click()
    expect(page.get_by_role("status").filter(has_text="0 of 5")).to_be_visible()
    trial = Trial.objects.get()
    aside(lambda: working.work_on(trial.pk, seconds=math.inf))
    expect(page.get_by_title("old fail, new warnings: 3")).to_be_visible()
    return trial


def judge_all(page: Page, address: str, trial: Trial, reviewer: User) -> None:
    """Each for the new side, wherever it stands."""
    page.goto(address + url(trial))
    page.get_by_role("link", name="Judge", exact=False).first.click()
    for number in range(3):
        article = page.locator("#judging-one")
        comparison = Comparison.objects.get(uuid=article.get_attribute("data-comparison") or "")
        key = "n" if is_old_first(reviewer.username, comparison) else "o"
        page.keyboard.press(key)
        until(page, lambda n=number: Judgement.objects.count() == n + 1, "the judgement")  # type: ignore[misc]
        if number < 2:
            expect(article).not_to_have_attribute("data-comparison", str(comparison.uuid))
    assert set(trial.comparisons.exclude(judged="").values_list("judged", flat=True)) == {"new"}


def test_a_candidate_is_made_tried_judged_promoted_and_rolled_back(
    visit: Visit, story: Project
) -> None:
    admin, mira = make_user(story, Role.ADMIN), make_user(story, Role.REVIEWER, "mira")
    visitor, reviewer = visit(admin), visit(mira)
    page, address = visitor.page, visitor.address

    make_candidate_in_settings(page, address, story)
    trial = try_it_over_past_runs(page)
    judge_all(reviewer.page, address, trial, mira)

    page.goto(address + url(trial))
    expect(page.locator("#gate")).to_contain_text("too little data")
    expect(page.locator("#gate")).to_contain_text("22 more discordant pairs")
    page.get_by_role("link", name="Promote…").click()
    expect(page.get_by_text("The gate is not open.")).to_be_visible()
    page.get_by_label("Why", exact=True).fill("Fewer false fails")
    page.get_by_role("button", name="Promote", exact=True).click()
    expect(page.get_by_text("The cutover criteria do not all hold.")).to_be_visible()
    assert Trial.objects.get(pk=trial.pk).state == TrialState.RUNNING

    fill_open(trial)
    page.goto(address + url(trial))
    expect(page.locator("#gate")).to_contain_text("10 of 10 hold")
    page.get_by_role("link", name="Promote…").click()
    page.get_by_label("Why", exact=True).fill("Fewer false fails")
    page.get_by_role("button", name="Promote", exact=True).click()
    expect(page.get_by_text("It is promoted")).to_be_visible()
    assert outcome_now(story) == ("policy", "pass_with_warnings")

    page.get_by_role("link", name="Roll back…").click()
    page.get_by_label("Why", exact=True).fill("They slipped through")
    page.get_by_role("button", name="Roll back", exact=True).click()
    expect(page.get_by_text("It is rolled back")).to_be_visible()
    assert outcome_now(story) == ("legacy", "fail")

    told = AuditEntry.objects.filter(verb__in=["trial.promoted", "trial.rolled_back"])
    assert list(told.order_by("pk").values_list("verb", "reason")) == [
        ("trial.promoted", "Fewer false fails"),
        ("trial.rolled_back", "They slipped through"),
    ]
    assert reviewer.complaints == []
    assert [said for said in visitor.complaints if "409" not in said] == []


def outcome_now(project: Project) -> tuple[str, str]:
    """By which engine a run is judged that is submitted now, and what it comes to."""
    told = aside(lambda: Caller(project, Role.AGENT).submit(output=PLACEHOLDER))
    run = Run.objects.select_related("verifier_version").get(uuid=told["id"])
    return run.verifier_version.engine, told["outcome"]


# ---------------------------------------------------------------- while it runs


PLACE = "() => document.querySelector('#rows').getBoundingClientRect().top"


def test_figures_move_without_a_jump_and_the_focus_stays(visit: Visit, scene: Scene) -> None:
    trial = make_trial(scene.project)
    make_comparisons(trial, {("pass", "pass"): 5, ("fail", "pass"): 2})
    make_queued(trial)
    visitor = visit()
    page = visitor.go(url(trial))
    cell = page.locator("#cell-fail-pass")
    cell.focus()
    before = page.evaluate(PLACE)

    make_comparison(trial, "fail", "pass")

    expect(cell).to_contain_text("3")
    expect(cell).to_be_focused()
    expect(page.locator("#newer")).to_have_text("1 new")
    assert page.evaluate(PLACE) == before
    expect(page.get_by_role("heading", name="Rules on which they differ")).to_be_visible()
    page.locator("#newer a").click()
    expect(page.get_by_role("heading", name="8 comparisons")).to_be_visible()
    assert visitor.complaints == []


def test_first_results_come_by_themselves(visit: Visit, scene: Scene) -> None:
    trial = make_trial(scene.project)
    make_queued(trial)
    page = visit().go(url(trial))
    expect(page.get_by_text("No comparison yet.")).to_be_visible()

    make_comparison(trial, "fail", "pass", title="the-first")

    expect(page.get_by_role("link", name="the-first")).to_be_visible()


# ---------------------------------------------------------------- keyboard, forms, no script


def test_rows_are_walked_and_opened_by_keys(visit: Visit, scene: Scene) -> None:
    trial = make_trial(scene.project)
    for name in ("first", "second"):
        make_comparison(trial, "pass", "pass", title=name)
    page = visit().go(url(trial))

    page.keyboard.press("j")
    expect(page.get_by_role("link", name="second")).to_be_focused()
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="first")).to_be_focused()
    page.keyboard.press("Enter")

    page.wait_for_url("**/comparisons/**")


def test_what_differs_follows_the_choice_of_sides(visit: Visit, scene: Scene) -> None:
    legacy = make_legacy(scene.project)
    page = visit().go(start_url(scene.project, candidate=legacy.number))
    expect(page.locator("#differs")).to_contain_text("Policy engine")

    page.get_by_label("New: verifier").select_option("1")

    expect(page.locator("#differs")).to_contain_text("Both sides are the same.")


def test_without_script_a_trial_is_started_narrowed_and_stopped(visit: Visit, scene: Scene) -> None:
    make_legacy(scene.project)
    page = visit(script=False).go(list_url(scene.project))
    page.get_by_role("button", name="Compare the policy engine with the legacy engine").click()
    trial = Trial.objects.get()
    expect(page.get_by_role("heading", level=1, name=trial.title)).to_be_visible()
    make_comparison(trial, "fail", "pass", title="a-move")
    make_comparison(trial, "pass", "pass", title="the-same")

    page.goto(page.url)
    chips = page.get_by_role("navigation", name="Filter by class")
    chips.get_by_role("link", name="laxer: the new one accepts 1").click()
    expect(page.get_by_role("link", name="a-move")).to_be_visible()
    expect(page.get_by_role("link", name="the-same")).to_have_count(0)
    page.get_by_text("Stop", exact=True).click()
    page.get_by_role("button", name="Stop it").click()

    expect(page.get_by_text("It is stopped.")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_of_trials_complains_or_runs_over_its_edge(
    visit: Visit, scene: Scene, width: int, theme: str
) -> None:
    found = make_shadow_scene(scene.project)
    visitor = visit(width=width, theme=theme)
    trials = (found.running, found.ready, found.drifted, found.empty, found.hostile)
    paths = [
        list_url(scene.project),
        start_url(scene.project),
        *(url(trial) for trial in trials),
        url(found.running, move="laxer", judged="no", rule="no-placeholders"),
        url(found.running, "trial_over_time"),
        *(url(trial, "trial_promote") for trial in (found.running, found.ready)),
        url(found.drifted, "trial_roll_back"),
    ]

    over = [path for path in paths if visitor.go(path).evaluate(OVERFLOW) > 0]
    faults = {path: wrong for path in paths if (wrong := visitor.go(path).evaluate(FAULTS))}

    assert over == []
    assert faults == {}
    assert visitor.page.title() != "owned"
    assert visitor.complaints == []
