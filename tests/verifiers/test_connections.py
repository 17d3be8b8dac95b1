from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project
from loomverify.env import environment
from loomverify.errors import Conflict, InputError, NotFound
from tests.builders import make_project
from tests.tables import check_rows
from verification.engine.verifier import JudgeModels, VerifierSpec
from verification.verifiers import connections, selectors, services
from verification.verifiers.connections import Terms
from verification.verifiers.models import JudgeConnection
from verification.verifiers.selectors import ConnectionUnusable, resolve

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(db: None) -> Project:
    return make_project()


def add(project: Project, name: str = "own", **fields: Any) -> JudgeConnection:
    given = {"model": "openai/gpt-4o", "base_url": "", "terms": Terms(), **fields}
    return connections.add_connection(project=project, actor=SYSTEM, name=name, **given)


@check_rows(
    ("fields", "code"),
    [
        ({"name": ""}, "judge.name"),
        ({"name": "Has Capitals"}, "judge.name"),
        ({"name": "-x"}, "judge.name"),
        ({"name": "a" * 61}, "judge.name"),
        ({"model": ""}, "judge.model"),
        ({"model": "gpt-4o"}, "judge.model"),
        ({"model": "bedrock/claude"}, "judge.model"),
        ({"model": "azure/gpt"}, "judge.model"),
        ({"model": "openai/with space"}, "judge.model"),
        ({"model": "openai/" + "m" * 120}, "judge.model"),
        ({"base_url": "ftp://host"}, "judge.base_url"),
        ({"base_url": "file:///etc/passwd"}, "judge.base_url"),
        ({"base_url": "//host"}, "judge.base_url"),
        ({"base_url": "http://"}, "judge.base_url"),
        ({"base_url": "http://user:word@host/v1"}, "judge.base_url"),
        ({"base_url": "http://host/v1?x=1"}, "judge.base_url"),
        ({"base_url": "http://host/v1#x"}, "judge.base_url"),
        ({"base_url": "http://ho st/v1"}, "judge.base_url"),
        ({"base_url": "http://host:99999/v1"}, "judge.base_url"),
        ({"base_url": "http://[::1"}, "judge.base_url"),
        ({"base_url": "http://169.254.169.254/latest"}, "judge.base_url"),
        ({"base_url": "http://[fd00:ec2::254]/latest"}, "judge.base_url"),
        ({"base_url": "https://" + "h" * 500}, "judge.base_url"),
        ({"terms": Terms(key_reference="DATABASE_URL")}, "judge.key_reference"),
        ({"terms": Terms(key_reference="LOOMVERIFY_SECRET_KEY")}, "judge.key_reference"),
        ({"terms": Terms(key_reference="LOOMVERIFY_JUDGE_API_KEY")}, "judge.key_reference"),
        ({"terms": Terms(key_reference="LOOMVERIFY_KEY_")}, "judge.key_reference"),
        ({"terms": Terms(key_reference="LOOMVERIFY_KEY_X\n")}, "judge.key_reference"),
        ({"terms": Terms(key_reference="LOOMVERIFY_KEY_X_PROJECTS")}, "judge.key_reference"),
        ({"terms": Terms(key_reference="sk-a-key-itself")}, "judge.key_reference"),
        ({"terms": Terms(timeout_seconds=0)}, "judge.timeout_seconds"),
        ({"terms": Terms(timeout_seconds=601)}, "judge.timeout_seconds"),
        ({"terms": Terms(max_output_tokens=1)}, "judge.max_output_tokens"),
        ({"terms": Terms(max_input_chars=10**9)}, "judge.max_input_chars"),
        ({"terms": Terms(input_usd_per_million=Decimal(-1))}, "judge.input_usd_per_million"),
        ({"terms": Terms(output_usd_per_million=Decimal("NaN"))}, "judge.output_usd_per_million"),
    ],
    rollback=True,
)
def test_a_connection_that_makes_no_sense_is_refused_with_its_field(
    project: Project, fields: dict[str, Any], code: str
) -> None:
    with pytest.raises(InputError) as refused:
        add(project, **fields)

    assert refused.value.code == code
    assert refused.value.issues[0].loc == ("body", code.removeprefix("judge."))
    assert not JudgeConnection.objects.exists()


def test_a_name_is_taken_for_ever(project: Project) -> None:
    add(project)
    connections.remove_connection(project=project, actor=SYSTEM, name="own")

    with pytest.raises(Conflict, match="This name is taken, or was"):
        add(project, model="openai/another")


def test_a_change_is_audited_field_by_field(project: Project) -> None:
    add(project)

    row = connections.change_connection(
        project=project,
        actor=SYSTEM,
        name="own",
        terms=Terms(timeout_seconds=90, input_usd_per_million=Decimal("2.5")),
    )

    assert (row.timeout_seconds, row.input_usd_per_million) == (90, Decimal("2.5"))
    assert AuditEntry.objects.get(verb="judge.changed").diff == {
        "timeout_seconds": [60, 90],
        "input_usd_per_million": [None, "2.5"],
    }


@pytest.mark.parametrize("seat", ["primary", "alternate", "panel"])
def test_what_can_change_a_verdict_stays_once_a_version_names_the_connection(
    project: Project, seat: str
) -> None:
    add(project, terms=Terms(max_output_tokens=500))
    seated: dict[str, Any] = {seat: ("own",) if seat == "panel" else "own"}
    models = replace(JudgeModels("another"), **seated)
    terms = Terms(max_output_tokens=800, structured_output=False)
    change = partial(connections.change_connection, project=project, actor=SYSTEM, name="own")
    change(terms=terms)
    services.add_version(project=project, spec=VerifierSpec(models=models))

    others: dict[str, Any] = {
        "max_output_tokens": 500,
        "max_input_chars": 1000,
        "structured_output": None,
    }
    for field, value in others.items():
        with pytest.raises(Conflict, match="add a connection of another name") as refusal:
            change(terms=replace(terms, timeout_seconds=7, **{field: value}))
        assert refusal.value.issues[0].loc == ("body", field)
        assert refusal.value.code == "judge.named"

    row = change(terms=replace(terms, timeout_seconds=90, input_usd_per_million=Decimal(2)))
    assert (row.timeout_seconds, row.max_output_tokens, row.structured_output) == (90, 800, False)


def test_a_change_of_nothing_leaves_no_trace(project: Project) -> None:
    add(project)

    connections.change_connection(project=project, actor=SYSTEM, name="own", terms=Terms())

    assert not AuditEntry.objects.filter(verb="judge.changed").exists()


def test_the_environments_connection_may_get_a_price_and_keeps_its_key(project: Project) -> None:
    JudgeConnection.objects.create(
        project=project,
        name="gpt",
        model="gpt",
        is_environment=True,
        key_reference="LOOMVERIFY_JUDGE_API_KEY",
    )

    row = connections.change_connection(
        project=project,
        actor=SYSTEM,
        name="gpt",
        terms=Terms(key_reference="LOOMVERIFY_KEY_OTHER", input_usd_per_million=Decimal(1)),
    )

    assert row.key_reference == "LOOMVERIFY_JUDGE_API_KEY"
    assert row.input_usd_per_million == Decimal(1)


def test_who_judges_now_cannot_be_removed(project: Project) -> None:
    add(project)
    connections.choose_judges(project=project, actor=SYSTEM, primary="own", reason="Ours.")

    with pytest.raises(Conflict, match="It judges now"):
        connections.remove_connection(project=project, actor=SYSTEM, name="own")


def test_the_environments_connection_cannot_be_removed(project: Project) -> None:
    JudgeConnection.objects.create(project=project, name="gpt", model="gpt", is_environment=True)

    with pytest.raises(Conflict, match="The environment names it"):
        connections.remove_connection(project=project, actor=SYSTEM, name="gpt")


def test_a_choice_is_a_new_live_version_with_its_reason(project: Project) -> None:
    for name in ("one", "two", "three"):
        add(project, name)

    version = connections.choose_judges(
        project=project,
        actor=SYSTEM,
        primary="one",
        alternate="two",
        panel=("one", "three", "three"),
        reason="Measured.",
    )

    judges = VerifierSpec.from_json(version.spec).models
    assert (judges.primary, judges.alternate, judges.panel) == ("one", "two", ("one", "three"))
    assert (version.is_active, version.number) == (True, 2)
    assert AuditEntry.objects.get(verb="verifier.activated").reason == "Measured."


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        ({"primary": "nobody"}, "judge.primary"),
        ({"primary": "gone"}, "judge.primary"),
        ({"primary": "one", "alternate": "nobody"}, "judge.alternate"),
        ({"primary": "one", "alternate": "one"}, "judge.alternate"),
        ({"primary": "", "alternate": "one"}, "judge.primary"),
        ({"primary": "one", "panel": ("one", "nobody")}, "judge.panel"),
        ({"primary": "one", "reason": " "}, "judge.reason"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(
    project: Project, choice: dict[str, Any], code: str
) -> None:
    add(project, "one")
    add(project, "gone")
    connections.remove_connection(project=project, actor=SYSTEM, name="gone")

    with pytest.raises(InputError) as refused:
        connections.choose_judges(project=project, actor=SYSTEM, **{"reason": "So.", **choice})

    assert refused.value.code == code
    assert connections.live_models(project).primary == ""


def test_no_judge_may_be_chosen_too(project: Project) -> None:
    add(project)
    connections.choose_judges(project=project, actor=SYSTEM, primary="own", reason="Try.")

    connections.choose_judges(project=project, actor=SYSTEM, primary="", reason="Enough.")

    assert not connections.live_models(project).is_configured


def test_a_worker_finds_the_key_by_its_reference(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOMVERIFY_KEY_OURS", "the key")
    monkeypatch.setenv("LOOMVERIFY_KEY_OURS_PROJECTS", f"another, {project.slug}")
    add(project, base_url="https://gateway.example.com/v1", terms=Terms("LOOMVERIFY_KEY_OURS"))

    found = resolve(project_id=project.pk, name="own")

    assert (found.api_key, found.base_url) == ("the key", "https://gateway.example.com/v1")
    assert "the key" not in repr(found)


def test_what_a_row_may_not_name_is_not_read_from_the_environment_either(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    add(project)
    JudgeConnection.objects.update(key_reference="DATABASE_URL")

    with pytest.raises(ConnectionUnusable, match="not one that projects may name"):
        resolve(project_id=project.pk, name="own")


@pytest.mark.parametrize("projects", ["", "another", "projec", "loom-2,other"])
def test_a_key_that_was_given_to_other_projects_stays_with_them(
    project: Project, monkeypatch: pytest.MonkeyPatch, projects: str
) -> None:
    monkeypatch.setenv("LOOMVERIFY_KEY_THEIRS", "the key")
    monkeypatch.setenv("LOOMVERIFY_KEY_THEIRS_PROJECTS", projects)
    add(project, terms=Terms("LOOMVERIFY_KEY_THEIRS"))

    with pytest.raises(ConnectionUnusable, match="has not given LOOMVERIFY_KEY_THEIRS"):
        resolve(project_id=project.pk, name="own")


@pytest.mark.parametrize(("slug", "projects"), [("default", ""), ("any", "*")])
def test_a_key_is_given_to_the_first_project_or_to_all(
    monkeypatch: pytest.MonkeyPatch, slug: str, projects: str
) -> None:
    project = make_project(slug)
    monkeypatch.setenv("LOOMVERIFY_KEY_OURS", "the key")
    monkeypatch.setenv("LOOMVERIFY_KEY_OURS_PROJECTS", projects)
    add(project, terms=Terms("LOOMVERIFY_KEY_OURS"))

    assert resolve(project_id=project.pk, name="own").api_key == "the key"


@pytest.mark.parametrize("is_allowed", [True, False])
def test_the_private_network_is_the_environments_and_where_the_operator_says_so_the_projects(
    project: Project, monkeypatch: pytest.MonkeyPatch, is_allowed: bool
) -> None:
    env = replace(environment(), judge_private_hosts=is_allowed)
    monkeypatch.setattr(selectors, "environment", lambda: env)
    add(project)
    JudgeConnection.objects.create(project=project, name="gpt", model="gpt", is_environment=True)

    assert resolve(project_id=project.pk, name="own").is_private_allowed is is_allowed
    assert resolve(project_id=project.pk, name="gpt").is_private_allowed is True


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nobody", "There is no judge connection named nobody."),
        ("gone", "The judge connection gone was removed."),
        ("keyless", "Workers do not see the variable LOOMVERIFY_KEY_MISSING."),
    ],
)
def test_why_a_connection_cannot_be_used(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    add(project, "gone")
    connections.remove_connection(project=project, actor=SYSTEM, name="gone")
    monkeypatch.setenv("LOOMVERIFY_KEY_MISSING_PROJECTS", "*")
    add(project, "keyless", terms=Terms("LOOMVERIFY_KEY_MISSING"))

    with pytest.raises(ConnectionUnusable) as refused:
        resolve(project_id=project.pk, name=name)

    assert str(refused.value) == why


def test_connections_of_another_project_are_not_there(project: Project) -> None:
    other = make_project()
    add(other)

    with pytest.raises(ConnectionUnusable):
        resolve(project_id=project.pk, name="own")
    with pytest.raises(NotFound):
        connections.remove_connection(project=project, actor=SYSTEM, name="own")
