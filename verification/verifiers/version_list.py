"""A project's verifier versions as its settings show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loomverify.accounts.models import Project
from verification.verifiers.activations import Period, before_active, periods
from verification.verifiers.comparing import Line, differing
from verification.verifiers.models import VerifierVersion

PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ListedVersion:
    """`differing`: what it has otherwise than the active one."""

    row: VerifierVersion
    differing: Sequence[Line]
    is_way_back: bool = False

    @property
    def may_judge_otherwise(self) -> bool:
        return any(line.group != "program" for line in self.differing)


@dataclass(frozen=True, slots=True)
class WayBack:
    """What judged before `active`. `is_return`: `active` is itself what was gone back to."""

    version: VerifierVersion
    active: VerifierVersion
    is_return: bool

    @property
    def words(self) -> str:
        verb = "Return" if self.is_return else "Roll back"
        return f"{verb} to v{self.version.number}"


@dataclass(frozen=True, slots=True)
class VersionList:
    """The active version first, then the newest. `older`: below which number there are more."""

    versions: Sequence[ListedVersion]
    active: VerifierVersion | None
    way_back: WayBack | None
    periods: Sequence[Period]
    older: int | None

    @property
    def period(self) -> Period | None:
        """Since when the active one judges, and why."""
        return self.periods[0] if self.periods else None


def listed_versions(project: Project, *, below: int | None = None) -> VersionList:
    active = active_version(project)
    rows = VerifierVersion.objects.filter(project=project, is_active=False).order_by("-number")
    if below is not None:
        rows = rows.filter(number__lt=below)
    page = list(rows[: PER_PAGE + 1])
    shown = page[:PER_PAGE]
    history = periods(project)
    back = way_back(project, active, history)
    first = [active] if active and below is None else []
    return VersionList(
        versions=[
            ListedVersion(
                row,
                differing(active, row) if active else (),
                back is not None and back.version.pk == row.pk,
            )
            for row in (*first, *shown)
        ],
        active=active,
        way_back=back,
        periods=history,
        older=shown[-1].number if len(page) > PER_PAGE else None,
    )


def way_back(
    project: Project, active: VerifierVersion | None, history: Sequence[Period]
) -> WayBack | None:
    before = before_active(project, active)
    if active is None or before is None:
        return None
    return WayBack(before, active, bool(history) and history[0].is_return)


def version_by_number(project: Project, number: int) -> VerifierVersion | None:
    rows = VerifierVersion.objects.filter(project=project, number=number)
    return rows.select_related("project").first()


def active_version(project: Project) -> VerifierVersion | None:
    return VerifierVersion.objects.filter(project=project, is_active=True).first()


def choosable(project: Project) -> list[VerifierVersion]:
    """To choose from: the active one first, then the newest."""
    rows = VerifierVersion.objects.filter(project=project).defer("spec", "environment_models")
    return list(rows.order_by("-is_active", "-number")[: 4 * PER_PAGE])
