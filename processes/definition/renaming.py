"""Which rule of a file stands in another one under a new name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import takewhile

from processes.definition.model import Definition, Rule

ALIKE = 0.5
"""Of what a check says, the share that begins and ends as another one does."""
MIN_ALIKE = 4
"""So many characters at least."""
_SIGNS = re.compile(r"\\.|\(\?\w+\)|[\W_]")
"""What patterns are made of says nothing."""


def renamed(old: Definition, new: Definition) -> dict[str, str]:
    """By the new name of each rule that was renamed, its old one.

    A rule that came is one that went where the two look for the same, and no third does; also
    where each is the only one at its place, between rules that stayed, and they are alike. A
    name that several rules have says of none which one it is.

    Source: docs/editing.md, "Examples and pins".
    """
    gone, come = _without(old, new), _without(new, old)
    found = _looking_for_the_same(gone, come)
    known = {*found, *found.values()}
    gone = {rule: place for rule, place in gone.items() if rule.name not in known}
    come = {rule: place for rule, place in come.items() if rule.name not in known}
    return {**found, **_at_the_same_place(gone, come)}


def _without(one: Definition, other: Definition) -> dict[Rule, str]:
    """The rules that the other file lacks, each with the name of the one before that stayed."""
    stayed = {rule.name for rule in other.rules}
    times = Counter(rule.name for rule in one.rules)
    found, place = {}, ""
    for rule in one.rules:
        if rule.name in stayed:
            place = rule.name
        elif times[rule.name] == 1:
            found[rule] = place
    return found


def _looking_for_the_same(gone: Mapping[Rule, str], come: Mapping[Rule, str]) -> dict[str, str]:
    by_look: dict[str, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for at, rules in enumerate((gone, come)):
        for rule in rules:
            by_look[rule.looks_for_sha256][at].append(rule)
    return _pairs(by_look.values())


def _at_the_same_place(gone: Mapping[Rule, str], come: Mapping[Rule, str]) -> dict[str, str]:
    by_place: dict[str, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for at, rules in enumerate((gone, come)):
        for rule, place in rules.items():
            by_place[place][at].append(rule)
    return _pairs(
        pair for pair in by_place.values() if all(pair) and _alike(pair[0][0], pair[1][0])
    )


def _pairs(groups: Iterable[tuple[list[Rule], list[Rule]]]) -> dict[str, str]:
    return {came[0].name: went[0].name for went, came in groups if len(went) == len(came) == 1}


def _alike(one: Rule, other: Rule) -> bool:
    if (one.type, one.target, one.expect) != (other.type, other.target, other.expect):
        return False
    if one.description and one.description == other.description:
        return True
    said, says = (_SIGNS.sub("", rule.check) for rule in (one, other))
    same = _begun_alike(said, says) + _begun_alike(said[::-1], says[::-1])
    return same >= max(MIN_ALIKE, ALIKE * max(len(said), len(says)))


def _begun_alike(one: str, other: str) -> int:
    """How many characters stand in both from their beginning on."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
