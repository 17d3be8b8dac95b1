"""Cases down, verifiers and processes across: what each case came to in the latest replays."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Self
from uuid import UUID

from django.db.models import Q
from django.urls import reverse

from loomverify.accounts.models import Project
from loomverify.filters import check_choice
from processes.models import ProcessVersion
from verification.engine.golden.standing import Change
from verification.golden.models import GoldenCase, Replay, ReplayResult, ReplayState
from verification.golden.replays.shown import Mark, mark, over_words
from verification.runs.wording import badge as verdict_badge

MAX_COLUMNS = 8
LOOKED_AT = 80
"""So many finished replays are looked at for columns; older ones are on the trend."""
PER_PAGE = 50
HEAVY = ("candidate_text", "verifier_version__spec", "process_version__source_text")
RANK = {change.value: number for number, change in enumerate(Change)}
HELD = Change.HELD.value


@dataclass(frozen=True, slots=True)
class GridFilters:
    """'' leaves a filter open. `held`: cases that hold in every column stand there too."""

    process: str = ""
    tag: str = ""
    change: str = ""
    held: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Raises InputError: `filter.invalid`."""
        given = {one.name: query.get(one.name, "").strip()[:120] for one in fields(cls)}
        filters = cls(**{name: value.replace("\0", "") for name, value in given.items()})
        check_choice("change", filters.change, Change)
        return filters

    @property
    def is_narrow(self) -> bool:
        return any(value for name, value in asdict(self).items() if name != "held")

    @property
    def is_unfolded(self) -> bool:
        return bool(self.held) or self.change == HELD


@dataclass(frozen=True, slots=True)
class Column:
    """`over` says of which processes the replay was."""

    replay: Replay
    url: str
    over: str


@dataclass(frozen=True, slots=True)
class Cell:
    mark: Mark
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Row:
    """A cell is None where the replay left the case out."""

    case: GoldenCase
    cells: Sequence[Cell | None]


@dataclass(frozen=True, slots=True)
class Grid:
    """`folded`: so many more cases hold in every column, and are not among the rows."""

    columns: Sequence[Column]
    rows: Sequence[Row] = ()
    total: int = 0
    folded: int = 0
    page: int = 1

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PER_PAGE))


def grid(project: Project, filters: GridFilters, *, page: int = 1) -> Grid:
    columns = _columns(project, filters.process)
    if not columns:
        return Grid(())
    names = _names(project, filters)
    found = ReplayResult.objects.filter(replay__in=[one.replay.pk for one in columns])
    changes = found if filters.is_unfolded else found.exclude(change=HELD)
    came = changes.values_list("case_id", "replay_id", "change")
    order = _most_urgent_first(came, names, columns, filters.change)
    folded = 0
    if not filters.is_unfolded and not filters.change:
        replayed = found.values_list("case_id", flat=True).distinct()
        folded = sum(case in names for case in replayed) - len(order)
    pages = max(1, -(-len(order) // PER_PAGE))
    page = min(max(1, page), pages)
    shown = order[(page - 1) * PER_PAGE : page * PER_PAGE]
    return Grid(columns, _rows(project, columns, shown), len(order), folded, page)


def _columns(project: Project, process: str) -> list[Column]:
    """The newest finished replay of each verifier over each state of the processes."""
    replays = Replay.objects.filter(project=project, state=ReplayState.FINISHED, total__gt=0)
    if process:
        replays = replays.filter(Q(process=None) | Q(process__slug=process))
    related = ("verifier_version", "process", "process_version")
    newest = replays.select_related(*related).defer(*HEAVY).order_by("-created_at", "-id")
    published = _publications(project)
    seen: dict[object, Replay] = {}
    for one in newest[:LOOKED_AT]:
        seen.setdefault(_state(one, published), one)
    return [
        Column(one, reverse("golden_replay", args=[project.slug, one.uuid]), over_words(one))
        for one in list(seen.values())[:MAX_COLUMNS]
    ]


def _publications(project: Project) -> list[datetime]:
    rows = ProcessVersion.objects.filter(process__project=project, published_at__isnull=False)
    return sorted(at for at in rows.values_list("published_at", flat=True) if at)


def _state(replay: Replay, published: Sequence[datetime]) -> object:
    """What two replays share that say the same: what was published between them parts them."""
    over = replay.process_version_id or replay.candidate_sha256
    return (
        replay.verifier_version_id,
        replay.process_id,
        over or bisect_right(published, replay.created_at),
        tuple(sorted(replay.tags)),
        replay.is_live,
    )


def _names(project: Project, filters: GridFilters) -> dict[int, str]:
    """The cases that fit, by their keys.

    Joined here: over results that nobody has counted yet the database joins slowly.
    """
    cases = GoldenCase.objects.filter(project=project, retired_at=None)
    if filters.process:
        cases = cases.filter(process=filters.process)
    if filters.tag:
        cases = cases.filter(tags__contains=[filters.tag])
    return dict(cases.values_list("pk", "name"))


def _most_urgent_first(
    found: Iterable[tuple[int, int, str]],
    names: Mapping[int, str],
    columns: Sequence[Column],
    wanted: str,
) -> list[int]:
    """Cases by what the newest replay says of them, then the one before, then their name."""
    place = {one.replay.pk: number for number, one in enumerate(columns)}
    held, width = RANK[HELD], len(columns)
    ranks: dict[int, list[int]] = {}
    came: dict[int, set[str]] = {}
    for case, replay, change in found:
        if case in names:
            ranks.setdefault(case, [held] * width)[place[replay]] = RANK.get(change, held)
            came.setdefault(case, set()).add(change)
    fitting = [case for case in ranks if not wanted or wanted in came[case]]
    return sorted(fitting, key=lambda case: (ranks[case], names[case]))


def _rows(project: Project, columns: Sequence[Column], shown: Sequence[int]) -> list[Row]:
    cases = GoldenCase.objects.in_bulk(shown)
    found = ReplayResult.objects.filter(
        replay__in=[one.replay.pk for one in columns], case_id__in=shown
    ).values_list("case_id", "replay_id", "change", "outcome", "verdict")
    cells = {
        (case, replay): (change, outcome, verdict)
        for case, replay, change, outcome, verdict in found
    }
    return [
        Row(
            cases[case],
            [
                _cell(column, cases[case].uuid, cells.get((case, column.replay.pk)))
                for column in columns
            ],
        )
        for case in shown
        if case in cases
    ]


def _cell(column: Column, case: UUID, found: tuple[str, str, str] | None) -> Cell | None:
    if found is None:
        return None
    change, outcome, verdict = found
    came_to = f", came to {verdict_badge(outcome, verdict).word}" if verdict else ""
    shown = mark(change)
    return Cell(shown, f"{column.url}cases/{case}/", f"{shown.words}{came_to}")
