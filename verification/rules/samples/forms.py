"""What somebody chooses of a sample."""

from __future__ import annotations

from decimal import Decimal

from django import forms
from django.http import QueryDict

from verification.rules.models import Drawn
from verification.rules.samples.drawing import SIZES, USUAL_SIZE

ELSEWHERE = "sample-only"
"""The fields stand within the rule's form and are not part of it: no form has this name."""


class SampleForm(forms.Form):
    size = forms.TypedChoiceField(
        label="Ask about",
        coerce=int,
        choices=[(size, f"{size} runs") for size in SIZES],
    )
    drawn = forms.ChoiceField(label="Which", choices=Drawn.choices)

    def __init__(self, *given: object, **named: object) -> None:
        super().__init__(*given, prefix="sample", **named)  # type: ignore[arg-type,misc]
        for field in self.fields.values():
            field.widget.attrs |= {"form": ELSEWHERE, "data-sample": ""}

    @classmethod
    def of(cls, sent: QueryDict) -> SampleForm:
        """What is no choice is the usual one."""
        chosen = cls(sent)
        usual = {"sample-size": USUAL_SIZE, "sample-drawn": Drawn.BY_LOT.value}
        return chosen if chosen.is_valid() else cls(usual)

    @property
    def chosen(self) -> tuple[Drawn, int]:
        self.full_clean()
        return Drawn(self.cleaned_data["drawn"]), self.cleaned_data["size"]


class AgreedForm(forms.Form):
    max_usd = forms.DecimalField(min_value=Decimal(0), max_digits=10, decimal_places=2)
