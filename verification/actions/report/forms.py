from __future__ import annotations

from typing import Any

from django import forms

from loomverify.accounts.models import Member


class Clock(forms.TimeInput):
    input_type = "time"

    def __init__(self) -> None:
        super().__init__(format="%H:%M")


def _time(label: str, **more: Any) -> forms.TimeField:
    return forms.TimeField(label=label, widget=Clock(), input_formats=["%H:%M"], **more)


class ReportForm(forms.Form):
    is_on = forms.BooleanField(label="Make a report of each night", required=False)
    begins = _time("The night begins")
    ends = _time("It ends, and the report is made")
    recipients = forms.MultipleChoiceField(
        label="Mail it to", required=False, widget=forms.CheckboxSelectMultiple
    )
    quiet_begins = _time("Nobody is mailed from")
    quiet_ends = _time("to", help_text="The same time twice: there are no quiet hours.")

    def __init__(self, *args: Any, members: list[Member], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["recipients"].choices = [  # type: ignore[attr-defined]
            (str(member.uuid), f"{member.user} ({member.user.email})") for member in members
        ]
