from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from processes.models import Process, ProcessVersion
from tests.builders import SOURCE_TEXT, add_version, make_project, make_user, signed_in
from tests.processes.editing import said
from tests.processes.files import SMALL

pytestmark = pytest.mark.django_db

BYTES = b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n", 3).encode()


@pytest.fixture
def project() -> Project:
    return make_project()


class Importer:
    def __init__(self, project: Project, role: Role = Role.EDITOR) -> None:
        self.client: Client = signed_in(make_user(project, role))
        self.url = reverse("process_import", args=[project.slug])

    def paste(self, text: str) -> Any:
        return self.client.post(self.url, {"source_text": text.replace("\n", "\r\n")})

    def upload(self, content: bytes) -> Any:
        return self.client.post(self.url, {"file": SimpleUploadedFile("p.yaml", content)})

    def confirm(self, preview: Any, **fields: Any) -> Any:
        newest = preview.context["newest"]
        seen = {"kept": preview.context["kept"], "newest": newest.number if newest else ""}
        return self.client.post(self.url, {**seen, **fields}, follow=True)


def test_a_new_name_is_shown_as_a_new_process_before_anything_is_stored(project: Project) -> None:
    preview = Importer(project).paste(SMALL)

    assert preview.status_code == 200
    assert "A new process: small" in said(preview)
    assert Process.objects.count() == 1


def test_a_known_name_is_shown_as_the_next_version_with_what_it_changes(project: Project) -> None:
    preview = Importer(project).paste(SOURCE_TEXT.replace("TODO|TBD", "FIXME"))

    assert "The next version of small-work: v2" in said(preview)
    assert "<ins>FIXME</ins>" in preview.content.decode()
    assert ProcessVersion.objects.count() == 1


def test_an_uploaded_file_is_stored_byte_for_byte(project: Project) -> None:
    importer = Importer(project, Role.ADMIN)

    answer = importer.confirm(importer.upload(BYTES), note="from our repository")

    version = ProcessVersion.objects.get(process__slug="small")
    assert "Stored as v1." in said(answer)
    assert version.source_text.encode() == BYTES
    assert version.note == "from our repository"
    assert version.process.published == version


def test_an_editors_new_process_waits_for_an_admin(project: Project) -> None:
    importer = Importer(project)

    importer.confirm(importer.paste(SMALL))

    assert Process.objects.get(slug="small").published is None


def test_the_same_text_again_is_said_to_be_there(project: Project) -> None:
    preview = Importer(project).paste(SOURCE_TEXT)

    assert "says this already" in said(preview)
    assert "byte for byte" in said(preview)


def test_a_version_that_came_meanwhile_is_shown_first(project: Project) -> None:
    importer = Importer(project)
    preview = importer.paste(f"{SOURCE_TEXT}# mine\n")
    add_version(project.processes.get(), f"{SOURCE_TEXT}# theirs\n")

    answer = importer.confirm(preview)
    importer.confirm(answer)

    assert answer.status_code == 409
    assert "v3" in said(answer)
    assert list(ProcessVersion.objects.order_by("number").values_list("number", flat=True)) == [
        1,
        2,
        3,
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "The file is empty."),
        (b"\xff\xfe", "not UTF-8"),
        (b"name: [", "Not YAML"),
        (SMALL.replace("[build]", "[nowhere]").encode(), "There is no phase 'nowhere'"),
        (b"a" * (1024 * 1024 + 5), "at most 1048576 bytes"),
        (b"<script>alert(1)</script>: x", "required"),
    ],
)
def test_a_file_with_errors_stores_nothing_and_says_where(
    project: Project, content: bytes, complaint: str
) -> None:
    answer = Importer(project).upload(content)

    assert answer.status_code == 422
    assert complaint in said(answer)
    assert b"<script>alert" not in answer.content
    assert Process.objects.count() == 1


@pytest.mark.parametrize("newest", ["x", "\u00b2", "9" * 5_000])
def test_a_strange_number_of_a_version_is_not_the_newest(project: Project, newest: str) -> None:
    importer = Importer(project)
    preview = importer.paste(f"{SOURCE_TEXT}# mine\n")

    answer = importer.confirm(preview, newest=newest)

    assert answer.status_code == 409
    assert ProcessVersion.objects.count() == 1


@pytest.mark.parametrize("kept", ["", "%%%", "bmFtZTogWw==", "\u00e4"])
def test_a_confirmation_of_something_else_stores_nothing(project: Project, kept: str) -> None:
    importer = Importer(project)

    answer = importer.client.post(importer.url, {"kept": kept, "newest": ""})

    assert answer.status_code == 422
    assert Process.objects.count() == 1


def test_a_new_process_begins_with_the_text_of_another(project: Project) -> None:
    importer = Importer(project)

    page = importer.client.get(importer.url, {"template": "small-work", "name": "mine"})

    assert page.context["source_text"] == SOURCE_TEXT.replace("name: small-work", "name: mine")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"template": "small-work", "name": "Not A Name"}, 422),
        ({"template": "small-work", "name": "x\n"}, 422),
        ({"template": "small-work", "name": ""}, 422),
        ({"template": "nothing", "name": "mine"}, 404),
        ({"template": "\0", "name": "mine"}, 422),
    ],
)
def test_a_strange_copy_is_refused(project: Project, query: dict[str, str], status: int) -> None:
    importer = Importer(project)

    assert importer.client.get(importer.url, query).status_code == status


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AGENT, Role.REVIEWER])
def test_whoever_may_only_read_imports_nothing(project: Project, role: Role) -> None:
    importer = Importer(project, role)

    assert importer.client.get(importer.url).status_code == 403
    assert importer.paste(SMALL).status_code == 403


def test_another_project_has_no_such_page(project: Project) -> None:
    outsider = signed_in(make_user(make_project(), Role.ADMIN))

    assert outsider.get(reverse("process_import", args=[project.slug])).status_code == 404


def several(importer: Importer, *files: tuple[str, bytes], folder: bool = False) -> Any:
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return importer.client.post(importer.url, {"folder" if folder else "file": sent})


def named(slug: str) -> bytes:
    return SMALL.replace("name: small", f"name: {slug}", 1).encode()


NEXT = SOURCE_TEXT.replace("TODO|TBD", "FIXME").encode()
FOLDER = (
    ("same.yaml", SOURCE_TEXT.encode()),
    ("small.yml", BYTES),
    ("broken.yaml", b"name: broken\nphases: 3\n"),
    ("twin.yaml", named("small")),
    ("<b>.yaml", b"\xff\0name: ["),
    ("readme.md", b"# Processes"),
)


@pytest.mark.parametrize("folder", [True, False])
def test_of_several_files_each_is_shown_for_what_it_would_be(
    project: Project, folder: bool
) -> None:
    preview = several(Importer(project), *FOLDER, folder=folder)

    shown = said(preview)
    assert preview.status_code == 200
    assert "v1 of small-work says the same" in shown
    assert "new process small" in shown
    assert "2:9 error phases must be a list of phases" in shown
    assert "It names itself small, as small.yml does" in shown
    assert "1 other file left out" in shown
    assert "<b>.yaml" not in preview.content.decode()
    assert Process.objects.count() == 1


def test_all_good_files_are_stored_with_one_press_and_byte_for_byte(project: Project) -> None:
    importer = Importer(project, Role.ADMIN)
    preview = several(importer, ("next.yaml", NEXT), *FOLDER[1:])
    good = [one for one in preview.context["candidates"] if one.is_stored]
    fields = {
        "kept": [one.kept for one in good],
        "newest": [str(one.newest.number) if one.newest else "" for one in good],
    }

    answer = importer.client.post(
        importer.url, {"many": "1", "note": "ours", **fields}, follow=True
    )

    small = ProcessVersion.objects.get(process__slug="small")
    assert "Stored: small-work v2, small v1." in said(answer)
    assert (small.source_text.encode(), small.note) == (BYTES, "ours")
    assert ProcessVersion.objects.get(process__slug="small-work", number=2).published_at is None


def test_of_several_files_one_that_is_behind_holds_no_other_back(project: Project) -> None:
    importer = Importer(project)
    preview = several(importer, ("next.yaml", NEXT), ("small.yaml", BYTES))
    kept = [one.kept for one in preview.context["candidates"]]
    add_version(project.processes.get(), SOURCE_TEXT + "# meanwhile\n")

    answer = importer.client.post(
        importer.url, {"many": "1", "kept": [*kept, "junk"], "newest": ["1", ""]}, follow=True
    )

    assert "Stored: small v1." in said(answer)
    assert "Not stored: small-work got another version meanwhile." in said(answer)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ([(f"{n}.yaml", b"name: a") for n in range(51)], "At most 50 files"),
        ([(f"{n}.yaml", b"#" * 1024 * 1024) for n in range(11)], "at most 10 MiB"),
        ([("a.txt", b"a"), ("b.txt", b"b")], "None of the files"),
    ],
)
def test_too_many_files_are_refused(
    project: Project, files: list[tuple[str, bytes]], told: str
) -> None:
    answer = several(Importer(project), *files)

    assert 400 <= answer.status_code < 500
    assert told in said(answer)


def test_what_many_files_would_be_takes_as_many_queries_as_for_two(project: Project) -> None:
    importer = Importer(project)
    several(importer, *FOLDER)
    counts = []
    for number in (2, 20):
        with CaptureQueriesContext(connection) as queries:
            several(importer, *((f"{n}.yaml", named(f"p{n}")) for n in range(number)))
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_what_is_published_is_downloaded_whole_and_imports_as_the_same(project: Project) -> None:
    editor = Importer(project)
    editor.confirm(editor.upload(NEXT))
    viewer = Importer(project, Role.VIEWER)

    answer = viewer.client.get(reverse("process_archive", args=[project.slug]))

    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert answer.headers["Content-Type"] == "application/zip"
    assert {name: archive.read(name) for name in archive.namelist()} == {
        "small-work.yaml": SOURCE_TEXT.encode()
    }
