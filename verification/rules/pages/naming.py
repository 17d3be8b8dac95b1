"""What a rule was called before it had its name."""

from __future__ import annotations

from dataclasses import dataclass

from processes import selectors
from processes.definition.renaming import renamed
from processes.models import Rule as RuleName


@dataclass(frozen=True, slots=True)
class Formerly:
    """The rule of this name and key, as version `number` is the last that has it."""

    pk: int
    name: str
    number: int


def formerly(row: RuleName, first: int) -> Formerly | None:
    """`first`: the first version that has the rule. None: it was new there."""
    around = selectors.versions(row.process).filter(number__lte=first).values_list("pk", "number")
    found = list(around[:2])
    if len(found) < 2 or found[0][1] != first:
        return None
    (now, _), (before, number) = found
    known = selectors.definitions_of([now, before])
    name = renamed(known[before], known[now]).get(row.name, "")
    old = row.process.rules.filter(name=name).only("pk").first() if name else None
    return Formerly(old.pk, name, number) if old else None
