from __future__ import annotations

import hashlib
import io
import json
import zipfile

import pytest

from loomverify.accounts.models import Role
from tests.actions.landing.scene import BASE, Scene
from tests.gates import make_gate
from tests.judged import blob_of, live_of
from tests.runs.conftest import Caller, new_project, problem
from verification.runs import evidence_store
from verification.runs.exporting.archive import evidence_archive
from verification.runs.models import BaseGateResult, Run

pytestmark = pytest.mark.django_db

BETTER = {"app.py": BASE["app.py"] + "# more\n"}


def evidence_of(run: Run) -> bytes:
    with evidence_archive(run) as archive:
        return archive.read()


def opened(content: bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(content))


@pytest.mark.extended
def test_all_that_a_verdict_rests_on_and_led_to_is_in_one_archive(scene: Scene) -> None:
    change = scene.landed(BETTER)

    answer = scene.agent.get(f"/runs/{change.run.uuid}/evidence.zip")
    archive = opened(b"".join(answer.streaming_content))
    answer.close()

    assert answer["Content-Disposition"].startswith("attachment")
    manifest = json.loads(archive.read("manifest.json"))
    assert [one["name"] for one in manifest["entries"]] == archive.namelist()[:-1]
    for entry in manifest["entries"]:
        content = archive.read(entry["name"])
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (
            entry["sha256"], entry["size"],
        )  # fmt: skip
    assert archive.read("files/app.py").decode() == BETTER["app.py"]
    assert archive.read("base/app.py").decode() == BASE["app.py"]
    assert json.loads(archive.read("run.json"))["verdict"] == "accept"
    assert archive.read("evaluations/01-live/calls/2-01-first.reply.txt").startswith(b'{"passed"')
    [action] = json.loads(archive.read("change/actions.json"))
    assert (action["kind"], action["new_sha"]) == ("commit", scene.origin.tip())
    assert archive.read("change/patch").startswith(b"diff --git")


def test_the_same_evidence_gives_the_same_bytes_and_what_is_lost_is_said(scene: Scene) -> None:
    run = Run.objects.get(pk=scene.verified(BETTER).run_id)
    first, second = evidence_of(run), evidence_of(run)
    blob = run.files.get(path="app.py").blob
    evidence_store.delete_content(scene.project, f"{blob.sha256[:2]}/{blob.sha256}")

    entries = json.loads(opened(evidence_of(run)).read("manifest.json"))["entries"]

    assert first == second
    assert {"name": "files/app.py", "lost": True} in entries


@pytest.mark.extended
def test_gates_of_the_work_and_of_what_was_there_before_are_in_it(scene: Scene) -> None:
    run = Run.objects.get(pk=scene.verified(BETTER).run_id)
    evaluation = live_of(run)
    make_gate(evaluation, "test", log=b"now\n", duration_ms=70)
    BaseGateResult.objects.create(
        evaluation=evaluation, gate="test", component=". (python)", status="failed",
        command="pytest", exit_code=1, log=blob_of(run.project, b"then\n"),
    )  # fmt: skip

    archive = opened(evidence_of(run))

    now = json.loads(archive.read("evaluations/01-live/gates/01-test-python.json"))
    assert (now["duration_ms"], now["cost_usd"]) == (70, "0")
    assert archive.read("evaluations/01-live/gates/01-test-python.log") == b"now\n"
    then = json.loads(archive.read("evaluations/01-live/gates-before/01-test-python.json"))
    assert (then["command"], then["exit_code"]) == ("pytest", 1)
    assert archive.read("evaluations/01-live/gates-before/01-test-python.log") == b"then\n"


def test_evidence_of_a_run_under_way_or_of_others_is_not_given(scene: Scene) -> None:
    change = scene.submitted(BETTER)
    outsider = Caller(new_project("theirs"), Role.ADMIN)
    path = f"/runs/{change.run.uuid}/evidence.zip"

    assert problem(scene.agent.get(path))[:2] == (409, "run.not_over")
    assert outsider.get(path).status_code == 404
