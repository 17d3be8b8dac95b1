from __future__ import annotations

import inspect

import pytest

from loomverify.accounts.models import Project
from tests.tables import check_rows


def test_every_row_is_checked_and_each_failure_names_its_row() -> None:
    seen = []

    @check_rows(("left", "right"), [(1, 1), (1, 2), pytest.param(3, 4, id="third"), (5, 5)])
    def check(left: int, right: int) -> None:
        seen.append(left)
        assert left == right

    with pytest.raises(ExceptionGroup, match="2 of 4 rows fail") as caught:
        check()

    assert seen == [1, 1, 3, 5]
    notes = [failure.__notes__ for failure in caught.value.exceptions]
    assert notes == [["Row: 1, 2"], ["Row: third"]]


def test_an_exception_that_is_not_raised_fails_its_row() -> None:
    @check_rows("text", ["x", "1"], ids=str.upper)
    def check(text: str) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(text)

    with pytest.raises(BaseExceptionGroup, match="1 of 2 rows fail") as caught:
        check()

    assert caught.value.exceptions[0].__notes__ == ["Row: 1"]


def test_other_arguments_are_fixtures() -> None:
    @check_rows("number", [1, 2])
    @check_rows(("name", "size"), [("a", 1)], ids=["first"])
    def check(tmp_path: object, number: int, name: str, size: int) -> None:
        assert number > size, tmp_path

    assert list(inspect.signature(check).parameters) == ["tmp_path"]
    with pytest.raises(ExceptionGroup) as caught:
        check(tmp_path="here")
    [of_number] = caught.value.exceptions
    assert isinstance(of_number, ExceptionGroup)
    assert [one.__notes__ for one in (of_number, *of_number.exceptions)] == [
        ["Row: 1"],
        ["Row: first"],
    ]


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(AssertionError, match="without rows"):
        check_rows("number", [])


@pytest.mark.django_db
def test_what_a_row_writes_is_undone_before_the_next() -> None:
    @check_rows("slug", ["same", "same"], rollback=True)
    def check(slug: str) -> None:
        assert not Project.objects.filter(slug=slug).exists()
        Project.objects.create(slug=slug, name="Same")

    check()

    assert not Project.objects.filter(slug="same").exists()
