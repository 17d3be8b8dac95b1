"""A month of a project, by chance from a seed: runs, changes, actions, reviews, money."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from loomverify.accounts.models import Project
from tests.actions.report.builders import make_repository, sha_of
from tests.builders import make_process, make_project, make_task
from verification.actions.models import Action, ActionKind, ActionState, Change, ChangeKind
from verification.runs.models import (
    Evaluation,
    Remediation,
    Review,
    ReviewState,
    Run,
    RunState,
    Task,
)
from verification.verifiers.models import Budget, Spending

STATES = (*[RunState.FINISHED] * 12, *(state for state in RunState if state != "finished"))
ENDS = (
    ("pass", "accept", ""),
    ("pass_with_warnings", "accept", "no_tests"),
    ("partial_verified", "accept", "recommendation_pruned"),
    ("fail", "reject", "tests_failed"),
    ("fail", "reject", "rule_violated"),
    ("partial_verified", "undecided", "rate_limited"),
)


def make_month(zone: str, start: date, *, runs: int, seed: int) -> Project:
    """Thirty days from `start`, in no order, at the edges of nights too."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, on purpose
    project = make_project()
    Project.objects.filter(pk=project.pk).update(time_zone=zone)
    project.refresh_from_db()
    tasks = [
        make_task(process)
        for process in (*project.processes.all(), make_process(project, slug="other"))
    ]
    begins = datetime.combine(start, datetime.min.time(), UTC)
    at = [begins + timedelta(minutes=chance.randrange(30 * 1440)) for _ in range(runs)]
    made = Run.objects.bulk_create(_run(chance, project, chance.choice(tasks), when) for when in at)
    _changes(chance, project, made)
    _reviews(chance, [run for run in made if run.state == RunState.FINISHED])
    _remediations(chance, made)
    _money(chance, project, start)
    return project


def _run(chance: random.Random, project: Project, task: Task, at: datetime) -> Run:
    state = chance.choice(STATES)
    outcome, verdict, code = chance.choice(ENDS) if state == RunState.FINISHED else (None, "", "")
    process = task.process
    return Run(
        project=project,
        process=process,
        process_version=process.published or process.versions.get(),
        verifier_version=project.verifiers.get(number=1),
        task=task,
        phase_id="build",
        title=f"Run at {at}",
        body_sha256="0" * 64,
        candidate_sha256="0" * 64,
        state=state,
        outcome=outcome,
        verdict=verdict,
        reason_code=code,
        tier_requested=1,
        cost_usd=Decimal(chance.randrange(10_000)) / 10_000,
        created_at=at,
        finished_at=at if outcome else None,
    )


def _changes(chance: random.Random, project: Project, runs: Sequence[Run]) -> None:
    repository = make_repository(project)
    changes = Change.objects.bulk_create(
        Change(
            project=project,
            submitted_at=run.created_at,
            run=run,
            repository=repository,
            kind=ChangeKind.PATCH,
            base_sha=sha_of("base"),
            tree_sha=sha_of(run.pk),
        )
        for run in runs
        if chance.random() < 0.6
    )
    actions = [
        Action(
            project=project,
            change=change,
            submitted_at=change.submitted_at,
            kind=kind,
            state=(state := chance.choice(ActionState.values)),
            reason_code=chance.choice(("base_moved", "conflict")) if state == "held" else "",
            next_at=change.run.created_at,
            finished_at=(
                change.run.created_at + timedelta(hours=chance.randrange(40))
                if state == "done"
                else None
            ),
        )
        for change in changes
        for kind in chance.sample(ActionKind.values, chance.randrange(4))
    ]
    for action in Action.objects.bulk_create(actions):
        at = action.change.run.created_at
        Action.objects.filter(pk=action.pk).update(created_at=at)


def _reviews(chance: random.Random, runs: Sequence[Run]) -> None:
    for run in runs:
        if chance.random() > 0.2:
            continue
        evaluation = Evaluation.objects.create(
            run=run,
            purpose="live",
            seq=1,
            process_version=run.process_version,
            verifier_version=run.verifier_version,
            engine_build="1",
            started_at=run.created_at,
            verdict=run.verdict,
            outcome=run.outcome or "",
            tier_achieved=1,
        )
        Review.objects.create(
            project=run.project,
            run=run,
            process=run.process,
            phase_id="build",
            evaluation=evaluation,
            reasons=chance.choice((["undecided", "random_sample"], ["tests_failed"], [])),
            is_blind=chance.random() < 0.2,
            urgency=50,
            rank_at=run.created_at,
            created_at=run.created_at,
            state=chance.choice((ReviewState.PENDING, ReviewState.DECIDED, ReviewState.HELD)),
        )


def _remediations(chance: random.Random, runs: Sequence[Run]) -> None:
    Remediation.objects.bulk_create(
        Remediation(
            project=run.project,
            run=run,
            mode=chance.choice(("confirm_or_prune", "queue_follow_up")),
            state=chance.choice(("queued", "claimed", "resolved")),
            expires_at=run.created_at + timedelta(days=1),
            created_at=run.created_at,
        )
        for run in runs
        if chance.random() < 0.1
    )


def _money(chance: random.Random, project: Project, start: date) -> None:
    processes = list(project.processes.order_by("pk"))
    Budget.objects.create(project=project, usd_per_day=Decimal(10))
    Budget.objects.create(project=project, process=processes[0], usd_per_day=Decimal(4))
    Spending.objects.bulk_create(
        Spending(
            project=project,
            process=process,
            day=start + timedelta(days=n),
            spent_usd=Decimal(chance.randrange(700)) / 100,
            reserved_usd=Decimal(chance.randrange(3)),
        )
        for process in processes
        for n in range(30)
        if chance.random() < 0.9
    )
