from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from loomverify.accounts.models import Role
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_editor import type_at
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import make_run
from tests.golden.builders import editor_of, make_case, make_replay, make_result
from verification.engine.golden.standing import Standing
from verification.golden.cases.selectors import case_of, document_of
from verification.golden.cases.services import change_case
from verification.golden.models import GoldenCase

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def case(scene: Scene) -> GoldenCase:
    """With everything that a page can show, some of it hostile."""
    made = make_case(
        scene.project,
        "placeholder-in-output",
        guards=f"A placeholder is never accepted. {MARKUP}"[:500],
        owner=MARKUP[:200],
        tags=["placeholder", "north"],
        tier=2,
        run={
            "output": f"TODO: name the source.\n{MARKUP}\n{LONG_WORD}",
            "tool_calls": [{"tool": MARKUP[:100], "success": False, "error": LONG_WORD}],
            "claims": [{"text": MARKUP, "label": "inferred", "section": "supporting"}],
        },
        files={"figures.json": "{}\n", "a/<img src=x>.txt": LONG_WORD},
        replies=[{"text": MARKUP}, {"lost": "rate_limited"}],
        gates=[{"gate": "test", "status": "failed", "exit_code": 1, "detail": LONG_WORD[:500]}],
        provenance={"source": MARKUP},
        expected={"outcome": "fail", "feedback": [LONG_WORD[:900], MARKUP]},
    )
    seen = {"place": "feedback[0]", "expected": LONG_WORD, "observed": f"{MARKUP} {LONG_WORD}"}
    for _ in range(30):
        make_result(make_replay(scene.project), made, standing=Standing.FAILING, differences=[seen])
    return made


def path_of(scene: Scene, name: str, *args: object) -> str:
    return reverse(name, args=[scene.project.slug, *args])


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_pages_of_cases_stay_within_the_page_and_nothing_in_them_runs(
    visit: Visit, scene: Scene, case: GoldenCase, width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)
    one = path_of(scene, "golden_case", case.uuid)
    paths = [
        path_of(scene, "golden_cases"),
        path_of(scene, "golden_cases") + "?q=nothing",
        *(one + query for query in ("", "?show=tools", "?show=claims", "?made")),
        path_of(scene, "golden_case_edit", case.uuid),
        path_of(scene, "golden_case_fields", case.uuid),
        path_of(scene, "golden_case_new"),
        path_of(scene, "golden_import"),
        path_of(scene, "golden_drafts"),
    ]

    faults = {}
    for path in paths:
        page = visitor.go(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        if page.evaluate(OVERFLOW) or page.evaluate(FAULTS) or page.title() == "owned":
            faults[path] = [page.evaluate(OVERFLOW), *page.evaluate(FAULTS)]

    assert faults == {}
    assert visitor.complaints == []


def test_g_makes_a_case_of_a_run_and_u_takes_it_back(visit: Visit, scene: Scene) -> None:
    run = make_run(scene.project, output="Done.", evaluation={"retry_strategy": "none"})
    page = visit(scene.member(Role.EDITOR)).go(path_of(scene, "run_detail", run.uuid))

    page.keyboard.press("?")
    expect(page.get_by_text("make a golden case (run)")).to_be_visible()
    page.keyboard.press("?")
    page.keyboard.press("g")
    expect(page.get_by_text("is in the corpus.")).to_be_visible()
    page.wait_for_load_state()  # keys are heard once the page is whole
    page.keyboard.press("u")
    expect(page.get_by_text("It is retired")).to_be_visible()
    page.wait_for_load_state()
    retired = GoldenCase.objects.get().retired_at
    page.keyboard.press("u")
    expect(page.get_by_text("It is back")).to_be_visible()

    assert retired is not None
    assert GoldenCase.objects.get().retired_at is None


def test_a_list_is_walked_filtered_and_opened_by_keys(visit: Visit, scene: Scene) -> None:
    for name in ("first-case", "second-case", "third-case"):
        make_case(scene.project, name)
    page = visit().go(path_of(scene, "golden_cases"))

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="second-case")).to_be_visible()
    page.go_back()
    page.keyboard.press("/")
    page.keyboard.type("third")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="1 case", exact=True)).to_be_visible()


def test_two_who_edit_the_same_case_both_keep_their_words(visit: Visit, scene: Scene) -> None:
    case = make_case(scene.project, "figures-hold")
    page = visit(scene.member(Role.EDITOR)).go(path_of(scene, "golden_case_edit", case.uuid))
    assert case.current is not None
    theirs = {**document_of(case.current), "guards": "Said otherwise."}
    change_case(
        access=editor_of(scene.project, "mira"), case=case.uuid, document=theirs, reason="Clearer."
    )

    page.get_by_label("Why it is changed").fill("It fails by now.")
    type_at(page, 2, "owner: Zoe\n")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("yours is not stored", exact=False)).to_be_visible()
    expect(page.locator("td.s-after", has_text="owner: Zoe")).to_be_visible()
    expect(page.get_by_label("Why it is changed")).to_have_value("It fails by now.")
    page.get_by_role("button", name="Store the next version").click()
    expect(page.get_by_text("Stored as version 3.")).to_be_visible()

    current = case_of(scene.project, case.uuid).current
    assert current is not None
    assert (current.spec["guards"], current.spec["owner"]) == ("Plain work passes.", "Zoe")


def test_mistakes_are_told_at_their_line_while_typing(visit: Visit, scene: Scene) -> None:
    visitor = visit(scene.member(Role.EDITOR))
    page = visitor.go(path_of(scene, "golden_case_new"))
    expect(page.get_by_role("heading", name="It can be stored")).to_be_visible()

    type_at(page, 3, "nonsense: 1\n")

    expect(page.get_by_role("heading", name="1 thing to mend")).to_be_visible()
    expect(page.locator("#problems [data-problem]")).to_contain_text("nonsense")
    expect(page.locator(".ace_gutter .ace_error")).to_have_count(1)
    assert visitor.complaints == []


def test_an_import_with_an_error_is_mended_and_stored(visit: Visit, scene: Scene) -> None:
    page = visit(scene.member(Role.EDITOR), script=False).go(path_of(scene, "golden_import"))
    text = (
        "- id: brand-new\n  guards: Plain work passes.\n  process: small-work\n  phase: 3\n"
        "  run: {task: {id: a, description: Sum up.}, output: Done.}\n"
        "  expected: {outcome: pass}\n"
    )

    page.get_by_role("textbox", name="Cases, as YAML or JSON").fill(text)
    page.get_by_role("button", name="Check them").click()
    expect(page.get_by_text("1 thing to mend. Nothing was stored.")).to_be_visible()
    expect(page.get_by_role("link", name="4:3")).to_be_visible()
    page.get_by_role("textbox", name="Cases, as YAML or JSON").fill(
        text.replace("phase: 3", "phase: build")
    )
    page.get_by_role("button", name="Check them").click()
    page.get_by_role("button", name="Store it").click()

    expect(page.get_by_text("Cases: 1 made.")).to_be_visible()
    assert GoldenCase.objects.get().name == "brand-new"
