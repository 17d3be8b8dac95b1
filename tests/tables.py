"""Tables of cases that one test checks.

`check_rows` takes the arguments of `pytest.mark.parametrize`, but all rows are one test. It is for
tables whose rows take less time than pytest needs to set up a test. Every row is checked; the
failures are raised together, each with a note that names its row.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

Check = Callable[..., None]
Namer = Callable[[Any], object]
MAX_LABEL_CHARS = 200


def check_rows(
    argnames: str | Sequence[str],
    rows: Iterable[Any],
    *,
    ids: Iterable[object] | Namer | None = None,
    rollback: bool = False,
) -> Callable[[Check], Check]:
    """Make one test that calls the decorated function for every row; fixtures are set up once.

    Args:
        argnames: Names of arguments, as for `pytest.mark.parametrize`.
        rows: A value, a tuple of values or a `pytest.param` for each row.
        ids: Names of the rows, or a function that names a value. Without it, values are shown.
        rollback: Undo what a row writes to the database before the next row.
    """
    names = argnames.split(",") if isinstance(argnames, str) else argnames
    names = [name.strip() for name in names]
    table = [_values_of(row, len(names)) for row in rows]
    labels = ids if ids is None or callable(ids) else [str(name) for name in ids]
    around = _rolled_back if rollback else nullcontext
    assert table, "a table without rows checks nothing"

    def decorate(check: Check) -> Check:
        @functools.wraps(check)
        def test(**fixtures: Any) -> None:
            failures: list[BaseException] = []
            for number, (_, values) in enumerate(table):
                try:
                    with around():
                        check(**fixtures, **dict(zip(names, values, strict=True)))
                except (Exception, pytest.fail.Exception) as failure:
                    failure.add_note(f"Row: {_label(table, number, labels)}")
                    failures.append(failure)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} rows fail", failures)

        signature = inspect.signature(check)
        parameters = [
            parameter for name, parameter in signature.parameters.items() if name not in names
        ]
        test.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return test

    return decorate


def _values_of(row: Any, width: int) -> tuple[str, Sequence[Any]]:
    """Return the values of a row, after its own id or ''."""
    if isinstance(row, pytest.ParameterSet):
        return str(row.id or ""), row.values
    return "", (row,) if width == 1 else tuple(row)


def _label(
    table: Sequence[tuple[str, Sequence[Any]]], number: int, ids: list[str] | Namer | None
) -> str:
    own, values = table[number]
    if own:
        return own
    if isinstance(ids, list):
        return ids[number]
    label = ", ".join(str(ids(value)) if ids else repr(value) for value in values)
    return label[:MAX_LABEL_CHARS]


@contextmanager
def _rolled_back() -> Iterator[None]:
    from django.db import transaction

    with transaction.atomic():
        yield
        transaction.set_rollback(True)
