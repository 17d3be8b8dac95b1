"""A change in the code editor changes that alone, whatever signs the file is made of."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from loomverify.accounts.access import person
from loomverify.accounts.models import Role, User
from processes.models import Draft
from processes.services import open_draft
from tests.browser.conftest import Visit
from tests.browser.scenes import Scene

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

EDITOR = "ace.edit(document.querySelector('.code-editor'))"
BODY = "name: small-work\nauthor: Eva\t# tab\t here \n\nphases:  \n  - id: write\n\n  # end \t"
TEXTS = {
    "windows": BODY.replace("\n", "\r\n"),
    "windows, ended": BODY.replace("\n", "\r\n") + "\r\n",
    "order mark": "\ufeff" + BODY + "\n",
    "both": "\ufeff" + BODY.replace("\n", "\r\n"),
    "not ended": BODY,
    "empty lines at both ends": "\n\n" + BODY + "\n\n\n",
    "old macs": BODY.replace("\n", "\r"),
    "mixed": "# a\r\n# b\n" + BODY.replace("\n", "\r\n", 2) + "\n# c\r\n# d\n",
    "odd signs": BODY + "\n# \x85 \u2028 \u00a0 \u200b \U0001f600 &amp; </textarea> <!-- \u202e\n",
}


@pytest.fixture
def editor(scene: Scene) -> User:
    user = scene.member(Role.EDITOR)
    open_draft(process=scene.project.processes.get(), editor=user, actor=person(user))
    return user


@pytest.mark.parametrize("script", [True, False])
def test_only_the_change_is_saved(visit: Visit, scene: Scene, editor: User, script: bool) -> None:
    visitor = visit(editor, script=script)
    path = reverse("draft_yaml", args=[scene.project.slug, "small-work"])
    changed: dict[str, str] = {}

    for kind, text in TEXTS.items():
        Draft.objects.filter(editor=editor).update(source_text=text)
        page = visitor.go(path)
        if script:
            page.wait_for_selector(".ace_text-input", state="attached")
            page.evaluate(f"{EDITOR}.find('Eva')")
            page.evaluate(f"{EDITOR}.focus()")
            page.keyboard.type("Ada")
            page.keyboard.press("Escape")
            page.keyboard.press("Control+s")
            expect(page.locator("[data-saved-note]")).to_contain_text("saved")
            expect(page.locator("[data-dirty-note]").first).not_to_be_visible()
        else:
            area = page.locator("#source")
            area.fill(area.input_value().replace("Eva", "Ada"))
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.locator("#problems-title")).to_be_visible()
        changed[kind] = Draft.objects.get(editor=editor).source_text

    assert changed == {kind: text.replace("Eva", "Ada") for kind, text in TEXTS.items()}
