"""The rows behind a number as the page lists them, whatever they are of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model, QuerySet
from django.urls import reverse

from loomverify.accounts.models import Project
from loomverify.errors import InputError
from loomverify.paging import decode_cursor, paged
from verification.engine.outcome import Outcome, Verdict
from verification.golden.models import ReplayResult
from verification.runs import wording
from verification.runs.models import Review, Run
from verification.runs.wording import Badge
from verification.trials.models import Comparison, Judged

PER_PAGE = 50
UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Row:
    """`badges` are one of a run, two where one thing stands beside another."""

    title: str
    url: str
    place: str
    badges: Sequence[Badge]
    said: str
    at: datetime | None


def time_of(cursor: str) -> datetime | None:
    """Where a page of the first kind begins; None: at the newest.

    Raises:
        InputError: `cursor.invalid`.
    """
    number, _, rest = cursor.partition(".")
    return decode_cursor(rest)[0] if number == "0" and rest else None


def page_of(
    project: Project, parts: Sequence[QuerySet[Any]], cursor: str
) -> tuple[list[Row], str | None]:
    """A page of rows, those of the first kind before those of the next, and the next one's cursor.

    Raises:
        InputError: `cursor.invalid`.
    """
    number, _, rest = cursor.partition(".")
    if cursor and number not in [str(at) for at in range(len(parts))]:
        raise InputError(
            "cursor.invalid", "This cursor was not made by us.", loc=("query", "cursor"), status=400
        )
    listed: list[Row] = []
    for part in range(int(number or 0), len(parts)):
        if len(listed) == PER_PAGE:
            is_more = any(one.exists() for one in parts[part:])
            return listed, f"{part}." if is_more else None
        kind = KINDS[parts[part].model]
        rows, room = kind.loaded(parts[part]), PER_PAGE - len(listed)
        found, following = paged(rows, by=f"-{kind.by}", cursor=rest, limit=room)
        listed += [kind.shown(project, one) for one in found]
        if following:
            return listed, f"{part}.{following}"
        rest = ""
    return listed, None


def _run(project: Project, run: Run) -> Row:
    return Row(
        run.title or run.task.external_id,
        reverse("run_detail", args=[project.slug, run.uuid]),
        f"{run.process.slug} / {run.phase_id}",
        [wording.badge(run.outcome, run.verdict)],
        wording.reason(run.reason_code) if run.reason_code else "",
        run.created_at,
    )


def _comparison(project: Project, row: Comparison) -> Row:
    judged = Judged(row.judged).label if row.judged else "not judged"
    return Row(
        row.title,
        reverse("comparison_detail", args=[project.slug, row.trial.uuid, row.uuid]),
        f"{row.process} / {row.phase}",
        [_side(row.old), _side(row.new)],
        f"{wording.reason(row.old_reason)} · {judged.lower()}" if row.old_reason else judged,
        row.created_at,
    )


def _side(outcome: str) -> Badge:
    return wording.UNDECIDED if outcome == UNDECIDED else wording.OUTCOMES[Outcome(outcome)]


def _case(project: Project, row: ReplayResult) -> Row:
    return Row(
        row.case.name,
        reverse("golden_result", args=[project.slug, row.replay.uuid, row.case.uuid]),
        f"{row.case.process} / {row.case.phase}",
        [*_legacy(row), wording.badge(row.outcome, row.verdict)],
        wording.reason(row.reason_code) if row.reason_code else "",
        row.replayed_at,
    )


def _legacy(row: ReplayResult) -> list[Badge]:
    """Where it was loaded: what legacy made of the case."""
    if "legacy" in row.get_deferred_fields() or not row.legacy:
        return []
    return [wording.badge(row.legacy["outcome"], row.legacy["verdict"])]


def _review(project: Project, review: Review) -> Row:
    said = "people reject it" if review.outcome == Outcome.FAIL else "people accept it"
    return Row(
        review.run.title or review.run.task.external_id,
        reverse("review_item", args=[project.slug, review.uuid]),
        f"{review.process.slug} / {review.phase_id}",
        [
            wording.badge(review.evaluation.outcome, review.evaluation.verdict or Verdict.ACCEPT),
            wording.badge(review.outcome, ""),
        ],
        said,
        review.created_at,
    )


@dataclass(frozen=True, slots=True)
class Kind:
    by: str
    loaded: Callable[[QuerySet[Any]], QuerySet[Any]]
    shown: Callable[[Project, Any], Row]


KINDS: dict[type[Model], Kind] = {
    Run: Kind(
        "created_at",
        lambda rows: rows.select_related("process", "task").defer("search", "result"),
        _run,
    ),
    Comparison: Kind(
        "created_at",
        lambda rows: rows.select_related("trial").defer("old_observed", "new_observed"),
        _comparison,
    ),
    ReplayResult: Kind("replayed_at", lambda rows: rows, _case),
    Review: Kind("created_at", lambda rows: rows, _review),
}
