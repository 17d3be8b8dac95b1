from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import TestCase
from django.urls import reverse

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Role
from tests.actions.builders import make_repository
from tests.actions.landing.scene import BASE, Scene
from tests.builders import make_user, signed_in
from tests.runs.conftest import problem
from verification.actions.models import Change, Repository
from verification.actions.repositories import services, tidying
from verification.actions.repositories.reaching import mirror_of
from verification.runs import retention
from verification.runs.models import Run

pytestmark = pytest.mark.django_db


def patch_of(path: str, *lines: str, mode: str = "100644") -> str:
    return "\n".join([
        f"diff --git a/{path} b/{path}", f"new file mode {mode}", "--- /dev/null", f"+++ b/{path}",
        f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines), "",
    ])  # fmt: skip


GITLINK = f"""\
diff --git a/lib b/lib
new file mode 160000
index 0000000..{"1" * 40}
--- /dev/null
+++ b/lib
@@ -0,0 +1 @@
+Subproject commit {"1" * 40}
"""


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ("no diff at all", "change.empty"),
        (patch_of("app.py", "x"), "change.does_not_apply"),
        (patch_of("../escaped", "x"), "change.path_unsafe"),
        (patch_of(".git/hooks/pre-commit", "rm -rf /"), "change.path_unsafe"),
        (patch_of("deep/.GIT/config", "x"), "change.path_unsafe"),
        (patch_of(".gitmodules", '[submodule "x"]'), "change.submodule"),
        (patch_of("link", "/etc/passwd", mode="120000"), "change.link"),
        (patch_of("APP.PY", "x"), "change.path_unsafe"),
        (GITLINK, "change.submodule"),
    ],
)  # fmt: skip
def test_what_no_change_may_do_is_refused_at_its_place_and_leaves_nothing(
    scene: Scene, patch: str, code: str
) -> None:
    before = scene.origin.refs()

    status, told, loc = problem(scene.answer(patch))

    assert (status, told, loc) == (422, code, ["body", "change", "patch"])
    assert not Run.objects.exists()
    assert not Change.objects.exists()
    assert scene.origin.refs() == before


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("change", "status", "code", "loc"),
    [
        ({"repository": "other"}, 404, "repository.unknown", []),
        ({"base": "no-such-branch"}, 422, "change.base_unknown", ["body", "change", "base"]),
        ({"base": "1234567"}, 422, "change.base_unknown", ["body", "change", "base"]),
        ({"base": "--upload-pack=x"}, 422, "change.base_unknown", ["body", "change", "base"]),
        ({"commit": "main"}, 422, "change.one_of", ["body", "change"]),
        ({"patch": None}, 422, "change.one_of", ["body", "change"]),
        ({"patch": None, "bundle": {"base64": "!"}}, 422, "file.base64",
         ["body", "change", "bundle", "base64"]),
        ({"patch": None, "bundle": {"base64": "AAEC"}}, 422, "change.bundle_invalid",
         ["body", "change", "bundle"]),
    ],
)  # fmt: skip
def test_what_names_nothing_or_too_much_is_refused(
    scene: Scene, change: dict[str, Any], status: int, code: str, loc: list[str]
) -> None:
    answer = scene.answer(patch_of("new.py", "x = 1"), change=change)

    assert problem(answer)[:2] == (status, code)
    assert loc in (problem(answer)[2], [])
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "beside", [{"files": {"a": "b"}}, {"base": {"a": "b"}}, {"diff": "--- a"}], ids=str
)
def test_other_files_beside_a_change_are_refused(scene: Scene, beside: dict[str, Any]) -> None:
    answer = scene.answer(patch_of("new.py", "x = 1"), **beside)

    assert problem(answer) == (422, "change.beside_files", ["body", *beside])


def test_a_repository_that_is_away_is_nobodys_mistake(scene: Scene) -> None:
    patch = scene.origin.patch({"app.py": None})
    scene.origin.path.rename(scene.origin.path.with_name("away"))

    answer = scene.answer(patch)

    assert problem(answer) == (503, "repository.unreachable", ["body", "change", "repository"])
    assert not Run.objects.exists()


def submitted_objects() -> list[Path]:
    """What lies in our copies of repositories."""
    return list(settings.MIRRORS.rglob("objects/??/*"))


def test_what_was_submitted_to_a_repository_goes_with_it(scene: Scene) -> None:
    scene.submitted({"app.py": None})
    before = submitted_objects()

    with TestCase.captureOnCommitCallbacks(execute=True):
        services.remove(project=scene.project, actor=SYSTEM, repository_id=scene.repository.uuid)

    assert (before != [], submitted_objects()) == (True, [])


def test_what_would_be_redacted_cannot_land_as_it_was_verified(scene: Scene) -> None:
    scene.project.redaction_patterns = ["sk-[a-z0-9]{8}"]
    scene.project.save()

    refused = scene.answer(patch_of("keys.py", "KEY = 'sk-abcdefgh'"))
    left = submitted_objects()
    taken = scene.answer(patch_of("keys.py", "KEY = None"))

    assert problem(refused) == (422, "change.redacted", ["body", "change"])
    assert (left, submitted_objects() != []) == ([], True)
    assert taken.status_code == 202
    assert not Change.objects.exclude(run__uuid=taken.json()["id"]).exists()


SECRET = "sk-abcdefgh"


@pytest.mark.extended
@pytest.mark.parametrize("as_bundle", [False, True])
def test_a_secret_can_be_taken_away_and_is_stored_nowhere(scene: Scene, as_bundle: bool) -> None:
    scene.origin.commit(
        {
            "keys.py": f"KEY = '{SECRET}'\n",
            "old.py": f"'{SECRET}'\n",
            "run.sh": "x\n",
            "b.txt": "b\n",
        }
    )
    scene.project.redaction_patterns = ["sk-[a-z0-9]{8}"]
    scene.project.save()
    cleaned = {"keys.py": "KEY = None\n", "old.py": None, "b.txt": None, "moved.txt": "b\n"}

    if as_bundle:
        taken = scene.taken(scene.answer("", change={"patch": None, "bundle": {
            "base64": scene.bundle({"keys.py": "KEY = None\n"})}}))  # fmt: skip
    else:
        (scene.origin.clone / "run.sh").chmod(0o755)
        taken = scene.submitted(cleaned)
    change = scene.verify(taken)
    scene.act()

    assert scene.actions_of(change) == {"commit": ("done", "")}
    assert scene.origin.show("rev-parse", "main^{tree}") == change.tree_sha
    assert change.blob is None
    assert not stored_with(SECRET)
    archive = b"".join(scene.agent.get(f"/runs/{change.run.uuid}/evidence.zip").streaming_content)
    with zipfile.ZipFile(io.BytesIO(archive)) as found:
        assert not [name for name in found.namelist() if SECRET.encode() in found.read(name)]


@pytest.mark.extended
def test_a_name_that_is_a_secret_can_be_taken_away_and_is_stored_nowhere(scene: Scene) -> None:
    scene.origin.commit({f"{SECRET}.py": "x = 1\n", f"{SECRET}/old.py": "y = 2\n"})
    scene.project.redaction_patterns = ["sk-[a-z0-9]{8}"]
    scene.project.save()

    change = scene.verified(
        {f"{SECRET}.py": None, f"{SECRET}/old.py": None, "new.py": "y = 2\n", "notes.txt": None}
    )
    page = signed_in(make_user(scene.project, Role.VIEWER)).get(
        reverse("run_detail", args=[scene.project.slug, change.run.uuid])
    )
    scene.act()

    assert scene.actions_of(change) == {"commit": ("done", "")}
    assert scene.origin.show("ls-tree", "-r", "--name-only", "main").split() == ["app.py", "new.py"]
    assert SECRET not in json.dumps(change.paths)
    assert SECRET not in json.dumps(change.run.submission.body)
    assert SECRET not in page.content.decode()
    archive = b"".join(scene.agent.get(f"/runs/{change.run.uuid}/evidence.zip").streaming_content)
    with zipfile.ZipFile(io.BytesIO(archive)) as found:
        told = [name.encode() + found.read(name) for name in found.namelist()]
    assert not [one for one in told if SECRET.encode() in one]


@pytest.mark.extended
def test_a_secret_that_is_taken_away_is_so_upon_a_base_that_moved(scene: Scene) -> None:
    scene.origin.commit({"keys.py": f"KEY = '{SECRET}'\n"})
    scene.project.redaction_patterns = ["sk-[a-z0-9]{8}"]
    scene.project.save()
    change = scene.verified({"keys.py": "KEY = None\n"})
    scene.origin.commit({"notes.txt": "Others were here.\n"})
    mirror_of(scene.repository).prune("now")

    scene.act()
    scene.verify(Change.objects.get(follows=change))
    scene.act()

    assert scene.origin.show("show", "main:keys.py") == "KEY = None"
    assert not stored_with(SECRET)


def test_what_cannot_be_made_again_upon_a_base_that_moved_says_so(scene: Scene) -> None:
    scene.project.redaction_patterns = ["sk-[a-z0-9]{8}"]
    scene.project.save()
    change = scene.verified({"notes.txt": "Ours.\n"})
    change.run.files.all().delete()
    scene.origin.commit({"more.txt": "Others were here.\n"})

    scene.act()

    assert scene.actions_of(change)["commit"] == ("held", "tree_differs")


def stored_with(text: str) -> list[Path]:
    """Files of the evidence store that hold it."""
    stored = (settings.MIRRORS.parent / "evidence").rglob("*")
    return [path for path in stored if path.is_file() and text.encode() in path.read_bytes()]


@pytest.mark.extended
def test_what_was_submitted_goes_from_our_copy_and_lands_all_the_same(scene: Scene) -> None:
    change, other = scene.verified({"app.py": None}), scene.verified({"notes.txt": None})
    mirror = mirror_of(scene.repository)
    mirror.prune()
    is_young = mirror.has(change.tree_sha)

    mirror.prune("now")

    assert (is_young, mirror.has(change.tree_sha), mirror.has(other.tree_sha)) == (
        True,
        False,
        False,
    )
    assert mirror.has(change.base_sha)
    scene.act()
    assert scene.actions_of(change) == {"commit": ("done", "")}
    scene.verify(Change.objects.get(follows=other))
    scene.act()
    assert scene.origin.show("ls-tree", "-r", "--name-only", "main") == ""


def test_a_copy_that_was_written_to_while_it_was_removed_goes_the_next_day(scene: Scene) -> None:
    scene.submitted({"app.py": None})
    other = make_repository(scene.project, location=str(scene.origin.path), name="other")
    mirror_of(other).tip("main")
    Repository.objects.filter(pk=scene.repository.pk).update(is_removed=True)

    assert tidying.tidy() == 1

    assert [folder.name for folder in settings.MIRRORS.iterdir()] == [f"{other.uuid}.git"]


def test_a_copy_that_cannot_be_removed_now_is_told_and_tried_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    scene.submitted({"app.py": None})
    Repository.objects.update(is_removed=True)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", refused)
        tidying.tidy()
    assert "mirror_not_removed" in caplog.text
    tidying.tidy()

    assert not list(settings.MIRRORS.iterdir())


def test_once_a_day_each_copy_is_tidied_and_a_broken_one_keeps_no_other(scene: Scene) -> None:
    scene.submitted({"app.py": None})
    make_repository(scene.project, location="no-place")

    assert tidying.tidy() == 1
    assert tidying.tidy in retention.TIDIED_ELSEWHERE


def test_a_bundle_is_taken_and_kept_for_the_worker_that_lands_it(scene: Scene) -> None:
    content = scene.bundle({"app.py": BASE["app.py"] + "# more\n"})

    change = scene.taken(scene.answer("", change={"patch": None, "bundle": {"base64": content}}))
    scene.verify(change)
    scene.act()

    assert scene.actions_of(change) == {"commit": ("done", "")}
    assert scene.origin.show("rev-parse", "main^{tree}") == change.tree_sha
    assert change.blob is not None


def test_a_patch_that_was_converted_and_stripped_lands_as_it_was_verified(scene: Scene) -> None:
    patch = scene.origin.patch({"app.py": BASE["app.py"].replace("a + b", "b + a")})

    change = scene.verify(scene.taken(scene.answer("\ufeff" + patch.replace("\n", "\r\n").strip())))
    scene.act()

    assert scene.actions_of(change) == {"commit": ("done", "")}
    assert "b + a" in scene.origin.show("show", "main:app.py")
    assert "\r" not in scene.origin.show("show", "main:app.py")


def test_a_repository_out_of_use_takes_no_change_and_lands_none(scene: Scene) -> None:
    before = scene.origin.refs()
    change = scene.submitted({"app.py": None})
    Repository.objects.update(is_removed=True)

    scene.verify(change)
    scene.act()

    assert scene.actions_of(change) == {"commit": ("held", "repository_removed")}
    assert scene.origin.refs() == before
    assert problem(scene.answer(patch_of("new.py", "x")))[:2] == (404, "repository.unknown")
