"""Forms of shadow trials."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.utils import timezone

from loomverify.accounts.models import Project
from processes.models import Process, ProcessVersion
from verification.engine.verifier import Engine
from verification.trials.replays.services import DEFAULT_LIMIT, MAX_LIMIT
from verification.trials.services.promoting import LONGEST_WATCH_DAYS, WATCH_DAYS
from verification.trials.services.starting import AA_RATE, MAX_BUDGET_USD
from verification.trials.wording import MAX_TITLE
from verification.verifiers.models import VerifierVersion

MAX_LISTED = 100
AS_PUBLISHED = "the run's own"
SPANS = (("", "any time"), ("1", "the last day"), ("7", "the last 7 days"), ("30", "the last 30 days"), ("90", "the last 90 days"))  # fmt: skip
ENDS = (("", "when somebody stops it"), ("7", "in 7 days"), ("14", "in 14 days"), ("30", "in 30 days"), ("90", "in 90 days"))  # fmt: skip
ONE_LINE = {"autocomplete": "off"}


class PastForm(forms.Form):
    """Which past runs a trial is taken over: the newest of them first."""

    since = forms.ChoiceField(label="Finished in", choices=SPANS, required=False)
    limit = forms.IntegerField(
        label="At most",
        min_value=1,
        max_value=MAX_LIMIT,
        initial=DEFAULT_LIMIT,
        help_text=f"Runs, newest first. {MAX_LIMIT:,} at most.",
    )

    @property
    def since_moment(self) -> datetime | None:
        days = self.cleaned_data["since"]
        return timezone.now() - timedelta(days=int(days)) if days else None


class StartForm(PastForm):
    """Two sides and the terms. Rates are percentages here."""

    baseline = forms.ChoiceField(
        label="Old: verifier", help_text="The baseline. To be promoted over, it has to judge runs."
    )
    candidate = forms.ChoiceField(
        label="New: verifier", help_text="The candidate, which might take its place."
    )
    baseline_version = forms.ChoiceField(label="Old: process version", required=False)
    candidate_version = forms.ChoiceField(label="New: process version", required=False)
    process = forms.ChoiceField(label="Runs of", required=False)
    rate = forms.FloatField(
        label="Share of the runs, %", initial=100, min_value=0.1, max_value=100,
        help_text="Drawn by lot, the same every time.",
    )  # fmt: skip
    aa = forms.FloatField(
        label="Asked twice, %", initial=AA_RATE * 100, min_value=0, max_value=100,
        help_text="Tells how often a verifier contradicts itself.",
    )  # fmt: skip
    budget = forms.DecimalField(
        label="Budget, USD", required=False, max_digits=12, decimal_places=4,
        min_value=Decimal("0.0001"), max_value=MAX_BUDGET_USD, help_text="Empty: none.",
    )  # fmt: skip
    ends = forms.ChoiceField(label="It ends", choices=ENDS, required=False)
    title = forms.CharField(
        label="Name", required=False, max_length=MAX_TITLE, help_text="Empty: both sides by their numbers.",
        widget=forms.TextInput(attrs=ONE_LINE),
    )  # fmt: skip
    past = forms.BooleanField(label="Also over past runs", required=False)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["limit"].required = False
        rows = VerifierVersion.objects.filter(project=project).order_by("-is_active", "-number")
        self.verifiers = {str(one.number): one for one in rows[:MAX_LISTED]}
        self.processes = {one.slug: one for one in _processes(project)}
        self.versions = {f"{one.process.slug}:{one.number}": one for one in _versions(project)}
        verifiers = [(number, _verifier_words(one)) for number, one in self.verifiers.items()]
        versions = [("", AS_PUBLISHED), *self._groups()]
        self._choose(("baseline", "candidate"), verifiers)
        self._choose(("baseline_version", "candidate_version"), versions)
        self._choose(
            ("process",), [("", "every process"), *((slug, slug) for slug in self.processes)]
        )

    def _choose(self, names: Iterable[str], choices: Any) -> None:
        for name in names:
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 - it is declared so above
            field.choices = choices

    def _groups(self) -> list[tuple[str, list[tuple[str, str]]]]:
        groups: dict[str, list[tuple[str, str]]] = {}
        for key, one in self.versions.items():
            published = ", published" if one.pk == one.process.published_id else ""
            words = f"{one.process.slug} v{one.number}{published}"
            groups.setdefault(one.process.slug, []).append((key, words))
        return list(groups.items())

    def clean_limit(self) -> int:
        return self.cleaned_data["limit"] or DEFAULT_LIMIT

    def usual(self) -> dict[str, str]:
        """What judges now beside the newest other one; legacy is the old one, whichever judges."""
        numbers = list(self.verifiers)
        old = numbers[0] if numbers else ""
        new = numbers[1] if len(numbers) > 1 else old
        if new != old and self.verifiers[new].engine == Engine.LEGACY != self.verifiers[old].engine:
            old, new = new, old
        return {
            "baseline": old,
            "candidate": new,
            "rate": "100",
            "aa": f"{AA_RATE * 100:g}",
            "limit": str(DEFAULT_LIMIT),
        }

    @property
    def sides(self) -> dict[str, Any]:
        """As the service takes them."""
        told = self.cleaned_data
        return {
            "baseline_verifier": self.verifiers[told["baseline"]],
            "candidate_verifier": self.verifiers[told["candidate"]],
            "baseline_process_version": self.versions.get(told["baseline_version"]),
            "candidate_process_version": self.versions.get(told["candidate_version"]),
            "process": self.processes.get(told["process"]),
        }

    @property
    def terms(self) -> dict[str, Any]:
        told = self.cleaned_data
        ends = told["ends"]
        return {
            "sample_rate": told["rate"] / 100,
            "aa_rate": told["aa"] / 100,
            "budget_usd": told["budget"],
            "ends_at": timezone.now() + timedelta(days=int(ends)) if ends else None,
            "title": told["title"],
        }


class CorpusForm(forms.Form):
    canary = forms.BooleanField(label="The held set too", required=False)


class PromoteForm(forms.Form):
    """`corpus_reason` is asked for where a guard objects, `override` where the gate is not open."""

    reason = forms.CharField(
        label="Why",
        max_length=1000,
        help_text="One line. It stands in the audit log.",
        widget=forms.TextInput(attrs=ONE_LINE),
    )
    corpus_reason = forms.CharField(
        label="Why all the same",
        required=False,
        max_length=1000,
        help_text="Golden cases do not hold with it, or were not all replayed. "
        "What you say stands in the audit log.",
        widget=forms.TextInput(attrs=ONE_LINE),
    )
    watch_days = forms.IntegerField(
        label="The old one goes on shadowing, days",
        min_value=1,
        max_value=LONGEST_WATCH_DAYS,
        initial=WATCH_DAYS,
        help_text="An outcome that rises beyond chance rings an alarm, with the way back.",
    )
    override = forms.BooleanField(label="Promote it although the gate is not open", required=False)


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label="Why",
        max_length=1000,
        help_text="One line. It stands in the audit log.",
        widget=forms.TextInput(attrs=ONE_LINE),
    )


class StopForm(forms.Form):
    reason = forms.CharField(label="Why", required=False, max_length=500)


def _processes(project: Project) -> Iterable[Process]:
    return Process.objects.filter(project=project).defer("description").order_by("slug")


def _versions(project: Project) -> Iterable[ProcessVersion]:
    rows = ProcessVersion.objects.filter(process__project=project).select_related("process")
    rows = rows.defer("source_text", "warnings", "process__description")
    return rows.order_by("process__slug", "-number")[: 4 * MAX_LISTED]


def _verifier_words(one: VerifierVersion) -> str:
    told = "judges runs now" if one.is_active else one.note[:60]
    words = f"v{one.number}, {one.engine} engine"
    return f"{words}: {told}" if told else words
