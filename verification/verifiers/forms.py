from __future__ import annotations

from typing import Any

from django import forms

from verification.verifiers.connections import BOUNDS, JUDGING, TERMS, Terms
from verification.verifiers.judge_list import plain
from verification.verifiers.models import JudgeConnection

PLAIN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
MONO = {**PLAIN, "class": "mono"}
STRUCTURED = (("", "as the provider says"), ("yes", "always ask by schema"), ("no", "never"))


def _price(label: str) -> forms.DecimalField:
    return forms.DecimalField(
        label=f"USD per million tokens {label}",
        required=False,
        min_value=BOUNDS["input_usd_per_million"][0],
        max_value=BOUNDS["input_usd_per_million"][1],
        max_digits=12,
        decimal_places=6,
        help_text="Empty: the price list's.",
    )


def _count(label: str, name: str, initial: int) -> forms.IntegerField:
    low, high = BOUNDS[name]
    return forms.IntegerField(label=label, min_value=low, max_value=high, initial=initial)


class TermsForm(forms.Form):
    key_reference = forms.CharField(
        label="Variable that holds the key",
        required=False,
        max_length=120,
        widget=forms.TextInput({**MONO, "placeholder": "LOOMVERIFY_KEY_OPENAI"}),
        help_text="Workers read it; the key itself is never stored. Empty: no key is sent.",
    )
    input_usd_per_million = _price("asked")
    output_usd_per_million = _price("answered")
    timeout_seconds = _count("Seconds to wait for an answer", "timeout_seconds", 60)
    max_output_tokens = _count("Longest answer, in tokens", "max_output_tokens", 4000)
    max_input_chars = _count("Longest prompt, in characters", "max_input_chars", 200_000)
    structured_output = forms.ChoiceField(
        label="Structured output", choices=STRUCTURED, required=False
    )

    @classmethod
    def of(cls, row: JudgeConnection) -> TermsForm:
        values: dict[str, Any] = {name: getattr(row, name) for name in TERMS}
        for name in ("input_usd_per_million", "output_usd_per_million"):
            values[name] = plain(values[name])
        wished = row.structured_output
        values["structured_output"] = "" if wished is None else "yes" if wished else "no"
        return cls(initial=values)

    def keep(self, row: JudgeConnection) -> None:
        """Show what can change a verdict, and let nobody change it."""
        self.initial = {**self.of(row).initial, **self.initial}
        for name in JUDGING:
            self.fields[name].disabled = True

    def terms(self) -> Terms:
        values = {"key_reference": "", **self.cleaned_data}
        values = {name: values[name] for name in TERMS}
        wished = {"yes": True, "no": False}.get(values.pop("structured_output"))
        return Terms(**values, structured_output=wished)


class ConnectionForm(TermsForm):
    name = forms.CharField(
        max_length=60,
        widget=forms.TextInput({**MONO, "placeholder": "small-and-cheap"}),
        help_text="It stands in verifier versions and never changes.",
    )
    model = forms.CharField(
        max_length=120,
        widget=forms.TextInput({**MONO, "placeholder": "openai/gpt-4o-mini"}),
        help_text="provider/model, in litellm's words. Never changes either.",
    )
    base_url = forms.CharField(
        label="Address",
        required=False,
        max_length=500,
        widget=forms.TextInput({**MONO, "placeholder": "https://gateway.example.com/v1"}),
        help_text="Empty: the provider's own.",
    )
    field_order = ("name", "model", "base_url", *TERMS)

    @property
    def first_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("name", "model", "base_url", "key_reference")]

    @property
    def more_fields(self) -> list[forms.BoundField]:
        """Those that need no thought at first."""
        return [self[name] for name in TERMS if name != "key_reference"]

    @property
    def more_errors(self) -> bool:
        return any(field.errors for field in self.more_fields)


class SeatsForm(forms.Form):
    """Which connections judge. Choices are the project's connections in use."""

    primary = forms.ChoiceField(
        label="First judge",
        required=False,
        help_text="Asked in tier 2; casts the votes of tier 3 unless there is a panel.",
    )
    alternate = forms.ChoiceField(
        required=False,
        help_text="Takes over when the first cannot be read, or did the work itself.",
    )
    panel = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Each votes once in tier 3: an even number can be split. None: the first judge votes.",
    )
    reason = forms.CharField(max_length=300, help_text="For the audit log.")

    def __init__(self, *args: Any, names: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(name, name) for name in names]
        for seat in ("primary", "alternate"):
            self.fields[seat].choices = [("", "none"), *choices]  # type: ignore[attr-defined]
        self.fields["panel"].choices = choices  # type: ignore[attr-defined]


class BudgetForm(forms.Form):
    process = forms.SlugField(required=False, max_length=200)
    usd_per_day = forms.DecimalField(
        required=False, min_value=0, max_value=1_000_000, max_digits=12, decimal_places=4
    )
