from __future__ import annotations

from django import forms

from verification.runs import outbox


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="URL",
        max_length=500,
        widget=forms.URLInput(attrs={"placeholder": "https://ci.example.com/loomverify"}),
    )
    topics = forms.MultipleChoiceField(
        label="Send on",
        choices=[(topic, topic) for topic in outbox.TOPICS],
        initial=[outbox.RUN_FINISHED],
        widget=forms.CheckboxSelectMultiple,
    )
    secret = forms.CharField(
        label="Secret",
        required=False,
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="Leave empty to have one made.",
    )
