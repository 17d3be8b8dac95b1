"""Advisories in OSV's schema, read into what is compared. Source: ossf.github.io/osv-schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from verification.engine.advisories.model import (
    MAX_NAME_CHARS,
    MAX_VERSION_CHARS,
    Ecosystem,
    same_name,
)
from verification.engine.advisories.severity import score_of
from verification.engine.finding import cleaned
from verification.engine.reports.model import Unreadable

MAX_ADVISORY_BYTES = 8_000_000
MAX_ID_CHARS = 100
MAX_SUMMARY_CHARS = 300
MAX_ALIASES = 50
MAX_AFFECTED = 5_000
MAX_VERSIONS = 20_000
MAX_RANGES = 2_000
MAX_EVENTS = 5_000
_COMPARED = ("SEMVER", "ECOSYSTEM")
_EVENTS = ("introduced", "fixed", "last_affected", "limit")

Range = tuple[tuple[str, str], ...]
"""(what happens, in which version), in no order."""


@dataclass(frozen=True, slots=True)
class Advisory:
    """What one advisory says of one package. `score` is CVSS's, 0 to 10; None: it tells none."""

    id: str
    ecosystem: Ecosystem
    name: str
    aliases: tuple[str, ...] = ()
    summary: str = ""
    score: float | None = None
    ranges: tuple[Range, ...] = ()
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One advisory. `affected` is empty where it was withdrawn, or names none of our packages."""

    id: str
    modified: datetime
    affected: tuple[Advisory, ...] = ()


def read_entry(content: bytes) -> Entry:
    """Read one advisory; each package stands in it once.

    Raises:
        Unreadable: it is none, or more than is read.
    """
    whole = _json(content)
    entry = Entry(_text(whole.get("id"), MAX_ID_CHARS), _instant(whole.get("modified")))
    if whole.get("withdrawn"):
        return entry
    found: dict[tuple[Ecosystem, str], Advisory] = {}
    for one in _affected(whole, entry.id):
        key = one.ecosystem, one.name
        found[key] = _together(found[key], one) if key in found else one
    return replace(entry, affected=tuple(found.values()))


def _json(content: bytes) -> Mapping[str, Any]:
    if len(content) > MAX_ADVISORY_BYTES:
        raise Unreadable("It is too large.")
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        raise Unreadable("It is not JSON.") from None
    if not isinstance(whole, dict):
        raise Unreadable("It is no advisory.")
    return whole


def _affected(whole: Mapping[str, Any], id: str) -> Iterator[Advisory]:
    aliases = tuple(_text(one, MAX_ID_CHARS) for one in _list(whole, "aliases", MAX_ALIASES))
    summary = whole.get("summary") or whole.get("details") or ""
    summary = cleaned(" ".join(str(summary)[: MAX_SUMMARY_CHARS * 2].split()))[:MAX_SUMMARY_CHARS]
    for one in _list(whole, "affected", MAX_AFFECTED):
        package = one.get("package") if isinstance(one, dict) else None
        if not isinstance(package, dict):
            continue
        ecosystem = _ecosystem(package.get("ecosystem"))
        ranges = tuple(_ranges(one)) if ecosystem else ()
        versions = _versions(one) if ecosystem else ()
        if ecosystem and (ranges or versions):
            name = same_name(ecosystem, _text(package.get("name"), MAX_NAME_CHARS))
            score = score_of(whole, one)
            yield Advisory(id, ecosystem, name, aliases, summary, score, ranges, versions)


def _ecosystem(value: object) -> Ecosystem | None:
    """What stands after a colon is a registry of the same ecosystem."""
    name = value.partition(":")[0] if isinstance(value, str) else ""
    return Ecosystem(name) if name in tuple(Ecosystem) else None


def _ranges(affected: Mapping[str, Any]) -> Iterator[Range]:
    for one in _list(affected, "ranges", MAX_RANGES):
        if isinstance(one, dict) and one.get("type") in _COMPARED:
            events = tuple(
                (kind, _text(event[kind], MAX_VERSION_CHARS))
                for event in _list(one, "events", MAX_EVENTS)
                if isinstance(event, dict)
                for kind in _EVENTS
                if kind in event
            )
            if not events:
                raise Unreadable("A range of it says nothing.")
            yield events


def _versions(affected: Mapping[str, Any]) -> tuple[str, ...]:
    told = _list(affected, "versions", MAX_VERSIONS)
    return tuple(dict.fromkeys(_text(one, MAX_VERSION_CHARS) for one in told))


def _together(one: Advisory, other: Advisory) -> Advisory:
    """An advisory may name a package several times, once for each line of its releases."""
    scores = [score for score in (one.score, other.score) if score is not None]
    return replace(
        one,
        score=max(scores, default=None),
        ranges=one.ranges + other.ranges,
        versions=tuple(dict.fromkeys(one.versions + other.versions)),
    )


def _list(owner: Mapping[str, Any], name: str, most: int) -> list[Any]:
    value = owner.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > most:
        raise Unreadable("A list of it is none, or too long.")
    return value


def _text(value: object, most: int) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= most:
        raise Unreadable("A name or a version of it is none, or overlong.")
    return cleaned(value)


def _instant(value: object) -> datetime:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        found = None
    if found is None:
        raise Unreadable("It does not say when it was modified.")
    return found if found.tzinfo else found.replace(tzinfo=UTC)
