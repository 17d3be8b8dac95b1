"""Replays and their results, as pages, gates and the API read them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Self
from uuid import UUID

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When
from django.db.models.fields.json import KeyTextTransform

from loomverify.accounts.models import Project
from loomverify.errors import InputError, NotFound
from processes.models import Process, ProcessVersion
from verification.engine.golden.standing import Change
from verification.golden.documents.schemas import CANARY
from verification.golden.models import GoldenCase, Replay, ReplayResult, ReplayState
from verification.verifiers.models import VerifierVersion

HEAVY = (
    "candidate_text",
    "process__description",
    "process_version__source_text",
    "verifier_version__spec",
)
HEAVY_RESULT = (
    "observed",
    "legacy",
    "played",
    "case_version__spec",
    "case_version__likeness",
    "process_version__source_text",
)
RANK = Case(
    *(When(change=change, then=Value(rank)) for rank, change in enumerate(Change)),
    default=Value(len(Change)),
    output_field=IntegerField(),
)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A case as a replay takes it: one version, by its row."""

    case: int
    version: int
    name: str
    process: str
    spec_sha256: str
    has_own_process: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """`counts`: how many of each standing so far, '' for those that wait."""

    done: int
    total: int
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class ResultFilters:
    """'' leaves a filter open."""

    change: str = ""
    process: str = ""
    q: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """What of a query string is known; a value that fits nothing finds nothing."""
        given = {one.name: query.get(one.name, "").strip()[:120] for one in fields(cls)}
        return cls(**{name: value.replace("\0", "") for name, value in given.items()})


def replays(project: Project) -> QuerySet[Replay]:
    """Newest first, with what is shown of them."""
    rows = Replay.objects.filter(project=project).order_by("-created_at", "-pk")
    related = ("project", "verifier_version", "process", "process_version")
    return rows.select_related(*related).defer(*HEAVY)


def replay_of(project: Project, uuid: UUID) -> Replay:
    """Raises `NotFound`: `replay.unknown`."""
    found = replays(project).filter(uuid=uuid).first()
    if found is None:
        raise NotFound("replay.unknown", "This project has no such replay.")
    return found


def progress(replay: Replay) -> Progress:
    counted = (
        ReplayResult.objects.filter(replay=replay)
        .values_list("standing")
        .annotate(count=Count("pk"))
    )
    counts = dict(counted)
    return Progress(replay.total - counts.get("", 0), replay.total, counts)


def results(replay: Replay, filters: ResultFilters = ResultFilters()) -> QuerySet[ReplayResult]:
    """The most urgent change first, then by name: rows are numbered in the order of names."""
    rows = ReplayResult.objects.filter(replay=replay)
    if filters.change:
        rows = rows.filter(change=filters.change)
    if filters.process:
        rows = rows.filter(case__process=filters.process)
    if filters.q:
        rows = rows.filter(case__name__icontains=filters.q)
    rows = rows.select_related("case", "case_version", "process_version").defer(*HEAVY_RESULT)
    return rows.annotate(rank=RANK).order_by("rank", "pk")


def with_legacy(rows: QuerySet[ReplayResult]) -> QuerySet[ReplayResult]:
    """The same rows with the old engine's word, which lists leave out."""
    return rows.defer(None).defer(*(name for name in HEAVY_RESULT if name != "legacy"))


def results_page(
    replay: Replay, filters: ResultFilters, *, cursor: str, limit: int
) -> tuple[list[ReplayResult], str | None]:
    """A page in the order of `results`, and the cursor of the next."""
    rows = with_legacy(results(replay, filters))
    if cursor:
        rank, pk = _decode(cursor)
        rows = rows.filter(Q(rank__gt=rank) | Q(rank=rank, pk__gt=pk))
    found = list(rows[: limit + 1])
    if len(found) <= limit:
        return found, None
    last = found[limit - 1]
    return found[:limit], f"{last.rank}-{last.pk}"  # type: ignore[attr-defined]


def _decode(cursor: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9])-([0-9]{1,18})", cursor, re.ASCII)
    if found is None:
        raise InputError(
            "cursor.invalid", "This cursor was not made by us.", loc=("query", "cursor"), status=400
        )
    return int(found[1]), int(found[2])


def result_of(replay: Replay, case: UUID) -> ReplayResult:
    """One result whole, by its case.

    Raises:
        NotFound: `golden_case.unknown`: it was not replayed there.
    """
    rows = ReplayResult.objects.filter(replay=replay, case__uuid=case)
    found = rows.select_related(
        "replay__project", "case", "case_version", "process_version"
    ).first()
    if found is None:
        raise NotFound("golden_case.unknown", "This replay has no such case.")
    return found


def latest(
    project: Project,
    *,
    verifier: VerifierVersion | None = None,
    process: Process | None = None,
    process_version: ProcessVersion | None = None,
    candidate_sha256: str = "",
    corpus_sha256: str = "",
) -> Replay | None:
    """The newest finished one of exactly this, with recorded judges and without tags.

    Without a process: over all of them, as published. `verifier` None and `corpus_sha256` '':
    any.
    """
    process_id = process_version.process_id if process_version else process and process.pk
    rows = replays(project).filter(
        state=ReplayState.FINISHED,
        is_live=False,
        tags=[],
        process=process_id,
        process_version=process_version,
        candidate_sha256=candidate_sha256,
    )
    if verifier:
        rows = rows.filter(verifier_version=verifier)
    if corpus_sha256:
        rows = rows.filter(corpus_sha256=corpus_sha256)
    return rows.first()


def asked_for(
    project: Project,
    *,
    process: Process | None = None,
    tags: Sequence[str] = (),
    with_canary: bool = False,
) -> list[Pinned]:
    """The cases of a replay, by name; with tags, those that have one of them.

    Of one process those are left out that have a process text of their own: it cannot change
    them. The held set takes part where it is asked for.
    """
    rows = GoldenCase.objects.filter(
        project=project, retired_at__isnull=True, current__isnull=False
    )
    rows = rows.annotate(own=KeyTextTransform("process_text", "current__spec"))
    if tags:
        rows = rows.filter(tags__overlap=list(tags))
    if not (with_canary or CANARY in tags):
        rows = rows.exclude(tags__contains=[CANARY])
    if process:
        rows = rows.filter(Q(own__isnull=True) | Q(own=""), process=process.slug)
    shown = ("pk", "current_id", "name", "process", "current__spec_sha256", "own")
    return [
        Pinned(pk, version, name, slug, spec_sha256, has_own_process=bool(own))
        for pk, version, name, slug, spec_sha256, own in rows.order_by("name").values_list(*shown)
    ]


def sha256_of(cases: Iterable[Pinned]) -> str:
    """Name these cases as they are now: the same cases have the same name everywhere."""
    lines = sorted(f"{case.name} {case.spec_sha256}\n" for case in cases)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def corpus_sha256(
    project: Project, *, process: Process | None = None, with_canary: bool = False
) -> str:
    """What a replay that is started now would run over, without tags."""
    return sha256_of(asked_for(project, process=process, with_canary=with_canary))


def candidate_sha256(text: str) -> str:
    """'' for no text."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest() if text else ""
