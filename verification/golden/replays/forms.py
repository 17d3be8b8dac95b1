from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django import forms

from loomverify.accounts.models import Project
from processes.models import Process, ProcessVersion
from verification.golden.documents.schemas import TAG
from verification.verifiers.models import VerifierVersion

MAX_LISTED = 100
PUBLISHED = "All processes, as published"


@dataclass(frozen=True, slots=True)
class Over:
    """Which processes a replay is of; both None: all of them."""

    process: Process | None = None
    version: ProcessVersion | None = None


class TagsField(forms.CharField):
    """Words, parted by spaces or commas."""

    def clean(self, value: Any) -> tuple[str, ...]:
        text = super().clean(value)
        tags = tuple(dict.fromkeys(re.split(r"[\s,]+", text.strip().lower()))) if text else ()
        wrong = next((tag for tag in tags if tag and not TAG.fullmatch(tag)), "")
        if wrong:
            raise forms.ValidationError(
                f"{wrong[:40]} is no tag: small letters, figures and hyphens."
            )
        return tuple(tag for tag in tags if tag)


class StartForm(forms.Form):
    """What is left as it is: what judges runs now, over all cases."""

    verifier = forms.ChoiceField(label="Verifier")
    over = forms.ChoiceField(label="Processes", required=False)
    tags = TagsField(
        label="Tags",
        required=False,
        max_length=400,
        help_text="Only cases that have one of these. Empty: all of them.",
        widget=forms.TextInput(attrs={"list": "known-tags", "autocapitalize": "none"}),
    )
    canary = forms.BooleanField(label="The held set too", required=False)
    live = forms.BooleanField(label="Ask the judges anew", required=False)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        versions = VerifierVersion.objects.filter(project=project).defer("spec")
        self.versions = {
            str(one.number): one for one in versions.order_by("-is_active", "-number")[:MAX_LISTED]
        }
        self.processes = {
            one.slug: one
            for one in Process.objects.filter(project=project)
            .select_related("published")
            .defer("published__source_text")
            .order_by("slug")
        }
        self.listed = _versions(project)
        self._field("verifier").choices = [
            (number, _verifier_words(one)) for number, one in self.versions.items()
        ]
        self._field("over").choices = [("", PUBLISHED), *map(self._group, self.processes.values())]

    def _field(self, name: str) -> forms.ChoiceField:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - it is declared so above
        return field

    def _group(self, process: Process) -> tuple[str, list[tuple[str, str]]]:
        now = process.published.number if process.published else None
        versions = [
            (f"{process.slug}:{one.number}", f"{process.slug} v{one.number}{_state(one, now)}")
            for one in self.listed.get(process.pk, ())
        ]
        published = (f"{process.slug}:", f"{process.slug} alone, as published")
        return process.slug, [published, *versions] if now else versions

    @property
    def verifier_version(self) -> VerifierVersion:
        return self.versions[self.cleaned_data["verifier"]]

    @property
    def chosen(self) -> Over:
        slug, _, number = self.cleaned_data["over"].partition(":")
        process = self.processes.get(slug)
        if process is None or not number:
            return Over(process)
        version = next(one for one in self.listed[process.pk] if one.number == int(number))
        return Over(process, version)


def _versions(project: Project) -> dict[int, list[ProcessVersion]]:
    """The newest versions of each process, by the process."""
    rows = ProcessVersion.objects.filter(process__project=project).defer("source_text", "warnings")
    found: dict[int, list[ProcessVersion]] = {}
    for one in rows.order_by("-number"):
        if len(mine := found.setdefault(one.process_id, [])) < MAX_LISTED:
            mine.append(one)
    return found


def _verifier_words(one: VerifierVersion) -> str:
    told = "judges runs now" if one.is_active else one.note[:60]
    engine = ", the old engine" if one.engine == "legacy" else ""
    return f"v{one.number}{engine}" + (f": {told}" if told else "")


def _state(one: ProcessVersion, published: int | None) -> str:
    return ", published" if one.number == published else ""


class ScheduleForm(forms.Form):
    is_enabled = forms.BooleanField(label="Replay the corpus every night", required=False)
    hour = forms.TypedChoiceField(
        label="Begin at (UTC)",
        coerce=int,
        choices=[(hour, f"{hour:02d}:00") for hour in range(24)],
    )
    tags = TagsField(
        label="Tags",
        required=False,
        max_length=400,
        help_text="Only cases that have one of these. Empty: all of them, but the held set.",
        widget=forms.TextInput(attrs={"autocapitalize": "none"}),
    )
