from __future__ import annotations

from django.db.models import Count, QuerySet

from loomverify.accounts.models import Project
from verification.actions.models import Action, ActionState


def actions_of(
    project: Project, *, state: str = "", kind: str = "", repository: str = "", run: str = ""
) -> QuerySet[Action]:
    """A project's actions with all that a row shows, narrowed down; each filter may be empty."""
    wanted = {
        "state": state,
        "kind": kind,
        "change__repository__name": repository,
        "change__run__uuid": run,
    }
    rows = Action.objects.filter(project=project).select_related(
        "change__repository", "change__run"
    )
    rows = rows.defer("change__run__search", "change__run__result")
    return rows.filter(**{field: value for field, value in wanted.items() if value})


def counts_of(project: Project) -> dict[str, int]:
    """How many actions there are by state; what waits for a person is among them."""
    rows = Action.objects.filter(project=project).values("state").annotate(n=Count("pk"))
    found = {row["state"]: row["n"] for row in rows}
    return {state: found.get(state, 0) for state in ActionState.values}


def actions_of_run(run_id: int) -> QuerySet[Action]:
    rows = Action.objects.filter(change__run=run_id).select_related("change__repository")
    return rows.order_by("created_at", "id")
