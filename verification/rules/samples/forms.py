"""What somebody chooses of a sample."""

from __future__ import annotations

from decimal import Decimal

from django import forms

from verification.rules.models import Drawn
from verification.rules.samples.drawing import SIZES, USUAL_SIZE

ELSEWHERE = "sample-only"
"""The fields stand within the rule's form and are not part of it: no form has this name."""


class SampleForm(forms.Form):
    size = forms.TypedChoiceField(
        label="Ask about",
        coerce=int,
        choices=[(size, f"{size} runs") for size in SIZES],
        initial=USUAL_SIZE,
        required=False,
        empty_value=None,
    )
    drawn = forms.ChoiceField(
        label="Which", choices=Drawn.choices, initial=Drawn.BY_LOT, required=False
    )

    def __init__(self, *given: object, **named: object) -> None:
        super().__init__(*given, prefix="sample", **named)  # type: ignore[arg-type,misc]
        for field in self.fields.values():
            field.widget.attrs |= {"form": ELSEWHERE, "data-sample": ""}

    @property
    def chosen(self) -> tuple[Drawn, int]:
        """What is no choice is the usual one."""
        if not self.is_valid():
            return Drawn.BY_LOT, USUAL_SIZE
        return Drawn(self.cleaned_data["drawn"] or Drawn.BY_LOT), self.cleaned_data[
            "size"
        ] or USUAL_SIZE


class AgreedForm(forms.Form):
    max_usd = forms.DecimalField(min_value=Decimal(0), max_digits=10, decimal_places=2)
