from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from tests.browser.conftest import Visit
from tests.browser.scenes import Scene

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_report_is_saved_from_the_menu_of_a_run(
    visit: Visit, scene: Scene, width: int, script: bool
) -> None:
    visitor = visit(width=width, script=script)
    page = visitor.go(reverse("run_detail", args=[scene.project.slug, scene.rejected.uuid]))

    page.get_by_text("Export", exact=True).click()
    link = page.get_by_role("link", name="Report (Markdown)")
    box = link.bounding_box()
    with page.expect_download() as saved:
        link.click()

    assert box is not None
    assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    assert saved.value.suggested_filename == f"run-{scene.rejected.uuid.hex[:8]}-report.md"
    assert Path(saved.value.path()).read_text().startswith("# Rejected: ")
    assert visitor.complaints == []


def test_the_findings_of_a_list_are_saved_as_filtered(visit: Visit, scene: Scene) -> None:
    page = visit().go(reverse("run_list", args=[scene.project.slug]) + "?verdict=reject")

    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Findings (CSV)").click()

    assert saved.value.suggested_filename == "findings.csv"
    assert Path(saved.value.path()).read_text(encoding="utf-8-sig").startswith("run,run_created_at")
