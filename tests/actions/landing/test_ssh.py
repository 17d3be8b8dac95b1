"""Repositories by ssh: each project by its own key, and by no other's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loomverify.accounts.models import Project, Role
from loomverify.env import environment
from tests.actions.builders import make_repository
from tests.actions.conftest import signed_in
from tests.actions.landing.scene import BASE, PROCESS, Origin, Scene
from tests.adapters.git.sshing import Sshd, fingerprint_of, new_key, ssh_served
from tests.model_server import ModelServer
from tests.runs.conftest import Caller, new_process, new_project, problem
from tests.runs.judged import judged_by
from verification.actions.models import Repository
from verification.actions.repositories import reaching
from verification.adapters.git import GitLost

pytestmark = [pytest.mark.django_db, pytest.mark.sshd]

BETTER = {"app.py": BASE["app.py"] + "\n\ndef sub(a, b):\n    return a - b\n"}
SLUGS = ("ours", "theirs")
Told = Callable[..., None]


@pytest.fixture
def origins(tmp_path: Path) -> dict[str, Origin]:
    for slug in SLUGS:
        (tmp_path / slug).mkdir()
    return {slug: Origin.made(tmp_path / slug / "origin.git") for slug in SLUGS}


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    made = {slug: new_key(tmp_path / "keys" / slug) for slug in SLUGS}
    for slug, key in made.items():
        monkeypatch.setenv(variable(slug), str(key))
        monkeypatch.setenv(f"{variable(slug)}_PROJECTS", slug)
    return made


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Say what the operator's variables are."""

    def say(**columns: Any) -> None:
        said = replace(environment(), **columns)
        monkeypatch.setattr(reaching, "environment", lambda: said)

    return say


@pytest.fixture
def server(
    tmp_path: Path, origins: dict[str, Origin], keys: dict[str, Path], told: Told
) -> Iterator[Sshd]:
    opens = {keys[slug]: origins[slug].path for slug in SLUGS}
    with ssh_served(tmp_path / "sshd", opens) as served:
        told(known_hosts=served.known_hosts, worker_ssh_projects=())
        yield served


def variable(slug: str) -> str:
    return f"LOOMVERIFY_KEY_GIT_{slug.upper()}"


def registered(
    project: Project, location: str, reference: str, name: str = "origin"
) -> dict[str, Any]:
    body = {
        "name": name, "location": location, "credential_reference": reference, "commit_mode": "do",
    }  # fmt: skip
    answer = Caller(project, Role.ADMIN).post("/repositories", body)
    assert answer.status_code == 201, answer.content
    told: dict[str, Any] = answer.json()
    return told


@pytest.mark.extended
def test_two_projects_land_by_a_key_each_and_neither_reaches_the_others(
    server: Sshd, origins: dict[str, Origin], keys: dict[str, Path], judge: ModelServer
) -> None:
    for slug, other in (SLUGS, SLUGS[::-1]):
        project, origin = new_project(slug), origins[slug]
        judged_by(project, judge)
        new_process(project, PROCESS)
        made = registered(project, server.location(origin.path), variable(slug))
        row = Repository.objects.get(project=project)
        scene = Scene(
            project, row, origin, Caller(project, Role.AGENT), Caller(project, Role.REVIEWER)
        )

        change = scene.landed(BETTER)

        assert made["reached_by"] == "ssh_key"
        assert scene.actions_of(change) == {"commit": ("done", "")}
        assert origin.show("rev-parse", "main^{tree}") == change.tree_sha
        assert set(server.accepted()) <= {fingerprint_of(key) for key in keys.values()}
        assert server.accepted()[-1] == fingerprint_of(keys[slug])

        untouched = origins[other].refs()
        location = server.location(origins[other].path)
        registered(project, location, variable(slug), "by-own-key")
        registered(project, location, variable(other), "by-their-key")
        for name, why in (("by-own-key", "another repository"), ("by-their-key", "not given")):
            refused = scene.answer(
                origins[other].patch(BETTER), change={"repository": name}, task={"id": name}
            )
            assert problem(refused)[:2] == (503, "repository.unreachable")
            assert why in refused.json()["detail"]
        assert origins[other].refs() == untouched


def test_the_workers_own_key_is_for_the_projects_that_the_operator_names(
    server: Sshd, origins: dict[str, Origin], told: Told
) -> None:
    project = new_project("ours")
    location, admin = server.location(origins["ours"].path), Caller(project, Role.ADMIN)
    body = {"name": "origin", "location": location}

    refused = admin.post("/repositories", body)
    assert problem(refused) == (
        422, "repository.credential_reference", ["body", "credential_reference"],
    )  # fmt: skip
    assert "LOOMVERIFY_WORKER_SSH_PROJECTS" in refused.json()["detail"]

    for allowed in (("ours", "another"), ("*",)):
        told(worker_ssh_projects=allowed)
        Repository.objects.all().delete()
        assert admin.post("/repositories", body).json()["reached_by"] == "worker_ssh_key"

    # What was registered before the operator forbade it says so, and what to do.
    told(worker_ssh_projects=("another",))
    [listed] = admin.get("/repositories").json()["items"]
    page = signed_in(project, Role.ADMIN).get("/p/ours/settings/repositories/").content.decode()
    row = Repository.objects.select_related("project").get()
    assert listed["reached_by"] == "no_ssh_key"
    assert "LOOMVERIFY_WORKER_SSH_PROJECTS" in page
    with pytest.raises(GitLost, match="own SSH key"):
        reaching.mirror_of(row)


def test_where_secrets_are_is_told_to_admins_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOMVERIFY_KEY_SIGNING_PROJECTS", "ours")
    named = {
        "credential_reference": "LOOMVERIFY_KEY_TOKEN",
        "signing_reference": "LOOMVERIFY_KEY_SIGNING",
    }
    make_repository(project, location="https://git.example.com/app.git", **named)

    shown = {
        role: Caller(project, role).get("/repositories").json()["items"][0]
        for role in (Role.AGENT, Role.VIEWER, Role.REVIEWER, Role.EDITOR, Role.ADMIN)
    }

    for role, row in shown.items():
        wanted = named if role is Role.ADMIN else dict.fromkeys(named, "")
        assert {name: row[name] for name in named} == wanted


@pytest.mark.parametrize(
    ("location", "reference", "words"),
    [
        (
            "git@git.example.com:team/app.git",
            "LOOMVERIFY_KEY_X",
            "the SSH key that LOOMVERIFY_KEY_X",
        ),
        (
            "git@git.example.com:team/app.git",
            "",
            "the workers&#x27; own SSH key, for every project",
        ),
        ("https://git.example.com/app.git", "LOOMVERIFY_KEY_X", "the token in LOOMVERIFY_KEY_X"),
        ("https://git.example.com/app.git", "", "reached without a token"),
        ("/srv/app.git", "", "by its path"),
    ],
)
def test_a_repositorys_row_says_by_what_it_is_reached(
    location: str, reference: str, words: str, told: Told
) -> None:
    project = new_project("ours")
    told(worker_ssh_projects=("*",))
    Repository.objects.create(
        project=project, name="app", location=location, credential_reference=reference
    )

    page = signed_in(project, Role.ADMIN).get("/p/ours/settings/repositories/").content.decode()

    assert words in page


def test_what_is_wrong_with_a_key_is_told_without_it(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = new_project("ours")
    told(worker_ssh_projects=())
    open_to_all = new_key(tmp_path / "open")
    open_to_all.chmod(0o644)
    secret = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n" * 100
    row = Repository.objects.create(
        project=project, name="app", location="git@127.0.0.1:app.git",
        credential_reference="LOOMVERIFY_KEY_X",
    )  # fmt: skip
    monkeypatch.setenv("LOOMVERIFY_KEY_X_PROJECTS", "ours")

    for value, reason in (
        (str(open_to_all), "ssh_key_open"), (str(tmp_path), "ssh_key_missing"),
        (str(tmp_path / "none"), "ssh_key_missing"), (secret, "ssh_key_missing"),
        ("", "secret_missing"),
    ):  # fmt: skip
        monkeypatch.setenv("LOOMVERIFY_KEY_X", value)
        with pytest.raises(GitLost) as lost:
            reaching.mirror_of(row)
        assert lost.value.reason == reason
        assert "c2VjcmV0" not in str(lost.value)


def test_terms_of_another_address_are_held_to_the_same(told: Told) -> None:
    project = new_project("ours")
    told(worker_ssh_projects=())
    row = Repository.objects.create(project=project, name="app", location="/srv/app.git")
    fields = {
        "location": "git@127.0.0.1:app.git", "target_branch": "main", "commit_mode": "do",
        "branch_mode": "do", "revert_mode": "do", "author_name": "Loom",
        "author_email": "loom@example.com",
    }  # fmt: skip

    page = signed_in(project, Role.ADMIN).post(f"/p/ours/settings/repositories/{row.uuid}/", fields)

    assert page.status_code == 422
    assert list(page.context["form"].errors) == ["credential_reference"]
    row.refresh_from_db()
    assert row.location == "/srv/app.git"
