"""A project with something of nearly everything in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from processes.models import Rule
from tests.actions.builders import make_action, make_change, make_delivery, make_repository
from tests.actions.conftest import hooked
from tests.gates import make_gate, make_progress
from tests.golden.builders import make_case, make_replay
from tests.judged import make_artefact, make_call, make_remediation
from tests.reviewing import make_review
from tests.runs.conftest import Caller, new_process
from tests.trials.builders import (
    make_acknowledgement,
    make_comparison,
    make_sides,
    make_trial,
    make_trial_replay,
)
from tests.waivers import make_waiver, problem, rejected
from verification.rules.models import Drawn, Expected, Pin, Sample
from verification.runs.models import Finding, Run
from verification.verifiers.connections import Terms, add_connection

PROCESS = """\
name: theirs
phases: [{id: work, description: Work.}]
verification: {rules: [{name: own, check: TBD, type: regex, applies_to_phases: [work]}]}
"""


def fill(project: Project) -> Mapping[str, Any]:
    """What addresses of the API name, by the name that stands for it there."""
    admin = Caller(project, Role.ADMIN)
    run = admin.submit(files={"a.txt": "a"}, task={"id": "submitted"})
    new_process(project, PROCESS)
    new_process(project, PROCESS + "description: Better.\n")
    webhook = hooked(project, "http://127.0.0.1:9/hook")
    add_connection(project=project, actor=SYSTEM, name="own", model="openai/m", terms=Terms())
    row = Run.objects.get(uuid=run["id"])
    evaluation = row.live_evaluation
    assert evaluation
    make_call(evaluation, tier=2)
    trial = make_trial(project)
    known = make_acknowledgement(make_comparison(trial, "fail", "pass"))
    make_comparison(trial, "pass", "fail")
    dangerous = rejected(project, problem(), problem(), process=row.process)
    waiver = make_waiver(dangerous)
    other = Finding.objects.filter(evaluation__run=dangerous).latest("pk")
    return {
            "run_id": run["id"], "path": "a.txt", "slug": "theirs", "number": 1, "old": 1,
            "new": 2, "webhook_id": webhook.uuid, "name": "own",
            "evaluation_id": evaluation.uuid, "tier": 2, "seq": 1, "side": "reply",
            "artefact_id": make_artefact(evaluation, b"What is left.").uuid,
            "remediation_id": make_remediation(row).uuid,
            "review_id": make_review(project, row).uuid,
            "case_id": make_case(project, "kept").uuid,
            "replay_id": make_replay(project).uuid,
            "trial_id": trial.uuid, "trial_replay_id": make_trial_replay(trial).uuid,
            "comparison_id": make_sides(trial, row).uuid,
            "acknowledgement_id": known.pk,
            "example_id": make_example(project).uuid,
            "sample_id": make_sample(project).uuid,
            "waiver_id": waiver.uuid, "waived_run_id": dangerous.uuid,
            "fingerprint": other.fingerprint,
            "repository_id": make_repository(project).uuid,
            "action_id": make_action(make_change(row)).uuid,
            "delivery_id": make_delivery(webhook).uuid,
            "position": make_gate(evaluation).position,
            "gate_id": make_progress(evaluation).pk,
    }  # fmt: skip


def make_example(project: Project) -> Pin:
    rule = Rule.objects.get(process__project=project, process__slug="theirs", name="own")
    return Pin.objects.create(rule=rule, expected=Expected.CAUGHT, text="TBD, still")


def make_sample(project: Project) -> Sample:
    process = project.processes.get(slug="theirs")
    return Sample.objects.create(
        project=project,
        process=process,
        rule="own",
        rule_index=0,
        candidate_text=PROCESS,
        verifier_version=project.verifiers.get(number=1),
        drawn=Drawn.BY_LOT,
        max_usd=1,
        total=0,
        created_at=timezone.now(),
    )
