"""Changes and actions for tests, as the services would have written them."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from loomverify.accounts.models import Project
from tests.builders import make_run
from tests.judged import make_remediation
from tests.reviewing import make_review
from verification.actions.models import Action, ActionKind, ActionState, Change, ChangeKind
from verification.actions.models import Repository as Repo
from verification.actions.report.nights import Hours, last_night
from verification.engine.outcome import Outcome, Verdict
from verification.reviews.notices.times import zone_named
from verification.runs.models import Run, RunState


def make_repository(project: Project, name: str = "site") -> Repo:
    found = Repo.objects.filter(project=project, name=name).first()
    return found or Repo.objects.create(project=project, name=name, location=f"/srv/{name}.git")


def sha_of(text: object) -> str:
    return hashlib.sha1(str(text).encode(), usedforsecurity=False).hexdigest()


def make_change(run: Run) -> Change:
    return Change.objects.create(
        project=run.project,
        submitted_at=run.created_at,
        run=run,
        repository=make_repository(run.project),
        kind=ChangeKind.PATCH,
        base_sha=sha_of("base"),
        tree_sha=sha_of(run.uuid),
    )


def make_action(
    change: Change,
    kind: ActionKind = ActionKind.COMMIT,
    state: ActionState = ActionState.DONE,
    *,
    at: datetime | None = None,
    **columns: Any,
) -> Action:
    at = at or change.run.created_at
    is_done = state == ActionState.DONE
    action = Action.objects.create(
        project=change.run.project,
        change=change,
        submitted_at=change.submitted_at,
        kind=kind,
        state=state,
        next_at=at,
        finished_at=at if is_done else None,
        **{"ref": "refs/heads/main", "new_sha": sha_of(change.pk) if is_done else "", **columns},
    )
    Action.objects.filter(pk=action.pk).update(created_at=at)
    return action


def in_the_night(project: Project, minutes: int = 60) -> datetime:
    """So long before the end of the last night."""
    night = last_night(timezone.now(), Hours(), zone_named(project.time_zone))
    return night.end - timedelta(minutes=minutes)


def full_night(project: Project, title: str = "") -> list[Run]:
    """A night with runs of every ending, changes, a review and a remediation; eight runs."""
    at = in_the_night(project)
    ends = (
        (Outcome.PASS, Verdict.ACCEPT, ""),
        (Outcome.PASS_WITH_WARNINGS, Verdict.ACCEPT, "no_tests"),
        (Outcome.FAIL, Verdict.REJECT, "tests_failed"),
        (Outcome.PARTIAL_VERIFIED, Verdict.UNDECIDED, "rate_limited"),
    )
    runs = [
        make_run(
            project, created_at=at, outcome=outcome, verdict=verdict, reason_code=code, title=title
        )
        for outcome, verdict, code in ends
    ]
    states = (RunState.QUEUED, RunState.RUNNING, RunState.ERRORED, RunState.CANCELLED)
    runs += [make_run(project, created_at=at, state=state, title=title) for state in states]
    make_action(make_change(runs[0]))
    make_action(make_change(runs[1]), state=ActionState.HELD, reason_code="base_moved")
    make_action(make_change(runs[2]), ActionKind.REVERT, ActionState.PROPOSED)
    make_review(project, created_at=at, reasons=["undecided"])
    make_remediation(runs[2], created_at=at)
    return runs
