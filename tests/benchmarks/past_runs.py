"""Past runs for shadow trials, in a project that holds nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from tests.benchmarks.django_process import call_in_django
from tests.benchmarks.latency import submission
from tests.stack import Stack, api_client, wait_for

if TYPE_CHECKING:
    from loomverify.accounts.models import Project

FILE_EVERY, DIFFERS_EVERY = 5, 10
"""Every fifth run has a small file; the legacy engine rejects every tenth."""


@dataclass(frozen=True, slots=True)
class PastRuns:
    """A project with past runs. `client` has an admin's key of it."""

    stack: Stack
    client: httpx.Client
    legacy_verifier: int

    def start_trial(self, limit: int) -> tuple[str, str]:
        """Replay the newest runs in a new trial, without judges; return both ids."""
        body = {"baseline_verifier": self.legacy_verifier, "aa_rate": 0}
        trial = self._post("/shadow/trials", body)["id"]
        replay = self._post(f"/shadow/trials/{trial}/replay", {"origin": "past", "limit": limit})
        assert replay["total"] == limit, replay
        return trial, replay["id"]

    def stop_trial(self, trial: str) -> None:
        self._post(f"/shadow/trials/{trial}/stop", {"reason": "Measured."})

    def replay_seconds(self, replay: str) -> float:
        """Wait for the end of a replay; return the seconds from its request to its end."""
        finished = "select finished_at is not null from trials_trialreplay where uuid = %s"
        wait_for(
            lambda: self.stack.query(finished, replay) == [(True,)],
            "the end of the replay",
            seconds=900,
        )
        [[seconds]] = self.stack.query(
            "select extract(epoch from finished_at - created_at)::float from trials_trialreplay"
            " where uuid = %s",
            replay,
        )
        return float(seconds)

    def count_compared(self, replay: str) -> dict[str, int]:
        """Return how many runs of a replay are compared, by the class of their difference."""
        rows = self.stack.query(
            "select diff_class, count(*)::int from trials_comparison comparison"
            " join trials_trialreplay replay on replay.id = replay_id"
            " where replay.uuid = %s and compared_at is not null group by diff_class",
            replay,
        )
        return dict(rows)

    def is_open(self, replay: str) -> bool:
        open_replay = "select 1 from trials_trialreplay where uuid = %s and finished_at is null"
        return bool(self.stack.query(open_replay, replay))

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        response = self.client.post(path, json=body)
        response.raise_for_status()
        content: dict[str, Any] = response.json()
        return content


@contextmanager
def make_past_runs(stack: Stack, project: str, *, submitted: int, total: int) -> Iterator[PastRuns]:
    """Make a project, verify `submitted` runs in it, and copy them until there are `total`."""
    key, legacy_verifier = call_in_django(
        stack, __name__, "make_project_of_runs", stack.url, project, submitted, total
    )
    with api_client(stack.url, key) as client:
        yield PastRuns(stack, client, legacy_verifier)


def past_submission(number: int) -> dict[str, Any]:
    """Return a small run; the legacy engine rejects every tenth although it is good."""
    body = submission(f"past-{number}")
    if number % FILE_EVERY == 0:
        body["files"] = {"notes.json": '{"quarters": 4}'}
    if number % DIFFERS_EVERY == 0:
        body["output"] += "Budget: [TBD]"
    return body


def make_project_of_runs(url: str, slug: str, submitted: int, total: int) -> tuple[str, int]:
    """Return an admin's key and the number of the legacy verifier version. Needs Django."""
    from loomverify.accounts.access import SYSTEM
    from loomverify.accounts.models import Role
    from loomverify.accounts.services.keys import create_api_key
    from loomverify.accounts.services.projects import create_project
    from verification.engine.verifier import LEGACY_FLAGS, VerifierSpec
    from verification.runs.models import Run, RunState
    from verification.verifiers.services import add_version

    project = create_project(name=slug, slug=slug, actor=SYSTEM)
    _, key = create_api_key(project=project, name="benchmark", role=Role.ADMIN, actor=SYSTEM)
    with api_client(url, key) as client:
        for number in range(submitted):
            response = client.post("/runs", json=past_submission(number))
            assert response.status_code == 202, response.text
    unfinished = Run.objects.filter(project=project).exclude(state=RunState.FINISHED)
    wait_for(lambda: not unfinished.exists(), "the end of all runs")
    _copy_runs(project, total // submitted - 1)
    return key, add_version(project=project, spec=VerifierSpec(LEGACY_FLAGS)).number


def _copy_runs(project: Project, copies: int) -> None:
    """Copy the project's runs with all they have, and mix them in time."""
    from django.db import connection, transaction

    from tests.reviews.agreement_rows import copy_rows
    from verification.runs.models import Evaluation, Finding, Run, RunFile, Submission, TierResult

    rows = {
        Run: Run.objects.filter(project=project),
        Submission: Submission.objects.filter(run__project=project),
        RunFile: RunFile.objects.filter(run__project=project),
        Evaluation: Evaluation.objects.filter(run__project=project),
        Finding: Finding.objects.filter(project=project),
        TierResult: TierResult.objects.filter(evaluation__run__project=project),
    }
    with transaction.atomic():
        keys = {model: list(found.values_list("pk", flat=True)) for model, found in rows.items()}
        for model, ids in keys.items():
            copy_rows(model, ids, copies)
    with connection.cursor() as cursor:
        cursor.execute(
            "update runs_run set finished_at = finished_at - random() * interval '1 hour'"
            " where project_id = %s",
            [project.pk],
        )
        cursor.execute("analyze")
