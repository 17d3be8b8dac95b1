from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Role
from processes import linting, services
from processes.checking import check
from processes.definition.model import Definition, Problem
from processes.lint_command import lint as lint_files
from processes.models import Process
from tests.builders import SOURCE_TEXT, make_project
from tests.processes.editing import new_desk, said
from tests.processes.test_untouched import FILES
from tests.runs.conftest import Caller
from tests.tables import check_rows

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


SOURCES = {
    **FILES,
    "broken": SOURCE_TEXT.replace("verification_tier: 2", "verification_tier: nine"),
    "no YAML": "name: [",
    "doubtful": SOURCE_TEXT.replace("      applies_to_phases: [write]\n", "      my_key: 1\n"),
    "hostile": 'name: "a\\u2028b"\nphases: []\n',
}


@check_rows("name", SOURCES, rollback=True)
def test_the_api_and_the_command_say_the_same_of_a_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "process.yaml"
    path.write_bytes(SOURCES[name].encode())
    project = make_project()
    reader = Caller(project, Role.VIEWER).client

    answer = reader.post("/api/v1/processes/lint", path.read_bytes(), content_type="text/yaml")
    code = lint_files([str(path)])

    told = answer.json()
    expected = [
        f"{path}:{one['line']}:{one['column']}: {level}: {one['message']} [{one['code']}]"
        for level in ("error", "warning", "note")
        for one in told[f"{level}s"]
    ]
    *lines, total = capsys.readouterr().out.split("\n")[:-1]
    assert sorted(lines) == sorted("\n".join(expected).split("\n") if expected else [])
    assert total.endswith(f"{len(told['errors'])} error(s), {len(told['warnings'])} warning(s)")
    assert code == bool(told["errors"])
