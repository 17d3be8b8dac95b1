from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project
from loomverify.env import Environment, JudgeConnection, environment
from loomverify.errors import Conflict
from verification.engine.verifier import VerifierSpec
from verification.verifiers import connections, models, selectors, services
from verification.verifiers.connections import Terms
from verification.verifiers.services import ensure_verifiers

pytestmark = pytest.mark.django_db

GPT = JudgeConnection("openai/gpt-4o", "", "key")
CLAUDE = JudgeConnection("anthropic/claude-sonnet-4-5", "", "key")


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(slug="loom", name="Loom")


@pytest.fixture
def start(project: Project, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A start of LoomVerify whose environment names these judges."""

    def start(
        judge: JudgeConnection | None = None,
        alternate: JudgeConnection | None = None,
        panel: tuple[str, ...] = (),
    ) -> models.VerifierVersion:
        named: Environment = replace(
            environment(), judge=judge, alternate_judge=alternate, panel_models=panel
        )
        monkeypatch.setattr(services, "environment", lambda: named)
        return ensure_verifiers(project=project)

    return start


def chosen(version: models.VerifierVersion) -> tuple[str, str, tuple[str, ...]]:
    judges = VerifierSpec.from_json(version.spec).models
    return judges.primary, judges.alternate, judges.panel


def in_use(project: Project) -> list[tuple[str, str, str, str]]:
    rows = models.JudgeConnection.objects.filter(project=project, is_removed=False)
    fields = rows.order_by("pk").values_list("name", "model", "base_url", "key_reference")
    return list(fields)


def test_the_judges_that_the_environment_names_become_connections(
    project: Project, start: Any
) -> None:
    local = JudgeConnection("ollama/llama3", "http://localhost:11434", "")

    version = start(GPT, local, ("openai/gpt-4o-mini", "openai/gpt-4o"))

    assert in_use(project) == [
        ("openai/gpt-4o", "openai/gpt-4o", "", "LOOMVERIFY_JUDGE_API_KEY"),
        (
            "ollama/llama3",
            "ollama/llama3",
            "http://localhost:11434",
            "LOOMVERIFY_ALTERNATE_JUDGE_API_KEY",
        ),
        ("openai/gpt-4o-mini", "openai/gpt-4o-mini", "", "LOOMVERIFY_JUDGE_API_KEY"),
    ]
    panel = ("openai/gpt-4o-mini", "openai/gpt-4o")
    assert chosen(version) == ("openai/gpt-4o", "ollama/llama3", panel)
    assert version.is_active


def test_a_second_start_of_the_same_environment_changes_nothing(
    project: Project, start: Any
) -> None:
    first = start(GPT, CLAUDE)
    entries = AuditEntry.objects.count()

    second = start(GPT, CLAUDE)

    assert second == first
    assert AuditEntry.objects.count() == entries


def test_another_model_in_the_environment_makes_a_version_and_takes_the_old_one_out_of_use(
    project: Project, start: Any
) -> None:
    start(GPT)

    version = start(CLAUDE)

    assert chosen(version)[0] == CLAUDE.model
    assert [name for name, *_ in in_use(project)] == [CLAUDE.model]
    with pytest.raises(selectors.ConnectionUnusable, match="was removed"):
        selectors.resolve(project_id=project.pk, name=GPT.model)
    verbs = AuditEntry.objects.filter(object_name=GPT.model).values_list("verb", flat=True)
    assert set(verbs) == {"judge.added", "judge.removed"}


def test_a_model_that_comes_back_is_the_same_connection(project: Project, start: Any) -> None:
    first = start(GPT)
    start(CLAUDE)

    third = start(GPT)

    assert third == first
    assert [name for name, *_ in in_use(project)] == [GPT.model]


def test_the_same_model_at_another_address_is_another_connection(
    project: Project, start: Any
) -> None:
    start(GPT)

    version = start(replace(GPT, api_base="https://gateway.example.com/v1"))

    assert chosen(version)[0] == "openai/gpt-4o at gateway.example.com"
    assert models.JudgeConnection.objects.get(name="openai/gpt-4o").base_url == ""


def test_a_choice_on_the_pages_outlives_a_restart(project: Project, start: Any) -> None:
    start(GPT)
    own = connections.add_connection(
        project=project, actor=SYSTEM, name="own", model="openai/own", terms=Terms()
    )
    choice = connections.choose_judges(
        project=project, actor=SYSTEM, primary=own.name, alternate=GPT.model, reason="Cheaper."
    )

    after = start(GPT)

    assert after == choice
    assert chosen(after)[:2] == ("own", GPT.model)


def test_a_way_back_outlives_a_restart(project: Project, start: Any) -> None:
    first = start(GPT)
    start(GPT, CLAUDE)
    services.activate(project=project, number=first.number, actor=SYSTEM, reason="Back.")

    after = start(GPT, CLAUDE)

    assert after == first


def test_a_changed_environment_overrules_the_choice_on_the_pages(
    project: Project, start: Any
) -> None:
    start(GPT)
    connections.add_connection(
        project=project, actor=SYSTEM, name="own", model="openai/own", terms=Terms()
    )
    connections.choose_judges(project=project, actor=SYSTEM, primary="own", reason="Cheaper.")

    after = start(CLAUDE)

    assert chosen(after)[0] == CLAUDE.model


def test_an_environment_that_names_none_leaves_the_projects_own(
    project: Project, start: Any
) -> None:
    start(GPT)
    connections.add_connection(
        project=project, actor=SYSTEM, name="own", model="openai/own", terms=Terms()
    )
    connections.choose_judges(project=project, actor=SYSTEM, primary="own", reason="Cheaper.")

    after = start(None)

    assert chosen(after)[0] == "own"
    assert in_use(project)[0][0] == "own"


def test_an_environment_that_names_none_takes_its_own_away(project: Project, start: Any) -> None:
    start(GPT)

    after = start(None)

    assert chosen(after) == ("", "", ())
    assert in_use(project) == []


def test_the_old_engine_is_one_activation_away_with_the_judges_of_now(
    project: Project, start: Any
) -> None:
    start(GPT)
    start(CLAUDE)

    versions = models.VerifierVersion.objects.filter(project=project, engine="legacy")
    newest = versions.latest("number")
    services.activate(project=project, number=newest.number, actor=SYSTEM, reason="Back.")

    assert chosen(newest)[0] == CLAUDE.model


def test_a_version_with_a_judge_that_was_removed_cannot_be_activated(
    project: Project, start: Any
) -> None:
    first = start(GPT)
    start(CLAUDE)

    with pytest.raises(Conflict, match="which was removed"):
        services.activate(project=project, number=first.number, actor=SYSTEM, reason="Back.")


def test_a_connection_of_the_projects_own_keeps_its_name_before_the_environment(
    project: Project, start: Any
) -> None:
    start()
    connections.add_connection(
        project=project, actor=SYSTEM, name="gpt-4o", model="openai/own", terms=Terms()
    )

    version = start(JudgeConnection("gpt-4o", "", "key"))

    assert chosen(version)[0] == "gpt-4o at its provider"


def test_each_project_has_connections_of_its_own(project: Project, start: Any) -> None:
    start(GPT)
    other = Project.objects.create(slug="other", name="Other")
    ensure_verifiers(project=other)

    assert [row.name for row in selectors.connections_of(other.pk)] == [GPT.model]
    assert models.JudgeConnection.objects.filter(name=GPT.model).count() == 2
