from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db.models import F
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Project, Role
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.golden.builders import make_case, make_replay, make_result
from tests.golden.test_replay_pages import FINDING, make_verifier, replayed
from verification.engine.golden.standing import Change, Standing
from verification.golden.models import GoldenCase, GoldenSchedule, Replay, ReplayState
from verification.golden.replays import services

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DIFFERENCES = [
    {"place": "outcome", "expected": "pass", "observed": "fail"},
    {"place": "verdict", "expected": "accept", "observed": "reject"},
]


@pytest.fixture
def corpus(scene: Scene) -> Project:
    """Replays of every kind, some of what they say hostile."""
    project = scene.project
    cases = {make_case(project, change.value.replace("_", "-")): change for change in Change}
    long = make_case(project, f"case-{'w' * 114}", guards=f"{MARKUP} {LONG_WORD[:400]}")
    now = timezone.now()
    replayed(project, dict.fromkeys(cases, Change.HELD), created_at=now - timedelta(days=1))
    other = make_verifier(project, 2)
    replay = replayed(
        project, cases, verifier_version=other, stale_share=0.4, created_by=MARKUP[:200]
    )
    make_result(
        replay,
        long,
        standing=Standing.FAILING,
        change=Change.REGRESSED,
        observed={"outcome": "fail", "verdict": "reject", "findings": [_hostile_finding()]},
        differences=[*DIFFERENCES, {"place": MARKUP, "expected": LONG_WORD, "observed": MARKUP}],
        played=[{"tier": 2, "ask": "assess", "number": 1, "is_missing": True, "prompt": "a" * 16}],
        legacy={"outcome": "pass", "verdict": "accept", "reason_code": ""},
        error_text=LONG_WORD[:500],
    )
    Replay.objects.filter(pk=replay.pk).update(total=F("total") + 1)
    return project


def _hostile_finding() -> dict[str, object]:
    return {**FINDING, "rule": MARKUP, "message": LONG_WORD, "quote": MARKUP, "path": LONG_WORD}


def path_of(project: Project, name: str, *ids: object) -> str:
    return reverse(name, args=[project.slug, *ids])


def paths(project: Project) -> list[str]:
    replay = Replay.objects.filter(project=project, verifier_version__number=2).get()
    long = GoldenCase.objects.get(project=project, name__startswith="case-www")
    names = (
        "golden_replays", "golden_trend", "golden_scores", "golden_coverage", "golden_schedule",
        "golden_replay_start",
    )  # fmt: skip
    return [
        *(path_of(project, name) for name in names),
        f"{path_of(project, 'golden_replays')}?held=1&change=held",
        path_of(project, "golden_replay", replay.uuid),
        f"{path_of(project, 'golden_replay', replay.uuid)}?change=regressed",
        path_of(project, "golden_result", replay.uuid, long.uuid),
    ]


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_the_pages_stay_within_their_edges_and_have_no_faults(
    visit: Visit, corpus: Project, width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)

    for path in paths(corpus):
        page = visitor.go(path)
        assert page.evaluate(OVERFLOW) == 0, path
        assert page.evaluate(FAULTS) == [], path
        assert page.title() != "owned", path
    assert visitor.complaints == []


def test_progress_runs_to_the_end_without_a_reload(visit: Visit, scene: Scene) -> None:
    project = scene.project
    for _ in range(3):
        make_case(project, files={"report.json": "{}"})
    replay = services.start(project=project, actor=Actor("ed"))
    visitor = visit(scene.member(Role.EDITOR))
    page = visitor.go(path_of(project, "golden_replay", replay.uuid))
    page.evaluate("window.sameDocument = true")
    expect(page.get_by_text("0 of 3 cases").first).to_be_visible()
    first = replay.results.order_by("pk")[:1]
    replay.results.filter(pk__in=[one.pk for one in first]).update(
        replayed_at=timezone.now(), standing="held"
    )
    expect(page.locator("#replay-progress [role=status]")).to_have_text("1 of 3 cases")

    services.run_now(replay)

    expect(page.get_by_role("link", name=re.compile("holds 3"))).to_be_visible()
    assert page.evaluate("window.sameDocument") is True
    assert page.locator("[hx-trigger='every 1s']").count() == 0
    assert visitor.complaints == []


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_an_editor_cancels_a_replay_under_way(visit: Visit, scene: Scene, script: bool) -> None:
    make_case(scene.project)
    replay = services.start(project=scene.project, actor=Actor("ed"))
    page = visit(scene.member(Role.EDITOR), script=script).go(
        path_of(scene.project, "golden_replay", replay.uuid)
    )

    page.get_by_role("button", name="Cancel").click()

    expect(page.get_by_role("heading", name="It was cancelled after 0 of 1 cases.")).to_be_visible()
    replay.refresh_from_db()
    assert replay.state == ReplayState.CANCELLED


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_an_editor_accepts_a_new_expectation_with_a_reason(
    visit: Visit, corpus: Project, scene: Scene, script: bool
) -> None:
    case = make_case(corpus, "to-be-accepted")
    replay = make_replay(corpus, total=1, counts={"new": 1})
    make_result(
        replay,
        case,
        standing=Standing.FAILING,
        observed={"outcome": "fail", "verdict": "reject", "findings": [FINDING]},
        differences=DIFFERENCES,
    )
    page = visit(scene.member(Role.EDITOR), script=script).go(
        path_of(corpus, "golden_replay", replay.uuid)
    )

    page.get_by_role("link", name="to-be-accepted").click()
    expect(page.locator(".is-different")).to_have_count(2)
    page.get_by_label("Why it is right").fill("The rule is right, the case was not.")
    page.get_by_role("button", name="Accept what was observed").click()

    expect(page.get_by_text("Accepted: the case expects this from v2 on.")).to_be_visible()
    expect(page.get_by_text("The rule is right, the case was not.")).to_be_visible()
    case.refresh_from_db()
    assert case.current is not None
    assert case.current.spec["expected"]["verdict"] == "reject"


def test_the_grid_is_filtered_as_soon_as_something_is_chosen(visit: Visit, corpus: Project) -> None:
    page = visit().go(path_of(corpus, "golden_replays"))
    rows = page.locator(".corpus-grid tbody tr")
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text("regressed")

    page.get_by_label("Change").select_option("regressed")

    expect(page).to_have_url(re.compile("change=regressed"))
    expect(rows).to_have_count(2)
    page.get_by_role("link", name="Show all").click()
    page.get_by_role("link", name="1 more case holds everywhere: show it").click()
    expect(rows).to_have_count(7)


def test_keys_walk_through_the_grid_and_open_a_case(visit: Visit, corpus: Project) -> None:
    page = visit().go(path_of(corpus, "golden_replays"))

    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("[data-walk]").nth(1)).to_be_focused()
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile("/golden/cases/"))


def test_a_cell_opens_what_came_of_the_case_there(visit: Visit, corpus: Project) -> None:
    page = visit().go(path_of(corpus, "golden_replays"))

    page.get_by_role("row", name=re.compile("^fixed")).get_by_role(
        "link", name="fixed"
    ).last.click()

    expect(page.get_by_role("heading", level=1)).to_have_text("fixed")
    expect(page.get_by_role("heading", name="Expected beside observed")).to_be_visible()


def test_the_number_of_cases_follows_what_is_chosen(visit: Visit, scene: Scene) -> None:
    make_case(scene.project, tags=["slow"])
    make_case(scene.project, phase="write", tier=2, replies=[{"text": "{}"}])
    page = visit(scene.member(Role.EDITOR)).go(path_of(scene.project, "golden_replay_start"))
    expect(page.locator("#price")).to_contain_text("2 cases, with the answers that were recorded.")

    page.get_by_label("Ask the judges anew").check()
    expect(page.locator("#price")).to_contain_text("about 1 question to judges")
    page.get_by_label("Tags").fill("slow")
    page.get_by_label("Tags").press("Tab")
    expect(page.locator("#price")).to_contain_text("1 case, and about 0 questions")

    page.get_by_label("Ask the judges anew").uncheck()
    page.get_by_role("button", name="Start it").click()
    expect(page.get_by_role("heading", name="Under way")).to_be_visible()
    assert Replay.objects.get().tags == ["slow"]


def test_a_point_of_the_trend_opens_its_replay(visit: Visit, corpus: Project) -> None:
    page = visit().go(path_of(corpus, "golden_trend"))

    page.locator(".trend a", has_text="verifier v2").locator("circle").first.click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("Replay of")


def test_an_admin_sets_the_schedule(visit: Visit, scene: Scene) -> None:
    page = visit(scene.member(Role.ADMIN)).go(path_of(scene.project, "golden_schedule"))

    page.get_by_label("Begin at (UTC)").select_option("04:00")
    page.get_by_role("button", name="Save").first.click()

    expect(page.get_by_text("Saved.")).to_be_visible()
    assert GoldenSchedule.objects.get().hour == 4
