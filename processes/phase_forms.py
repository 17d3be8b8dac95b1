"""A phase of a process file as a form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from processes.definition.model import Definition, GatesWithoutSandbox, Phase
from processes.definition.phases import GATES, MAX_ATTEMPTS, MAX_BUDGET_USD, MAX_ID, MAX_ITERATIONS
from processes.forms import BlockField
from processes.phase_edits import NEW, phase_values
from processes.sent import kept, kept_line

# Few keyboards have an em dash: a hyphen after a file name does for it.
TYPED_DASH = re.compile(r"^(\S+\.\w{1,10}) +(?:--?|\N{EN DASH}) +")
AT_THE_END = ""
ONE_LINE = ("id", "custom_verifier", "model_tier")
RENAMED = (
    "With a new name, rules and phases that name it go along; past runs stay under the old one."
)


def _line(label: str, help_text: str, **options: Any) -> forms.CharField:
    widget = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
    return forms.CharField(label=label, help_text=help_text, widget=widget, **options)


class PhaseForm(forms.Form):
    """`phase` None: a new one, which has a place to choose."""

    id = _line(
        "Name",
        "Runs, rules and other phases name it so.",
        max_length=MAX_ID,
    )
    description = BlockField(rows=3, help_text="What is to be done in this phase.")
    acceptance_criteria = BlockField(
        rows=4, required=False, help_text="When the work of this phase is accepted."
    )
    deliverables = BlockField(
        rows=4,
        mono=True,
        required=False,
        help_text="One file a line: path — what it is. A hyphen between spaces does for the dash.",
    )
    depends_on = forms.MultipleChoiceField(
        label="Comes after", required=False, widget=forms.CheckboxSelectMultiple
    )
    verification_tier = forms.TypedChoiceField(
        label="Checked by",
        coerce=int,
        choices=[(1, "1: deterministic checks"), (2, "2: and a judge"), (3, "3: and a vote")],
        help_text="Each tier is climbed only when the one before did not reject.",
    )
    may_lower_tier = forms.BooleanField(
        label="a submission may lower the tier",
        required=False,
        help_text="Submissions may ask for a lower tier, or leave the critical path.",
    )
    gates = forms.MultipleChoiceField(
        label="Gates",
        required=False,
        choices=[(gate, gate) for gate in GATES],
        widget=forms.CheckboxSelectMultiple,
    )
    gates_without_sandbox = forms.TypedChoiceField(
        label="Without a sandbox",
        required=False,
        coerce=GatesWithoutSandbox,
        empty_value=None,
        choices=[
            ("", "as the process says"),
            (GatesWithoutSandbox.UNDECIDED, "undecided"),
            (GatesWithoutSandbox.MEDIUM, "decided, at most MEDIUM"),
        ],
        help_text="What runs are in an installation that has no sandbox for gates.",
    )
    is_critical_path = forms.BooleanField(
        label="on the critical path",
        required=False,
        help_text="What cannot be confirmed is mended before anything rests on it.",
    )
    is_synthesis = forms.BooleanField(
        label="puts earlier work together",
        required=False,
        help_text="Its claims rest on those of the phases before.",
    )
    advisory = forms.BooleanField(
        label="advisory", required=False, help_text="It warns at most: no rule of it rejects."
    )
    max_attempts = forms.IntegerField(
        label="Attempts at most",
        required=False,
        min_value=1,
        max_value=MAX_ATTEMPTS,
        help_text="Empty: as the task or the process says.",
    )
    confidence_floor = forms.FloatField(
        label="Sure enough from",
        required=False,
        min_value=0,
        max_value=1,
        help_text="0 to 1. A judge who is less sure is doubt. Empty: 0.6.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    score_threshold = forms.FloatField(
        label="Finished from the score",
        required=False,
        min_value=0,
        max_value=10,
        help_text="0 to 10. Empty: no score is asked for, or 8.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    score_max_iterations = forms.IntegerField(
        label="Rounds at most",
        required=False,
        min_value=1,
        max_value=MAX_ITERATIONS,
        help_text="Of work that is scored. Empty: 10.",
    )
    score_budget_usd = forms.FloatField(
        label="Stopped at a cost of",
        required=False,
        min_value=0,
        max_value=MAX_BUDGET_USD,
        help_text="US dollars for judging a task, all rounds together. Empty: no bound.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    custom_verifier = _line(
        "Verifier of its own",
        "Its registered name. Empty: none.",
        required=False,
        max_length=200,
    )
    model_tier = _line(
        "Model tier", "For whoever does the work; kept, no effect here.", required=False
    )

    def __init__(
        self, data: QueryDict | None = None, *, definition: Definition, phase: Phase | None = None
    ) -> None:
        super().__init__(data, initial=phase_values(phase or NEW))
        self.phase = phase
        others = [(one.id, one.id) for one in definition.phases if one is not phase]
        self.taken = {name for name, _ in others}
        self.fields["depends_on"].choices = others  # type: ignore[attr-defined]
        if phase is not None:
            self.fields["id"].help_text = RENAMED
        else:
            places = [(AT_THE_END, "the others"), *others]
            self.fields["after"] = forms.ChoiceField(
                label="Stands after", required=False, choices=places
            )

    def clean_id(self) -> str:
        name = str(self.cleaned_data["id"])
        if name in self.taken:
            raise forms.ValidationError("Another phase of this process has this name.")
        return name

    def clean_deliverables(self) -> str:
        known = set(self.initial["deliverables"].split("\n"))
        lines = str(self.cleaned_data["deliverables"]).split("\n")
        return "\n".join(
            line if line in known else TYPED_DASH.sub("\\1 \N{EM DASH} ", line) for line in lines
        )

    def values(self) -> dict[str, Any]:
        """The cleaned fields, in the order and with the line ends that the file has."""
        cleaned = {key: value for key, value in self.cleaned_data.items() if key != "after"}
        for key in ("depends_on", "gates"):
            cleaned[key] = _in_order(cleaned[key], self.initial[key])
        if cleaned["confidence_floor"] is None:
            cleaned["confidence_floor"] = NEW.confidence_floor
        return {
            key: (kept_line if key in ONE_LINE else kept)(value, self.initial[key])
            for key, value in cleaned.items()
        }


def _in_order(chosen: Iterable[str], present: Sequence[str]) -> list[str]:
    wanted = list(chosen)
    stayed = [one for one in dict.fromkeys(present) if one in wanted]
    return [*stayed, *(one for one in wanted if one not in stayed)]
