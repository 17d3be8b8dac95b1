"""The review policy as a form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.http import QueryDict

from processes.definition.model import USUAL_URGENCIES, ReviewPolicy, ReviewReason
from processes.definition.review import MAX_A_DAY, MAX_HOURS, MAX_URGENCY

LABELS = {
    ReviewReason.UNDECIDED: "a run stays undecided",
    ReviewReason.DIVERGENCE: "judges disagree",
    ReviewReason.LOW_CONFIDENCE: "a judge is less sure than its phase asks for",
    ReviewReason.TERMINAL: "a run is the last that its task may have",
    ReviewReason.PARTIAL: "work is accepted in part",
    ReviewReason.REJECTED: "work is rejected",
}


@dataclass(frozen=True, slots=True)
class ReasonRow:
    asked: BoundField
    urgency: BoundField


class ReviewForm(forms.Form):
    sample_percent = forms.DecimalField(
        label="Drawn by chance, %",
        required=False,
        min_value=0,
        max_value=100,
        help_text="Of the decided runs, odd or not: what estimates rest on. Never held back. "
        "Empty: as this installation says.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    cap_per_day = forms.IntegerField(
        label="At most a day",
        required=False,
        min_value=0,
        max_value=MAX_A_DAY,
        help_text="Runs with a reason, by UTC. What comes beyond is held back and counted. "
        "Empty: no limit.",
    )
    expires_after_hours = forms.IntegerField(
        label="Closed after, hours",
        required=False,
        min_value=1,
        max_value=MAX_HOURS,
        help_text="What nobody has decided by then stays as the verifier left it. Empty: never.",
    )
    reviewers = forms.TypedChoiceField(
        label="Decided by",
        coerce=int,
        choices=[(1, "one reviewer"), (2, "two who do not know of each other")],
        help_text="Where two differ, a third decides.",
    )
    blind = forms.BooleanField(
        label="decide blind",
        required=False,
        help_text="Reviewers decide before they see the verdict, then confirm or change.",
    )

    def __init__(self, data: QueryDict | None = None, *, policy: ReviewPolicy) -> None:
        super().__init__(data, initial=_initial(policy))
        self.policy = policy
        for reason, label in LABELS.items():
            self.fields[f"ask_{reason}"] = forms.BooleanField(label=label, required=False)
            self.fields[f"urgency_{reason}"] = forms.IntegerField(
                label=f"Urgency when {label}",
                required=False,
                min_value=0,
                max_value=MAX_URGENCY,
                widget=forms.NumberInput(attrs={"placeholder": USUAL_URGENCIES[reason]}),
            )

    @property
    def rows(self) -> Iterator[ReasonRow]:
        for reason in LABELS:
            yield ReasonRow(self[f"ask_{reason}"], self[f"urgency_{reason}"])

    def wanted(self) -> ReviewPolicy:
        """The cleaned fields. Reasons keep the order in which the file has them."""
        sent = self.cleaned_data
        order = [*self.policy.reasons, *(one for one in LABELS if one not in self.policy.reasons)]
        percent: Decimal | None = sent["sample_percent"]
        return ReviewPolicy(
            reasons={one: sent[f"urgency_{one}"] for one in order if sent[f"ask_{one}"]},
            sample_rate=None if percent is None else float(percent / 100),
            cap_per_day=sent["cap_per_day"],
            expires_after_hours=sent["expires_after_hours"],
            is_blind=sent["blind"],
            reviewers=sent["reviewers"],
        )


def _initial(policy: ReviewPolicy) -> dict[str, Any]:
    asked = {f"ask_{one}": one in policy.reasons for one in LABELS}
    urgencies = {f"urgency_{one}": policy.reasons.get(one) for one in LABELS}
    rate = policy.sample_rate
    return {
        **policy.spec,
        "sample_percent": None if rate is None else percent_of(rate),
        **asked,
        **urgencies,
    }


def percent_of(rate: float) -> str:
    """0.025 as 2.5, without the noise of binary fractions."""
    return f"{(Decimal(repr(rate)) * 100).normalize():f}"
