from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.builders import make_run, make_user, signed_in
from tests.reviewing import DOUBTED, make_review
from tests.runs.viewed import MARKDOWN, TABLE
from verification.runs.models import Review

pytestmark = pytest.mark.django_db

FOUND = {"path": "sales.csv", "line": 3, "message": "The figure has no source."}


@pytest.fixture(autouse=True)
def _own_folders(settings: Any, tmp_path: Any) -> None:
    own = {
        name: {**settings.STORAGES[name], "OPTIONS": {"location": tmp_path / name}}
        for name in ("evidence", "views")
    }
    settings.STORAGES = {**settings.STORAGES, **own}


@pytest.fixture
def reviewer(project: Project) -> Client:
    return signed_in(make_user(project, Role.REVIEWER))


def review_of(project: Project, **columns: Any) -> Review:
    files = {"report.md": MARKDOWN, "sales.csv": TABLE}
    run = make_run(project, files=files, output=MARKDOWN.decode(), findings=[FOUND], **DOUBTED)
    return make_review(project, run, **columns)


def text_of(answer: HttpResponse | Any) -> str:
    assert answer.status_code == 200
    return str(answer.content.decode())


def page(client: Client, review: Review, query: str = "") -> str:
    url = reverse("review_item", args=[review.project.slug, review.uuid])
    return text_of(client.get(url + query))


def view(client: Client, review: Review, query: str) -> str:
    """The view that a pane asks for as it appears, or that it has already."""
    html = page(client, review, query)
    part = re.search(r'hx-get="([^"]+)" hx-trigger="load"', html)
    if part is None:
        return html[html.index('id="view"') :]
    return text_of(client.get(unescape(part[1]), headers={"HX-Target": "view"}))


def test_a_review_shows_the_source_at_the_place_and_the_rest_rendered(
    project: Project, reviewer: Client
) -> None:
    review = review_of(project)

    at_the_place = page(reviewer, review)
    rendered = view(reviewer, review, "?file=report.md")

    assert 'class="l hit" data-n="3"' in at_the_place
    assert "<h3>The report</h3>" in rendered
    assert "<h3>The report</h3>" in page(reviewer, review, "?file=report.md")


def test_what_is_fetched_ahead_comes_with_its_view(project: Project, reviewer: Client) -> None:
    review_of(project, is_blind=True)

    answer = reviewer.post(reverse("review_prefetch", args=[project.slug]))

    assert "<h3>The report</h3>" in text_of(answer)


def test_a_table_of_a_blind_review_marks_no_row(project: Project, reviewer: Client) -> None:
    blind, open_one = review_of(project, is_blind=True), review_of(project)
    marked = []

    for review in (blind, open_one):
        html = view(reviewer, review, "?file=sales.csv&view=table")
        assert 'class="grid"' in html
        marked.append('<tr class="hit' in html)

    assert marked == [False, True]


def test_the_whole_file_of_a_blind_review_tells_nothing_of_the_verifier(
    project: Project, reviewer: Client
) -> None:
    html = page(reviewer, review_of(project, is_blind=True), "?file=sales.csv")
    [whole] = re.findall(r'href="([^"]+)">Whole file', html)

    for view in ("table", "source"):
        assert "hit" not in text_of(reviewer.get(f"{unescape(whole)}&view={view}"))
