"""What is known of case versions from before a replay, for all of them at once.

Of a case that holds, the newest replays tell all there is to know. So they are read first, and
only for the rest the whole past: a corpus of years is no slower than one of weeks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.db.models import QuerySet

from verification.engine.golden.standing import Before, Standing
from verification.golden.models import Replay, ReplayResult, ReplayState
from verification.golden.shipped import PROGRAM

NEWEST = 3
TELLING = (Standing.HELD, Standing.FAILING)


def before(replay: Replay) -> dict[int, Before]:
    """By the rows of case versions: what the live line said of each, this replay left out."""
    line = Replay.objects.filter(
        project=replay.project_id, is_live_line=True, state=ReplayState.FINISHED
    ).exclude(pk=replay.pk)
    ids = list(line.order_by("-pk").values_list("pk", flat=True))
    found = dict(_promised(replay))
    rows = ReplayResult.objects.filter(replay__in=ids[:NEWEST])
    _enter(found, rows)
    unclear = [pk for pk, one in found.items() if not (one.ever_held and one.last)]
    if ids[NEWEST:] and unclear:
        _enter(found, ReplayResult.objects.filter(replay__in=ids[NEWEST:]), only=unclear)
    return found


def _promised(replay: Replay) -> Iterator[tuple[int, Before]]:
    """What comes with the program promises to hold."""
    rows = ReplayResult.objects.filter(replay=replay)
    shown = rows.values_list("case_version_id", "case__is_shipped", "case_version__created_by")
    for pk, is_shipped, made_by in shown.iterator():
        yield pk, Before(ever_held=is_shipped and made_by == PROGRAM)


def _enter(
    found: dict[int, Before],
    rows: QuerySet[ReplayResult],
    *,
    only: Collection[int] = (),
) -> None:
    """Add what earlier results say, newest first; the newest that is known stays the last."""
    if only:
        rows = rows.filter(case_version__in=only)
    telling = rows.filter(standing__in=TELLING).order_by("-pk")
    for pk, standing in telling.values_list("case_version_id", "standing").iterator():
        known = found.get(pk)
        if known is None:
            continue
        held = known.ever_held or standing == Standing.HELD
        found[pk] = Before(held, known.last or Standing(standing))
