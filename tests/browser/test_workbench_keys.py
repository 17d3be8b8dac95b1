"""The rule workbench without a mouse."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from loomverify.accounts.access import SYSTEM, person
from loomverify.accounts.models import Role, User
from processes.definition.load import load
from processes.models import Draft
from processes.models import Rule as RuleName
from processes.services import add_version, open_draft, publish
from tests.browser.conftest import Visit
from tests.browser.scenes import Scene
from tests.builders import SOURCE_TEXT, make_run
from verification.rules.models import Pin

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TABS = [
    "draft_yaml",
    "draft_matrix",
    "draft_rules",
    "draft_phases",
    "draft_process",
    "draft_review",
    "draft_publish",
]
OBSERVED = SOURCE_TEXT.replace(
    "      type: regex\n", "      type: regex\n      enforcement: observe\n"
)


@pytest.fixture
def editor(scene: Scene) -> User:
    user = scene.member(Role.ADMIN)
    open_draft(process=scene.project.processes.get(), editor=user, actor=person(user))
    return user


def url(scene: Scene, name: str, *args: object) -> str:
    return reverse(name, args=[scene.project.slug, "small-work", *args])


def observed(scene: Scene) -> str:
    """The page of a rule that is published as observed."""
    version, _ = add_version(
        project=scene.project, source_text=OBSERVED, actor=SYSTEM, role=Role.ADMIN
    )
    publish(process=version.process, number=version.number, actor=SYSTEM, reason="Try")
    rule = RuleName.objects.get(process=version.process, name="no-placeholders")
    return url(scene, "rule_page", rule.pk)


def focused(page: Page) -> str:
    """The id, or of a link of the matrix its words."""
    script = "(({id, innerText}) => id.startsWith('link-') ? innerText : id)"
    return str(page.evaluate(f"{script}(document.activeElement)"))


def test_digits_open_the_tabs_of_a_draft(visit: Visit, scene: Scene, editor: User) -> None:
    page = visit(editor).go(url(scene, "draft_matrix"))

    opened = []
    for digit in "6273451":
        with page.expect_navigation():
            page.keyboard.press(digit)
        opened.append(page.evaluate("location.pathname"))

    assert opened == [url(scene, TABS[int(digit) - 1]) for digit in "6273451"]


def test_the_matrix_is_one_stop_that_arrows_walk_and_space_switches(
    visit: Visit, scene: Scene, editor: User
) -> None:
    page = visit(editor).go(url(scene, "draft_matrix"))
    page.locator("#t0-0").focus()

    walked = []
    for key in [
        "ArrowRight", "ArrowDown", "Home", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp",
        "ArrowUp", "ArrowUp", "Control+End", "Control+Home", "ArrowLeft",
    ]:  # fmt: skip
        page.keyboard.press(key)
        walked.append(focused(page))

    assert walked == [
        "t0-1", "t1-1", "write", "r1", "t1-0", "t0-0", "c0",
        "no-placeholders", "no-placeholders", "t1-1", "no-placeholders", "no-placeholders",
    ]  # fmt: skip
    assert page.locator("table.matrix :is(a, button)[tabindex='0']").count() == 1

    page.keyboard.press("Control+End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    expect(page.locator("#t0-1")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#t0-1")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#t0-0")).to_be_focused()
    assert page.locator("table.matrix :is(a, button)[tabindex='0']").count() == 1
    definition = load(Draft.objects.get(editor=editor).source_text).definition
    assert definition
    assert definition.rules[1].applies_to_phases == ("write", "build")


def test_a_run_of_the_history_is_walked_to_and_pinned(
    visit: Visit, scene: Scene, editor: User
) -> None:
    runs = [make_run(scene.project, output=f"{n}: N/A", phase="build") for n in range(2)]
    page = visit(editor).go(url(scene, "draft_rule", 0))
    page.locator("[name=enforcement]").select_option("hard")
    page.locator("[name=check]").fill("N/A")
    expect(page.locator("#bucket-unlabelled mark")).to_have_count(2)
    expect(page.locator("[data-history-note]")).to_be_hidden()

    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(f"#history-{runs[0].uuid}")).to_be_focused()
    with page.context.expect_page() as opened:
        page.keyboard.press("p")
    form = opened.value
    expect(form.locator("[name=rule]")).to_have_value("no-placeholders")
    expect(form.get_by_label("Must be caught")).to_be_checked()
    form.get_by_role("button", name="Pin it").click()
    expect(form.get_by_text("It is pinned")).to_be_visible()

    assert Pin.objects.get().run == runs[0]


def test_a_walk_through_the_history_survives_that_it_is_drawn_anew(
    visit: Visit, scene: Scene, editor: User
) -> None:
    make_run(
        scene.project, output="N/A", phase="build", review_state="decided", final_outcome="fail"
    )
    run = make_run(scene.project, output="N/A", phase="build")
    page = visit(editor).go(url(scene, "draft_rule", 0))
    page.locator("[name=check]").fill("N/A")
    page.locator("a.bucket-unlabelled").click()
    page.locator(f"#history-{run.uuid}").focus()

    page.evaluate("document.querySelector('[name=check]').value = 'N/A|TODO'")
    with page.expect_response("**/backtest/"):
        page.evaluate("document.getElementById('rule-form').dispatchEvent(new Event('input'))")

    expect(page.locator("[data-history-note]")).to_be_hidden()
    expect(page.locator("#bucket-unlabelled")).to_have_attribute("open", "")
    expect(page.locator(f"#history-{run.uuid}")).to_be_focused()


def test_a_false_alarm_is_pinned_as_what_must_pass(
    visit: Visit, scene: Scene, editor: User
) -> None:
    make_run(
        scene.project, output="N/A", phase="build", review_state="decided", final_outcome="pass"
    )
    page = visit(editor).go(url(scene, "draft_rule", 0))
    page.locator("[name=check]").fill("N/A")

    with page.context.expect_page() as opened:
        page.locator("#bucket-false_alarm").get_by_role("link", name="Pin").click()

    expect(opened.value.get_by_label("Must pass")).to_be_checked()


def test_a_rule_takes_a_step_by_keys(visit: Visit, scene: Scene) -> None:
    page = visit(scene.member(Role.ADMIN)).go(observed(scene))

    page.keyboard.press("c")
    page.keyboard.type("o a h: nobody called it wrong")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.get_by_text("the rule is advisory")).to_be_visible()
    page.keyboard.press("h")  # without a reason nothing is sent
    expect(page.get_by_label("Why")).to_be_focused()


def test_every_key_of_these_pages_stands_on_the_sheet(
    visit: Visit, scene: Scene, editor: User
) -> None:
    search = reverse("rule_search", args=[scene.project.slug])
    paths = [*(url(scene, name) for name in TABS), search, observed(scene)]
    visitor = visit(editor)

    used = set()
    for path in paths:
        found = "[...document.querySelectorAll('[data-key]')].map((one) => one.dataset.key)"
        used |= set(visitor.go(path).evaluate(found))
    page = visitor.page
    page.keyboard.press("?")
    told = set(page.locator("#keys kbd").all_inner_texts())
    expect(page.locator("#keys")).to_be_visible()

    assert used - {"2", "3", "4", "5", "6"} <= told
