from __future__ import annotations

from collections.abc import Iterator

import pytest

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Role
from processes import linting, services
from processes.checking import check
from processes.definition.model import Definition, Problem
from processes.models import Process
from tests.builders import SOURCE_TEXT, make_project
from tests.processes.editing import new_desk, said

pytestmark = pytest.mark.django_db
ANN = Actor("Ann")


def never_tried(process: Process, definition: Definition) -> Iterator[Problem]:
    for rule in definition.rules:
        if rule.type == "llm":
            yield Problem("rule.untried", f"{process} never tried {rule.name}.", rule.path)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linting, "_checks", [])
    linting.register(never_tried)
    linting.register(never_tried)


def test_a_registered_check_warns_once_at_the_place_that_it_names() -> None:
    process = make_project().processes.get()

    found = [one for one in check(SOURCE_TEXT, process).warnings if one.code == "rule.untried"]

    assert [(one.line, one.column, one.level) for one in found] == [(21, 7, "warning")]
    assert not [one for one in check(SOURCE_TEXT).warnings if one.code == "rule.untried"]
    assert check("name: [", process).warnings == ()


def test_its_warnings_stand_on_the_pages_of_a_draft_and_with_each_version() -> None:
    desk = new_desk(make_project())
    desk.begin()
    told = "small-work never tried figures-have-sources."

    pages = [desk.get("draft_yaml"), desk.get("draft_publish")]
    pages.append(desk.post("draft_check", source_text=SOURCE_TEXT))
    version, warnings = services.add_version(
        project=desk.process.project,
        source_text=SOURCE_TEXT + "# more\n",
        actor=ANN,
        role=Role.EDITOR,
    )

    assert [told in said(page) for page in pages] == [True, True, True]
    assert told in [one.message for one in warnings]
    assert told in [one["message"] for one in version.warnings]
