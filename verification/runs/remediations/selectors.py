from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet

from loomverify.accounts.models import Project
from verification.runs.models import Remediation
from verification.runs.models.followup import RemediationState

HEAVY_FIELDS = ("run__search", "run__process__description", "run__result")


@dataclass(frozen=True, slots=True)
class RemediationFilters:
    """'' and None leave a filter open."""

    state: str = ""
    process: str = ""
    task: str = ""
    run: UUID | None = None


def remediations(
    project: Project,
    filters: RemediationFilters = RemediationFilters(),
) -> QuerySet[Remediation]:
    """A project's remediations, with what is shown of them."""
    rows = Remediation.objects.filter(project=project)
    wanted = {
        "state": filters.state,
        "run__process__slug": filters.process,
        "run__task__external_id": filters.task,
        "run__uuid": filters.run,
    }
    rows = rows.filter(**{name: value for name, value in wanted.items() if value})
    related = ("run__project", "run__process", "run__task", "owner", "resolved_by")
    return rows.select_related(*related).defer(*HEAVY_FIELDS)


def counts(project: Project) -> dict[RemediationState, int]:
    """How many there are in each state."""
    grouped = Remediation.objects.filter(project=project).values("state").annotate(n=Count("pk"))
    found = {row["state"]: row["n"] for row in grouped}
    return {state: found.get(state, 0) for state in RemediationState}
