"""Forms of verifier versions: a new one, an activation, the way back."""

from __future__ import annotations

from typing import Any

from django import forms

from loomverify.accounts.models import Project
from verification.engine.verifier import Engine, VerifierSpec
from verification.verifiers.making import MAX_NOTE_CHARS, Wish, preset_of
from verification.verifiers.models import VerifierVersion
from verification.verifiers.parts import FLAGS, LIMITS, SEATS, Part
from verification.verifiers.selectors import connections_of


class VersionForm(forms.Form):
    """Every part of a version, filled with those of the one that it starts from."""

    note = forms.CharField(
        required=False,
        max_length=MAX_NOTE_CHARS,
        help_text="What it is for. One line, shown wherever the version is chosen.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(
        self, project: Project, base: VerifierVersion, *args: Any, preset: str = "", **kwargs: Any
    ) -> None:
        spec = preset_of(base, preset)
        kwargs["initial"] = _initial(spec)
        super().__init__(*args, **kwargs)
        self.base = base
        names = [row.name for row in connections_of(project.pk)]
        self.fields.update({part.name: _field(part) for part in (*FLAGS, *LIMITS)})
        self.fields.update({seat: _seat(seat, label, about, names) for seat, label, about in SEATS})
        self.removed = [name for name in spec.models.names if name not in names]
        """Judges that the version names and that nobody can ask any more."""

    @property
    def switches(self) -> list[forms.BoundField]:
        return [self[part.name] for part in FLAGS if part.is_switch]

    @property
    def other_flags(self) -> list[forms.BoundField]:
        return [self[part.name] for part in FLAGS if not part.is_switch]

    @property
    def seats(self) -> list[forms.BoundField]:
        return [self["primary"], self["alternate"]]

    @property
    def limits(self) -> list[forms.BoundField]:
        return [self[part.name] for part in LIMITS]

    @property
    def has_unusual_limits(self) -> bool:
        """Whether any of them is not the usual one, or is wrong."""
        return any(
            self[part.name].errors or self[part.name].value() != part.usual for part in LIMITS
        )

    def wish(self) -> Wish:
        told = self.cleaned_data
        return Wish(
            base=self.base.number,
            flags={part.name: told[part.name] for part in FLAGS},
            models={**{seat: told[seat] for seat, *_ in SEATS}, "panel": tuple(told["panel"])},
            limits={part.name: told[part.name] for part in LIMITS},
            note=told["note"],
        )


class StartForm(forms.Form):
    """What a new version starts from: another one, or an engine as it came."""

    base = forms.IntegerField(required=False, min_value=1, max_value=2_000_000_000)
    preset = forms.ChoiceField(
        required=False, choices=[("", ""), *((engine.value, engine.value) for engine in Engine)]
    )


class ActivationForm(forms.Form):
    """`corpus_reason` is asked for where something speaks against the version."""

    reason = forms.CharField(
        label="Why",
        max_length=1000,
        help_text="One line. It stands in the audit log.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    corpus_reason = forms.CharField(
        label="Why all the same",
        required=False,
        max_length=1000,
        help_text="Golden cases do not hold with it, or were not all replayed. "
        "What you say stands in the audit log.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class RollBackForm(forms.Form):
    """`active` is the version that judged runs when the page was made."""

    active = forms.IntegerField(min_value=1, max_value=2_000_000_000, widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Why",
        max_length=1000,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "Why"}),
    )


def _initial(spec: VerifierSpec) -> dict[str, Any]:
    told = spec.to_json()
    parts = {**told["flags"], **told["limits"], **told["models"]}
    return {name: _plain(value) for name, value in parts.items()}


def _plain(value: Any) -> Any:
    """A number as people write it: 30, not 30.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _field(part: Part) -> forms.Field:
    shared: dict[str, Any] = {"label": part.label, "help_text": part.about}
    if part.is_switch:
        return forms.BooleanField(required=False, **shared)
    if part.choices is not None:
        return forms.ChoiceField(choices=list(part.choices.items()), **shared)
    bounds: dict[str, Any] = {"min_value": part.low, "max_value": part.high}
    if part.is_whole:
        return forms.IntegerField(**bounds, **shared)
    return forms.FloatField(widget=forms.NumberInput(attrs={"step": "any"}), **bounds, **shared)


def _seat(seat: str, label: str, about: str, names: list[str]) -> forms.Field:
    choices = [(name, name) for name in names]
    shared: dict[str, Any] = {"label": label, "help_text": about, "required": False}
    if seat == "panel":
        return forms.MultipleChoiceField(
            choices=choices, widget=forms.CheckboxSelectMultiple, **shared
        )
    return forms.ChoiceField(choices=[("", "none"), *choices], **shared)
