from __future__ import annotations

from typing import Any

from django import forms

from verification.rules.models import Expected

NOTE = {"autocomplete": "off", "maxlength": "300"}


class PinForm(forms.Form):
    """What a text has to come to, and why it matters."""

    expected = forms.ChoiceField(
        label="This text",
        choices=Expected.choices,
        initial=Expected.CAUGHT,
        widget=forms.RadioSelect,
    )
    note = forms.CharField(
        required=False, max_length=300, label="Note", widget=forms.TextInput(attrs=NOTE)
    )


class PastedForm(PinForm):
    text = forms.CharField(
        label="Text",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono", "spellcheck": "false"}),
    )
    field_order = ("text", "expected", "note")

    def clean_text(self) -> str:
        """Browsers send CR LF."""
        return str(self.cleaned_data["text"]).replace("\r\n", "\n")


class RunForm(PinForm):
    """`names`: the rules that a run's text can be pinned to."""

    rule = forms.ChoiceField(label="Pin to")
    field_order = ("rule", "expected", "note")

    def __init__(self, *args: Any, names: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["rule"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [(name, name) for name in names]
