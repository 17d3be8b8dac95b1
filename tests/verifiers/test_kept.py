"""A verifier version stays what it was made: the code refuses, and so does PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from psycopg.sql import SQL

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project
from loomverify.errors import FaultError
from tests.builders import make_project
from verification.engine.verifier import LEGACY_FLAGS, VerifierSpec
from verification.verifiers import services
from verification.verifiers.models import VerifierVersion

pytestmark = pytest.mark.django_db

CHANGES = {
    **dict.fromkeys(("id", "project_id", "number"), "1000"),
    **dict.fromkeys(("engine", "spec_sha256", "engine_build", "note", "created_by"), "'other'"),
    "spec": 'spec || \'{"engine_build": "0"}\'',
    "created_at": "now() - interval '1 day'",
}


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def version(project: Project) -> VerifierVersion:
    """One that nothing names and that judges nothing."""
    return services.add_version(project=project, spec=VerifierSpec(LEGACY_FLAGS))


def saved_whole(version: VerifierVersion) -> None:
    version.note = "Otherwise."
    version.save()


def saved_in_part(version: VerifierVersion) -> None:
    version.spec = VerifierSpec().to_json()
    version.save(update_fields=["spec", "is_active"])


def updated(version: VerifierVersion) -> None:
    VerifierVersion.objects.filter(pk=version.pk).update(spec_sha256="0" * 64)


def updated_of_the_project(version: VerifierVersion) -> None:
    version.project.verifiers.filter(pk=version.pk).update(engine_build="0")


def deleted(version: VerifierVersion) -> None:
    version.delete()


def deleted_by_query(version: VerifierVersion) -> None:
    VerifierVersion.objects.filter(pk=version.pk).delete()


@pytest.mark.parametrize(
    "write",
    [
        saved_whole,
        saved_in_part,
        updated,
        updated_of_the_project,
        deleted,
        deleted_by_query,
    ],
)
def test_the_code_writes_a_version_once(
    version: VerifierVersion, write: Callable[[VerifierVersion], None]
) -> None:
    with pytest.raises(FaultError, match="a verifier version"):
        write(version)

    assert_kept(version)


def test_postgresql_refuses_a_change_of_whatever_says_how_it_judges(
    version: VerifierVersion,
) -> None:
    for column, value in CHANGES.items():
        with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
            execute("update {} set {} = {} where id = %s", column, value, pk=version.pk)

    assert_kept(version)
    columns = {field.column for field in VerifierVersion._meta.concrete_fields}
    assert columns - CHANGES.keys() == {"is_active", "environment_models"}


def test_postgresql_deletes_a_version_with_its_project_alone(version: VerifierVersion) -> None:
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        execute("delete from {} where id = %s", pk=version.pk)

    assert_kept(version)


def test_postgresql_deletes_a_version_after_its_project() -> None:
    project, spec = Project.objects.create(slug="gone", name="Gone"), VerifierSpec()
    version = VerifierVersion.objects.create(
        project=project, number=1, engine="policy", spec=spec.to_json(), spec_sha256=spec.sha256
    )

    with connection.cursor() as cursor:
        cursor.execute("delete from accounts_project where id = %s", [project.pk])
    execute("delete from {} where id = %s", pk=version.pk)
    connection.check_constraints()

    assert not VerifierVersion.objects.filter(pk=version.pk).exists()


def test_which_one_judges_can_still_change(project: Project, version: VerifierVersion) -> None:
    services.activate(project=project, number=version.number, actor=SYSTEM, reason="Because.")

    assert project.verifiers.get(is_active=True) == version


def execute(statement: str, *names: str, pk: int) -> None:
    parts = [SQL(name) for name in ("verifiers_verifierversion", *names)]
    with connection.cursor() as cursor:
        cursor.execute(SQL(statement).format(*parts), [pk])


def assert_kept(version: VerifierVersion) -> None:
    stored = VerifierVersion.objects.get(pk=version.pk)
    made: Mapping[str, Any] = {"number": 2, "engine": "legacy", "note": "", "created_by": "system"}
    assert {name: getattr(stored, name) for name in made} == made
    assert VerifierSpec.from_json(stored.spec) == VerifierSpec(LEGACY_FLAGS)
    assert stored.spec_sha256 == VerifierSpec(LEGACY_FLAGS).sha256
