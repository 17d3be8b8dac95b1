from __future__ import annotations

from django import forms

MAX_REASON = 300


class ReasonForm(forms.Form):
    """Why a version is stored or published: it stands in the audit log and beside the version."""

    reason = forms.CharField(
        label="Why",
        max_length=MAX_REASON,
        help_text="One line. It stands beside the version and in the audit log.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
