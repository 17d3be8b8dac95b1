"""A rule on history while it is typed, in a real browser."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from loomverify.accounts.access import person
from loomverify.accounts.models import Role, User
from processes.services import open_draft
from tests.browser.conftest import LOOKS, Visit, Visitor
from tests.browser.scenes import Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import make_run
from verification.runs.models import Review

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def editor(scene: Scene) -> User:
    user = scene.member(Role.ADMIN)
    open_draft(process=scene.project.processes.get(), editor=user, actor=person(user))
    return user


def url(scene: Scene) -> str:
    return reverse("draft_rule_new", args=[scene.project.slug, "small-work"])


def faults_of(visitor: Visitor) -> list[str]:
    """What the browser complained of; a try of the examples that is given up is none."""
    return [
        said for said in visitor.complaints if not said.startswith(("htmx:after", "htmx:sendAbort"))
    ]


def test_figures_follow_what_is_typed_and_lead_to_the_match(
    visit: Visit, scene: Scene, editor: User
) -> None:
    make_run(scene.project, output="one\ngrowth XX% by 2027", phase="build")
    make_run(scene.project, output="fax: N/A", review_state="decided", final_outcome="pass")
    visitor = visit(editor)
    page = visitor.go(url(scene))
    pane = page.locator("[data-history]")
    page.locator("[name=name]").fill("no-open-cells")
    page.locator("[name=type]").select_option("regex")
    page.locator("[name=enforcement]").select_option("hard")

    page.locator("[name=check]").fill("XX%")
    expect(pane.locator("#bucket-unlabelled mark")).to_have_text("XX%")
    expect(pane.locator("#bucket-false_alarm")).to_have_count(0)

    page.locator("[name=check]").fill("XX%|N/A")
    expect(pane.locator("#bucket-false_alarm mark")).to_have_text("N/A")
    expect(pane.get_by_text("100% of what it newly speaks against is wrong")).to_be_visible()
    pane.locator("a.bucket-unlabelled").click()
    with page.context.expect_page() as opened:
        pane.locator("#bucket-unlabelled .history-place a").click()
    expect(opened.value.locator("#L2.hit")).to_contain_text("growth XX% by 2027")
    assert faults_of(visitor) == []


def test_a_match_in_evidence_and_a_run_open_at_the_place(
    visit: Visit, scene: Scene, editor: User
) -> None:
    lines = "\n".join(f"line {number}" for number in range(1, 60))
    evidence = [{"id": "E 1&2", "text": f"{lines}\nfound N/A here\nmore"}]
    make_run(scene.project, output="all is well", phase="build", body={"evidence": evidence})
    page = visit(editor).go(url(scene))
    pane = page.locator("[data-history]")
    page.locator("[name=name]").fill("no-open-cells")
    page.locator("[name=type]").select_option("regex")
    page.locator("[name=target]").select_option("evidence")
    page.locator("[name=check]").fill("N/A")
    expect(pane.locator("#bucket-unlabelled mark")).to_have_text("N/A")

    for link in (".history-place a", "a[data-walk]"):
        with page.context.expect_page() as opened:
            pane.locator(f"#bucket-unlabelled {link}").click()
        place = opened.value.locator("#artefact #L60.hit")
        expect(place).to_have_text("found N/A here")
        expect(place).to_be_in_viewport()
        expect(opened.value.locator("#artefact .hit")).to_have_count(1)
        opened.value.close()


def test_focus_comes_back_to_its_run_until_somebody_leaves_it(
    visit: Visit, scene: Scene, editor: User
) -> None:
    run = make_run(scene.project, output="N/A", phase="build")
    page = visit(editor).go(url(scene))
    retype = """check => {
        const field = document.querySelector('[name=check]');
        field.value = check;
        field.dispatchEvent(new Event('input', { bubbles: true }));
    }"""
    page.locator("[name=name]").fill("no-open-cells")
    page.locator("[name=type]").select_option("regex")
    page.locator("[name=check]").fill("N/A")
    link = page.locator(f"#history-{run.uuid}")
    marked = page.locator("#bucket-unlabelled mark")
    expect(marked).to_have_text("N/A")

    link.focus()
    page.evaluate(retype, "N/.")
    expect(marked).to_have_text("N/A")
    page.evaluate(retype, "/A")
    expect(marked).to_have_text("/A")
    expect(link).to_be_focused()
    page.locator("[name=check]").click()
    page.keyboard.press("Escape")
    page.evaluate(retype, "N/")
    expect(marked).to_have_text("N/")

    assert page.evaluate("document.activeElement === document.body")


def test_a_broken_pattern_says_where_and_the_pane_recovers(
    visit: Visit, scene: Scene, editor: User
) -> None:
    make_run(scene.project, output="N/A", phase="build")
    page = visit(editor).go(url(scene))
    pane = page.locator("[data-history]")
    page.locator("[name=name]").fill("no-open-cells")
    page.locator("[name=type]").select_option("regex")

    page.locator("[name=check]").fill("(N/A")
    expect(pane.get_by_text(re.compile("Not a pattern"))).to_be_visible()

    page.locator("[name=check]").fill("(N/A)")
    expect(pane.locator("#bucket-unlabelled mark")).to_have_text("N/A")


def test_unlabelled_runs_are_sent_to_review(visit: Visit, scene: Scene, editor: User) -> None:
    run = make_run(scene.project, output="N/A", phase="build")
    page = visit(editor).go(url(scene))
    page.locator("[name=name]").fill("no-open-cells")
    page.locator("[name=type]").select_option("regex")
    page.locator("[name=check]").fill("N/A")

    page.get_by_role("button", name="Send 1 to review").click()

    expect(page.get_by_text("1 sent to review.")).to_be_visible()
    assert Review.objects.filter(run=run, state="pending").exists()


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_a_full_pane_stays_within_the_page(
    visit: Visit, scene: Scene, editor: User, width: int, theme: str
) -> None:
    make_run(scene.project, output=f"{'long ' * 50}N/A{'x' * 300}", phase="build")
    visitor = visit(editor, width=width, theme=theme)
    page = visitor.go(url(scene))
    page.locator("[name=name]").fill("no-open-cells")
    page.locator("[name=type]").select_option("regex")
    page.locator("[name=check]").fill("N/A")
    expect(page.locator("#bucket-unlabelled mark")).to_be_visible()

    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate(FAULTS) == []
    assert faults_of(visitor) == []
