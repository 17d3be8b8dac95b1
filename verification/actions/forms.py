from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from verification.actions.formats.status import MAX_TEMPLATE_CHARS, USUAL
from verification.actions.models import WebhookFormat
from verification.runs import outbox

PLAIN = {"autocomplete": "off", "spellcheck": "false"}


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="URL",
        max_length=500,
        widget=forms.URLInput(attrs={"placeholder": "https://ci.example.com/loomverify"}),
    )
    format = forms.ChoiceField(
        label="Send",
        required=False,
        choices=WebhookFormat.choices,
        initial=WebhookFormat.EVENT,
        widget=forms.RadioSelect,
    )
    topics = forms.MultipleChoiceField(
        label="Send on",
        choices=[(topic, topic) for topic in outbox.TOPICS],
        initial=[outbox.RUN_FINISHED],
        widget=forms.CheckboxSelectMultiple,
    )
    processes = forms.MultipleChoiceField(
        label="Of these processes alone",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: of all. What is of no single process is always sent.",
    )
    template = forms.CharField(
        label="Template of a commit's status",
        required=False,
        max_length=MAX_TEMPLATE_CHARS,
        widget=forms.Textarea(attrs={**PLAIN, "rows": 6, "class": "mono", "placeholder": USUAL}),
        help_text="JSON. Empty: the usual one, which GitHub and Gitea take.",
    )
    credential_reference = forms.CharField(
        label="Variable that holds the token",
        required=False,
        max_length=120,
        widget=forms.TextInput(attrs={**PLAIN, "placeholder": "LOOMVERIFY_KEY_GITHUB"}),
        help_text="Sent as a bearer token. The token itself is never stored.",
    )
    secret = forms.CharField(
        label="Secret",
        required=False,
        max_length=100,
        widget=forms.TextInput(attrs=PLAIN),
        help_text="Leave empty to have one made.",
    )

    def __init__(self, *args: Any, processes: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["processes"].choices = [(slug, slug) for slug in processes]  # type: ignore[attr-defined]

    def clean_format(self) -> str:
        return self.cleaned_data["format"] or WebhookFormat.EVENT
