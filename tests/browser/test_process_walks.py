"""A process goes back, is copied, brought in and taken out; a rule takes step after step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from loomverify.accounts.access import SYSTEM, person
from loomverify.accounts.models import AuditEntry, Project, Role
from processes.models import Process, ProcessVersion, RuleVersion
from processes.services import add_version, open_draft, publish
from tests.browser.conftest import Visit
from tests.browser.scenes import Scene
from tests.builders import SOURCE_TEXT, make_run
from tests.reviewing import make_review
from tests.reviews.people import FAIL, PASS, reviewer_of, says, settled
from tests.rules.test_figures import told
from verification.engine.outcome import Outcome
from verification.runs.models import Review, Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NAME = "no-open-cells"
RULE = f"""\
    - name: {NAME}
      check: "N/A"
      type: regex
      enforcement: observe
      applies_to_phases: [build]
"""
COMMENTED = "# Ours.\r\n" + SOURCE_TEXT.replace("\n", "\r\n").rstrip() + "  # the end \t"


def published(scene: Scene) -> int:
    version = Process.objects.get(project=scene.project, slug="small-work").published
    assert version is not None
    return version.number


def stored(project: Project, text: str, *, publishing: bool = True) -> ProcessVersion:
    version, _ = add_version(project=project, source_text=text, actor=SYSTEM, role=Role.ADMIN)
    if publishing:
        publish(
            process=version.process, number=version.number, actor=SYSTEM, reason="It is better."
        )
    return version


def page_of_process(scene: Scene, query: str = "") -> str:
    return reverse("process_detail", args=[scene.project.slug, "small-work"]) + query


def test_one_press_goes_back_and_another_undoes_it(visit: Visit, scene: Scene) -> None:
    before = published(scene)
    version = stored(scene.project, SOURCE_TEXT.replace('"TODO|TBD"', '"TODO|TBC"'))
    visitor = visit()
    page = visitor.go(page_of_process(scene))

    page.get_by_role("button", name=f"Go back to v{before}").click()

    expect(page.get_by_text(f"gone back to from v{version.number}")).to_be_visible()
    assert published(scene) == before
    page.get_by_label("Why").fill("It was right after all.")
    page.get_by_role("button", name=re.compile(f"v{version.number}")).click()
    expect(page.get_by_text("It was right after all.")).to_be_visible()
    assert published(scene) == version.number
    reasons = list(AuditEntry.objects.order_by("-id").values_list("reason", flat=True)[:2])
    assert reasons == [
        "It was right after all.",
        f"Back from v{version.number} to v{before}.",
    ]
    assert visitor.complaints == []


def test_a_folder_of_files_is_brought_in(visit: Visit, scene: Scene, tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    (folder / "more").mkdir(parents=True)
    for path, name in {"one.yaml": "one-work", "more/two.yml": "two-work"}.items():
        text = COMMENTED.replace("small-work", name)
        (folder / path).write_bytes(text.encode())
    (folder / "notes.txt").write_text("not read")
    page = visit().go(reverse("process_import", args=[scene.project.slug]))

    page.get_by_label("or a folder").set_input_files(folder)
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("heading", name="2 files, 2 to store")).to_be_visible()
    page.get_by_role("button", name="Store 2 files").click()

    expect(page.get_by_role("link", name="two-work", exact=True)).to_be_visible()
    texts = ProcessVersion.objects.filter(process__slug__in=["one-work", "two-work"])
    assert sorted(texts.values_list("source_text", flat=True)) == [
        COMMENTED.replace("small-work", name) for name in ("one-work", "two-work")
    ]


def test_a_copy_keeps_all_but_the_name(visit: Visit, scene: Scene) -> None:
    text = COMMENTED.replace("\r\n", "\n")
    stored(scene.project, text)
    page = visit().go(page_of_process(scene))

    page.get_by_role("link", name="Duplicate").click()
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("heading", name="A new process: small-work-copy")).to_be_visible()
    page.get_by_role("button", name="Make the process").click()

    expect(page.get_by_text("Stored as v1.")).to_be_visible()
    copied = ProcessVersion.objects.get(process__slug="small-work-copy")
    assert copied.source_text == text.replace("name: small-work", "name: small-work-copy", 1)


def test_a_download_is_the_source_byte_for_byte(visit: Visit, scene: Scene) -> None:
    version = stored(scene.project, COMMENTED)
    page = visit().go(page_of_process(scene, "?view=source"))

    with page.expect_download() as taken:
        page.get_by_role("link", name="Download", exact=True).click()

    assert taken.value.path().read_bytes() == COMMENTED.encode()
    assert taken.value.suggested_filename == f"small-work-v{version.number}.yaml"


def test_the_newest_twenty_are_sent_to_review_and_then_the_rest(visit: Visit, scene: Scene) -> None:
    admin = scene.member(Role.ADMIN)
    open_draft(process=scene.project.processes.get(), editor=admin, actor=person(admin))
    runs = [make_run(scene.project, output="N/A", phase="build") for _ in range(25)]
    page = visit(admin).go(reverse("draft_rule_new", args=[scene.project.slug, "small-work"]))
    page.locator("[name=name]").fill(NAME)
    page.locator("[name=type]").select_option("regex")
    page.locator("[name=check]").fill("N/A")

    expect(page.get_by_text("The newest 20 of 25.")).to_be_visible()
    page.get_by_role("button", name="Send 20 to review").click()

    expect(page.get_by_text("20 sent to review.")).to_be_visible()
    asked = set(Review.objects.filter(state="pending").values_list("run_id", flat=True))
    assert asked >= {run.pk for run in runs[5:]}
    assert not asked & {run.pk for run in runs[:5]}

    page.locator("[name=check]").fill("N.A")
    page.get_by_role("button", name="Send 5 to review").click()
    expect(page.get_by_text("5 sent to review.")).to_be_visible()
    page.locator("[name=check]").fill("N/.")
    expect(page.get_by_text("People were asked about each.")).to_be_visible()


def judged(scene: Scene, spoke: Sequence[bool | None], *, silent: int) -> None:
    """Runs of the rule as it is published: what people said of what it found, None nothing."""
    content = RuleVersion.objects.filter(rule__name=NAME).latest("pk").content_sha256
    for is_right in spoke:
        run = make_run(
            scene.project,
            outcome=Outcome.FAIL,
            findings=[{"rule": NAME, "fingerprint": "f"}],
            evaluation={"rule_trace": [told(NAME, "violated", content)]},
        )
        if is_right is not None:
            review = make_review(scene.project, run)
            outcome = FAIL if is_right else PASS
            says(reviewer_of(scene.project), review, outcome, findings={"f": is_right})
            settled(review)
    for _ in range(silent):
        trace = [told(NAME, "satisfied", content)]
        make_run(scene.project, evaluation={"rule_trace": trace})


def figures(page: Page) -> str:
    return " ".join(page.locator("#step").inner_text().split())


def test_each_step_is_taken_beside_the_figures_of_the_one_before(
    visit: Visit, scene: Scene
) -> None:
    stored(scene.project, SOURCE_TEXT + RULE)
    judged(scene, [True, False, None], silent=1)
    path = reverse("rule_named", args=[scene.project.slug, "small-work"]) + f"?rule={NAME}"
    visitor = visit()
    page = visitor.go(path)

    assert "Would have spoken in 3 of 4 runs of the last 90 days" in figures(page)
    assert "People called it wrong 50.0 % 9.5 % to 90.5 %" in figures(page)
    assert "1 of 2 judged" in figures(page)
    assert "applied to 4 runs on this step: wait for 50" in figures(page)
    assert "in 2 of 3 runs: how often it is wrong is a guess" in figures(page)
    page.keyboard.press("c")
    page.keyboard.type("It finds what it should.")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.get_by_text("the rule is advisory.")).to_be_visible()
    assert "Spoke in 0 of 0 runs" in figures(page)

    judged(scene, [True] * 9 + [False], silent=40)
    visitor.go(path)
    assert "Spoke in 10 of 50 runs" in figures(page)
    assert "People called it wrong 10.0 %" in figures(page)
    assert "1 of 10 judged" in figures(page)
    expect(page.locator("#step .is-warn")).to_have_count(0)
    page.get_by_label("Why").fill("Nine of ten.")
    page.get_by_role("button", name="Make hard").click()
    expect(page.get_by_text("the rule is hard.")).to_be_visible()

    judged(scene, [None], silent=0)
    visitor.go(path)
    assert "Spoke in 1 of 1 run of the last 90 days" in figures(page)
    assert "in 0 of 1 run: how often it is wrong is a guess" in figures(page)
    page.get_by_label("Why").fill("Too early.")
    page.get_by_role("button", name="Back to advisory").click()
    expect(page.get_by_text("the rule is advisory.")).to_be_visible()
    assert "Spoke in 10 of 50 runs" in figures(page)
    assert visitor.complaints == []


def test_a_new_rule_is_observed_beside_what_it_did_on_history(visit: Visit, scene: Scene) -> None:
    admin = scene.member(Role.ADMIN)
    open_draft(process=scene.project.processes.get(), editor=admin, actor=person(admin))
    decided: dict[str, Any] = {"phase": "build", "output": "N/A", "review_state": "decided"}
    make_run(scene.project, **decided, final_outcome="pass")
    for _ in range(2):
        make_run(scene.project, **decided, final_outcome="fail")
    judged_runs = Run.objects.filter(state="finished", live_evaluation__isnull=False)
    tried = judged_runs.filter(phase_id="build").count()
    visitor = visit(admin)
    page = visitor.go(reverse("draft_rule_new", args=[scene.project.slug, "small-work"]))
    page.locator("[name=name]").fill(NAME)
    page.locator("[name=type]").select_option("regex")
    page.locator("[name=enforcement]").select_option("hard")
    page.locator('[name="phases"][value="build"]').check()
    page.locator("[name=check]").fill("N/A")
    expect(page.locator("[data-history] mark").first).to_have_text("N/A")
    expect(page.locator("[data-history-note]")).to_be_hidden()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text(f"{NAME} is saved in your draft.")).to_be_visible()

    named = reverse("rule_named", args=[scene.project.slug, "small-work"]) + f"?rule={NAME}"
    visitor.go(named)
    found = figures(page)
    assert f"matched 3 of {tried} past runs; as hard" in found
    assert "2 good catches, 1 false alarm" in found
    page.keyboard.press("c")
    page.keyboard.type("Let us see.")
    page.keyboard.press("Escape")
    page.keyboard.press("o")

    expect(page.get_by_role("button", name="Make advisory")).to_be_visible()
    assert "Would have spoken in 0 of 0 runs" in figures(page)
    assert f"matched 3 of {tried} past runs" in figures(page)
