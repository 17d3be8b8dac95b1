"""Which spans of a process file change when a rule does. Pure: text in, text out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loomverify.errors import Conflict, InputError
from processes.definition.load import load
from processes.definition.model import ANY_PHASE, Definition, Rule, Target
from processes.definition.patch import Append, Edit, Path, Remove, SetValue, Unpatchable, patch
from processes.definition.plain import plain
from processes.definition.stream import Unreadable, compose

RULES: Path = ("verification", "rules")
PHASES: Path = ("phases",)
DEFAULTS = {"type": "llm", "severity": "warning", "target": "output", "expect": "no_match"}


@dataclass(frozen=True)
class Text:
    """A process file without errors: what it says, and what it writes to say so."""

    source: str
    definition: Definition
    tree: Any

    def written(self, path: Path) -> Any:
        """What stands at a path; None where nothing does."""
        found = self.tree
        for key in path:
            if isinstance(found, Mapping):
                found = found.get(key)
            elif isinstance(found, list) and isinstance(key, int) and key < len(found):
                found = found[key]
            else:
                return None
        return found

    def rule(self, index: int, name: str) -> Rule:
        """Return the rule of this name that a page showed at this place; it may have moved.

        Raises:
            Conflict: no rule has this name now, or several that stand elsewhere.
        """
        rules = self.definition.rules
        if 0 <= index < len(rules) and rules[index].name == name:
            return rules[index]
        named = [rule for rule in rules if rule.name == name]
        if len(named) != 1:
            raise Conflict("draft.stale", f"The rule {name!r} does not stand there any more.")
        return named[0]

    def need_phase(self, phase: str) -> None:
        if self.definition.phase(phase) is None:
            raise Conflict("draft.stale", f"There is no phase {phase!r} any more.")

    def patched(self, edits: Sequence[Edit]) -> str:
        """Return the source with edits applied.

        Raises:
            InputError: what stands there is shared or cannot be changed alone; it says why.
        """
        try:
            return patch(self.source, edits)
        except (Unpatchable, Unreadable) as error:
            problem = error.problem
            told = f"{problem.message} (line {problem.line}) Change it as YAML."
            raise InputError(problem.code, told) from error


def text_of(source: str) -> Text:
    """Read a draft's text.

    Raises:
        InputError: `draft.broken`, it holds errors.
    """
    loaded = load(source)
    if loaded.definition is None:
        first = loaded.errors[0]
        raise InputError(
            "draft.broken", f"The YAML holds errors, first in line {first.line}: {first.message}"
        )
    return Text(source, loaded.definition, plain(compose(source)))


def path_of(place: str) -> Path:
    """`verification.rules[2]` as a path of keys."""
    steps = re.findall(r"([^.\[\]]+)|\[([0-9]+)\]", place)
    return tuple(key or int(index) for key, index in steps)


def phases_edits(text: Text, rule: Rule, wanted: Sequence[str]) -> list[Edit]:
    """Have a rule apply to these phases (`*`: every one), and only to them.

    Raises:
        InputError: `rule.last_phase`
    """
    if tuple(wanted) == rule.applies_to_phases:
        return []
    if not wanted:
        raise InputError(
            "rule.last_phase",
            f"{rule.name!r} has to name a phase: a rule that names none applies to none where the "
            "process has several. Delete it, or have it only observed.",
        )
    path = path_of(rule.path)
    raw = text.written(path) or {}
    edits: list[Edit] = []
    if raw.get("scope") == "global":
        edits.append(Remove((*path, "scope")))
    return edits + list_edits((*path, "applies_to_phases"), raw.get("applies_to_phases"), wanted)


def list_edits(path: Path, present: Any, wanted: Sequence[str]) -> list[Edit]:
    """The smallest edits that turn a list into another, where entries only come or only go."""
    if not isinstance(present, list):
        if wanted:
            return [SetValue(path, list(wanted))]
        return [] if present is None else [Remove(path)]
    old = [str(one).strip() for one in present]
    if not wanted:
        return [Remove(path)]
    if old == list(wanted[: len(old)]):
        return [Append(path, one) for one in wanted[len(old) :]]
    kept = [one for one in old if one in wanted]
    if kept == list(wanted) and len(set(old)) == len(old):
        gone = [at for at, one in enumerate(old) if one not in wanted]
        return [Remove((*path, at)) for at in reversed(gone)]
    if len(old) == len(wanted):
        pairs = enumerate(zip(old, wanted, strict=True))
        return [SetValue((*path, at), new) for at, (was, new) in pairs if was != new]
    return [SetValue(path, list(wanted))]


def toggled(source: str, *, index: int, name: str, phase: str, on: bool) -> str:
    """Have one rule apply to a phase, or no longer.

    Raises:
        InputError: the text is broken, or it is the rule's last phase.
        Conflict: another rule stands there now, or the phase is gone.
    """
    text = text_of(source)
    text.need_phase(phase)
    rule = text.rule(index, name)
    return text.patched(phases_edits(text, rule, _with(text.definition, rule, phase, on=on)))


def column_toggled(source: str, *, index: int, name: str) -> str:
    """Have one rule apply to every phase, also to those that come later."""
    text = text_of(source)
    return text.patched(phases_edits(text, text.rule(index, name), [ANY_PHASE]))


def row_toggled(source: str, *, phase: str, on: bool) -> tuple[str, list[str]]:
    """Have every rule apply to a phase, or none; return the text and the rules left alone.

    A rule is left alone where this phase is the only one that it names.
    """
    text = text_of(source)
    text.need_phase(phase)
    edits: list[Edit] = []
    left: list[str] = []
    for rule in text.definition.rules:
        wanted = _with(text.definition, rule, phase, on=on)
        if wanted:
            edits += phases_edits(text, rule, wanted)
        elif rule.is_scoped:
            left.append(rule.name)
    return text.patched(edits), left


def _with(definition: Definition, rule: Rule, phase: str, *, on: bool) -> list[str]:
    named = list(rule.applies_to_phases)
    if ANY_PHASE in named:
        return named if on else [one.id for one in definition.phases if one.id != phase]
    if on:
        return named if phase in named else [*named, phase]
    return [one for one in named if one != phase]


def rule_edits(text: Text, rule: Rule, fields: Mapping[str, Any]) -> list[Edit]:
    """Edits for the fields that differ from what the rule says; defaults stay unwritten.

    `fields` has the keys of a rule's spec, and `examples` with the lists `pass` and `fail`.
    """
    path = path_of(rule.path)
    raw = text.written(path) or {}
    present = {**rule.spec, "enforcement": rule.enforcement or ""}
    edits: list[Edit] = []
    for key, value in fields.items():
        if key in ("applies_to_phases", "examples") or value == present.get(key):
            continue
        place = _key_of(key, raw, is_check="semantic_checks" in path)
        if not _is_empty(value) and (place in raw or value != DEFAULTS.get(key)):
            edits.append(SetValue((*path, place), value))
        elif place in raw:
            edits.append(Remove((*path, place)))
    if "applies_to_phases" in fields:
        edits += _named_phases_edits(text, rule, fields["applies_to_phases"])
    return edits + _example_edits(path, raw, rule, fields.get("examples"))


def _named_phases_edits(text: Text, rule: Rule, wanted: Sequence[str]) -> list[Edit]:
    """A form may say on purpose that a rule names no phase."""
    path = (*path_of(rule.path), "applies_to_phases")
    if wanted or not rule.is_scoped:
        return phases_edits(text, rule, wanted)
    raw = text.written(path_of(rule.path)) or {}
    edits: list[Edit] = [Remove(path)] if "applies_to_phases" in raw else []
    if raw.get("scope") == "global":
        edits.append(Remove((*path_of(rule.path), "scope")))
    return edits


def _is_empty(value: Any) -> bool:
    return value is None or value is False or value in ("", [], {})


def _key_of(key: str, raw: Mapping[str, Any], *, is_check: bool) -> str:
    """Old files write `target` as `scope`, and extra instructions are named by an `id`."""
    if key == "target" and raw.get("scope") in tuple(Target) and "target" not in raw:
        return "scope"
    if key == "name" and "id" in raw and is_check:
        return "id"
    return key


def _example_edits(
    path: Path, raw: Mapping[str, Any], rule: Rule, examples: Mapping[str, list[str]] | None
) -> list[Edit]:
    if examples is None:
        return []
    old = {"pass": list(rule.examples.passing), "fail": list(rule.examples.failing)}
    if examples == old:
        return []
    if not any(examples.values()):
        return [Remove((*path, "examples"))] if "examples" in raw else []
    if not isinstance(raw.get("examples"), Mapping):
        wanted = {key: texts for key, texts in examples.items() if texts}
        return [SetValue((*path, "examples"), wanted)]
    edits: list[Edit] = []
    for key, texts in examples.items():
        if texts != old[key]:
            edits += _text_list_edits((*path, "examples", key), raw["examples"].get(key), texts)
    return edits


def _text_list_edits(path: Path, present: Any, wanted: list[str]) -> list[Edit]:
    """The same for a list of texts, in which spaces count."""
    if not isinstance(present, list) or not wanted:
        return list_edits(path, present, wanted)
    edits: list[Edit] = []
    for at, text in enumerate(wanted[: len(present)]):
        if str(present[at]).rstrip("\n") != text:
            edits.append(SetValue((*path, at), text))
    edits += [Append(path, text) for text in wanted[len(present) :]]
    edits += [Remove((*path, at)) for at in range(len(present) - 1, len(wanted) - 1, -1)]
    return edits


def new_rule(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A rule as a file writes it: what is not said is left out."""
    examples = {key: texts for key, texts in (fields.get("examples") or {}).items() if texts}
    shown = {**fields, "examples": examples}
    return {
        key: value
        for key, value in shown.items()
        if not _is_empty(value) and value != DEFAULTS.get(key)
    }
