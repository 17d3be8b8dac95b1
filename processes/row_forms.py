"""Fields of a rule that its row in the list sets in place."""

from __future__ import annotations

from django import forms
from django.http import QueryDict

from processes.definition.model import Enforcement, Severity, Target

IN_PLACE: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "enforcement": (
        "Counts as",
        [("", "usual"), *((one.value, one.value) for one in Enforcement)],
    ),
    "severity": ("Severity", [(one.value, one.value) for one in Severity]),
    "target": ("In", [(one.value, one.value) for one in Target]),
    "type": ("Type", [("llm", "instruction"), ("regex", "pattern")]),
}
"""Fields of a rule that its row in the list sets: label and choices."""


class RowForm(forms.Form):
    """What a rule's row sends: each field beside what the page showed of it."""

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        for name, (_label, choices) in IN_PLACE.items():
            is_open = choices[0][0] == ""
            self.fields[name] = forms.ChoiceField(choices=choices, required=not is_open)
            self.fields[f"seen_{name}"] = forms.ChoiceField(choices=choices, required=not is_open)

    @property
    def seen(self) -> dict[str, str]:
        return {name: self.cleaned_data[f"seen_{name}"] for name in IN_PLACE}

    def chosen(self) -> dict[str, str]:
        """The fields that were changed on the page."""
        cleaned = self.cleaned_data
        return {
            name: cleaned[name] for name in IN_PLACE if cleaned[name] != cleaned[f"seen_{name}"]
        }
