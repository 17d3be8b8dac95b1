from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import make_run
from tests.gates import PROBLEMS, TESTS, going, make_gate, make_progress
from tests.judged import live_of
from verification.engine.outcome import Status
from verification.runs.events import append_to_each
from verification.runs.models import GateProgress, RunState

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BAD = f"{MARKUP}{LONG_WORD}"


def unfold(page: Page, gate: str) -> None:
    page.locator("#gates summary").filter(has_text=gate).focus()
    page.keyboard.press("Enter")


@pytest.mark.parametrize("width", [1280, 390])
def test_gates_unfold_by_keyboard_within_the_edges_of_the_page(
    visit: Visit, scene: Scene, width: int
) -> None:
    live = live_of(scene.hostile)
    make_gate(live, "build", component=BAD[:600], command=BAD, detail=BAD)
    make_gate(live, "test", status=Status.FAILED, tests=TESTS, started_ms=1_500)
    make_gate(live, "lint", status=Status.FAILED, problems=PROBLEMS)
    visitor = visit(width=width)
    page = visitor.go(reverse("run_detail", args=[scene.project.slug, scene.hostile.uuid]))

    for gate in ("build", "test", "lint"):
        unfold(page, gate)

    expect(page.locator("#gate-1").get_by_text("assert 3 == 4")).to_be_visible()
    expect(page.locator("#gate-2").get_by_text("F401")).to_be_visible()
    expect(page.locator("#gate-0").get_by_text("What it wrote")).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate(FAULTS) == []
    assert visitor.complaints == []


@pytest.fixture
def slow(scene: Scene) -> GateProgress:
    """A gate that has written a hundred lines, and goes on."""
    run = make_run(scene.project, state=RunState.RUNNING, title="Write add")
    text = "".join(
        f"\x1b[32mstep {n}\x1b[0m {LONG_WORD if n % 9 == 0 else ''}\n" for n in range(100)
    )
    return make_progress(going(run), tail=text)


def write(row: GateProgress, text: str) -> None:
    row.written, row.tail = row.written + len(text), row.tail + text
    row.save()


def run_url(scene: Scene, row: GateProgress) -> str:
    return reverse("run_detail", args=[scene.project.slug, row.evaluation.run.uuid])


PLACE = "log => [log.scrollTop, log.scrollHeight - log.clientHeight]"


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_what_a_gate_writes_is_followed_until_somebody_scrolls_up(
    visit: Visit, scene: Scene, slow: GateProgress, width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)
    page = visitor.go(run_url(scene, slow))
    log, follow = page.get_by_role("log"), page.get_by_label("Follow")
    expect(log).to_contain_text("step 99")
    height = page.evaluate("document.documentElement.scrollHeight")

    write(slow, "step 100\nstep 101\n")
    expect(log).to_contain_text("step 101")
    top, end = log.evaluate(PLACE)
    assert end - top <= 2

    log.evaluate("log => { log.scrollTop = 40; }")
    expect(follow).not_to_be_checked()
    log.locator(".l").first.evaluate("line => getSelection().selectAllChildren(line)")
    write(slow, "step 102\n")
    expect(log).to_contain_text("step 102")
    assert log.evaluate(PLACE)[0] == 40
    assert page.evaluate("getSelection().toString()").startswith("step 0")

    page.keyboard.press("f")
    expect(follow).to_be_checked()
    top, end = log.evaluate(PLACE)
    assert end - top <= 2
    assert page.evaluate("document.documentElement.scrollHeight") == height
    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate(FAULTS) == []
    assert visitor.complaints == []


def test_the_next_gate_takes_the_place_of_the_one_before_and_nothing_moves(
    visit: Visit, scene: Scene, slow: GateProgress
) -> None:
    visitor = visit()
    page = visitor.go(run_url(scene, slow))
    findings = page.get_by_role("heading", name="Findings")
    expect(page.get_by_role("log")).to_contain_text("step 99")
    rows = page.locator("#gates-going li")
    before = findings.bounding_box()

    slow.status, slow.ended_at = "failed", timezone.now()
    slow.save()
    make_progress(slow.evaluation, "run", tail="listening\n")
    expect(page.locator("#gates-now")).to_have_text("Run runs.")
    expect(page.get_by_role("log")).to_have_count(1)
    expect(page.get_by_role("log")).to_contain_text("listening")

    expect(rows).to_have_count(2)
    row = rows.first.bounding_box()
    after = findings.bounding_box()
    assert before
    assert row
    assert after
    assert after["y"] - before["y"] == pytest.approx(row["height"], abs=2)  # one row more, no more
    assert visitor.complaints == []


def test_what_is_read_stays_while_the_page_around_it_is_exchanged(
    visit: Visit, scene: Scene, slow: GateProgress
) -> None:
    visitor = visit()
    page = visitor.go(run_url(scene, slow))
    log = page.get_by_role("log")
    expect(log).to_contain_text("step 99")
    log.evaluate("log => { log.scrollTop = 40; }")
    expect(page.get_by_label("Follow")).not_to_be_checked()
    page.locator(f"#going-{slow.pk}").focus()

    append_to_each([slow.evaluation.run_id], "review_withdrawn", at=timezone.now())
    expect(page.get_by_text("review withdrawn")).to_be_visible()
    write(slow, "step 100\n")
    expect(log).to_contain_text("step 100")

    assert log.evaluate(PLACE)[0] == 40
    expect(page.get_by_label("Follow")).not_to_be_checked()
    expect(log.locator(".l")).to_have_count(101)  # nothing came twice
    expect(page.locator(f"#going-{slow.pk}")).to_be_focused()
    assert visitor.complaints == []


def test_without_a_script_what_a_gate_wrote_is_there_and_may_be_looked_at_again(
    visit: Visit, scene: Scene, slow: GateProgress
) -> None:
    page = visit(script=False).go(run_url(scene, slow))

    expect(page.get_by_role("log")).to_contain_text("step 99")
    top, end = page.get_by_role("log").evaluate(PLACE)
    assert end - top <= 2  # its end is what is read first
    expect(page.get_by_label("Follow")).to_be_hidden()
    page.locator("#gates").get_by_role("link", name="Look again").click()
    page.locator("#gates-going").get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="Gate test of python")).to_be_visible()
    expect(page.get_by_role("log")).to_contain_text("step 99")
