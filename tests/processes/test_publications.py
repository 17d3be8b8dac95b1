"""Who published what and why; versions that stay what they are; runs that keep theirs."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.db.models import ProtectedError
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.access import SYSTEM, person
from loomverify.accounts.models import Project, Role, User
from loomverify.errors import InputError
from processes.models import PhaseRule, Process, ProcessVersion, RuleVersion
from processes.services import add_version, publish
from tests.builders import make_project, make_user, signed_in
from tests.runs.conftest import Caller, body_of, new_project
from verification.runs import worker
from verification.runs.models import Run

FIRST = """\
name: notes
phases: [{id: write, description: Write.}]
verification:
  rules: [{name: no-cells, check: "N/A", type: regex, applies_to_phases: [write], enforcement: hard}]
"""
SECOND = FIRST.replace('"N/A"', '"never"')


@pytest.fixture
def project(transactional_db: None) -> Project:
    return new_project("ours")


@pytest.fixture
def process(project: Project) -> Process:
    for text in (FIRST, SECOND):
        version, _ = add_version(project=project, source_text=text, actor=SYSTEM, role=Role.ADMIN)
    return version.process


@pytest.fixture
def admin(project: Project) -> User:
    return make_user(project, Role.ADMIN, "ada")


def go_to(process: Process, number: int, by: User, reason: str) -> None:
    publish(process=process, number=number, actor=person(by), reason=reason)


def page(process: Process, user: User) -> str:
    url = reverse("process_detail", args=[process.project.slug, process.slug])
    return " ".join(signed_in(user).get(url).content.decode().split())


@pytest.mark.extended
def test_everybody_reads_who_published_what_and_why(process: Process, admin: User) -> None:
    go_to(process, 2, admin, "It <b>errs</b>.")
    go_to(process, 1, admin, "Back from v2.")
    viewer = make_user(process.project, Role.VIEWER)

    shown = page(process, viewer)

    assert "gone back to from v2" in shown
    assert "published after v1" in shown
    assert "published first" in shown
    assert "<bdi>It &lt;b&gt;errs&lt;/b&gt;.</bdi>" in shown
    assert "<bdi>ada</bdi><a href=" in shown
    assert "?a=1&amp;b=2" in shown
    for acting in ("Go back to v", "Edit</button>", "/publish/"):
        assert acting not in shown


def test_going_back_takes_one_press_and_so_does_its_undoing(process: Process, admin: User) -> None:
    client = signed_in(admin)
    go_to(process, 2, admin, "Better.")
    assert "<button>Go back to v1</button>" in page(process, admin)

    for to, instead_of in ((1, 2), (2, 1)):
        answer = client.post(
            reverse("version_publish", args=["ours", "notes", to]),
            {"published": instead_of, "reason": f"Back from v{instead_of} to v{to}."},
        )
        assert answer.status_code == 302
        process.refresh_from_db()
        assert process.published is not None
        assert process.published.number == to
        assert f"<button>Go back to v{instead_of}</button>" in page(process, admin)

    late = client.post(
        reverse("version_publish", args=["ours", "notes", 1]), {"published": 1, "reason": "Late."}
    )
    assert late.status_code == 409


@pytest.mark.extended
def test_a_long_history_is_read_in_pages(
    process: Process, admin: User, django_assert_num_queries: Any
) -> None:
    for turn in range(60):
        go_to(process, 1 + turn % 2, admin, f"turn {turn}.")
    client = signed_in(admin)
    url = reverse("process_history", args=["ours", "notes"])

    assert f'href="{url}">all of it</a>' in page(process, admin)
    first = client.get(url).content.decode()
    [older] = [line for line in first.split('"') if line.startswith("?cursor=")]
    second = client.get(url + older).content.decode()

    assert ("turn 59." in first, "turn 9." in first) == (True, False)
    assert ("turn 9." in second, "published first" in second) == (True, True)
    assert client.get(url + "?cursor=none").status_code == 400


def test_publications_over_the_api(process: Process, admin: User) -> None:
    go_to(process, 2, admin, "Better.")
    viewer = Caller(process.project, Role.VIEWER)

    newest = viewer.get("/processes/notes/publications?limit=1").json()
    oldest = viewer.get(f"/processes/notes/publications?cursor={newest['next']}").json()

    [told] = newest["items"]
    assert (told["number"], told["before"], told["by"], told["reason"]) == (2, 1, "ada", "Better.")
    assert [(one["number"], one["before"]) for one in oldest["items"]] == [(1, None)]
    assert (
        Caller(make_project("theirs"), Role.ADMIN).get("/processes/notes/publications").status_code
        == 404
    )


@pytest.mark.extended
@pytest.mark.parametrize(
    ("model", "change"),
    [
        (ProcessVersion, {"source_text": "name: other"}),
        (ProcessVersion, {"number": 9}),
        (ProcessVersion, {"created_by": "somebody else"}),
        (RuleVersion, {"spec": {}}),
        (PhaseRule, {"phase_id": "other"}),
    ],
)
def test_the_database_changes_no_version(process: Process, model: Any, change: Any) -> None:
    row = model.objects.order_by("pk").first()

    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        model.objects.filter(pk=row.pk).update(**change)

    go_to(process, 2, make_user(process.project, Role.ADMIN), "It may still be published.")
    model.objects.filter(pk=row.pk).update(**{name: getattr(row, name) for name in change})


@pytest.mark.extended
def test_a_run_that_waits_keeps_its_version(process: Process, admin: User) -> None:
    agent = Caller(process.project, Role.AGENT)
    body = body_of(process="notes", phase="write", output="fax: N/A", tier=1)
    runs = [agent.post("/runs", body).json()["id"]]
    go_to(process, 2, admin, "What is not known may be said.")
    body = body_of(process="notes", phase="write", output="fax: N/A!", tier=1)
    runs.append(agent.post("/runs", body).json()["id"])

    for run in Run.objects.order_by("pk"):
        worker.work_on(run.pk)

    done = [Run.objects.get(uuid=run) for run in runs]
    assert [(run.process_version.number, run.outcome) for run in done] == [(1, "fail"), (2, "pass")]


def test_a_process_is_duplicated_under_a_free_name(process: Process, admin: User) -> None:
    client = signed_in(admin)
    copy = f"{reverse('process_import', args=['ours'])}?template=notes"
    assert f'href="{copy}">Duplicate</a>' in page(process, admin)

    begun = client.get(copy)
    assert begun.status_code == 200
    assert 'value="notes-copy"' in begun.content.decode()
    text = FIRST.replace("name: notes", "name: notes-copy")
    add_version(project=process.project, source_text=text, actor=SYSTEM, role=Role.ADMIN)

    assert 'value="notes-copy-2"' in client.get(copy).content.decode()
    assert client.get(copy.replace("notes", "none")).status_code == 404


@pytest.mark.extended
def test_a_version_that_an_earlier_program_took_is_still_read_and_can_be_mended(
    process: Process, admin: User
) -> None:
    """Names of several lines were taken once."""
    odd = FIRST.replace("no-cells", '"no\\tcells"')
    version = ProcessVersion.objects.create(
        process=process, number=3, source_text=odd, sha256="0" * 64, published_at=timezone.now()
    )
    Process.objects.filter(pk=process.pk).update(published=version)
    client = signed_in(admin)

    assert client.get(reverse("process_list", args=["ours"])).status_code == 200
    detail = reverse("process_detail", args=["ours", "notes"])
    assert client.get(detail).status_code == 200
    agent = Caller(process.project, Role.AGENT)
    body = body_of(process="notes", phase="write", output="fax: N/A", tier=1)
    run = Run.objects.get(uuid=agent.post("/runs", body).json()["id"])
    worker.work_on(run.pk)
    run.refresh_from_db()
    assert run.outcome == "fail"
    with pytest.raises(InputError, match="one line"):
        add_version(project=process.project, source_text=odd + "#", actor=SYSTEM, role=Role.ADMIN)
    add_version(project=process.project, source_text=FIRST, actor=SYSTEM, role=Role.ADMIN)
    go_to(process, 4, admin, "A name of one line.")

    process.refresh_from_db()
    assert process.published is not None
    assert process.published.number == 4


@pytest.mark.extended
def test_no_way_leads_to_deleting_a_version_that_is_or_was_in_use(
    project: Project, process: Process, admin: User
) -> None:
    """The database holds on to what is published, and to what a run was judged by."""
    go_to(process, 2, admin, "Judge by it.")
    run = Caller(project, Role.AGENT).post("/runs", body_of(process="notes", phase="write"))
    go_to(process, 1, admin, "Back.")
    client = Caller(project, Role.ADMIN).client
    api = [
        client.delete(f"/api/v1/processes/notes{path}")
        for path in ("", "/versions/1", "/versions/2", "/versions/1.yaml")
    ]

    for number in (1, 2):
        with pytest.raises(ProtectedError):
            process.versions.filter(number=number).delete()

    assert run.status_code == 202
    assert {answer.status_code for answer in api} <= {404, 405}
    assert process.versions.count() == 2


def test_a_stored_version_is_published_beside_its_warnings(process: Process, admin: User) -> None:
    unscoped = SECOND.replace(", applies_to_phases: [write]", "")
    add_version(project=process.project, source_text=unscoped, actor=SYSTEM, role=Role.EDITOR)
    url = reverse("version_publish", args=[process.project.slug, "notes", 3])

    answer = signed_in(admin).get(url)

    told = " ".join(answer.content.decode().split())
    assert "rule.unscoped" in [one.code for one in answer.context["checked"].warnings]
    assert "names no phase" in told
    assert f"{url.removesuffix('versions/3/publish/')}?version=3&amp;view=source#L4" in told
