"""What is known of packages."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from verification.advisories import models
from verification.engine.advisories.comparing import Known
from verification.engine.advisories.model import Ecosystem
from verification.engine.advisories.osv import Advisory, Range

NAMES_AT_ONCE = 2_000


def snapshots() -> dict[Ecosystem, models.Snapshot]:
    rows = models.Snapshot.objects.filter(is_current=True).order_by("ecosystem")
    return {Ecosystem(row.ecosystem): row for row in rows}


def known(ecosystem: Ecosystem, names: Collection[str]) -> Known:
    """Advisories by the package's name, those packages alone that have some.

    Each query sees one whole snapshot, whatever is loaded meanwhile.
    """
    found: dict[str, list[Advisory]] = {}
    left = iter(sorted(names))
    while some := list(islice(left, NAMES_AT_ONCE)):
        rows = models.Advisory.objects.filter(
            ecosystem=ecosystem, name__in=some, snapshot__is_current=True
        )
        for row in rows.order_by("osv_id").iterator():
            found.setdefault(row.name, []).append(_of(row))
    return found


def _of(row: models.Advisory) -> Advisory:
    return Advisory(
        id=row.osv_id,
        ecosystem=Ecosystem(row.ecosystem),
        name=row.name,
        aliases=tuple(row.aliases),
        summary=row.summary,
        score=row.score,
        ranges=tuple(_range(one) for one in row.ranges),
        versions=tuple(row.versions),
    )


def _range(saved: list[list[str]]) -> Range:
    return tuple((kind, version) for kind, version in saved)
