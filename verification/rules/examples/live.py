"""The pins of a rule beside its form, tried while it is typed."""

from __future__ import annotations

from collections.abc import Sequence

from processes.definition.model import Rule
from processes.models import Process
from processes.trying import BESIDE, Part
from verification.rules.examples.listing import listing

TEMPLATE = "rules/_pins.html"


def beside(process: Process, rule: Rule, names: Sequence[str]) -> Part | None:
    """None: nothing is pinned, and the rule has no name to pin to."""
    return Part(TEMPLATE, listing(process, rule.name, rule, *names)) if rule.name else None


def register() -> None:
    BESIDE.append(beside)
