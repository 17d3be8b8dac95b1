"""Two definitions as people compare them: what was added, removed, changed, old beside new."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from processes.definition.compare import (
    Change,
    Comparison,
    Difference,
    compare,
    phase_specs,
    rule_specs,
)
from processes.definition.model import Definition
from processes.side_by_side import Stretch, beside, of_new, of_old
from processes.texts import Piece, WordDiffs, plain

LONG_TEXT = 30
NAMES = ("before", "now")
NAMING = ("name", "id")
Specs = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """`pieces` is the change within a text or a list; empty: show both values."""

    name: str
    old: Any
    new: Any
    pieces: tuple[Piece, ...] = ()

    @property
    def before(self) -> tuple[Piece, ...]:
        """What stood there; empty: nothing."""
        return of_old(self.pieces) if self.pieces else _whole("del", self.old)

    @property
    def after(self) -> tuple[Piece, ...]:
        return of_new(self.pieces) if self.pieces else _whole("ins", self.new)


@dataclass(frozen=True, slots=True)
class Entry:
    """Of what was added or removed, `fields` are all that say something."""

    name: str
    change: Change
    fields: tuple[FieldChange, ...]
    formerly: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """`sections` is empty where only the text differs; `lines` is None where it is too long."""

    sections: tuple[Section, ...]
    lines: list[Stretch] | None
    is_same_text: bool
    old_name: str
    new_name: str


def compared(
    old: Definition | None,
    new: Definition | None,
    old_text: str,
    new_text: str,
    *,
    names: tuple[str, str] = NAMES,
) -> Shown:
    """Compare two texts; what they mean only where both load. `names` head the columns."""
    sections = tuple(_sections(old, new)) if old and new else ()
    return Shown(sections, beside(old_text, new_text), old_text == new_text, *names)


def _sections(old: Definition, new: Definition) -> Iterator[Section]:
    comparison, words = compare(old, new), WordDiffs()
    rules, phases = _both(rule_specs, old, new), _both(phase_specs, old, new)
    for title, differences, specs in (
        ("Rules", comparison.rules, rules),
        ("Phases", comparison.phases, phases),
    ):
        if differences:
            entries = tuple(_entry(one, specs.get(one.name, {}), words) for one in differences)
            yield Section(title, entries)
    if head := _head(comparison, words):
        yield Section("The process itself", (head,))


def _both(specs_of: Any, old: Definition, new: Definition) -> Specs:
    found: Specs = {**specs_of(old), **specs_of(new)}
    return found


def _head(comparison: Comparison, words: WordDiffs) -> Entry | None:
    fields = tuple(_fields(comparison.process, words))
    return Entry("", Change.CHANGED, fields) if fields else None


def _entry(difference: Difference, spec: Mapping[str, Any], words: WordDiffs) -> Entry:
    fields = difference.fields
    if difference.change in (Change.ADDED, Change.REMOVED):
        is_new = difference.change is Change.ADDED
        said = {name: one for name, one in spec.items() if name not in NAMING and one is not False}
        fields = {name: (None, one) if is_new else (one, None) for name, one in said.items()}
    shown = (one for one in _fields(fields, words) if one.before or one.after)
    return Entry(difference.name, difference.change, tuple(shown), difference.formerly)


def _fields(fields: Mapping[str, tuple[Any, Any]], words: WordDiffs) -> Iterator[FieldChange]:
    for name, (old, new) in fields.items():
        if isinstance(old or new, Mapping) and isinstance(new or old, Mapping):
            one, other = old or {}, new or {}
            keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
            yield from (
                _field(f"{name}: {key}", one.get(key), other.get(key), words) for key in keys
            )
        else:
            yield _field(name, old, new, words)


def _field(name: str, old: Any, new: Any, words: WordDiffs) -> FieldChange:
    pieces: Sequence[Piece] = ()
    if isinstance(old, str) and isinstance(new, str) and len(old) > LONG_TEXT and new:
        pieces = words.of(old, new)
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple) and old and new:
        pieces = _list_pieces([plain(one) for one in old], [plain(one) for one in new], words)
    return FieldChange(name, old, new, tuple(pieces))


def _list_pieces(old: Sequence[str], new: Sequence[str], words: WordDiffs) -> list[Piece]:
    """Entries that stayed, went and came. Each side, read alone, is the list with its commas.

    At worst each entry is looked for anew after each that was found.
    """
    if not words.allow(len(old) * len(new) * min(len(old), len(new))):
        return []
    comma = "\n" if any(len(one) > LONG_TEXT for one in (*old, *new)) else ", "
    found: list[Piece] = []
    for tag, i, j, m, n in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found += _kept(old[i:j], comma, begins=(i == 0, m == 0))
            continue
        found += [Piece("del", (comma if at else "") + old[at]) for at in range(i, j)]
        found += [Piece("ins", (comma if at else "") + new[at]) for at in range(m, n)]
    return found


def _kept(entries: Sequence[str], comma: str, *, begins: tuple[bool, bool]) -> list[Piece]:
    kind = {(True, True): "", (True, False): "ins", (False, True): "del"}.get(begins, "same")
    first = [Piece(kind, comma)] if kind else []
    return [*first, Piece("same", comma.join(entries))]


def _whole(kind: str, value: Any) -> tuple[Piece, ...]:
    return () if value in (None, "", [], (), {}) else (Piece(kind, plain(value)),)


def field_changes(
    old: Mapping[str, Any], new: Mapping[str, Any], words: WordDiffs
) -> tuple[FieldChange, ...]:
    """What one content of a rule changes against another. `words` bounds what all take together."""
    changed = {key: (old.get(key), new.get(key)) for key in {**old, **new}}
    differing = {key: pair for key, pair in changed.items() if pair[0] != pair[1]}
    return tuple(_fields(differing, words))
