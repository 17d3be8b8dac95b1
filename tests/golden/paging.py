"""How tests of the corpus' pages look at them."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.builders import make_user, signed_in
from verification.golden.cases.selectors import case_of, document_of
from verification.golden.cases.texts import text_of
from verification.golden.models import GoldenCase, GoldenCaseVersion


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def main_of(html: str) -> str:
    return words(html[html.index("<main") : html.index("</main>")])


def get(project: Project, name: str, *args: Any, query: str = "", role: Role = Role.VIEWER) -> Any:
    client = signed_in(make_user(project, role))
    return client.get(reverse(name, args=[project.slug, *args]) + query)


def page(project: Project, name: str, *args: Any, query: str = "", role: Role = Role.VIEWER) -> str:
    answer = get(project, name, *args, query=query, role=role)
    assert answer.status_code == 200
    return str(answer.content.decode())


def post(project: Project, name: str, *args: Any, role: Role = Role.EDITOR, **fields: Any) -> Any:
    client = signed_in(make_user(project, role))
    return client.post(reverse(name, args=[project.slug, *args]), fields)


def text(answer: Any) -> str:
    return main_of(answer.content.decode())


def yaml_of(case: GoldenCase) -> str:
    return text_of(document_of(current(case)))


def current(case: GoldenCase) -> GoldenCaseVersion:
    found = case_of(case.project, case.uuid).current
    assert found is not None
    return found
