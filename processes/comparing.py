"""Two definitions as people compare them: what was added, removed, changed, old beside new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from processes.definition.compare import Change, Comparison, Difference, compare
from processes.definition.model import Definition
from processes.texts import DiffLine, Piece, WordDiffs, diff

LONG_TEXT = 30


@dataclass(frozen=True, slots=True)
class FieldChange:
    """`pieces` is the change within a text, word by word; empty: show both values."""

    name: str
    old: Any
    new: Any
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    change: Change
    text: str
    """What an added or removed one says."""
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """`sections` is empty where only the text differs; `lines` is None where it is too long."""

    sections: tuple[Section, ...]
    lines: list[DiffLine] | None
    is_same_text: bool


def compared(old: Definition | None, new: Definition | None, old_text: str, new_text: str) -> Shown:
    """Compare two texts; what they mean only where both load."""
    sections = tuple(_sections(old, new)) if old and new else ()
    return Shown(sections, diff(old_text, new_text), old_text == new_text)


def _sections(old: Definition, new: Definition) -> Iterator[Section]:
    comparison, words = compare(old, new), WordDiffs()
    texts = {"Rules": _rule_texts(old, new), "Phases": _phase_texts(old, new)}
    for title, differences in (("Rules", comparison.rules), ("Phases", comparison.phases)):
        if differences:
            yield Section(title, tuple(_entry(one, texts[title], words) for one in differences))
    if head := _head(comparison, words):
        yield Section("The process itself", (head,))


def _head(comparison: Comparison, words: WordDiffs) -> Entry | None:
    fields = tuple(_fields(comparison.process, words))
    return Entry("", Change.CHANGED, "", fields) if fields else None


def _entry(difference: Difference, texts: Mapping[str, str], words: WordDiffs) -> Entry:
    text = "" if difference.change is Change.CHANGED else texts.get(difference.name, "")
    return Entry(difference.name, difference.change, text, tuple(_fields(difference.fields, words)))


def _rule_texts(old: Definition, new: Definition) -> dict[str, str]:
    return {
        rule.name: f"{rule.usual_enforcement}: {rule.check}" for rule in (*old.rules, *new.rules)
    }


def _phase_texts(old: Definition, new: Definition) -> dict[str, str]:
    return {phase.id: phase.description for phase in (*old.phases, *new.phases)}


def _fields(fields: Mapping[str, tuple[Any, Any]], words: WordDiffs) -> Iterator[FieldChange]:
    for name, (old, new) in fields.items():
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
            yield from (FieldChange(f"{name}: {key}", old.get(key), new.get(key)) for key in keys)
        elif isinstance(old, str) and isinstance(new, str) and len(old) > LONG_TEXT and new:
            yield FieldChange(name, old, new, tuple(words.of(old, new)))
        else:
            yield FieldChange(name, old, new)


def field_changes(
    old: Mapping[str, Any], new: Mapping[str, Any], words: WordDiffs
) -> tuple[FieldChange, ...]:
    """What one content of a rule changes against another. `words` bounds what all take together."""
    changed = {key: (old.get(key), new.get(key)) for key in {**old, **new}}
    differing = {key: pair for key, pair in changed.items() if pair[0] != pair[1]}
    return tuple(_fields(differing, words))
