from __future__ import annotations

from dataclasses import replace

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from loomverify.accounts.access import SYSTEM, Actor
from loomverify.accounts.models import AuditEntry
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from verification.engine.verifier import LEGACY_FLAGS, Flags, JudgeModels, Limits, VerifierSpec
from verification.verifiers import connections
from verification.verifiers.connections import Terms
from verification.verifiers.models import VerifierVersion
from verification.verifiers.services import activate, add_version

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def versions(scene: Scene) -> list[VerifierVersion]:
    """One that was rolled out, one whose names and note are as long and hostile as they may be."""
    project = scene.project
    names = ["w" * 60, "openai-small"]
    for name in names:
        connections.add_connection(
            project=project, actor=SYSTEM, name=name, model="openai/m", terms=Terms()
        )
    legacy = add_version(project=project, spec=VerifierSpec(LEGACY_FLAGS), note="The old engine.")
    wide = add_version(
        project=project,
        spec=VerifierSpec(
            replace(Flags(), tier3_vote_count=5, shadow_compare_enabled=True),
            JudgeModels(names[0], names[1], tuple(names)),
            limits=Limits(prompt_chars=20_000),
        ),
        note=(MARKUP + LONG_WORD)[:300],
        actor=Actor("N" * 200),
    )
    for version in (legacy, wide):
        activate(project=project, number=version.number, actor=SYSTEM, reason=MARKUP)
    return [legacy, wide]


def test_a_version_is_made_held_beside_the_active_one_activated_and_rolled_back(
    visit: Visit, scene: Scene
) -> None:
    visitor = visit()
    page = visitor.go(reverse("settings_verifiers", args=[scene.project.slug]))

    page.get_by_role("link", name="New version", exact=True).click()
    page.get_by_label("Regex rules are advisory").uncheck()
    page.get_by_label("Votes of tier 3").fill("5")
    page.get_by_text("Limits", exact=True).click()
    page.get_by_label("Calls in tier 2").fill("6")
    page.get_by_label("Note").fill("Regex rules count")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text("v2 was made. It judges nothing yet.")).to_be_visible()

    page.get_by_role("link", name="Verifier versions").first.click()
    page.get_by_role("link", name="Compare v1 and v2").click()
    expect(page.get_by_role("heading", name="3 parts differ")).to_be_visible()
    expect(page.get_by_role("row", name="Calls in tier 2")).to_contain_text("8")

    page.get_by_role("link", name="v2", exact=True).click()
    page.get_by_label("Why", exact=True).fill("They hid a defect")
    page.get_by_role("button", name="Activate v2").click()
    expect(page.get_by_text("v2 judges runs that are submitted from now on.")).to_be_visible()
    assert VerifierVersion.objects.get(project=scene.project, is_active=True).number == 2

    page.get_by_label("Why", exact=True).fill("They reject too much")
    page.get_by_role("button", name="Roll back to v1").click()
    expect(page.get_by_text("v1 judges runs that are submitted from now on.")).to_be_visible()
    expect(page.get_by_role("button", name="Return to v2")).to_be_visible()

    changes = AuditEntry.objects.filter(verb="verifier.activated").order_by("pk")
    assert [(*entry.diff["active"], entry.reason) for entry in changes] == [
        (1, 2, "They hid a defect"),
        (2, 1, "They reject too much"),
    ]
    assert visitor.complaints == []


def test_a_wrong_limit_is_told_in_its_open_fold_and_the_rest_stays(
    visit: Visit, scene: Scene
) -> None:
    page = visit(script=False).go(reverse("verifier_new", args=[scene.project.slug]))
    page.evaluate("document.querySelector('form.parts-form').noValidate = true")

    page.get_by_label("Votes of tier 3").fill("7")
    page.get_by_text("Limits", exact=True).click()
    page.get_by_label("Calls in tier 2").fill("99")
    page.get_by_role("button", name="Make it").click()

    expect(page.get_by_text("Ensure this value is less than or equal to 40.")).to_be_visible()
    expect(page.get_by_label("Votes of tier 3")).to_have_value("7")


def test_a_preset_fills_the_form_at_once(visit: Visit, scene: Scene) -> None:
    page = visit().go(reverse("verifier_new", args=[scene.project.slug]))

    page.get_by_label("flags").select_option("legacy")

    expect(page.get_by_role("checkbox", name="Policy engine")).not_to_be_checked()
    expect(page.get_by_label("Rules speak in")).to_have_value("global")


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_no_page_of_verifier_versions_complains_or_runs_over_its_edge(
    visit: Visit, scene: Scene, versions: list[VerifierVersion], width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)
    slug, compare = scene.project.slug, reverse("verifier_compare", args=[scene.project.slug])
    paths = [
        reverse("settings_verifiers", args=[slug]),
        *(reverse("verifier_detail", args=[slug, one.number]) for one in versions),
        reverse("verifier_new", args=[slug]),
        f"{compare}?old=1&new={versions[1].number}",
        f"{compare}?old=1&new={versions[1].number}&all=1",
    ]

    found = {
        path: (visitor.go(path).evaluate(OVERFLOW), visitor.page.evaluate(FAULTS)) for path in paths
    }

    assert {path: one for path, one in found.items() if one[0] > 0 or one[1]} == {}
    assert visitor.page.title() != "owned"
    assert visitor.complaints == []
