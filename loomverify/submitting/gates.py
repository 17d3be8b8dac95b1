"""Gates as text for a terminal: those that run, and how they ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Body = Mapping[str, Any]

SIGNS = {
    "passed": ("✔", "32"),
    "failed": ("✖", "31"),
    "timed_out": ("✖", "31"),
    "skipped": ("-", "2"),
    "error": ("?", "33"),
}
WORDS = {"timed_out": "timed out", "error": "undecided"}
COUNTED = (("passed", "passed"), ("failed", "failed"), ("errors", "broken"), ("skipped", "skipped"))


def running_words(gates: Iterable[Body]) -> str:
    """What runs at this moment; '' where nothing does.

    >>> running_words([{"gate": "test", "component": ". (go)", "status": None}])
    'test of go'
    """
    names = [name_of(one) for one in gates if not one.get("status")]
    return " and ".join(names)


def name_of(gate: Body) -> str:
    component = _component(gate)
    return f"{gate.get('gate')} of {component}" if component else str(gate.get("gate"))


def told_of(gate: Body) -> str:
    """What a gate that ended counted, or took over; else why it ended so."""
    tests = gate.get("tests") or {}
    counts = [f"{tests[name]} {word}" for name, word in COUNTED if tests.get(name)]
    if tests.get("passed") and tests.get("flaky"):
        counts[0] = f"{counts[0]} ({tests['flaky']} flaky)"
    problems, new = gate.get("problems"), gate.get("new_lines")
    said = [", ".join(counts)]
    if problems:
        said.append(f"{problems} problem{'' if problems == 1 else 's'}")
    if new:
        said.append(f"{new[0]} of {new[1]} new lines run")
    if not any(said) and gate.get("status") != "passed":
        detail = str(gate.get("detail") or "").partition("\n")[0]
        said.append(_without(name_of(gate), detail))
    if gate.get("reused_from"):
        said.append("not run again")
    return " · ".join(filter(None, said))


def _without(name: str, said: str) -> str:
    """A sentence without the gate's own name, which stands beside it."""
    return said.removeprefix(name).removeprefix(":").lstrip() if said.startswith(name) else said


def took(milliseconds: int) -> str:
    """A duration.

    >>> took(480), took(61_000)
    ('0.5 s', '61 s')
    """
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _component(gate: Body) -> str:
    name = str(gate.get("component") or "")
    return name.removeprefix(". (").removesuffix(")") if name.startswith(". (") else name
