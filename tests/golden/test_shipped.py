from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.utils import timezone

from loomverify.accounts.models import AuditEntry, Project
from tests.builders import make_project
from tests.golden.builders import document, editor_of, make_case
from verification.golden.cases import services, shipping
from verification.golden.documents.parsing import parse_cases
from verification.golden.models import GoldenCase, GoldenCaseVersion
from verification.golden.shipped import CORPUS, PROGRAM

pytestmark = pytest.mark.django_db
Ship = Callable[..., int]


@pytest.fixture
def project() -> Project:
    return make_project("ours")


@pytest.fixture
def ship(project: Project, monkeypatch: pytest.MonkeyPatch) -> Ship:
    """Start the program with these documents in its corpus."""

    def ship(*documents: dict[str, Any]) -> int:
        named = [("own.yaml", one) for one in documents]
        monkeypatch.setattr(shipping, "shipped_documents", lambda: iter(named))
        shipping._shipped.cache_clear()
        return services.ensure_shipped(project=project)

    return ship


@pytest.fixture(autouse=True)
def _nothing_stays_shipped() -> Any:
    yield
    shipping._shipped.cache_clear()


def case(name: str) -> GoldenCase:
    return GoldenCase.objects.select_related("current").get(name=name)


def number_of(name: str) -> int:
    current = case(name).current
    assert current is not None
    return current.number


def test_every_shipped_case_is_a_row_of_the_program_itself(project: Project, ship: Ship) -> None:
    made = ship(document("one", files={"a.md": "A"}), document("two", tags=["canary"]))

    assert made == 2
    assert case("one").is_shipped
    assert (case("one").created_by, case("two").tags) == (PROGRAM, ["canary"])
    assert [file.path for file in case("one").current.files.all()] == ["a.md"]  # type: ignore[union-attr]
    assert AuditEntry.objects.get(verb="golden_case.shipped").actor == PROGRAM


def test_the_next_start_changes_nothing(ship: Ship) -> None:
    documents = document("one"), document("two")
    ship(*documents)

    assert ship(*documents) == 0
    assert GoldenCaseVersion.objects.count() == 2
    assert AuditEntry.objects.filter(verb="golden_case.shipped").count() == 1


def test_a_changed_document_is_a_new_version(ship: Ship) -> None:
    shipped = document("one")
    ship(shipped)

    assert ship({**shipped, "guards": "Plain work passes, whatever the quarter."}) == 1
    assert number_of("one") == 2


def test_a_document_that_is_gone_is_retired_and_comes_back_as_it_was(ship: Ship) -> None:
    shipped = document("one")
    ship(shipped)

    ship()
    assert case("one").retired_at is not None
    assert not case("one").is_shipped

    ship(shipped)
    assert case("one").retired_at is None
    assert case("one").is_shipped
    assert number_of("one") == 1


def test_what_people_changed_stays_as_they_left_it(project: Project, ship: Ship) -> None:
    shipped = document("one")
    ship(shipped)
    own = {**shipped, "guards": "Ours."}
    services.change_case(
        access=editor_of(project), case=case("one").uuid, document=own, reason="Ours differs."
    )

    ship({**shipped, "guards": "Theirs."})
    assert number_of("one") == 2

    ship()
    assert case("one").retired_at is None
    assert case("one").current.spec["guards"] == "Ours."  # type: ignore[union-attr]


def test_what_people_retired_stays_retired(project: Project, ship: Ship) -> None:
    shipped = document("one")
    ship(shipped)
    services.retire(access=editor_of(project), case=case("one").uuid)

    ship({**shipped, "guards": "Another sentence."})

    assert case("one").retired_at is not None


def test_a_case_of_the_same_name_that_people_made_is_theirs(project: Project, ship: Ship) -> None:
    make_case(project, "one", guards="Ours.")

    assert ship(document("one")) == 0
    assert not case("one").is_shipped
    assert number_of("one") == 1


def test_a_document_that_cannot_be_read_stops_nothing(
    ship: Ship, caplog: pytest.LogCaptureFixture
) -> None:
    assert ship({"id": "broken"}, document("one")) == 1
    assert "shipped_case_unreadable file=own.yaml case=broken" in caplog.text


def test_two_hundred_cases_are_rows_in_a_few_statements(
    ship: Ship, django_assert_max_num_queries: Any
) -> None:
    documents = [document(f"many-{n}", files={"a.md": f"# {n}"}) for n in range(200)]
    ship()

    with django_assert_max_num_queries(16):
        made = ship(*documents)

    assert (made, GoldenCase.objects.count()) == (200, 200)


def test_shipped_files_are_read_the_same_by_whoever_imports_them() -> None:
    paths = list(Path(str(CORPUS)).rglob("*.yaml"))
    assert paths

    for path in paths:
        raw = path.read_bytes()

        assert list(parse_cases(raw).documents) == yaml.load(raw, Loader=yaml.CSafeLoader), path


def test_a_start_with_nothing_new_asks_little(
    project: Project, ship: Ship, django_assert_max_num_queries: Any
) -> None:
    ship(*(document(f"many-{n}") for n in range(20)))

    with django_assert_max_num_queries(6):
        services.ensure_shipped(project=project)
    assert case("many-1").created_at < timezone.now()
