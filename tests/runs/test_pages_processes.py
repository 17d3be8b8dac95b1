from __future__ import annotations

import pytest
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.builders import SOURCE_TEXT, add_version, make_project, make_user, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = make_project()
    changed = SOURCE_TEXT.replace('check: "TODO|TBD"', 'check: "TODO|TBD|FIXME"')
    add_version(project.processes.get(), changed)
    return project


def html_of(project: Project, name: str, *args: object, query: str = "") -> str:
    url = reverse(name, args=[project.slug, *args])
    answer = signed_in(make_user(project)).get(url + query)
    assert answer.status_code == 200
    return str(answer.content.decode())


PAGES = [
    ("process_detail", ("small-work",), ""),
    ("process_compare", ("small-work",), "?a=1&b=2"),
    ("process_source", ("small-work", 1), ""),
]


@pytest.mark.parametrize(("name", "args", "query"), PAGES)
def test_a_process_of_another_project_does_not_exist(
    project: Project, name: str, args: tuple[object, ...], query: str
) -> None:
    outsider = signed_in(make_user(make_project(), Role.ADMIN))

    assert outsider.get(reverse(name, args=[project.slug, *args]) + query).status_code == 404


def test_the_list_shows_phases_rules_and_the_published_version(project: Project) -> None:
    html = html_of(project, "process_list")

    assert "small-work" in html
    assert "Small pieces of work" in html
    assert 'v2 <small class="faint">of 2</small>' in html


def test_the_matrix_marks_where_a_rule_applies_and_how_hard(project: Project) -> None:
    html = html_of(project, "process_detail", "small-work")

    assert 'title="no-placeholders: advisory in build, by every phase"' in html
    assert 'title="figures-have-sources: hard in write"' in html
    assert 'title="figures-have-sources: hard in build"' not in html


@pytest.mark.parametrize(
    ("view", "text"),
    [
        ("rules", "Every figure names its source"),
        ("phases", "The parser reads all three files"),
        ("source", "phases:"),
    ],
)
def test_a_version_is_shown_from_every_side(project: Project, view: str, text: str) -> None:
    assert text in html_of(project, "process_detail", "small-work", query=f"?view={view}")


def test_an_older_version_says_that_it_is_not_published(project: Project) -> None:
    html = html_of(project, "process_detail", "small-work", query="?version=1")

    assert "not published;" in html


def test_two_versions_are_compared_by_rule_and_by_line(project: Project) -> None:
    html = html_of(project, "process_compare", "small-work", query="?a=1&b=2")

    assert "<del>TODO|TBD</del>" in html
    assert "<ins>TODO|TBD|FIXME</ins>" in html
    assert '<td class="s-after" data-n="1">' in html


def test_the_source_comes_back_byte_for_byte(project: Project) -> None:
    client = signed_in(make_user(project))

    answer = client.get(reverse("process_source", args=[project.slug, "small-work", 1]))

    assert answer.content.decode() == SOURCE_TEXT
    assert answer["Content-Disposition"] == 'attachment; filename="small-work-v1.yaml"'


@pytest.mark.parametrize("query", ["?version=9", "?version=x", "?version=²", "?view=secret"])
def test_what_does_not_exist_is_not_found(project: Project, query: str) -> None:
    url = reverse("process_detail", args=[project.slug, "small-work"])

    assert signed_in(make_user(project)).get(url + query).status_code == 404
