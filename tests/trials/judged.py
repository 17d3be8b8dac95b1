"""People and comparisons for tests of judging."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse

from loomverify.accounts.access import Access, access_of_user
from loomverify.accounts.models import Project, Role, User
from tests.builders import evaluate, make_run, make_user
from tests.trials.builders import make_sides
from verification.engine.outcome import Outcome
from verification.runs.models import Evaluation, Finding, Run
from verification.trials.models import Comparison, Trial

OUTPUT = "# Figures\n\nRevenue rose. TODO: name the source.\nCosts: N/A\n"
HARD: Mapping[str, Any] = {
    "rule": "no-placeholders",
    "enforcement": "hard",
    "line": 3,
    "quote": "TODO",
    "message": "TODO is left.",
    "fingerprint": "7" * 64,
}
ADVISORY = {**HARD, "enforcement": "advisory"}
ALONE = {
    "rule": "tone",
    "enforcement": "hard",
    "message": "One superlative.",
    "line": 1,
    "fingerprint": "8" * 64,
}


def person(project: Project, name: str, role: Role = Role.REVIEWER) -> User:
    return make_user(project, role, name)


def access_for(user: User, project: Project) -> Access:
    found = access_of_user(user, project.slug)
    assert found is not None
    return found


def reviewer(project: Project, name: str = "mira", role: Role = Role.REVIEWER) -> Access:
    return access_for(person(project, name, role), project)


def compared(
    trial: Trial,
    old: str = "fail",
    new: str = "pass_with_warnings",
    *,
    findings: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]] = (
        (HARD, ALONE),
        (ADVISORY,),
    ),
    run: Mapping[str, Any] | None = None,
    **columns: Any,
) -> Comparison:
    """A run with both sides beside it, each with its findings."""
    made = make_run(
        trial.project,
        **{"outcome": Outcome.FAIL, "output": OUTPUT, "title": "Sum it up", **(run or {})},
    )
    row = make_sides(trial, made, old=old, new=new)
    for side, given in zip((row.old_evaluation, row.new_evaluation), findings, strict=True):
        assert side is not None
        add_findings(made, side, given)
    Comparison.objects.filter(pk=row.pk).update(**columns)
    row.refresh_from_db()
    return row


def add_findings(run: Run, side: Evaluation, given: Sequence[Mapping[str, Any]]) -> None:
    """As an evaluation beside it would have them."""
    beside = evaluate(run, purpose="reverify", findings=given)
    Finding.objects.filter(evaluation=beside).update(evaluation=side)
    beside.delete()


def url_of(name: str, row: Comparison, *more: Any) -> str:
    trial = row.trial
    return reverse(name, args=[trial.project.slug, trial.uuid, row.uuid, *more])


def walk_url(trial: Trial, name: str = "trial_judge") -> str:
    return reverse(name, args=[trial.project.slug, trial.uuid])


def words_of(page: str) -> str:
    """What stands in a page for people, without its markup."""
    body = page.partition('id="main"')[2] or page
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())
