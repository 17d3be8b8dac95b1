from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
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
