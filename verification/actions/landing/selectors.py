from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, OuterRef, QuerySet, Subquery

from loomverify.accounts.models import Project
from verification.actions.models import Action, ActionState, Change
from verification.runs.exporting.archive import Entry, as_json
from verification.runs.models import Run


def actions_of(
    project: Project,
    *,
    state: str = "",
    kind: str = "",
    repository: str = "",
    run: str = "",
    standing: str = "",
    since: str = "",
    until: str = "",
) -> QuerySet[Action]:
    """A project's actions with all that a row shows, narrowed down; each filter may be empty.

    `standing`: of each change that stands so, the one action that says it. `since` and `until`,
    RFC 3339: when the run was submitted.
    """
    wanted = {
        "state": state,
        "kind": kind,
        "change__repository__name": repository,
        "change__run__uuid": run,
        "submitted_at__gte": since,
        "submitted_at__lt": until,
        "change__standing": standing,
    }
    rows = Action.objects.filter(project=project).select_related(
        "change__repository", "change__run"
    )
    rows = rows.defer("change__run__search", "change__run__result")
    if standing:
        says_so = Action.objects.filter(
            change=OuterRef("change"),
            kind=OuterRef("change__standing_kind"),
            reason_code=OuterRef("change__standing_reason"),
        )
        rows = rows.filter(pk=Subquery(says_so.order_by("pk").values("pk")[:1]))
    return rows.filter(**{field: value for field, value in wanted.items() if value})


def counts_of(project: Project) -> dict[str, int]:
    """How many actions there are by state; what waits for a person is among them."""
    rows = Action.objects.filter(project=project).values("state").annotate(n=Count("pk"))
    found = {row["state"]: row["n"] for row in rows}
    return {state: found.get(state, 0) for state in ActionState.values}


def actions_of_run(run_id: int) -> QuerySet[Action]:
    rows = Action.objects.filter(change__run=run_id).select_related("change__repository")
    return rows.order_by("created_at", "id")


def evidence_of_run(run: Run) -> Iterator[Entry]:
    """A run's change as it was sent, and what became of it."""
    change = Change.objects.select_related("repository", "blob__project").filter(run=run).first()
    if change is None:
        return
    told = {
        "repository": change.repository.name, "kind": change.kind, "base": change.base_sha,
        "tree": change.tree_sha, "commit": change.commit_sha, "paths": change.paths,
    }  # fmt: skip
    rows = actions_of_run(run.pk).values(
        "uuid", "kind", "turn", "state", "reason_code", "detail", "ref", "expected_sha", "new_sha",
        "evidence", "attempts", "decided_by", "decided_at", "created_at", "finished_at",
    )  # fmt: skip
    yield "change/change.json", as_json(told)
    yield "change/actions.json", as_json(list(rows))
    if change.blob is not None:
        yield f"change/{change.kind}", change.blob
