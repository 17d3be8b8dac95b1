from __future__ import annotations

from datetime import UTC, date, timedelta

from django import forms
from django.utils import timezone

from verification.runs.models.waiver import MAX_REASON_CHARS
from verification.runs.waivers.services import MAX_DAYS, MIN_REASON_CHARS

USUAL_DAYS = 30
SUGGESTED = ((30, "30 days"), (90, "90 days"), (MAX_DAYS, "a year"))


class WaiverForm(forms.Form):
    """`suggested` are days that are offered, with what they are called."""

    reason = forms.CharField(
        label="Why it is accepted",
        min_length=MIN_REASON_CHARS,
        max_length=MAX_REASON_CHARS,
        help_text="Whoever looks at it later reads this, and so does the judge.",
        widget=forms.Textarea(attrs={"rows": 4, "data-key": "c"}),
    )
    until = forms.DateField(
        label="Until",
        help_text="Its last day, in UTC. After it the finding counts again.",
        widget=forms.DateInput(
            format="%Y-%m-%d", attrs={"type": "date", "list": "until-days", "class": "short"}
        ),
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        today = timezone.now().astimezone(UTC).date()
        self.suggested = [(_after(today, days), words) for days, words in SUGGESTED]
        until = self.fields["until"]
        until.initial = _after(today, USUAL_DAYS)
        until.widget.attrs["min"] = _after(today, 1).isoformat()
        until.widget.attrs["max"] = _after(today, MAX_DAYS).isoformat()


def _after(today: date, days: int) -> date:
    return today + timedelta(days=days)
