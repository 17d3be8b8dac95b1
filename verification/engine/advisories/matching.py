"""Which advisories touch a version. Source: OSV's schema, "Evaluation"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from verification.engine.advisories.model import Ecosystem
from verification.engine.advisories.osv import Advisory, Range
from verification.engine.advisories.versions import Key, NoVersion, key_of

_BEGIN = "0"
"""Before all versions, whatever the ecosystem."""


class Touch(StrEnum):
    TOUCHED = "touched"
    UNTOUCHED = "untouched"
    UNKNOWN = "unknown"
    """The version, or one of the advisory's, cannot be compared."""


@dataclass(frozen=True, slots=True)
class _Event:
    """`key` None: before all versions, or after all for a limit."""

    kind: str
    key: Key | None
    version: str


class Ordered:
    """An advisory whose ranges are in order, for many versions to be looked up."""

    def __init__(self, advisory: Advisory) -> None:
        self.advisory = advisory
        self._ecosystem = advisory.ecosystem
        self._versions = frozenset(_bare(one) for one in advisory.versions)
        self._ranges = [_in_order(advisory.ecosystem, one) for one in advisory.ranges]
        self._listed: list[Key | None] | None = None

    def touches(self, version: str) -> Touch:
        """Listed, or in a range. What cannot be compared may be either."""
        if _bare(version) in self._versions:
            return Touch.TOUCHED
        try:
            key = key_of(self._ecosystem, version)
        except NoVersion:
            return Touch.UNKNOWN
        found = {_in_range(events, key) for events in self._ranges}
        if not self._ranges:
            found.add(self._is_listed(key))
        for answer in (Touch.TOUCHED, Touch.UNKNOWN):
            if answer in found:
                return answer
        return Touch.UNTOUCHED

    def first_fixed(self, version: str) -> str:
        """The lowest version above this one that a range calls fixed; '' where none does."""
        try:
            key = key_of(self._ecosystem, version)
        except NoVersion:
            return ""
        fixed = [
            (one.key, one.version)
            for events in self._ranges
            for one in events or ()
            if one.kind == "fixed" and one.key is not None and one.key > key
        ]
        return min(fixed, key=lambda one: one[0])[1] if fixed else ""

    def _is_listed(self, key: Key) -> Touch:
        """The same version may be written in several ways: 1.0 is 1.0.0."""
        if self._listed is None:
            self._listed = [_key(self._ecosystem, one) for one in self.advisory.versions]
        return Touch.TOUCHED if key in self._listed else Touch.UNTOUCHED


def _bare(version: str) -> str:
    return version[1:] if version[:1] in ("v", "V") else version


def _key(ecosystem: Ecosystem, version: str) -> Key | None:
    try:
        return key_of(ecosystem, version)
    except NoVersion:
        return None


def _in_order(ecosystem: Ecosystem, events: Range) -> Sequence[_Event] | None:
    """None where one of its versions cannot be compared."""
    begin, later = [], []
    for kind, version in events:
        if kind == "limit" and version == "*":
            continue
        if kind == "introduced" and version == _BEGIN:
            begin.append(_Event(kind, None, version))
            continue
        key = _key(ecosystem, version)
        if key is None:
            return None
        later.append((key, _Event(kind, key, version)))
    later.sort(key=lambda one: one[0])
    return [*begin, *(event for _, event in later)]


def _in_range(events: Sequence[_Event] | None, key: Key) -> Touch:
    if events is None:
        return Touch.UNKNOWN
    limits = [one.key for one in events if one.kind == "limit"]
    if limits and all(limit is not None and key >= limit for limit in limits):
        return Touch.UNTOUCHED
    is_touched = False
    for one in events:
        if one.kind == "introduced" and (one.key is None or key >= one.key):
            is_touched = True
        elif (one.kind == "fixed" and one.key is not None and key >= one.key) or (
            one.kind == "last_affected" and one.key is not None and key > one.key
        ):
            is_touched = False
    return Touch.TOUCHED if is_touched else Touch.UNTOUCHED
