from __future__ import annotations

import asyncio
import csv
import io
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import AsyncRequestFactory, RequestFactory
from django.utils import timezone

from loomverify.spreadsheets import MAX_CELL_CHARS, plain_cell
from tests.builders import generate_runs, make_project, make_run
from tests.tables import check_rows
from verification.engine.outcome import Outcome
from verification.runs.exporting import tables
from verification.runs.exporting.answers import CUT_HEADER, table_export
from verification.runs.exporting.tables import Table, findings_table, runs_table
from verification.runs.models import Run


def rows_of(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(table.chunks))))


@check_rows("sign", [*"=+-@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe66"])
@check_rows(
    "before",
    ["", " ", "\t", "\r", "\n", "\xa0", "\u3000", "\ufeff", "\u200b", "'", '"', "\x00", ";"],
)
def test_no_cell_is_a_formula(before: str, sign: str) -> None:
    cell = plain_cell(f"{before}{sign}cmd|' /C calc'!A0")

    assert cell.lstrip(";").startswith("'")
    assert not any(sign in "\t\r\n\x00" for sign in cell)


def test_where_semicolons_part_the_cells_no_part_is_a_formula() -> None:
    assert plain_cell("a; =1+1;b") == "a;' =1+1;b"


@pytest.mark.parametrize(("value", "cell"), [(-3, "-3"), (Decimal("-1.5"), "-1.5"), ("a-b", "a-b")])
def test_numbers_and_plain_words_stay_as_they_are(value: object, cell: str) -> None:
    assert plain_cell(value) == cell


def test_a_cell_is_no_longer_than_spreadsheets_take() -> None:
    assert len(plain_cell("=" + "x" * 100_000)) <= MAX_CELL_CHARS + 1


@pytest.mark.django_db
def test_runs_are_exported_newest_first_across_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "PAGE_RUNS", 2)
    project, now = make_project(), timezone.now()
    for n in range(5):  # two at the same moment are told apart by their number
        make_run(project, title=f"Run {n}", created_at=now - timedelta(minutes=n // 2))

    table = runs_table(Run.objects.filter(project=project))

    assert [row["title"] for row in rows_of(table)] == ["Run 1", "Run 0", "Run 3", "Run 2", "Run 4"]
    assert not table.is_cut


@pytest.mark.django_db
def test_findings_are_exported_with_their_runs_across_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "PAGE_RUNS", 2)
    monkeypatch.setattr(tables, "PAGE_FINDINGS", 2)
    project, now = make_project(), timezone.now()
    for n in range(4):
        found = [{"message": f"{n}.{m}", "line": m + 1} for m in range(3)]
        make_run(project, findings=found, created_at=now + timedelta(minutes=n), title=f"Run {n}")
    make_run(project, outcome=Outcome.PASS)

    rows = rows_of(findings_table(Run.objects.filter(project=project)))

    assert [row["message"] for row in rows] == [f"{n}.{m}" for n in (3, 2, 1, 0) for m in range(3)]
    assert [row["line"] for row in rows[:3]] == ["1", "2", "3"]
    assert {row["rule"] for row in rows} == {"no-placeholders"}
    assert len({row["run"] for row in rows}) == 4


@pytest.mark.django_db
def test_a_long_table_ends_at_its_bound_and_says_so() -> None:
    project = make_project()
    for _ in range(3):
        make_run(project, findings=[{}, {}])
    runs = Run.objects.filter(project=project)
    request = RequestFactory().get("/")

    cut, whole = runs_table(runs, limit=2), runs_table(runs, limit=3)
    found, of_newest = findings_table(runs, limit=5), findings_table(runs, max_runs=2)
    all_found = findings_table(runs, limit=6, max_runs=3)

    tables = (cut, whole, found, of_newest, all_found)
    assert [table.is_cut for table in tables] == [True, False, True, True, False]
    assert [len(rows_of(table)) for table in tables] == [2, 3, 5, 4, 6]
    answer = table_export(request, cut, for_people=False)
    assert answer[CUT_HEADER] == "true"
    assert answer["Content-Disposition"] == 'attachment; filename="runs-newest.csv"'


@pytest.mark.extended
@pytest.mark.django_db
def test_an_export_asks_once_for_a_thousand_runs(django_assert_num_queries: Any) -> None:
    project = make_project()
    generate_runs(project, 2_500)

    with django_assert_num_queries(1 + 3):
        rows = rows_of(runs_table(Run.objects.filter(project=project)))

    assert len(rows) == 2_500
    assert len({row["id"] for row in rows}) == 2_500


@pytest.mark.django_db
def test_findings_take_four_queries_however_many_runs(django_assert_num_queries: Any) -> None:
    project = make_project()
    for _ in range(30):
        make_run(project, findings=[{}])

    with django_assert_num_queries(2 + 1 + 1):
        rows = rows_of(findings_table(Run.objects.filter(project=project)))

    assert len(rows) == 30


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_somebody_reads_slowly() -> None:
    project = make_project()
    make_run(project, findings=[{}])
    runs = Run.objects.filter(project=project)

    for table in (runs_table(runs), findings_table(runs)):
        next(table.chunks)
        next(table.chunks)

        assert connection.connection is None


def test_an_asynchronous_server_sends_part_after_part() -> None:
    """Django would otherwise collect the whole table first."""
    made: list[str] = []

    def chunks() -> Any:
        for text in ("a,b\r\n", "1,2\r\n"):
            made.append(text)
            yield text

    async def first_part() -> bytes:
        request = AsyncRequestFactory().get("/")
        answer: Any = table_export(request, Table("runs", chunks()), for_people=False)
        return bytes(await anext(aiter(answer.streaming_content)))

    assert asyncio.run(first_part()) == b"a,b\r\n"
    assert made == ["a,b\r\n"]


def test_people_get_what_spreadsheets_know_as_utf_8_and_programs_plain_text() -> None:
    request = RequestFactory().get("/")

    def content(*, for_people: bool) -> bytes:
        answer: Any = table_export(request, Table("runs", iter(["é"])), for_people=for_people)
        return b"".join(answer.streaming_content)

    assert content(for_people=True) == "\ufeffé".encode()
    assert content(for_people=False) == "é".encode()
