from __future__ import annotations

import base64
import io
import json
import tarfile
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from loomverify.accounts.models import Project
from tests.runs.conftest import Caller, body_of, new_process, problem
from verification.runs.models import BaseFile, Blob, Event, Run, RunFile, Submission, Task

TWO_PHASES = """\
name: two-phases
phases:
  - {id: draft, description: Write it.}
  - {id: check, description: Check it., verification_tier: 2}
"""


def packed(files: dict[str, bytes]) -> io.BytesIO:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    archive.seek(0)
    archive.name = "workspace.tar.gz"
    return archive


def test_a_run_is_taken_at_once(agent: Caller) -> None:
    answer = agent.post("/runs", body_of())

    run = answer.json()
    assert answer.status_code == 202
    assert (run["state"], run["outcome"], run["verdict"], run["passed"]) == (
        "queued",
        None,
        None,
        None,
    )
    assert run["url"].endswith(f"/p/ours/runs/{run['id']}/")
    assert [event.kind for event in Event.objects.all()] == ["run_submitted"]


def test_the_same_key_and_body_is_the_same_run(agent: Caller) -> None:
    body = body_of()

    first = agent.post("/runs", body, **{"Idempotency-Key": "k-1"})
    second = agent.post("/runs", body, **{"Idempotency-Key": "k-1"})

    assert (first.status_code, second.status_code) == (202, 200)
    assert first.json()["id"] == second.json()["id"]
    assert Run.objects.count() == 1


def test_the_same_key_with_another_body_is_a_conflict(agent: Caller) -> None:
    agent.post("/runs", body_of(), **{"Idempotency-Key": "k-1"})

    answer = agent.post("/runs", body_of(output="Other."), **{"Idempotency-Key": "k-1"})

    assert problem(answer) == (409, "idempotency.body_differs", ["header", "Idempotency-Key"])
    assert Run.objects.count() == 1


def test_an_idempotency_key_belongs_to_its_project(agent: Caller, outsider: Caller) -> None:
    body = body_of()

    first = agent.post("/runs", body, **{"Idempotency-Key": "k-1"})
    second = outsider.post("/runs", body, **{"Idempotency-Key": "k-1"})

    assert second.status_code == 202
    assert first.json()["id"] != second.json()["id"]


def test_an_unknown_process_is_not_found(agent: Caller, outsider: Caller) -> None:
    new_process(outsider.project, TWO_PHASES)

    answer = agent.post("/runs", body_of(process="two-phases"))

    assert problem(answer)[:2] == (404, "process.unknown")


@pytest.mark.parametrize(("phase", "code"), [(None, "phase.required"), ("other", "phase.unknown")])
def test_a_process_of_several_phases_needs_one_of_them(
    agent: Caller, project: Project, phase: str | None, code: str
) -> None:
    new_process(project, TWO_PHASES)

    answer = agent.post("/runs", body_of(process="two-phases", phase=phase))

    assert problem(answer) == (422, code, ["body", "phase"])
    assert not Task.objects.exists()


def test_a_version_that_does_not_exist_is_not_found(agent: Caller) -> None:
    answer = agent.post("/runs", body_of(process_version=99))

    assert problem(answer)[:2] == (404, "process_version.unknown")


def test_the_phase_asks_for_the_tier_unless_the_run_does(agent: Caller, project: Project) -> None:
    new_process(project, TWO_PHASES)

    asked = agent.post("/runs", body_of(process="two-phases", phase="check"))
    chosen = agent.post("/runs", body_of(process="two-phases", phase="check", tier=3))

    assert (asked.json()["tier_requested"], chosen.json()["tier_requested"]) == (2, 3)


def test_without_a_key_nothing_is_said(agent: Caller) -> None:
    agent.client.defaults.pop("HTTP_AUTHORIZATION", None)
    agent.client.headers = {}

    answer = agent.client.post("/api/v1/runs", {}, content_type="application/json")

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert json.loads(answer.content)["status"] == 401


def test_an_archive_and_inline_files_make_one_workspace(agent: Caller) -> None:
    body = body_of(
        files={"notes.txt": "n", "image.bin": {"base64": base64.b64encode(b"\0").decode()}}
    )
    workspace = packed({"./plan.md": b"# Plan", "data/a.csv": b"a,b\n"})

    answer = agent.post_parts("/runs", run=json.dumps(body), workspace=workspace)

    assert answer.status_code == 202
    assert set(RunFile.objects.values_list("path", "size")) == {
        ("notes.txt", 1),
        ("image.bin", 1),
        ("plan.md", 6),
        ("data/a.csv", 4),
    }


def test_a_zip_whose_names_are_utf8_without_saying_so_holds_the_declared_file(
    agent: Caller,
) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packing:
        packing.writestr("\N{LATIN CAPITAL LETTER U WITH DIAERESIS}bersicht.md", "# Overview")
    unflagged = archive.getvalue().replace(b"\x14\x00\x00\x08", b"\x14\x00\x00\x00")
    assert unflagged != archive.getvalue()

    answer = agent.post_parts(
        "/runs", run=json.dumps(body_of()), workspace=SimpleUploadedFile("w.zip", unflagged)
    )

    assert answer.status_code == 202
    assert [file.path for file in RunFile.objects.all()] == ["Übersicht.md"]


def test_the_base_is_kept_beside_the_work_inline_and_as_an_archive(agent: Caller) -> None:
    body = body_of(files={"a.py": "new"}, base={"a.py": "old"})

    answer = agent.post_parts("/runs", run=json.dumps(body), base=packed({"b.py": b"older"}))

    assert answer.status_code == 202
    assert list(RunFile.objects.values_list("path", "size")) == [("a.py", 3)]
    assert set(BaseFile.objects.values_list("path", "size")) == {("a.py", 3), ("b.py", 5)}
    assert "base" not in Submission.objects.get().body


def test_a_file_of_the_base_is_the_same_file_in_either_form_of_unicode(agent: Caller) -> None:
    agent.post("/runs", body_of(files={"\xe9.md": "new"}, base={"e\u0301.md": "old", "b": "b"}))

    assert set(RunFile.objects.values_list("path", flat=True)) == {"\xe9.md"}
    assert set(BaseFile.objects.values_list("path", flat=True)) == {"\xe9.md", "b"}


def test_another_base_is_another_request(agent: Caller) -> None:
    body = json.dumps(body_of())
    one, two = (packed({"a.py": content}).getvalue() for content in (b"1", b"2"))

    answers = [
        agent.client.post(
            "/api/v1/runs",
            {"run": body, part: SimpleUploadedFile("a.tar.gz", archive)},
            HTTP_IDEMPOTENCY_KEY="k",
        )
        for part, archive in [("base", one), ("base", one), ("base", two), ("workspace", one)]
    ]

    assert [one.status_code for one in answers] == [202, 200, 409, 409]


@pytest.mark.parametrize(
    ("base", "place"),
    [
        ({"../x": "y"}, ["body", "base", "../x"]),
        ({"a": "x", "a/b": "y"}, ["body", "base"]),
        ({"a": {"base64": "!"}}, ["body", "base", "a", "base64"]),
        ({"a": 1}, ["body", "base", "a"]),
    ],
)
def test_a_base_that_is_no_workspace_is_refused_by_its_place(
    agent: Caller, base: dict[str, Any], place: list[str]
) -> None:
    answer = agent.post("/runs", body_of(files={"ok.txt": "z"}, base=base))

    assert (problem(answer)[0], problem(answer)[2]) == (422, place)
    assert not Blob.objects.exists()


def test_the_same_content_is_kept_once(agent: Caller) -> None:
    agent.post("/runs", body_of(files={"a.txt": "same", "b.txt": "same"}))
    agent.post("/runs", body_of(files={"c.txt": "same"}))

    assert Blob.objects.count() == 1
    assert RunFile.objects.count() == 3


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"workspace": b"x"}, (422, "run.missing", ["body", "run"])),
        ({"run": "{", "workspace": b"x"}, (400, "json.invalid", ["body", "run"])),
        (
            {"run": "ok", "workspace": b"no archive"},
            (422, "archive.unknown", ["body", "workspace"]),
        ),
        ({"run": "ok", "workspace": "text"}, (422, "workspace.not_a_file", ["body", "workspace"])),
        ({"run": "ok", "base": "text"}, (422, "base.not_a_file", ["body", "base"])),
        ({"run": "ok", "base": b"no archive"}, (422, "archive.unknown", ["body", "base"])),
    ],
)
def test_odd_parts_are_refused_by_name(
    agent: Caller, parts: dict[str, Any], expected: tuple[int, str, list[str]]
) -> None:
    if parts.get("run") == "ok":
        parts["run"] = json.dumps(body_of())
    for name in {"workspace", "base"} & {*parts}:
        if isinstance(parts[name], bytes):
            parts[name] = SimpleUploadedFile("w", parts[name])

    answer = agent.post_parts("/runs", **parts)

    assert problem(answer) == expected
    assert not Run.objects.exists()


@pytest.mark.extended
@pytest.mark.parametrize(
    ("raw", "content_type", "status"),
    [
        (b"{}", "text/plain", 415),
        (b"nonsense", "multipart/form-data; boundary=x", 422),
        (b"nonsense", "multipart/form-data", 400),
        (b"[1]", "application/json", 422),
    ],
)
def test_what_is_no_submission_is_refused(
    agent: Caller, raw: bytes, content_type: str, status: int
) -> None:
    assert agent.post_raw("/runs", raw, content_type).status_code == status


def test_a_path_that_leaves_the_workspace_stores_nothing(agent: Caller) -> None:
    answer = agent.post("/runs", body_of(files={"../x": "y", "ok.txt": "z"}))

    assert problem(answer)[:2] == (422, "path.unsafe")
    assert not Run.objects.exists()
    assert not Blob.objects.exists()


def test_what_the_project_redacts_is_never_stored(agent: Caller, project: Project) -> None:
    project.redaction_patterns = ["sk-[0-9]+"]
    project.save()

    answer = agent.post("/runs", body_of(output="key sk-123", files={"a.txt": "sk-456"}))

    run = Run.objects.select_related("submission").get(uuid=answer.json()["id"])
    assert run.submission.body["output"] == "key [redacted]"
    download = agent.get(f"/runs/{run.uuid}/files/a.txt")
    assert download.content == b"[redacted]"


@pytest.mark.extended
@pytest.mark.parametrize("wait", ["-1", "61", "soon"])
def test_a_wait_out_of_range_is_refused(agent: Caller, wait: str) -> None:
    answer = agent.post(f"/runs?wait={wait}", body_of())

    assert problem(answer)[0] == 422
    assert problem(answer)[2] == ["query", "wait"]
