"""Keyset pages: the next page starts after a row, not after a count."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime, timedelta
from typing import TypeVar

from django.db.models import Model, Q, QuerySet

from loomverify.errors import InputError

M = TypeVar("M", bound=Model)

DEFAULT_LIMIT = 50
MAX_LIMIT = 200


def newest_first(
    rows: QuerySet[M], *, cursor: str = "", limit: int = DEFAULT_LIMIT
) -> tuple[list[M], str | None]:
    """Return a page by `created_at`, newest first, and the cursor of the next page."""
    return paged(rows, by="-created_at", cursor=cursor, limit=limit)


def paged(
    rows: QuerySet[M], *, by: str, cursor: str = "", limit: int = DEFAULT_LIMIT
) -> tuple[list[M], str | None]:
    """Return a page by a time that no row lacks, and the cursor of the next page.

    `by` is the field's name: earliest first, or newest first where a - stands before it.
    """
    field, sign = by.removeprefix("-"), "-" if by.startswith("-") else ""
    beyond = "lt" if sign else "gt"
    if cursor:
        at, pk = decode_cursor(cursor)
        rows = rows.filter(Q(**{f"{field}__{beyond}": at}) | Q(**{field: at, f"pk__{beyond}": pk}))
        rows = rows.filter(**{f"{field}__{beyond}e": at})  # bounds the index scan
    found = list(rows.order_by(f"{sign}{field}", f"{sign}id")[: limit + 1])
    if len(found) <= limit:
        return found, None
    return found[:limit], encode_cursor(found[limit - 1], field)


def encode_cursor(row: Model, field: str = "created_at") -> str:
    text = f"{getattr(row, field).isoformat()}|{row.pk}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> tuple[datetime, int]:
    """The time and the id after which a page begins. Raises `InputError`: `cursor.invalid`."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        at, pk = base64.urlsafe_b64decode(padded.encode()).decode().split("|")
        moment, number = datetime.fromisoformat(at), int(pk)
    except (binascii.Error, ValueError) as error:
        raise _not_ours() from error
    if moment.utcoffset() != timedelta(0) or not 0 < number < 2**63:
        raise _not_ours()
    return moment, number


def _not_ours() -> InputError:
    return InputError(
        "cursor.invalid", "This cursor was not made by us.", loc=("query", "cursor"), status=400
    )
