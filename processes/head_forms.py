"""What a process file says of the whole, as a form."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import QueryDict

from processes.definition.load import (
    CRITICAL_PATH_BEHAVIORS,
    MAX_ATTEMPTS,
    MAX_TITLE,
    PHASE_MODES,
    RISK_LEVELS,
)
from processes.definition.model import (
    AutoCommit,
    Definition,
    GatesWithoutSandbox,
    LintCommands,
    ToolSuccessPolicy,
)
from processes.forms import MAX_TEXT, BlockField
from processes.head_edits import USUAL, head_values
from processes.sent import kept, kept_line

ONE_LINE = ("title", "author", "version")


def _line(**options: Any) -> forms.CharField:
    widget = forms.TextInput(attrs={"autocomplete": "off"})
    return forms.CharField(required=False, widget=widget, **options)


def _choice(words: Any, **options: Any) -> forms.ChoiceField:
    choices = [(word, str(word).replace("_", " ")) for word in dict.fromkeys(words)]
    return forms.ChoiceField(choices=choices, **options)


class HeadForm(forms.Form):
    title = _line(max_length=MAX_TITLE, help_text="Empty: the name, as a person would write it.")
    description = BlockField(rows=3, required=False, help_text="What this process is for.")
    version = _line(
        max_length=MAX_TEXT,
        help_text="The author's own count. Versions here are numbered by themselves.",
    )
    author = _line(max_length=MAX_TEXT)
    tags = BlockField(rows=2, required=False, help_text="One a line.")
    persona = BlockField(rows=3, required=False, help_text="Who is to do it.")
    risk_level = _choice(
        RISK_LEVELS.values(), label="Risk", help_text="How much hangs on the work."
    )
    phase_mode = _choice(
        PHASE_MODES, label="Phases are", help_text="How strictly the executor keeps to them."
    )
    mode = _choice(
        ("llm_first", "static_first"), label="Begins with", help_text="As older systems said it."
    )
    tool_success_policy = _choice(
        ToolSuccessPolicy, label="Failed tool calls", help_text="Which of them reject the work."
    )
    lint_commands = _choice(
        LintCommands, label="Lint runs the commands of", help_text="Only where the gate lint runs."
    )
    gates_without_sandbox = _choice(
        GatesWithoutSandbox,
        label="Gates without a sandbox",
        help_text="Where an installation has none. Medium: decided, at most MEDIUM.",
    )
    auto_commit = _choice(
        AutoCommit,
        label="Commit code after",
        help_text="What accepted code needs to be committed without a person.",
    )
    max_attempts = forms.IntegerField(
        label="Attempts at most",
        required=False,
        min_value=1,
        max_value=MAX_ATTEMPTS,
        help_text="Where a phase or a task does not say. Empty: 3.",
    )
    critical_path_behavior = _choice(
        CRITICAL_PATH_BEHAVIORS,
        label="Unconfirmed on the critical path",
        help_text="What becomes of claims that evidence does not support.",
    )
    remediation_attempts = forms.IntegerField(
        label="Rounds of mending",
        required=False,
        min_value=0,
        max_value=MAX_ATTEMPTS,
        help_text="For such claims, before a person is asked. Empty: 2.",
    )

    def __init__(self, data: QueryDict | None = None, *, definition: Definition) -> None:
        super().__init__(data, initial=head_values(definition))

    def values(self) -> dict[str, Any]:
        """The cleaned fields, with the line ends that the file has."""
        return {
            key: (kept_line if key in ONE_LINE else kept)(self._said(key), self.initial[key])
            for key in USUAL
        }

    def _said(self, key: str) -> Any:
        value = self.cleaned_data[key]
        return USUAL[key] if value in ("", None) else value
