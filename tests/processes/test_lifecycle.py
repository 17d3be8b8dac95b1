"""What can be done with a process file, from its text to its next version and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from processes.definition.lint import lint
from processes.definition.load import load
from processes.models import Process
from tests.processes.callers import Api
from tests.processes.files import SMALL
from tests.processes.patching import BUILT_IN, STYLES, read, text_of
from tests.tables import check_rows

files = check_rows("path", [*STYLES, *BUILT_IN], ids=lambda path: path.stem)
STRICTER = SMALL.replace("check: TODO", "check: TBD")


@files
def test_load_reads_a_file_of_any_style(path: Path) -> None:
    source = text_of(path)
    written = read(source)

    loaded = load(source)

    assert loaded.errors == ()
    assert loaded.definition is not None
    assert loaded.definition.name == written["name"]
    assert len(loaded.definition.phases) == len(written["phases"])
    assert [phase.id for phase in loaded.definition.phases] == [
        phase["id"] for phase in written["phases"]
    ]


@files
def test_load_reads_bytes_as_it_reads_text(path: Path) -> None:
    assert load(path.read_bytes()) == load(text_of(path))


@pytest.mark.django_db
def test_validate_names_every_error_of_a_file_at_once(admin: Api) -> None:
    broken = SMALL.replace("verification_tier: 2", "verification_tier: 9").replace(
        "type: regex", "type: magic"
    )

    errors = admin.add(broken).json()["errors"]

    assert [error["loc"] for error in errors] == [
        ["body", "phases[1].verification_tier", 10],
        ["body", "verification.rules[0].type", 16],
    ]


def test_lint_warns_of_what_loads_and_is_probably_not_meant() -> None:
    definition = load(SMALL.replace("      applies_to_phases: [build]\n", "")).definition
    assert definition is not None

    assert [problem.code for problem in lint(definition)] == ["rule.unscoped"]


@pytest.mark.django_db
def test_version_numbers_count_up_and_a_stored_version_never_changes(admin: Api) -> None:
    admin.add(SMALL)

    second = admin.add(STRICTER).json()

    assert second["version"] == 2
    assert admin.get("/processes/small/versions/1.yaml").content == SMALL.encode()
    assert admin.get("/processes/small/versions/2.yaml").content == STRICTER.encode()


@pytest.mark.django_db
def test_publish_makes_a_version_the_one_that_counts(admin: Api) -> None:
    admin.add(SMALL)
    admin.add(STRICTER)
    before = admin.get("/processes/small").json()["rules"][0]["check"]

    admin.post("/processes/small/versions/2/publish", {"reason": "stricter"})

    after = admin.get("/processes/small").json()["rules"][0]["check"]
    assert (before, after) == ("TODO", "TBD")


@pytest.mark.django_db
def test_roll_back_publishes_the_earlier_version_again(admin: Api) -> None:
    admin.add(SMALL)
    admin.add(STRICTER)
    admin.post("/processes/small/versions/2/publish", {"reason": "stricter"})

    admin.post("/processes/small/versions/1/publish", {"reason": "too strict"})

    process = admin.get("/processes/small").json()
    assert (process["published_version"], process["rules"][0]["check"]) == (1, "TODO")
    assert Process.objects.get(slug="small").versions.count() == 2


@pytest.mark.django_db
def test_compare_shows_what_one_version_changes_in_either_direction(admin: Api) -> None:
    admin.add(SMALL)
    admin.add(STRICTER)

    forward = admin.get("/processes/small/versions/1...2").json()
    back = admin.get("/processes/small/versions/2...1").json()

    assert forward["rules"][0]["fields"] == {"check": {"before": "TODO", "after": "TBD"}}
    assert back["rules"][0]["fields"] == {"check": {"before": "TBD", "after": "TODO"}}


@pytest.mark.django_db
@check_rows("path", STYLES, ids=lambda path: path.stem, rollback=True)
def test_export_gives_a_file_of_any_style_back_byte_identical(admin: Api, path: Path) -> None:
    raw = path.read_bytes()
    slug = admin.add(raw).json()["slug"]

    assert admin.get(f"/processes/{slug}/versions/1.yaml").content == raw
