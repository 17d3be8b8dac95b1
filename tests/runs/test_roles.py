"""Who may do what, for every operation that the OpenAPI document names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import ApiKey, Project, Role
from loomverify.accounts.services import create_api_key
from tests.golden.builders import document
from tests.openapi import openapi_document
from tests.runs.conftest import body_of, new_project
from tests.tables import check_rows
from tests.waivers import REASON, in_days
from tests.world import PROCESS, fill

DOCUMENT = openapi_document()
OPERATIONS = {
    f"{method.upper()} {path.removeprefix('/api/v1')}": operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
NEEDED: dict[str, Role] = {
    "POST /runs": Role.AGENT,
    "POST /runs/{run_id}/cancel": Role.AGENT,
    "POST /runs/{run_id}/reverify": Role.AGENT,
    "POST /processes": Role.EDITOR,
    "POST /processes/lint": Role.VIEWER,
    "PATCH /processes/{slug}": Role.EDITOR,
    "POST /processes/{slug}/rules/backtest": Role.EDITOR,
    "POST /processes/{slug}/rules/samples": Role.EDITOR,
    "POST /processes/{slug}/rules/samples/price": Role.EDITOR,
    "POST /samples/{sample_id}/cancel": Role.EDITOR,
    "POST /processes/{slug}/rules/{name}/enforcement": Role.ADMIN,
    "POST /processes/{slug}/rules/{name}/examples": Role.EDITOR,
    "DELETE /processes/{slug}/rules/{name}/examples/{example_id}": Role.EDITOR,
    "POST /processes/{slug}/versions/{number}/publish": Role.ADMIN,
    "POST /verifiers": Role.ADMIN,
    "POST /verifiers/{number}/activate": Role.ADMIN,
    "POST /judges/{name}/test": Role.ADMIN,
    "POST /remediations/{remediation_id}/claim": Role.AGENT,
    "POST /remediations/{remediation_id}/resolve": Role.AGENT,
    # Of somebody else's claim, or of none; an agent may do it with its own.
    "POST /remediations/{remediation_id}/release": Role.REVIEWER,
    "POST /remediations/{remediation_id}/give-up": Role.REVIEWER,
    "POST /runs/{run_id}/review": Role.REVIEWER,
    "POST /reviews/claim": Role.REVIEWER,
    "POST /reviews/{review_id}/claim": Role.REVIEWER,
    "POST /reviews/{review_id}/release": Role.REVIEWER,
    "POST /reviews/{review_id}/skip": Role.REVIEWER,
    "POST /reviews/{review_id}/assign": Role.REVIEWER,
    "POST /reviews/{review_id}/take-in": Role.REVIEWER,
    "POST /reviews/{review_id}/decide": Role.REVIEWER,
    "POST /reviews/decide": Role.REVIEWER,
    "POST /reviews/undo": Role.REVIEWER,
    "GET /reviews/labels.csv": Role.REVIEWER,
    "GET /reviews/labels.jsonl": Role.REVIEWER,
    "POST /golden/cases": Role.EDITOR,
    "POST /golden/cases/import": Role.EDITOR,
    "PUT /golden/cases/{case_id}": Role.EDITOR,
    "DELETE /golden/cases/{case_id}": Role.EDITOR,
    "POST /golden/cases/{case_id}/restore": Role.EDITOR,
    "POST /golden/replays": Role.EDITOR,
    "POST /golden/replays/{replay_id}/cancel": Role.EDITOR,
    "POST /shadow/trials": Role.EDITOR,
    "POST /shadow/trials/{trial_id}/stop": Role.EDITOR,
    "POST /shadow/trials/{trial_id}/replay": Role.EDITOR,
    "POST /shadow/trials/{trial_id}/replays/{trial_replay_id}/cancel": Role.EDITOR,
    "POST /shadow/trials/{trial_id}/cutover-replay": Role.EDITOR,
    "POST /shadow/trials/{trial_id}/promote": Role.ADMIN,
    "POST /shadow/trials/{trial_id}/roll-back": Role.ADMIN,
    "GET /shadow/trials/{trial_id}/comparisons/{comparison_id}/judge": Role.REVIEWER,
    "POST /shadow/trials/{trial_id}/comparisons/{comparison_id}/judge": Role.REVIEWER,
    "DELETE /shadow/trials/{trial_id}/comparisons/{comparison_id}/judge": Role.REVIEWER,
    "POST /shadow/trials/{trial_id}/comparisons/{comparison_id}/notes": Role.REVIEWER,
    "POST /shadow/trials/{trial_id}/acknowledgements": Role.EDITOR,
    "DELETE /shadow/trials/{trial_id}/acknowledgements/{acknowledgement_id}": Role.EDITOR,
    "POST /waivers": Role.REVIEWER,
    "POST /waivers/{waiver_id}/end": Role.REVIEWER,
    "GET /webhooks": Role.ADMIN,
    "POST /webhooks": Role.ADMIN,
    "DELETE /webhooks/{webhook_id}": Role.ADMIN,
    "GET /deliveries": Role.ADMIN,
    "GET /project.zip": Role.ADMIN,
    "POST /deliveries/redeliver": Role.ADMIN,
    "POST /deliveries/{delivery_id}/redeliver": Role.ADMIN,
    "POST /repositories": Role.ADMIN,
    "PUT /repositories/{repository_id}": Role.ADMIN,
    "GET /reports/settings": Role.ADMIN,
    "PUT /reports/settings": Role.ADMIN,
    "DELETE /repositories/{repository_id}": Role.ADMIN,
    "POST /actions/{action_id}/approve": Role.REVIEWER,
    "POST /actions/{action_id}/decline": Role.REVIEWER,
}
"""What needs more than being a viewer, and whatever does more than read. docs/api.md, "Roles"."""
BODIES: dict[str, Any] = {
    "POST /runs": body_of(),
    "POST /processes": PROCESS.replace("theirs", "new"),
    "POST /processes/lint": PROCESS,
    "PATCH /processes/{slug}": {
        "base_version": 2,
        "edits": [{"set": ["description"], "value": "Best."}],
    },
    "POST /processes/{slug}/versions/{number}/publish": {"reason": "It is better."},
    "POST /processes/{slug}/rules/backtest": {
        "rule": {"name": "new", "type": "regex", "check": "N/A", "applies_to_phases": ["*"]}
    },
    "POST /processes/{slug}/rules/samples/price": {"rule": {"name": "new", "check": "Polite"}},
    "POST /processes/{slug}/rules/samples": {
        "rule": {"name": "new", "check": "Polite"},
        "max_usd": "1.00",
    },
    "POST /processes/{slug}/rules/{name}/enforcement": {
        "enforcement": "observe",
        "reason": "It errs.",
    },
    "POST /processes/{slug}/rules/{name}/examples": {"text": "TBD", "expected": "caught"},
    "POST /verifiers": {"flags": {"tier3_vote_count": 5}},
    "POST /verifiers/{number}/activate": {"reason": "It is better."},
    "POST /remediations/{remediation_id}/resolve": {"run": "{run_id}"},
    "POST /remediations/{remediation_id}/give-up": {"reason": "It cannot be done."},
    "POST /runs/{run_id}/review": {"outcome": "pass"},
    "POST /reviews/{review_id}/assign": {"user": None},
    "POST /reviews/{review_id}/decide": {"outcome": "pass"},
    "POST /reviews/decide": {"outcome": "pass", "reviews": ["{review_id}"]},
    "POST /golden/cases": document("small-work"),
    "POST /golden/cases/import": json.dumps([document("imported")]),
    "PUT /golden/cases/{case_id}": {"case": document("kept"), "reason": "It says more."},
    "POST /shadow/trials": {"baseline_verifier": 2},
    "POST /shadow/trials/{trial_id}/replay": {"origin": "past"},
    "POST /shadow/trials/{trial_id}/promote": {"reason": "It is better.", "override": True},
    "POST /shadow/trials/{trial_id}/roll-back": {"reason": "It is worse."},
    "POST /shadow/trials/{trial_id}/comparisons/{comparison_id}/judge": {
        "said": "new",
        "old_first": True,
    },
    "POST /shadow/trials/{trial_id}/comparisons/{comparison_id}/notes": {"text": "Known."},
    "POST /shadow/trials/{trial_id}/acknowledgements": {"kind": "pass-fail", "reason": "Known."},
    "POST /waivers": {
        "run": "{waived_run_id}",
        "fingerprint": "{fingerprint}",
        "reason": REASON,
        "until": str(in_days(30)),
    },
    "POST /webhooks": {"url": "http://127.0.0.1:9/hook", "topics": ["run.finished"]},
    "POST /repositories": {"name": "origin", "location": "/srv/origin.git"},
    "PUT /repositories/{repository_id}": {"location": "/srv/origin.git"},
    "PUT /reports/settings": {"is_on": True},
}


@dataclass(frozen=True)
class World:
    project: Project
    known: Mapping[str, Any]

    def ask(self, label: str, key: str | None) -> Any:
        method, path = label.split()
        body = BODIES.get(label, {})
        is_text = isinstance(body, str)
        return Client().generic(
            method,
            "/api/v1" + path.format(**self.known),
            body if is_text else self._about_what_is_known(json.dumps(body)),
            content_type="application/yaml" if is_text else "application/json",
            headers={"Authorization": f"Bearer {key}"} if key else {},
        )

    def _about_what_is_known(self, body: str) -> str:
        for name in ("run_id", "review_id", "waived_run_id", "fingerprint"):
            body = body.replace(f"{{{name}}}", str(self.known[name]))
        return body


@pytest.fixture
def world(project: Project) -> World:
    return World(project, fill(project))


def key_of(project: Project, role: Role) -> str:
    _, secret = create_api_key(project=project, name=f"a {role}", role=role, actor=SYSTEM)
    return secret


def needed_by(label: str) -> Role:
    return NEEDED.get(label, Role.VIEWER)


def test_every_operation_that_does_more_than_read_has_its_role_written_down() -> None:
    acting = {label for label in OPERATIONS if not label.startswith("GET ")}

    assert acting <= set(NEEDED)


def test_without_a_key_no_operation_answers(world: World) -> None:
    answers = [world.ask(label, None) for label in OPERATIONS]

    assert {answer.status_code for answer in answers} == {401}
    assert {answer["Content-Type"] for answer in answers} == {"application/problem+json"}
    assert {answer["WWW-Authenticate"] for answer in answers} == {"Bearer"}


@pytest.mark.parametrize("kind", ["revoked", "expired", "unknown", "empty", "deleted"])
def test_a_key_that_is_not_in_force_is_no_key(project: Project, kind: str) -> None:
    secret = {"unknown": "lv_unknown", "empty": " "}.get(kind, "")
    if kind in {"revoked", "expired", "deleted"}:
        secret = key_of(project, Role.ADMIN)
        key = ApiKey.objects.filter(pk=ApiKey.objects.latest("pk").pk)
        past = timezone.now() - timedelta(seconds=1)
        if kind == "deleted":
            key.delete()
        else:
            key.update(**{"revoked_at" if kind == "revoked" else "expires_at": past})

    answer = Client().get("/api/v1/runs", headers={"Authorization": f"Bearer {secret}"})

    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")


@check_rows("label", OPERATIONS, rollback=True)
def test_a_role_does_what_it_may_and_nothing_else(world: World, label: str) -> None:
    statuses = {role: world.ask(label, key_of(world.project, role)).status_code for role in Role}

    refused = {role for role, status in statuses.items() if status == 403}
    assert refused == {role for role in Role if not role.holds(needed_by(label))}
    assert all(status < 500 for status in statuses.values())
    lowest = statuses[needed_by(label)]
    assert lowest < 300 or (label, lowest) in BUSY


BUSY = {
    ("POST /runs/{run_id}/cancel", 409),
    ("POST /golden/replays/{replay_id}/cancel", 409),
    ("POST /shadow/trials/{trial_id}/promote", 409),
    ("POST /shadow/trials/{trial_id}/roll-back", 409),
    ("POST /processes/{slug}/rules/{name}/enforcement", 409),
    ("POST /processes/{slug}/rules/samples", 409),
    ("POST /processes/{slug}/rules/samples/price", 409),
    ("POST /remediations/{remediation_id}/release", 409),
    ("POST /remediations/{remediation_id}/resolve", 422),
    ("POST /reviews/{review_id}/take-in", 409),
    ("POST /reviews/undo", 404),
    ("POST /waivers/{waiver_id}/end", 409),
    ("POST /waivers", 409),
}
"""What may be done by its role, and not to a run that is over, to what nobody has claimed or held
back, where a newer version waits to be published, where no judge is there to be asked, or where
nothing was done."""


def test_another_projects_admin_finds_nothing(world: World) -> None:
    key = key_of(new_project("foreign"), Role.ADMIN)
    about_things = [label for label in OPERATIONS if "{" in label]

    answers = {label: world.ask(label, key).status_code for label in about_things}

    # Each project has verifier versions 1 and 2 of its own.
    own = (
        "POST /verifiers/{number}/activate",
        "GET /verifiers/{number}",
        "GET /verifiers/{old}...{new}",
    )
    assert [answers.pop(label) for label in own] == [200, 200, 200]
    assert set(answers.values()) == {404}


def test_another_projects_lists_hold_nothing_of_this_one(world: World) -> None:
    key = key_of(new_project("foreign"), Role.ADMIN)
    lists = [label for label in OPERATIONS if label.startswith("GET ") and "{" not in label]
    ours = [str(world.known[name]).encode() for name in ("run_id", "webhook_id", "slug")]

    answers = {label: world.ask(label, key) for label in lists}

    assert {answer.status_code for answer in answers.values()} == {200}
    texts = {
        label: b"".join(answer) if answer.streaming else answer.content
        for label, answer in answers.items()
    }
    assert [label for label, text in texts.items() if any(one in text for one in ours)] == []
