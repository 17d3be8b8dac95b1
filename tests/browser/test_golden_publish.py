from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from loomverify.accounts.models import Role, User
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.golden.guarding import (
    BREAKING,
    HARMLESS,
    audited,
    case_that_held,
    draft_of,
    other_verifier,
    put_live,
    version_of,
)
from verification.golden.models import OPEN_STATES, Replay
from verification.golden.replays.services import run_now

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def worker(scene: Scene) -> Iterator[threading.Event]:
    """Works off replays once its event is set, as workers elsewhere would."""
    may_work, over = threading.Event(), threading.Event()

    def work() -> None:
        from django.db import connection

        while not over.wait(0.05):
            if may_work.is_set():
                for replay in Replay.objects.filter(state__in=OPEN_STATES):
                    run_now(replay)
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    yield may_work
    over.set()
    thread.join()


@pytest.fixture
def admin(scene: Scene) -> User:
    return scene.member(Role.ADMIN)


def publish_page(scene: Scene) -> str:
    return reverse("draft_publish", args=[scene.project.slug, "small-work"])


def open_draft_page(visit: Visit, scene: Scene, admin: User, text: str) -> Page:
    draft_of(scene.project, admin, text)
    return visit(admin).go(publish_page(scene))


def held_case(scene: Scene) -> None:
    put_live(version_of(scene.project, HARMLESS.replace("all small", "small")), "")
    case_that_held(scene.project, "speaks-of-revenue")


def test_who_publishes_what_breaks_a_case_sees_it_and_says_why(
    visit: Visit, scene: Scene, admin: User, worker: threading.Event
) -> None:
    held_case(scene)
    draft_of(scene.project, admin, BREAKING)
    visitor = visit(admin)
    page = visitor.go(publish_page(scene))

    expect(page.get_by_text("0 of 1 golden cases")).to_be_visible()
    page.get_by_label("Why", exact=True).fill("Revenue is secret")
    page.get_by_label("Why all the same").fill("It")
    worker.set()
    expect(page.get_by_text("1 golden case that held before does not hold")).to_be_visible()
    expect(page.get_by_role("link", name="speaks-of-revenue")).to_be_visible()
    corpus = page.get_by_role("group", name="Golden cases")
    expect(corpus).to_contain_text("expected pass")
    expect(corpus).to_contain_text("observed fail")
    expect(page.get_by_label("Why all the same")).to_have_value("It")

    page.get_by_label("Why all the same").fill("")
    page.get_by_role("button", name="Publish v").click()
    expect(page.get_by_text("Say why it is to judge runs all the same.")).to_be_visible()
    expect(page.get_by_label("Why", exact=True)).to_have_value("Revenue is secret")
    page.get_by_label("Why all the same").fill("The law changed")
    page.get_by_role("button", name="Publish v").click()
    expect(page.get_by_text("is published. Runs submitted from now on")).to_be_visible()

    kept = audited(scene.project, "process.published")
    assert kept["corpus_reason"] == [None, "The law changed"]
    page.goto(page.url.split("/p/")[0] + reverse("settings_audit", args=[scene.project.slug]))
    expect(page.get_by_text("The law changed")).to_be_visible()
    expect(page.get_by_text("1 of 1 golden case that held before does not hold")).to_be_visible()
    assert [said for said in visitor.complaints if "409" not in said] == []


def test_where_every_case_holds_no_further_reason_is_asked_for(
    visit: Visit, scene: Scene, admin: User, worker: threading.Event
) -> None:
    held_case(scene)
    worker.set()
    page = open_draft_page(visit, scene, admin, HARMLESS)

    expect(page.get_by_text("No golden case got worse.")).to_be_visible()
    expect(page.get_by_label("Why all the same")).to_have_count(0)
    page.get_by_label("Why", exact=True).fill("A better word")
    page.get_by_role("button", name="Publish v").click()

    expect(page.get_by_text("is published. Runs submitted from now on")).to_be_visible()


def test_two_who_look_at_once_wait_for_one_replay(
    visit: Visit, scene: Scene, admin: User, worker: threading.Event
) -> None:
    held_case(scene)
    version = version_of(scene.project, BREAKING)
    path = reverse("version_publish", args=[scene.project.slug, "small-work", version.number])
    before = Replay.objects.count()
    hers, his = visit(admin).go(path), visit(scene.member(Role.ADMIN)).go(path)
    for page in (hers, his):
        expect(page.get_by_text("0 of 1 golden cases")).to_be_visible()

    worker.set()

    for page in (hers, his):
        expect(page.get_by_text("does not hold with it.")).to_be_visible()
    assert Replay.objects.count() == before + 1


def test_without_script_a_button_replays_and_the_page_is_looked_at_again(
    visit: Visit, scene: Scene, admin: User, worker: threading.Event
) -> None:
    held_case(scene)
    draft_of(scene.project, admin, BREAKING)
    page = visit(admin, script=False).go(publish_page(scene))

    page.get_by_role("button", name="Replay it now").click()
    expect(page.get_by_text("0 of 1 golden cases")).to_be_visible()
    run_now(Replay.objects.filter(state__in=OPEN_STATES).get())
    page.get_by_role("link", name="Look again").click()

    expect(page.get_by_text("does not hold with it.")).to_be_visible()


def test_a_verifier_is_activated_once_its_cases_hold(
    visit: Visit, scene: Scene, admin: User, worker: threading.Event
) -> None:
    held_case(scene)
    version = other_verifier(scene.project)
    page = visit(admin).go(reverse("settings_verifiers", args=[scene.project.slug]))
    worker.set()

    page.get_by_role("link", name=f"v{version.number}", exact=True).click()
    expect(page.get_by_text("No golden case got worse.")).to_be_visible()
    page.get_by_label("Why", exact=True).fill("Five votes are better")
    page.get_by_role("button", name=f"Activate v{version.number}").click()

    told = f"v{version.number} judges runs that are submitted from now on."
    expect(page.get_by_text(told)).to_be_visible()
    version.refresh_from_db()
    assert version.is_active


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_no_guarded_page_complains_or_runs_over_its_edge(
    visit: Visit, scene: Scene, admin: User, worker: threading.Event, width: int, theme: str
) -> None:
    held_case(scene)
    version, verifier = version_of(scene.project, BREAKING), other_verifier(scene.project)
    draft_of(scene.project, admin, f"{BREAKING}# and a word more\n")
    slug = scene.project.slug
    visitor = visit(admin, width=width, theme=theme)
    worker.set()
    visitor.go(publish_page(scene))
    expect(visitor.page.get_by_text("does not hold with it.")).to_be_visible()
    paths = [
        publish_page(scene),
        reverse("version_publish", args=[slug, "small-work", version.number]),
        reverse("settings_verifiers", args=[slug]),
        reverse("verifier_detail", args=[slug, verifier.number]),
        reverse("verifier_detail", args=[slug, 1]),
    ]

    overflowing = [path for path in paths if visitor.go(path).evaluate(OVERFLOW) > 0]
    faults = {path: found for path in paths if (found := visitor.go(path).evaluate(FAULTS))}

    assert overflowing == []
    assert faults == {}
    assert visitor.complaints == []
