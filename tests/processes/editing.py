"""An editor before the pages of their draft."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from loomverify.accounts.models import Project, Role, User
from processes.definition.load import load
from processes.definition.model import Rule
from processes.models import Draft, Process
from tests.builders import make_user, signed_in

HTMX = {"HX-Request": "true"}


class Desk:
    """One person's browser without a script."""

    def __init__(
        self, process: Process, role: Role = Role.EDITOR, user: User | None = None
    ) -> None:
        self.process = process
        self.user = user or make_user(process.project, role)
        self.client: Client = signed_in(self.user)

    def url(self, name: str, *args: Any) -> str:
        return reverse(name, args=[self.process.project.slug, self.process.slug, *args])

    def get(self, name: str, *args: Any, query: str = "") -> Any:
        return self.client.get(self.url(name, *args) + query)

    def post(self, name: str, /, *args: Any, htmx: bool = False, **fields: Any) -> Any:
        headers = HTMX if htmx else {}
        return self.client.post(self.url(name, *args), fields, headers=headers)

    def begin(self) -> Draft:
        self.post("draft_open")
        return self.draft

    @property
    def draft(self) -> Draft:
        return Draft.objects.get(process=self.process, editor=self.user)

    def save(self, text: str, *, htmx: bool = False, lock_version: int | None = None) -> Any:
        lock = self.draft.lock_version if lock_version is None else lock_version
        sent = text.replace("\n", "\r\n")
        return self.post("draft_yaml", htmx=htmx, source_text=sent, lock_version=lock)

    def rule(self, name: str) -> Rule:
        definition = load(self.draft.source_text).definition
        assert definition is not None
        return next(rule for rule in definition.rules if rule.name == name)


def said(answer: Any) -> str:
    """The page's text without its marks, spaces made one."""
    text = re.sub(r"<[^>]+>", " ", answer.content.decode())
    return re.sub(r"\s+", " ", text).replace("&#x27;", "'").replace("&quot;", '"')


def form_of(answer: Any) -> dict[str, Any]:
    """What the browser would send back of a form if nobody changed it."""
    form = answer.context["form"]
    sent: dict[str, Any] = {"lock_version": answer.context["lock_version"]}
    for field in form:
        value = field.value()
        if value is None and field.widget_type == "select":
            value = field.field.choices[0][0]
        if value is not None and value is not False:
            sent[field.html_name] = "on" if value is True else value
    for key, texts in form.examples.items() if hasattr(form, "examples") else ():
        sent[f"example_{key}"] = [*texts, ""]
    if answer.context.get("rule"):
        sent["seen_name"] = answer.context["rule"].name
    if answer.context.get("phase"):
        sent["seen_id"] = answer.context["phase"].id
    return sent


def new_desk(project: Project, role: Role = Role.EDITOR) -> Desk:
    return Desk(project.processes.get(), role)
