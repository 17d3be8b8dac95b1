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
    if cursor:
        at, pk = _decode(cursor)
        rows = rows.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=pk))
        rows = rows.filter(created_at__lte=at)  # bounds the index scan
    found = list(rows.order_by("-created_at", "-id")[: limit + 1])
    if len(found) <= limit:
        return found, None
    return found[:limit], encode_cursor(found[limit - 1])


def encode_cursor(row: Model) -> str:
    text = f"{row.created_at.isoformat()}|{row.pk}"  # type: ignore[attr-defined]
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode(cursor: str) -> tuple[datetime, int]:
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
