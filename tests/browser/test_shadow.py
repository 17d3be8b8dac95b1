"""Shadow trials in a browser, and the whole way from a candidate to its cutover and back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role, User
from loomverify.submit_command import RUN_FILE
from tests.browser.conftest import LOOKS, Visit, until
from tests.browser.scenes import Scene
from tests.browser.test_judging import UUID
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import make_user
from tests.runs.conftest import Caller, new_project
from tests.trials.builders import (
    fill_pairs,
    make_comparison,
    make_comparisons,
    make_legacy,
    make_queued,
    make_trial,
)
from tests.trials.paging import list_url, start_url, url
from tests.trials.scene import make_shadow_scene
from tests.trials.worked import PLACEHOLDER
from verification.golden.models import GoldenCase, Replay, ReplayPurpose
from verification.golden.replays import working as golden_working
from verification.runs.models import Run
from verification.trials.judging.blinding import is_old_first
from verification.trials.models import Comparison, Judgement, Origin, Trial
from verification.trials.working import working
from verification.verifiers.services import activate

T = TypeVar("T")
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


EXAMPLES = Path(__file__).parents[2] / "examples"
SHIPPED = ("launch-plan-broken", "launch-plan", "price-lists-broken", "price-lists")


@pytest.fixture
def story(scene: Scene) -> Project:
    """The legacy engine judges runs: it rejects more than it should. A few golden cases are left."""
    project = new_project("story")
    GoldenCase.objects.filter(project=project).exclude(process="general").update(
        retired_at=timezone.now()
    )
    legacy = project.verifiers.filter(engine="legacy").latest("number")
    activate(
        project=project, number=legacy.number, actor=SYSTEM, reason="As ever", corpus_reason="Known"
    )
    agent = aside(lambda: Caller(project, Role.AGENT))
    works = [example(name) for name in SHIPPED] + [{"output": PLACEHOLDER}] * 2
    told = [aside(lambda work=work: agent.submit(**work)) for work in works]  # type: ignore[misc]
    assert [one["outcome"] for one in told] == ["fail", "pass", "fail", "fail", "fail", "fail"]
    return project


def example(name: str) -> dict[str, Any]:
    """A shipped piece of work, as the command line submits it."""
    folder = EXAMPLES / name
    given = json.loads((folder / RUN_FILE).read_text())
    files = {
        one.name: one.read_text()
        for one in folder.iterdir()
        if one.is_file() and one.name != RUN_FILE
    }
    return {**given, "task": {"id": name, **given["task"]}, "files": files}


def aside(work: Callable[[], T]) -> T:
    """In a thread of its own, as a server or worker would: the browser's loop holds this one."""

    def working_aside() -> T:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(working_aside).result()


@dataclass
class Story:
    """What an admin does with a candidate, before a browser."""

    page: Page
    address: str
    project: Project

    def look_at(self, trial: Trial) -> Locator:
        """Open its page; the panel of the gate."""
        self.page.goto(self.address + url(trial))
        return self.page.locator("#gate")

    def make_candidate(self) -> None:
        self.page.goto(
            f"{self.address}{reverse('verifier_new', args=[self.project.slug])}?preset=policy"
        )
        self.page.get_by_label("Votes of tier 3").fill("5")
        self.page.get_by_label("Note").fill("The policy engine")
        self.page.get_by_role("button", name="Make it").click()
        expect(self.page.get_by_text("It judges nothing yet.")).to_be_visible()

    def try_it_over_past_runs(self) -> Trial:
        self.page.get_by_role("link", name="Try in shadow").click()
        expect(self.page.get_by_text("6 past runs are taken at once.")).to_be_visible()
        self.page.get_by_role("button", name="Start it").click()
        expect(self.page.get_by_role("status").filter(has_text="0 of 6")).to_be_visible()
        trial = Trial.objects.get()
        aside(lambda: working.work_on(trial.pk, seconds=math.inf))
        expect(self.page.get_by_title("old fail, new warnings: 2")).to_be_visible()
        expect(self.page.get_by_title("old fail, new pass: 1")).to_be_visible()
        return trial

    def try_it_over_the_corpus(self, trial: Trial) -> None:
        self.page.get_by_role("button", name="Take golden cases").click()
        expect(self.page.get_by_role("status").filter(has_text="0 of ")).to_be_visible()
        aside(lambda: working.work_on(trial.pk, seconds=math.inf))
        cases = trial.comparisons.filter(origin=Origin.CORPUS).exclude(diff_class="").count()
        assert cases > 0
        self.page.get_by_role("link", name=f"Golden corpus {cases}").click()
        expect(self.page.get_by_role("heading", name=f"{cases} comparisons")).to_be_visible()

    def replay_the_corpus(self, trial: Trial) -> None:
        """As the gate asks for it. The page follows it, and keeps what is written there."""
        self.page.goto(self.address + url(trial, "trial_promote"))
        self.page.get_by_role("button", name="Replay the corpus").click()
        expect(self.page.get_by_text("golden cases are replayed.")).to_be_visible()
        expect(self.page.get_by_text("The gate is not open.")).to_be_visible()
        self.page.get_by_label("Why", exact=True).fill("Fewer false fails")
        replay = Replay.objects.get(purpose=ReplayPurpose.CUTOVER)
        aside(lambda: golden_working.work_on(replay.pk, seconds=math.inf))
        expect(self.page.locator("#promote-gate")).to_contain_text("10 of 10 hold")
        expect(self.page.get_by_text("The gate is not open.")).to_have_count(0)
        expect(self.page.get_by_label("Why all the same")).to_have_count(0)
        expect(self.page.get_by_label("Why", exact=True)).to_have_value("Fewer false fails")

    def promote(self, reason: str) -> None:
        self.page.get_by_role("link", name="Promote…").click()
        self.page.get_by_label("Why", exact=True).fill(reason)
        self.page.get_by_role("button", name="Promote", exact=True).click()

    def promote_by_override(self, reason: str) -> None:
        self.promote(reason)
        expect(self.page.get_by_text("The cutover criteria do not all hold.")).to_be_visible()
        assert outcome_now(self.project) == ("legacy", "fail")
        self.page.get_by_label("Promote it although the gate is not open").check()
        self.page.get_by_label("Why all the same").fill("Nobody replayed it")
        self.page.get_by_role("button", name="Promote", exact=True).click()

    def see_it_in_the_audit_log(self, *words: str) -> None:
        self.page.goto(self.address + reverse("settings_audit", args=[self.project.slug]))
        row = self.page.get_by_role("row").filter(has_text="trial.promoted").first
        for one in words:
            expect(row).to_contain_text(one)

    def roll_back(self, trial: Trial, reason: str) -> None:
        self.look_at(trial)
        self.page.get_by_role("link", name="Roll back…").click()
        self.page.get_by_label("Why", exact=True).fill(reason)
        self.page.get_by_role("button", name="Roll back", exact=True).click()
        expect(self.page.get_by_text("It is rolled back")).to_be_visible()


def judge_by_keys(page: Page, address: str, trial: Trial, reviewer: User) -> None:
    """What was rejected for a word in brackets was good; the price lists were not."""
    page.goto(address + url(trial))
    page.get_by_role("link", name="Judge", exact=False).first.click()
    # The scripts have run by then, and hear the keys.
    expect(page.locator("#judging")).to_have_attribute("data-next", UUID)
    for number in range(3):
        article = page.locator("#judging-one")
        comparison = Comparison.objects.get(uuid=article.get_attribute("data-comparison") or "")
        wants_old = comparison.title == "price-lists"
        page.keyboard.press(
            "o" if is_old_first(reviewer.username, comparison) == wants_old else "n"
        )
        until(page, lambda n=number: Judgement.objects.count() == n + 1, "the judgement")  # type: ignore[misc]
        expect(article).not_to_have_attribute("data-comparison", str(comparison.uuid))
    judged = trial.comparisons.filter(origin=Origin.PAST).exclude(judged="")
    assert sorted(judged.values_list("judged", flat=True)) == ["new", "new", "old"]


def outcome_now(project: Project) -> tuple[str, str]:
    """By which engine a run is judged that is submitted now, and what it comes to."""
    told = aside(lambda: Caller(project, Role.AGENT).submit(output=PLACEHOLDER))
    run = Run.objects.select_related("verifier_version").get(uuid=told["id"])
    return run.verifier_version.engine, told["outcome"]


@pytest.mark.story
def test_a_candidate_is_made_tried_judged_promoted_and_rolled_back(
    visit: Visit, story: Project
) -> None:
    admin, mira = make_user(story, Role.ADMIN), make_user(story, Role.REVIEWER, "mira")
    visitor, reviewer = visit(admin), visit(mira)
    page = visitor.page
    told = Story(page, visitor.address, story)

    told.make_candidate()
    trial = told.try_it_over_past_runs()
    told.try_it_over_the_corpus(trial)
    gate = told.look_at(trial)
    expect(gate).to_contain_text("too little data")
    expect(gate).to_contain_text("22 more discordant pairs")
    judge_by_keys(reviewer.page, visitor.address, trial, mira)
    gate = told.look_at(trial)
    expect(gate.locator("header")).to_contain_text("closed")
    expect(gate.locator(".is-fails")).to_contain_text("Unsafe new passes at most 1 %")

    told.promote_by_override("The old one is broken")
    expect(page.get_by_text("By an override: the gate was not open.")).to_be_visible()
    assert outcome_now(story) == ("policy", "pass_with_warnings")
    told.see_it_in_the_audit_log("override", "The old one is broken", "closed: 6 pairs")
    told.roll_back(trial, "Bad lists slipped through")
    assert outcome_now(story) == ("legacy", "fail")

    trial = make_trial(story, baseline=trial.baseline_verifier, candidate=trial.candidate_verifier)
    fill_pairs(trial)
    told.replay_the_corpus(trial)
    expect(told.look_at(trial)).to_contain_text("10 of 10 hold")
    told.promote("Fewer false fails")
    expect(page.get_by_text("It is promoted")).to_be_visible()
    assert outcome_now(story) == ("policy", "pass_with_warnings")
    told.roll_back(trial, "They slipped through")
    assert outcome_now(story) == ("legacy", "fail")

    entries = AuditEntry.objects.filter(verb__in=["trial.promoted", "trial.rolled_back"])
    assert list(entries.order_by("pk").values_list("verb", "reason")) == [
        ("trial.promoted", "The old one is broken"),
        ("trial.rolled_back", "Bad lists slipped through"),
        ("trial.promoted", "Fewer false fails"),
        ("trial.rolled_back", "They slipped through"),
    ]
    assert reviewer.complaints == []
    assert [said for said in visitor.complaints if "409" not in said] == []


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

    expect(page.locator("#differs")).to_contain_text("Both sides are the same")


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


@pytest.mark.parametrize(("width", "theme"), LOOKS)
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

    shown = visitor.go(url(found.running))
    is_listed = shown.locator(".transition-list").is_visible()
    is_table = shown.locator(".transition-table").is_visible()
    over = [path for path in paths if visitor.go(path).evaluate(OVERFLOW) > 0]
    faults = {path: wrong for path in paths if (wrong := visitor.go(path).evaluate(FAULTS))}

    assert (is_listed, is_table) == ((True, False) if width == 390 else (False, True))
    assert over == []
    assert faults == {}
    assert visitor.page.title() != "owned"
    assert visitor.complaints == []
