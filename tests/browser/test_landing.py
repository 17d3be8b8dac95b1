from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.actions.builders import make_action, make_change, make_repository
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from verification.actions.models import Action, ActionKind, ActionState

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def landed(scene: Scene) -> Action:
    """A change with an action of each kind, some of them hostile, and one that is proposed."""
    repository = make_repository(scene.project, name="app", location=f"/srv/{'deep/' * 40}app.git")
    paths = [{"path": name, "status": "M"} for name in ("app.py", MARKUP, LONG_WORD[:400])]
    change = make_change(scene.hostile, repository, paths=paths)
    states = (ActionState.HELD, ActionState.DONE, ActionState.WITHDRAWN, ActionState.DECLINED)
    for kind, state in zip(list(ActionKind)[1:], states, strict=True):
        make_action(
            change, kind=kind, state=state, reason_code="conflict", detail=MARKUP + LONG_WORD[:300],
            ref=f"refs/heads/loomverify/review/{LONG_WORD[:200]}", new_sha="a" * 40,
            decided_by=MARKUP,
        )  # fmt: skip
    return make_action(make_change(scene.rejected, repository))


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_what_landed_stays_within_the_page_and_is_let_done_by_a_click(
    visit: Visit, scene: Scene, landed: Action, width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)
    slug = scene.project.slug
    paths = [
        reverse("settings_repositories", args=[slug]),
        reverse("repository_edit", args=[slug, landed.change.repository.uuid]),
        reverse("run_detail", args=[slug, scene.hostile.uuid]),
        reverse("action_detail", args=[slug, landed.uuid]),
        reverse("action_list", args=[slug]),
    ]

    found = {path: visitor.go(path).evaluate(OVERFLOW) for path in paths}
    faults = {path: told for path in paths if (told := visitor.go(path).evaluate(FAULTS))}

    assert found == dict.fromkeys(paths, 0)
    assert faults == {}
    page = visitor.page
    line = page.locator(f"#action-{landed.uuid} .action-line")
    state, when = (line.locator(one).bounding_box() for one in ("> .o", "> .push"))
    assert state
    assert when
    assert state["x"] < when["x"]
    assert abs(state["y"] - when["y"]) < 10, "its time stands beside its state"
    page.get_by_role("button", name="Land it").click()
    expect(page.get_by_text("It is on its way.")).to_be_visible()
    expect(page.locator(f"#action-{landed.uuid}")).to_contain_text("under way")
    assert visitor.complaints == []
