"""The `phases` of a process file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from processes.definition.globs import backward_range
from processes.definition.model import (
    ANY_PHASE,
    Deliverable,
    GatesWithoutSandbox,
    Level,
    Phase,
    ScoreLoop,
)
from processes.definition.reading import Fields, Value, listed

EM_DASH = "\N{EM DASH}"
MAX_GATE_SECONDS = 1_800
GATES = ("install", "build", "types", "test", "lint", "security", "run")
MAX_ID = 120
MAX_PHASES = 200
MAX_ATTEMPTS = 100
MAX_ITERATIONS = 100
MAX_BUDGET_USD = 1_000_000
RULES_IN_PHASE = {"rules", "verification"}
KEPT_IN_PHASE = (
    "validity_contract",
    "iteration",
    "output_strategy",
    "finalizer_input_policy",
)


@dataclass(frozen=True, slots=True)
class PlacedPhase:
    """A phase, and its keys in the file. `rules` and `verification` are still to be read."""

    phase: Phase
    fields: Fields


def read_phases(fields: Fields) -> tuple[PlacedPhase, ...]:
    value = fields.get("phases")
    if value is None:
        fields.complain("key.missing", "phases is required.", "phases")
        return ()
    entries = value.entries("a list of phases")
    if entries is None:
        return ()
    if not entries:
        value.complain("phases.empty", "A process needs at least one phase.")
    if len(entries) > MAX_PHASES:
        value.complain("phases.too_many", f"A process may hold at most {MAX_PHASES} phases.")
        return ()
    placed = [
        PlacedPhase(_read_phase(mapping), mapping)
        for entry in entries
        if (mapping := entry.mapping()) is not None
    ]
    _check_ids(placed)
    _check_dependencies(placed)
    _check_files(placed)
    return tuple(placed)


def _read_phase(fields: Fields) -> Phase:
    phase = Phase(
        id=fields.required_name("id", limit=MAX_ID),
        description=fields.required_text("description"),
        depends_on=fields.texts("depends_on"),
        verification_tier=fields.read("verification_tier", lambda value: value.integer(1, 3), 1),
        may_lower_tier=fields.flag("may_lower_tier"),
        model_tier=fields.text("model_tier"),
        is_critical_path=fields.flag("is_critical_path"),
        is_synthesis=fields.flag("is_synthesis"),
        advisory=fields.flag("advisory"),
        acceptance_criteria="\n".join(fields.texts("acceptance_criteria")),
        deliverables=fields.read("deliverables", _deliverables, ()),
        gates=fields.read("gates", _gates, ()),
        gates_without_sandbox=fields.read("gates_without_sandbox", _gates_without_sandbox, None),
        score=fields.read("score", _score, None),
        custom_verifier=fields.text("custom_verifier", limit=200),
        max_attempts=fields.read(
            "max_attempts", lambda value: value.integer(1, MAX_ATTEMPTS), None
        ),
        confidence_floor=fields.read("confidence_floor", lambda value: value.number(0, 1), 0.6),
        line=fields.value.line,
    )
    if phase.id == ANY_PHASE:
        fields.complain("phase.id", "A phase cannot be named *: it means every phase.", "id")
    fields.asked |= RULES_IN_PHASE
    fields.close(kept=KEPT_IN_PHASE)
    return phase


def _deliverables(value: Value) -> tuple[Deliverable, ...] | None:
    entries = [value] if value.is_scalar else value.entries("a list of files, or one")
    if entries is None:
        return None
    found = [_deliverable(entry) for entry in entries]
    return tuple(deliverable for deliverable in found if deliverable is not None)


def _deliverable(value: Value) -> Deliverable | None:
    text = value.text()
    if text is None:
        return None
    # Only the em dash parts: file names hold hyphens and en dashes.
    path, _, description = text.partition(EM_DASH)
    path = path.strip()
    if not path:
        value.complain("deliverable.path", f"{value.path} names no file.")
        return None
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts:
        value.complain("deliverable.path", f"{path[:100]!r} lies outside the workspace.")
        return None
    if backward := backward_range(path):
        value.complain(
            "deliverable.range",
            f"The range {backward!r} in {path[:100]!r} runs backwards, and matches no character. "
            f"Write {backward[::-1]!r}.",
            Level.WARNING if value.log.is_stored else Level.ERROR,
        )
    return Deliverable(path, description.strip())


def read_gate_seconds(fields: Fields) -> dict[str, int]:
    found = {
        gate: fields.read(gate, lambda value: value.integer(1, MAX_GATE_SECONDS), None)
        for gate in GATES
    }
    fields.close()
    return {gate: seconds for gate, seconds in found.items() if seconds is not None}


def _gates(value: Value) -> tuple[str, ...] | None:
    entries = [value] if value.is_scalar else value.entries("a list of gates")
    if entries is None:
        return None
    words = [entry.word(GATES) for entry in entries]
    return tuple(dict.fromkeys(word for word in words if word is not None))


def _gates_without_sandbox(value: Value) -> GatesWithoutSandbox | None:
    word = value.word(tuple(GatesWithoutSandbox))
    return None if word is None else GatesWithoutSandbox(word)


def _score(value: Value) -> ScoreLoop | None:
    fields = value.mapping()
    if fields is None:
        return None
    loop = ScoreLoop(
        threshold=fields.read("threshold", lambda part: part.number(0, 10), 8.0),
        max_iterations=fields.read(
            "max_iterations", lambda part: part.integer(1, MAX_ITERATIONS), 10
        ),
        budget_usd=fields.read("budget_usd", lambda part: part.number(0, MAX_BUDGET_USD), None),
    )
    fields.close()
    return loop


def _check_ids(placed: Sequence[PlacedPhase]) -> None:
    seen: set[str] = set()
    for one in placed:
        if one.phase.id and one.phase.id in seen:
            message = f"Another phase is named {one.phase.id!r} already."
            one.fields.values["id"].complain("phase.duplicate", message)
        seen.add(one.phase.id)


def _check_dependencies(placed: Sequence[PlacedPhase]) -> None:
    known = {one.phase.id for one in placed}
    for one in placed:
        if strangers := [name for name in one.phase.depends_on if name not in known]:
            one.fields.values["depends_on"].complain(
                "phase.unknown", f"There is no phase {listed(strangers)}."
            )
    cycle = _cycle({one.phase.id: one.phase.depends_on for one in placed})
    if cycle:
        first = next(one for one in placed if one.phase.id == cycle[0])
        first.fields.values["depends_on"].complain(
            "phase.cycle", f"These phases wait for each other: {' → '.join(cycle)}."
        )


def _cycle(waits_for: dict[str, tuple[str, ...]]) -> list[str]:
    """Return a cycle, its first phase named again at the end; empty where there is none."""
    done: set[str] = set()
    for start in waits_for:
        trail: list[str] = []
        pending = [(start, iter(waits_for[start]))] if start not in done else []
        while pending:
            phase, rest = pending[-1]
            if phase not in trail:
                trail.append(phase)
            following = next(rest, None)
            if following is None:
                done.add(trail.pop())
                pending.pop()
            elif following in trail:
                return [*trail[trail.index(following) :], following]
            elif following in waits_for and following not in done:
                pending.append((following, iter(waits_for[following])))
    return []


def _check_files(placed: Sequence[PlacedPhase]) -> None:
    owner: dict[str, str] = {}
    for one in placed:
        for deliverable in one.phase.deliverables:
            path = str(PurePosixPath(deliverable.path))
            first = owner.setdefault(path, one.phase.id)
            at = one.fields.values["deliverables"]
            if first != one.phase.id:
                at.complain(
                    "deliverable.duplicate",
                    f"{path[:100]!r} belongs to the phase {first!r} already.",
                )
        paths = [deliverable.path for deliverable in one.phase.deliverables]
        if len(set(paths)) < len(paths):
            at = one.fields.values["deliverables"]
            at.complain("deliverable.twice", f"{at.path} names a file twice.", Level.WARNING)
