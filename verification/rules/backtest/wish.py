"""What somebody wants to try on history: one rule as it would stand in a process file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from loomverify.errors import InputError, Issue
from processes import rule_edits, selectors
from processes.definition import patterns
from processes.definition.load import load
from processes.definition.model import Definition, Phase, Rule, RuleType
from processes.definition.patch import Append, SetValue, Unpatchable
from processes.definition.stream import Unreadable
from processes.models import Process

MAX_RUNS = 10_000


@dataclass(frozen=True, slots=True)
class Wish:
    """`rule` has the number `index` in `source_text`, which `definition` is read from.

    `published` is the rule that it would take the place of, None for a new one. `phase_ids` are
    those in which one of the two speaks. Of the runs since then, the newest `limit` are tried.
    `is_narrowed`: not all that there are, of all phases, up to the usual limit.
    """

    process: Process
    source_text: str
    definition: Definition
    rule: Rule
    index: int
    published: Rule | None = None
    phase_ids: Sequence[str] = ()
    since: datetime | None = None
    limit: int = MAX_RUNS
    is_narrowed: bool = False

    @property
    def names(self) -> list[str]:
        """Under which the rule is found in what was found before."""
        return [self.published.name] if self.published else [self.rule.name]


def wish_of(
    process: Process,
    source_text: str,
    index: int,
    *,
    replaces: str = "",
    phase: str = "",
    since: datetime | None = None,
    limit: int = MAX_RUNS,
) -> Wish:
    """Try the rule with this number of a process file. `replaces` is its published name.

    Raises:
        InputError: the file holds errors, or the pattern is none that can be searched for.
    """
    definition = load(source_text).definition
    if definition is None or index >= len(definition.rules):
        raise InputError("draft.broken", "The process file holds errors.")
    rule = definition.rules[index]
    if rule.type is RuleType.REGEX:
        _need_sound(rule)
    published = _published(process, replaces or rule.name)
    asked = _phases_of(definition, rule, published)
    if phase and phase not in asked:
        told = f"The rule does not speak in the phase {phase!r}."
        raise InputError("phase.unknown", told, loc=("body", "phase"))
    phase_ids = [phase] if phase else asked
    is_narrowed = bool(phase or since) or limit < MAX_RUNS
    return Wish(
        process, source_text, definition, rule, index, published, phase_ids, since, limit,
        is_narrowed,
    )  # fmt: skip


def with_rule(source_text: str, said: Mapping[str, Any]) -> tuple[str, int]:
    """Put a rule, as a file writes it, into a process file; return the text and its number.

    It takes the place of the one that has its name.

    Raises:
        InputError: the file would hold errors; each names its place in the rule.
    """
    text = rule_edits.text_of(source_text)
    said = {**said, "name": str(said.get("name", "")).strip()}
    name = said["name"]
    same = [n for n, rule in enumerate(text.definition.rules) if rule.name == name]
    path = rule_edits.path_of(text.definition.rules[same[0]].path) if same else None
    try:
        edit = SetValue(path, dict(said)) if path else Append(rule_edits.RULES, dict(said))
        patched = text.patched([edit])
    except (Unpatchable, Unreadable, ValueError, TypeError) as error:
        raise InputError("rule.unreadable", str(error), loc=("body", "rule")) from error
    loaded = load(patched)
    if loaded.definition is None:
        raise InputError.of(
            [
                Issue(one.code, one.message, ("body", "rule", *_within(one.path)))
                for one in loaded.errors[:20]
            ]
        )
    names = [rule.name for rule in loaded.definition.rules]
    return patched, same[0] if same else len(names) - 1 - names[::-1].index(name)


def _within(place: str) -> tuple[str | int, ...]:
    """The keys below the rule, which is an entry of the last list of rules in the path."""
    path = tuple(rule_edits.path_of(place))
    lists = [at for at, key in enumerate(path) if key in ("rules", "semantic_checks")]
    return path[lists[-1] + 2 :] if lists else path


def need_pattern(rule: Rule) -> None:
    """Raises `InputError` for a rule that cannot be tried without a judge."""
    if rule.type is not RuleType.REGEX:
        told = "An instruction to the judge cannot be tried without the judge."
        raise InputError("rule.not_deterministic", told, loc=("body", "rule", "type"))


def _need_sound(rule: Rule) -> None:
    if problem := patterns.problem_of(rule.check):
        place = f" (column {problem.column} of the pattern)" if problem.column else ""
        told = f"{problem.message}{place}"
        raise InputError("rule.pattern.unsupported", told, loc=("body", "rule", "check"))


def _published(process: Process, name: str) -> Rule | None:
    if process.published_id is None:
        return None
    rules = selectors.definition_of(process.published_id).rules
    return next((rule for rule in rules if rule.name == name), None)


def _phases_of(definition: Definition, rule: Rule, published: Rule | None) -> list[str]:
    return [
        phase.id
        for phase in definition.phases
        if speaks(definition, rule, phase)
        or (published is not None and speaks(definition, published, phase))
    ]


def speaks(definition: Definition, rule: Rule, phase: Phase) -> bool:
    """Whether it does under the default flags."""
    return phase.id in definition.phases_of(rule)
