from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from loomverify.accounts.access import Actor
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import InputError, NotFound
from processes import services
from processes.models import PhaseRule, ProcessVersion, RuleVersion
from processes.selectors import (
    definition_of,
    matrix,
    process_by_slug,
    process_list,
    published_definition,
    rule_version_ids,
    versions,
)
from processes.services import versions as version_services
from tests.processes.builtin_cases import NAMES
from tests.processes.files import SMALL, WITH_EVERYTHING, with_rule

pytestmark = pytest.mark.django_db

ANN = Actor("Ann")
SHIPPED = "name: shipped\nphases:\n  - {id: a, description: d, acceptance_criteria: c}\n"


def add(project: Project, source: str, role: Role = Role.ADMIN) -> ProcessVersion:
    version, _ = services.add_version(project=project, source_text=source, actor=ANN, role=role)
    return version


def ship(monkeypatch: pytest.MonkeyPatch, project: Project, *texts: str) -> None:
    monkeypatch.setattr(version_services, "_shipped_texts", lambda: texts)
    services.ensure_builtin_processes(project=project)


def test_a_project_gets_the_shipped_processes_published_once(project: Project) -> None:
    services.ensure_builtin_processes(project=project)
    services.ensure_builtin_processes(project=project)

    found = list(process_list(project))
    assert [process.slug for process in found] == NAMES
    assert all(process.is_builtin and process.published for process in found)
    assert ProcessVersion.objects.count() == len(NAMES)
    assert [published_definition(process).name for process in found] == NAMES


def test_changed_shipped_text_is_published_for_who_never_changed_it(
    monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    ship(monkeypatch, project, SHIPPED)

    ship(monkeypatch, project, f"{SHIPPED}author: us\n")

    process = process_by_slug(project, "shipped")
    assert [version.number for version in versions(process)] == [2, 1]
    assert process.published is not None
    assert process.published.number == 2


def test_changed_shipped_text_is_only_offered_to_who_published_their_own(
    monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    ship(monkeypatch, project, SHIPPED)
    process = process_by_slug(project, "shipped")
    add(project, f"{SHIPPED}author: me\n")
    services.publish(process=process, number=2, actor=ANN, reason="ours")

    ship(monkeypatch, project, f"{SHIPPED}author: us\n")

    process = process_by_slug(project, "shipped")
    assert process.versions.count() == 3
    assert process.published is not None
    assert process.published.number == 2


def test_a_process_of_ones_own_keeps_its_name_from_a_shipped_one(
    monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    add(project, f"{SHIPPED}author: me\n")

    ship(monkeypatch, project, SHIPPED)

    process = process_by_slug(project, "shipped")
    assert process.versions.count() == 1
    assert not process.is_builtin


@pytest.mark.parametrize(("role", "published"), [(Role.ADMIN, True), (Role.EDITOR, False)])
def test_the_first_version_is_published_at_once_by_an_admin_only(
    project: Project, role: Role, published: bool
) -> None:
    version = add(project, SMALL, role)

    process = process_by_slug(project, "small")
    assert (process.published == version) is published
    assert (version.published_at is not None) is published


def test_a_later_version_waits_to_be_published(project: Project) -> None:
    first = add(project, SMALL)

    second = add(project, f"{SMALL}risk_level: high\n")

    assert second.number == 2
    assert process_by_slug(project, "small").published == first


def test_the_same_text_again_is_the_same_version(project: Project) -> None:
    first = add(project, SMALL)

    again = add(project, SMALL)

    assert again == first
    assert AuditEntry.objects.filter(verb="process_version.added").count() == 1


def test_an_older_text_again_is_a_new_version(project: Project) -> None:
    add(project, SMALL)
    add(project, f"{SMALL}risk_level: high\n")

    assert add(project, SMALL).number == 3


def test_a_file_with_errors_stores_nothing_and_tells_them_all(project: Project) -> None:
    with pytest.raises(InputError) as caught:
        add(project, "name: x\nphases: 7\nauthor: []\n")

    assert [issue.loc for issue in caught.value.issues] == [
        ("body", "phases", 2),
        ("body", "author", 3),
    ]
    assert not project.processes.exists()


def test_warnings_and_notes_are_kept_with_the_version(project: Project) -> None:
    version, warnings = services.add_version(
        project=project,
        source_text=with_rule(type="regex", odd="1") + "memory: 1\n",
        actor=ANN,
        role=Role.ADMIN,
    )

    assert [warning.code for warning in warnings] == ["key.unknown", "rule.unscoped"]
    version.refresh_from_db()
    assert {(entry["level"], entry["code"]) for entry in version.warnings} == {
        ("warning", "rule.unscoped"),
        ("warning", "key.unknown"),
        ("note", "key.kept"),
    }


def test_a_rule_that_did_not_change_keeps_its_row(project: Project) -> None:
    first = add(project, SMALL)
    changed = f"{SMALL}    - {{name: second, check: x, type: regex, applies_to_phases: '*'}}\n"

    second = add(project, changed)

    assert RuleVersion.objects.count() == 2
    assert rule_version_ids(first.pk)["no-todo"] == rule_version_ids(second.pk)["no-todo"]
    assert set(rule_version_ids(second.pk)) == {"no-todo", "second"}
    assert list(
        PhaseRule.objects.filter(process_version=second)
        .order_by("position")
        .values_list("phase_id", flat=True)
    ) == ["build", "*"]


def test_unscoped_rules_and_rules_of_one_name_have_rows_too(project: Project) -> None:
    version = add(
        project,
        f"{SMALL}    - {{name: no-todo, check: FIXME, type: regex}}\n",
    )

    rows = PhaseRule.objects.filter(process_version=version).order_by("position")
    assert [(row.phase_id, row.rule_version.spec["check"]) for row in rows] == [
        ("build", "TODO"),
        ("", "FIXME"),
    ]


def test_publishing_says_who_why_and_instead_of_what(project: Project) -> None:
    add(project, SMALL)
    add(project, f"{SMALL}title: Better\n")
    process = process_by_slug(project, "small")

    services.publish(process=process, number=2, actor=ANN, reason="better")
    services.publish(process=process, number=1, actor=ANN, reason="not better")

    entries = AuditEntry.objects.filter(verb="process.published").order_by("id")
    assert [(entry.diff["published"], entry.reason) for entry in entries] == [
        ([None, 1], "The first version."),
        ([1, 2], "better"),
        ([2, 1], "not better"),
    ]
    assert process_by_slug(project, "small").title == "Small"


def test_publishing_what_is_published_changes_nothing(project: Project) -> None:
    add(project, SMALL)
    before = AuditEntry.objects.count()

    services.publish(process=process_by_slug(project, "small"), number=1, actor=ANN, reason="again")

    assert AuditEntry.objects.count() == before


@pytest.mark.django_db(transaction=True)
def test_files_added_at_the_same_moment_get_numbers_of_their_own(project: Project) -> None:
    def add_one(tag: str) -> int:
        try:
            return add(project, f"{SMALL}tags: {tag}\n").number
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        numbers = list(threads.map(add_one, "abcd"))

    assert sorted(numbers) == [1, 2, 3, 4]


@pytest.mark.parametrize("number", [0, 9, 2**31, 2**70])
def test_a_version_that_is_not_there_cannot_be_published(project: Project, number: int) -> None:
    add(project, SMALL)

    with pytest.raises(NotFound):
        services.publish(
            process=process_by_slug(project, "small"), number=number, actor=ANN, reason="r"
        )


def test_a_definition_is_read_once(
    project: Project, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    version = add(project, WITH_EVERYTHING)
    definition_of(version.pk)

    with django_assert_num_queries(0):  # type: ignore[operator]
        assert definition_of(version.pk).name == "everything"


def test_the_matrix_has_phases_down_and_rules_across(project: Project) -> None:
    source = f"{SMALL}    - {{name: all, check: c, severity: error, applies_to_phases: '*'}}\n"

    grid = matrix(definition_of(add(project, source).pk))

    assert [(column.rule.name, column.enforcement) for column in grid.columns] == [
        ("no-todo", "advisory"),
        ("all", "hard"),
    ]
    assert [
        (row.phase.id, [(cell.is_named, cell.is_everywhere) for cell in row.cells])
        for row in grid.rows
    ] == [
        ("build", [(True, False), (False, True)]),
        ("check", [(False, False), (False, True)]),
    ]
    assert [cell.applies for cell in grid.rows[1].cells] == [False, True]


def test_a_process_without_a_published_version_has_no_definition(project: Project) -> None:
    add(project, SMALL, Role.EDITOR)

    with pytest.raises(NotFound):
        published_definition(process_by_slug(project, "small"))


def test_a_file_of_errors_is_answered_with_the_first_thousand(project: Project) -> None:
    source = f"name: broken\ntags: [{'[], ' * 3_000}]\n"

    with pytest.raises(InputError) as refused:
        add(project, source)

    assert len(refused.value.issues) == 1_001
    assert refused.value.issues[-1].code == "errors.more"
