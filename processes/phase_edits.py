"""Which spans of a process file change when a phase does. Pure: text in, text out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loomverify.errors import Conflict, InputError
from processes.definition.model import ANY_PHASE, Phase
from processes.definition.patch import Append, Edit, Move, Path, Remove, SetValue
from processes.definition.reading import listed
from processes.rule_edits import PHASES, Text, list_edits, path_of, phases_edits, text_of

LINES = ("deliverables",)
LISTS = ("depends_on", "gates")
SCORE = {
    "score_threshold": "threshold",
    "score_max_iterations": "max_iterations",
    "score_budget_usd": "budget_usd",
}
NEW = Phase(id="")


def phase_values(phase: Phase) -> dict[str, Any]:
    """What the form shows of a phase."""
    lines = (
        f"{one.path} \N{EM DASH} {one.description}" if one.description else one.path
        for one in phase.deliverables
    )
    spec = phase.spec
    spec.pop("score")
    return {
        **spec,
        "deliverables": "\n".join(lines),
        "depends_on": list(dict.fromkeys(phase.depends_on)),
        "gates": list(phase.gates),
        "score_threshold": phase.score.threshold if phase.score else None,
        "score_max_iterations": phase.score.max_iterations if phase.score else None,
        "score_budget_usd": phase.score.budget_usd if phase.score else None,
    }


def phase_at(text: Text, name: str) -> int:
    """Raises: Conflict, there is no phase of this name any more."""
    names = [phase.id for phase in text.definition.phases]
    if name not in names:
        raise Conflict("draft.stale", f"There is no phase {name!r} any more.")
    return names.index(name)


def phase_changed(source: str, *, name: str, values: Mapping[str, Any]) -> str:
    """Give a phase what a form says; whoever names it goes along with a new name.

    Raises:
        InputError: the text is broken, or what stands there cannot be changed alone.
        Conflict: the phase is gone.
    """
    text = text_of(source)
    index = phase_at(text, name)
    edits = _edits(text, text.definition.phases[index], (*PHASES, index), values)
    if values["id"] != name:
        edits += _renamed(text, name, values["id"])
    return text.patched(edits)


def _edits(text: Text, phase: Phase, path: Path, values: Mapping[str, Any]) -> list[Edit]:
    raw, present = text.written(path) or {}, phase_values(phase)
    usual = phase_values(NEW)
    edits: list[Edit] = []
    for key, value in values.items():
        here = (*path, key)
        if value == present[key] or key in SCORE:
            continue
        made: list[Edit] = []
        if key in LISTS:
            made = list_edits(here, raw.get(key), value)
        elif key in LINES or isinstance(raw.get(key), list):
            made = _line_edits(here, raw.get(key), value)
        elif value == usual[key] and key in raw:
            made = [Remove(here)]
        # What is said without standing here is merged in: the patch says why it cannot be changed.
        edits += made or [SetValue(here, value)]
    return edits + _score_edits((*path, "score"), raw.get("score"), present, values)


def _score_edits(
    path: Path, raw: Any, present: Mapping[str, Any], values: Mapping[str, Any]
) -> list[Edit]:
    if all(values[key] == present[key] for key in SCORE):
        return []
    wanted = {place: values[key] for key, place in SCORE.items() if values[key] is not None}
    if not isinstance(raw, Mapping):
        return [SetValue(path, wanted)] if wanted else []
    if not wanted:
        return [Remove(path)]
    edits: list[Edit] = []
    for key, place in SCORE.items():
        if values[key] == present[key]:
            continue
        if values[key] is not None:
            edits.append(SetValue((*path, place), values[key]))
        elif place in raw:
            edits.append(Remove((*path, place)))
    return edits


def _line_edits(path: Path, present: Any, value: str) -> list[Edit]:
    """A line is an entry; one text alone stays a text."""
    lines = _lines(value)
    if isinstance(present, str) and len(lines) == 1:
        return [SetValue(path, lines[0])]
    if present is not None and not lines:
        return [Remove(path)]
    return list_edits(path, present, lines)


def _lines(value: str) -> list[str]:
    return [line.strip() for line in value.split("\n") if line.strip()]


def _renamed(text: Text, old: str, new: str) -> list[Edit]:
    """Every place that names the phase."""
    lists: list[Path] = [
        *((*PHASES, index, "depends_on") for index in range(len(text.definition.phases))),
        *((*path_of(rule.path), "applies_to_phases") for rule in text.definition.rules),
    ]
    edits: list[Edit] = []
    for path in lists:
        written = text.written(path)
        if isinstance(written, list):
            named = enumerate(written)
            edits += [SetValue((*path, at), new) for at, one in named if _is(one, old)]
        elif _is(written, old):
            edits.append(SetValue(path, new))
    return edits


def _is(written: Any, name: str) -> bool:
    return written is not None and str(written).strip() == name


def _unnamed(text: Text, path: Path, name: str) -> list[Edit]:
    """What applies everywhere may name phases all the same."""
    written = text.written(path)
    if not isinstance(written, list):
        return [Remove(path)] if _is(written, name) else []
    if not any(_is(one, name) for one in written):
        return []
    return list_edits(path, written, [str(one).strip() for one in written if not _is(one, name)])


def phase_added(source: str, *, values: Mapping[str, Any], after: str = "") -> str:
    """Add a phase behind another, or at the end. What is not said is left out.

    Raises:
        InputError: the text is broken, or would be.
        Conflict: the other phase is gone.
    """
    text = text_of(source)
    usual = phase_values(NEW)
    added: dict[str, Any] = {
        key: _lines(value) if key in LINES else value
        for key, value in values.items()
        if key not in SCORE and value != usual[key]
    }
    score = {place: values[key] for key, place in SCORE.items() if values[key] is not None}
    edits: list[Edit] = [Append(PHASES, {**added, **({"score": score} if score else {})})]
    count = len(text.definition.phases)
    to = phase_at(text, after) + 1 if after else count
    if to < count:
        edits.append(Move((*PHASES, count), to))
    return text.patched(edits)


def phase_deleted(source: str, *, name: str) -> str:
    """Take a phase away, and its name from those that name it.

    Raises:
        InputError: `phase.last`; `phase.needed`, rules name this phase alone.
        Conflict: it is gone already.
    """
    text = text_of(source)
    index = phase_at(text, name)
    if len(text.definition.phases) == 1:
        raise InputError("phase.last", "A process needs at least one phase.")
    place = (*PHASES, index)
    bound = [
        rule.name
        for rule in text.definition.rules
        if set(rule.applies_to_phases) == {name} or path_of(rule.path)[: len(place)] == place
    ]
    if bound:
        raise InputError(
            "phase.needed",
            f"{listed(bound)} would name no phase any more, or stand under this one. Delete them, "
            "or let them apply elsewhere, first.",
        )
    edits: list[Edit] = []
    for rule in text.definition.rules:
        if ANY_PHASE in rule.applies_to_phases:
            edits += _unnamed(text, (*path_of(rule.path), "applies_to_phases"), name)
        elif name in rule.applies_to_phases:
            wanted = [one for one in rule.applies_to_phases if one != name]
            edits += phases_edits(text, rule, wanted)
    for at, phase in enumerate(text.definition.phases):
        if name in phase.depends_on:
            path = (*PHASES, at, "depends_on")
            left = [one for one in phase.depends_on if one != name]
            edits += list_edits(path, text.written(path), left)
    return text.patched([*edits, Remove((*PHASES, index))])
