"""What a lock file names beside what is known: one problem for each vulnerability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from verification.engine.advisories.matching import Ordered, Touch
from verification.engine.advisories.model import BeyondBounds, Locked
from verification.engine.advisories.osv import Advisory
from verification.engine.advisories.severity import HIGH_SCORE
from verification.engine.reports.model import Problem, ProblemSeverity, name, text

MAX_VERSIONS_OF_ONE = 50
"""A package is locked in so many versions; more would take quadratic time."""

Known = Mapping[str, Sequence[Advisory]]
"""Advisories of one ecosystem by the package's name."""


@dataclass(frozen=True, slots=True)
class Compared:
    """`doubts` say which high advisory could not be compared with what."""

    problems: tuple[Problem, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def has_high(self) -> bool:
        return any(one.severity is ProblemSeverity.HIGH for one in self.problems)


@dataclass(slots=True)
class _Found:
    problems: list[Problem] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)


def compared(locked: Sequence[Locked], known: Known) -> Compared:
    """The most severe first.

    Raises:
        BeyondBounds: one package is locked in more versions than are compared.
    """
    by_name: dict[str, list[Locked]] = {}
    for one in locked:
        if one.name in known:
            by_name.setdefault(one.name, []).append(one)
    found = _Found()
    for package, versions in by_name.items():
        if len(versions) > MAX_VERSIONS_OF_ONE:
            raise BeyondBounds(f"It names more than {MAX_VERSIONS_OF_ONE} versions of {package}.")
        advisories = sorted((Ordered(one) for one in known[package]), key=_severest_first)
        for one in versions:
            _compare(one, advisories, found)
    order = list(ProblemSeverity)
    found.problems.sort(key=lambda problem: order.index(problem.severity))
    return Compared(tuple(found.problems), tuple(found.doubts))


def _severest_first(one: Ordered) -> tuple[float, str]:
    return -(one.advisory.score or 0), one.advisory.id


def _compare(one: Locked, advisories: Sequence[Ordered], found: _Found) -> None:
    """What several advisories tell of one vulnerability is told once, as the severest tells it."""
    answers = [(ordered, ordered.touches(one.version)) for ordered in advisories]
    touching = [ordered for ordered, answer in answers if answer is Touch.TOUCHED]
    unknown = [ordered for ordered, answer in answers if answer is Touch.UNKNOWN]
    told: set[str] = set()
    for ordered in touching:
        if told.isdisjoint(_names(ordered.advisory)):
            found.problems.append(_problem(one, ordered))
        told.update(_names(ordered.advisory))
    for ordered in unknown:
        if told.isdisjoint(_names(ordered.advisory)):
            _doubt(one, ordered.advisory, found)
        told.update(_names(ordered.advisory))


def _names(advisory: Advisory) -> Iterator[str]:
    yield advisory.id
    yield from advisory.aliases


def _problem(one: Locked, ordered: Ordered) -> Problem:
    advisory = ordered.advisory
    fixed = ordered.first_fixed(one.version)
    then = f"Fixed in {fixed}." if fixed else "No fixed version is known."
    summary = advisory.summary.rstrip(".") or "a known vulnerability"
    said = f"{one.name} {one.version}: {summary}{_remark(advisory)}. {then}"
    return _of(one, advisory, said, severity_of(advisory))


def _doubt(one: Locked, advisory: Advisory, found: _Found) -> None:
    said = f"{one.name} {one.version} could not be compared with {advisory.id}"
    if severity_of(advisory) is ProblemSeverity.HIGH:
        found.doubts.append(text(said))
    else:
        found.problems.append(_of(one, advisory, f"{said}.", ProblemSeverity.LOW))


def _of(one: Locked, advisory: Advisory, said: str, severity: ProblemSeverity) -> Problem:
    rule = name(advisory.id)
    return Problem(text(said), one.path, one.line, rule=rule, severity=severity)


def _remark(advisory: Advisory) -> str:
    """The name that other books know it by, and how severe it is."""
    cves = [one for one in (advisory.id, *advisory.aliases) if one.startswith("CVE-")]
    words = [one for one in cves[:1] if one != advisory.id]
    if advisory.score is None:
        words.append("its severity is not known")
    return f" ({', '.join(words)})" if words else ""


def severity_of(advisory: Advisory) -> ProblemSeverity:
    """High from 7.0 on, critical ones included; what does not say is medium."""
    if advisory.score is None or 4 <= advisory.score < HIGH_SCORE:
        return ProblemSeverity.MEDIUM
    return ProblemSeverity.HIGH if advisory.score >= HIGH_SCORE else ProblemSeverity.LOW
