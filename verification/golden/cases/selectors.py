"""Cases as they are looked for and read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Prefetch, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from loomverify.accounts.models import Project
from loomverify.errors import InputError, NotFound
from loomverify.filters import AddressFilters, check_choice
from processes.definition.model import Definition
from verification.engine.evidence import Workspace
from verification.engine.golden.given import Given
from verification.golden.cases.likeness import ALIKE, MAX_APART, likeness
from verification.golden.documents.reading import read_spec
from verification.golden.documents.schemas import CaseIn
from verification.golden.documents.writing import with_files
from verification.golden.models import (
    GoldenCase,
    GoldenCaseVersion,
    GoldenFile,
    ReplayResult,
    ReplayState,
)
from verification.runs.evidence_store import StoredWorkspace, read_blob

NAME = re.compile(r"[^\x00-\x1f]{1,200}")
MAX_VERSIONS = 200
MAX_NEAR_READ = 200
"""So many that might be alike are looked at."""


class Origin(StrEnum):
    SHIPPED = "shipped"
    OWN = "own"


class CaseStanding(StrEnum):
    """What the live line last said of a case's current version."""

    HELD = "held"
    FAILING = "failing"
    NOT_JUDGED = "not_judged"
    NOT_REPLAYED = "not_replayed"


class Retired(StrEnum):
    """Without this filter, retired cases are left out."""

    ONLY = "only"
    TOO = "too"


@dataclass(frozen=True, slots=True)
class CaseFilters(AddressFilters):
    """Filters as they stand in a URL; empty: not asked for. `q` looks into names and guards."""

    process: str = ""
    phase: str = ""
    tag: str = ""
    q: str = ""
    origin: str = ""
    standing: str = ""
    retired: str = ""

    def check(self) -> None:
        """Raise InputError, 422 `filter.invalid`, for a value that no case can have."""
        for name, kind in _KINDS.items():
            check_choice(name, getattr(self, name), kind)
        for name in ("process", "phase", "tag", "q"):
            if (value := getattr(self, name)) and not NAME.fullmatch(value):
                raise _no_filter(name, "At most 200 characters, and no control characters.")


_KINDS: Mapping[str, type[StrEnum]] = {
    "origin": Origin,
    "standing": CaseStanding,
    "retired": Retired,
}


def _no_filter(name: str, msg: str) -> InputError:
    return InputError("filter.invalid", msg, loc=("query", name))


@dataclass(frozen=True, slots=True)
class Near:
    """`likeness` is an estimate, 0 to 1; 1 where the very same is submitted."""

    case: GoldenCase
    likeness: float


@dataclass(frozen=True, slots=True)
class ReadVersion:
    """A case version, ready to be replayed. `definition` is its own process, where it has one."""

    document: CaseIn
    given: Given
    expected: Mapping[str, Any]
    definition: Definition | None
    workspace: Workspace


def cases(project: Project, filters: CaseFilters = CaseFilters()) -> QuerySet[GoldenCase]:
    """A project's cases, by name.

    Raises:
        InputError: `filter.invalid`.
    """
    filters.check()
    wanted = {
        "process": filters.process,
        "phase": filters.phase,
        "tags__contains": [filters.tag] if filters.tag else [],
    }
    rows = GoldenCase.objects.filter(project=project)
    rows = rows.filter(**{name: value for name, value in wanted.items() if value})
    if filters.q:
        rows = rows.filter(
            Q(name__icontains=filters.q) | Q(current__spec__guards__icontains=filters.q)
        )
    if filters.origin:
        rows = rows.filter(is_shipped=filters.origin == Origin.SHIPPED)
    if filters.retired != Retired.TOO:
        rows = rows.filter(retired_at__isnull=filters.retired != Retired.ONLY)
    if filters.standing:
        said = Coalesce(last_standing(), Value(CaseStanding.NOT_REPLAYED))
        rows = rows.alias(said=said).filter(said=filters.standing)
    return rows.order_by("name")


def last_standing() -> Subquery:
    """What the live line last said of a case's current version; null where it said nothing."""
    said = ReplayResult.objects.filter(
        case_version=OuterRef("current_id"),
        replay__state=ReplayState.FINISHED,
        replay__is_live_line=True,
    ).exclude(standing="")
    return Subquery(said.order_by("-id").values("standing")[:1])


def near_duplicates(version: GoldenCaseVersion, limit: int = 5) -> list[Near]:
    """Other cases of the corpus in which much the same is submitted, most alike first.

    Shipped cases are meant to differ in an answer alone: only a project's own are told of.
    """
    case = version.case
    return near_to(
        case.project_id,
        version.input_sha256,
        version.likeness,
        apart_from=case.name,
        limit=limit,
        is_shipped=case.is_shipped,
    )


def near_to(
    project_id: int,
    input_sha256: str,
    sketch: Sequence[int],
    *,
    apart_from: str = "",
    limit: int = 5,
    is_shipped: bool = False,
) -> list[Near]:
    """Cases of a project that are much like this, stored or not; of a shipped one its own alone.

    Two sketches that are alike differ in few places, so that they agree in one of the first few
    of them: only those are read.
    """
    alike = Q(current__input_sha256=input_sha256)
    for place, number in enumerate(sketch[: MAX_APART + 1]):
        alike |= Q(**{f"current__likeness__{place}": number})
    rows = GoldenCase.objects.filter(alike, project_id=project_id, retired_at__isnull=True)
    rows = rows.exclude(name=apart_from).select_related("current").defer("current__spec")
    if is_shipped:
        rows = rows.filter(is_shipped=False)
    found = []
    for row in rows[:MAX_NEAR_READ]:
        if row.current:
            is_same = row.current.input_sha256 == input_sha256
            found.append(Near(row, 1.0 if is_same else likeness(row.current.likeness, sketch)))
    near = [one for one in found if one.likeness >= ALIKE]
    return sorted(near, key=lambda one: (-one.likeness, one.case.name))[:limit]


def case_of(project: Project, uuid: UUID) -> GoldenCase:
    """One case with its current version.

    Raises:
        NotFound: `golden_case.unknown`.
    """
    rows = GoldenCase.objects.select_related("current", "project").defer("current__likeness")
    found = rows.filter(project=project, uuid=uuid).first()
    if found is None:
        raise NotFound("golden_case.unknown", "This project has no such case.")
    return found


def version_of(case: GoldenCase, number: int) -> GoldenCaseVersion:
    """One version, ready to be read.

    Raises:
        NotFound: `golden_version.unknown`.
    """
    known = 0 < number < 2**31
    found = versions_to_read().filter(case=case, number=number).first() if known else None
    if found is None:
        raise NotFound("golden_version.unknown", f"{case.name} has no version {number}.")
    return found


def versions_to_read() -> QuerySet[GoldenCaseVersion]:
    """Versions with all that `read_version` and `document_of` take of them."""
    files = GoldenFile.objects.select_related("blob__project").order_by("path")
    rows = GoldenCaseVersion.objects.select_related("case__project").defer("likeness")
    return rows.prefetch_related(Prefetch("files", queryset=files))


def read_version(version: GoldenCaseVersion) -> ReadVersion:
    """Nothing of its files is read before a check asks for it."""
    digests = {one.path: (one.blob.sha256, one.size) for one in _files(version)}
    spec = read_spec(version.spec, digests)
    workspace = StoredWorkspace(version.case.project.uuid, digests)
    return ReadVersion(spec.document, spec.given, spec.expected, spec.definition, workspace)


def document_of(version: GoldenCaseVersion) -> dict[str, Any]:
    """The whole document, files and all.

    Raises:
        EvidenceLost: the store does not hold a file any more.
    """
    return with_files(version.spec, {one.path: read_blob(one.blob) for one in _files(version)})


def _files(version: GoldenCaseVersion) -> list[GoldenFile]:
    """Those that were fetched with it, else asked for now."""
    if "files" in getattr(version, "_prefetched_objects_cache", {}):
        return list(version.files.all())
    return list(version.files.select_related("blob__project").order_by("path"))
