from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from processes.definition import patterns
from processes.definition.load import MAX_NAME, NAME
from processes.definition.model import ANY_PHASE, Definition, Rule
from processes.definition.rules import FAILURE_CLASSES, MAX_COUNT, MAX_RULE_NAME, REMEDIATION_MODES
from processes.sent import as_sent, kept, sent_texts

MAX_REASON = 300
MAX_TEXT = 100_000
EVERY, NAMED, NO_PHASE = "every", "named", "none"


class ReasonForm(forms.Form):
    """Why a version is stored or published: it stands in the audit log and beside the version."""

    reason = forms.CharField(
        label="Why",
        max_length=MAX_REASON,
        help_text="One line. It stands beside the version and in the audit log.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "data-key": "c"}),
    )


class PublishForm(ReasonForm):
    """`corpus_reason` is asked for where something speaks against what would be published."""

    corpus_reason = forms.CharField(
        label="Why all the same",
        required=False,
        max_length=1000,
        help_text="It answers all that speaks against it above, and stands in the audit log.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class SwitchForm(forms.Form):
    """What a button of the matrix sends; `selectors.matrix` writes it."""

    kind = forms.ChoiceField(choices=[(kind, kind) for kind in ("cell", "row", "column")])
    on = forms.BooleanField(required=False)
    index = forms.IntegerField(required=False, min_value=0)
    rule = forms.CharField(required=False, strip=False)
    phase = forms.CharField(required=False, strip=False)


class BlockField(forms.CharField):
    """Text of several lines; browsers send CR LF, a process file's values have LF."""

    def __init__(self, *, rows: int, mono: bool = False, **options: Any) -> None:
        attributes = {"rows": rows, "spellcheck": "false" if mono else "true"}
        if mono:
            attributes["class"] = "mono"
        super().__init__(max_length=MAX_TEXT, widget=forms.Textarea(attrs=attributes), **options)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return as_sent(text) if isinstance(text, str) else text


def _choices(*pairs: tuple[str, str]) -> list[tuple[str, str]]:
    return list(pairs)


def _worded(words: Sequence[str]) -> list[tuple[str, str]]:
    return [("" if word == "none" else word, word.replace("_", " ")) for word in words]


class RuleForm(forms.Form):
    name = forms.CharField(
        max_length=MAX_RULE_NAME,
        help_text="Its identity: figures and history follow the name from version to version.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    description = BlockField(
        rows=2, required=False, help_text="For people: why this rule is there."
    )
    type = forms.ChoiceField(
        choices=_choices(("llm", "an instruction to the judge"), ("regex", "a pattern")),
        help_text="Patterns run in tier 1, free and at once. Instructions need a phase of tier 2.",
    )
    check = BlockField(
        rows=4,
        mono=True,
        strip=False,
        label="Looks for",
        help_text="A pattern (RE2), or what the judge shall look for. Spaces count.",
    )
    expect = forms.ChoiceField(
        label="A match is",
        choices=_choices(("no_match", "a violation"), ("match", "what must be there")),
        help_text="Patterns only.",
    )
    target = forms.ChoiceField(
        label="In",
        choices=_choices(
            ("output", "the output"),
            ("deliverables", "declared deliverables"),
            ("evidence", "the evidence"),
        ),
        help_text="Where a pattern looks.",
    )
    min_count = forms.IntegerField(
        label="At least",
        required=False,
        min_value=0,
        max_value=MAX_COUNT,
        help_text="Counts matches: fewer are a violation. Empty: matches are not counted.",
    )
    requires_exact_cardinality = forms.BooleanField(
        label="exactly as many",
        required=False,
        help_text="More than that are a violation, too.",
    )
    where = forms.ChoiceField(
        label="Applies to",
        choices=_choices(
            (EVERY, "every phase, also ones that come later"),
            (NO_PHASE, "no phase named: applies only if the process has one phase"),
            (NAMED, "the phases marked here"),
        ),
        widget=forms.RadioSelect,
    )
    phases = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    severity = forms.ChoiceField(
        choices=_choices(("warning", "warning"), ("error", "error")),
        help_text="How bad a violation is.",
    )
    enforcement = forms.ChoiceField(
        label="Counts as",
        required=False,
        choices=_choices(
            ("", "usual for its type and severity"),
            ("hard", "hard: rejects the work"),
            ("advisory", "advisory: warns"),
            ("observe", "observed only: never counts"),
        ),
        help_text="Usual: a pattern is advisory; an instruction is hard when its severity is error.",
    )
    suggestion = BlockField(
        rows=2, required=False, label="Tell the agent", help_text="Goes into its feedback."
    )
    failure_class = forms.ChoiceField(
        required=False,
        choices=_worded(FAILURE_CLASSES),
        help_text="What kind of failure a violation is.",
    )
    remediation_mode = forms.ChoiceField(
        required=False,
        choices=_worded(REMEDIATION_MODES),
        help_text="What is to be done about a violation.",
    )

    PLAIN = (
        "name", "description", "type", "check", "expect", "target", "min_count",
        "requires_exact_cardinality", "severity", "enforcement", "suggestion", "failure_class",
        "remediation_mode",
    )  # fmt: skip

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        definition: Definition,
        rule: Rule | None = None,
    ) -> None:
        super().__init__(data, initial=_initial(rule) if rule else {"where": EVERY})
        self.rule = rule
        self.taken = {one.name for one in definition.rules if one is not rule}
        self.fields["phases"].choices = [(one.id, one.id) for one in definition.phases]  # type: ignore[attr-defined]
        self.examples = _examples(data, rule)

    @property
    def shown_examples(self) -> dict[str, list[str]]:
        """With an empty one to write into."""
        return {key: [*texts, ""] for key, texts in self.examples.items()}

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if name in self.taken:
            raise forms.ValidationError("Another rule of this process has this name.")
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("where") == NAMED and not cleaned.get("phases"):
            self.add_error("where", "Mark a phase below, or let it apply to every one.")
        check = cleaned.get("check")
        if check is not None and not check.strip():
            self.add_error("check", "Say what it looks for.")
        elif check is not None and cleaned.get("type") == "regex":
            self._need_pattern(check)
        if cleaned.get("requires_exact_cardinality") and cleaned.get("min_count") is None:
            self.add_error("min_count", "An exact count needs a number.")
        return cleaned

    def _need_pattern(self, check: str) -> None:
        if problem := patterns.problem_of(check):
            place = f" (column {problem.column} of the pattern)" if problem.column else ""
            self.add_error("check", f"{problem.message}{place}")

    def values(self) -> dict[str, Any]:
        """The cleaned fields as a rule's spec has them."""
        cleaned = self.cleaned_data
        present = self.rule.spec if self.rule else {}
        chosen = {EVERY: [ANY_PHASE], NAMED: cleaned["phases"], NO_PHASE: []}[cleaned["where"]]
        if self.rule and set(chosen) == set(self.rule.applies_to_phases):
            chosen = list(self.rule.applies_to_phases)
        return {
            **{key: kept(cleaned[key], present.get(key)) for key in self.PLAIN},
            "applies_to_phases": chosen,
            "examples": self.examples,
        }


def _initial(rule: Rule) -> dict[str, Any]:
    where = EVERY if ANY_PHASE in rule.applies_to_phases else NAMED if rule.is_scoped else NO_PHASE
    return {
        **rule.spec,
        "enforcement": rule.enforcement or "",
        "where": where,
        "phases": [name for name in rule.applies_to_phases if name != ANY_PHASE],
    }


def _examples(data: QueryDict | None, rule: Rule | None) -> dict[str, list[str]]:
    if data is not None:
        return {
            key: sent_texts(data.getlist(f"example_{key}"), present)
            for key, present in _present_examples(rule).items()
        }
    return _present_examples(rule)


def _present_examples(rule: Rule | None) -> dict[str, list[str]]:
    if rule is None:
        return {"pass": [], "fail": []}
    return {"pass": list(rule.examples.passing), "fail": list(rule.examples.failing)}


class TemplateForm(forms.Form):
    """A process to begin a new one with."""

    template = forms.CharField(max_length=80)
    name = forms.RegexField(
        rf"^{NAME.pattern}\Z",
        label="Name of the new process",
        max_length=MAX_NAME,
        error_messages={"invalid": "Small letters, digits and hyphens, such as code-change."},
    )
