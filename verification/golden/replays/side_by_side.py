"""What a case expects, what the verifier made of it, and what the old engine did, row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from verification.golden.cases.expecting import PLAIN, beside, said_of
from verification.golden.models import GoldenCaseVersion, ReplayResult, ReplayState
from verification.golden.replays.shown import Mark, mark
from verification.runs import judge_wording
from verification.runs.judge_wording import StageWords
from verification.runs.wording import Badge
from verification.runs.wording import badge as verdict_badge

MAX_FINDINGS = 200
MAX_VERSIONS = 20
ALWAYS = ("outcome", "verdict", "reason_code")
"""Told in any case, also where the case does not look at them."""
AS_EXPECTED = "as expected"


@dataclass(frozen=True, slots=True)
class Line:
    """`expected` is empty where the case does not look at it. `legacy`: what the old one came to."""

    place: str
    label: str
    expected: str
    observed: str
    is_looked_at: bool = True
    differs: bool = False
    legacy: str = ""
    legacy_differs: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A finding of the verifier."""

    rule: str
    enforcement: str
    verdict: str
    reason_code: str
    place: str
    message: str
    quote: str
    is_quoted: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the replay, and the answer that stood in. `was` and `now` name questions."""

    tier: int
    what: str
    number: int
    reading: StageWords | None
    text: str
    lost: str
    is_cut: bool
    is_stale: bool
    is_missing: bool
    was: str
    now: str


@dataclass
class ResultPage:
    result: ReplayResult

    @property
    def mark(self) -> Mark:
        return mark(self.result.change)

    @property
    def came_to(self) -> Badge | None:
        return _badge(self.result.observed)

    @property
    def expected(self) -> Mapping[str, Any]:
        told = self.result.case_version.spec.get("expected")
        return told if isinstance(told, dict) else {}

    @cached_property
    def lines(self) -> list[Line]:
        """What differs first, then what is as expected, then what nobody looks at."""
        shown = [self._line(one) for one in beside(self.expected, self.result.differences)]
        shown += [self._unasked(name) for name in ALWAYS if name not in self.expected]
        return sorted(shown, key=lambda one: (not one.differs, not one.is_looked_at))

    @cached_property
    def differing(self) -> int:
        return sum(one.differs for one in self.lines)

    def _line(self, one: Any) -> Line:
        place, plain = one.expectation.place, one.expectation.place in PLAIN
        seen = one.observed or (said_of(place, self.result.observed.get(place)) if plain else "")
        legacy = self._legacy(place)
        return Line(
            place=place,
            label=one.expectation.label,
            expected=one.expectation.words,
            observed=seen if one.differs or plain else AS_EXPECTED,
            differs=one.differs,
            legacy=legacy,
            legacy_differs=bool(legacy) and legacy != one.expectation.words,
        )

    def _unasked(self, name: str) -> Line:
        seen = said_of(name, self.result.observed.get(name)) if self.result.observed else ""
        return Line(name, PLAIN[name], "", seen, is_looked_at=False, legacy=self._legacy(name))

    def _legacy(self, name: str) -> str:
        """Plain values alone: the old engine's findings have no places to compare."""
        told = self.result.legacy
        if name not in PLAIN or name == "shadow" or not isinstance(told, dict) or name not in told:
            return ""
        return said_of(name, told[name])

    @cached_property
    def findings(self) -> list[Found]:
        told = self.result.observed.get("findings") or ()
        return [_found(one) for one in told if isinstance(one, dict)][:MAX_FINDINGS]

    @cached_property
    def asked(self) -> list[Asked]:
        recorded = recorded_of(self.result.case_version.spec)
        played = [one for one in self.result.played if isinstance(one, dict)]
        return [_asked(one, recorded.get(_key(one), {})) for one in played]

    @cached_property
    def versions(self) -> Sequence[GoldenCaseVersion]:
        """The case's, newest first, with who made them and why."""
        rows = self.result.case.versions.defer("spec", "likeness").order_by("-number")
        return list(rows[:MAX_VERSIONS])

    @property
    def is_current(self) -> bool:
        return self.result.case.current_id == self.result.case_version_id

    @property
    def is_over(self) -> bool:
        return self.result.replay.state == ReplayState.FINISHED

    @property
    def may_be_accepted(self) -> bool:
        """Only what was judged, by the version that still counts."""
        return bool(self.is_over and self.is_current and self.result.standing == "failing")

    @property
    def may_be_recorded(self) -> bool:
        is_whole = self.is_over and self.is_current and self.result.standing != "not_judged"
        return bool(is_whole and self.result.replay.is_live and self.asked)


def _badge(told: Any) -> Badge | None:
    if not isinstance(told, dict) or not told.get("verdict"):
        return None
    return verdict_badge(str(told.get("outcome") or ""), str(told["verdict"]))


def _found(one: Mapping[str, Any]) -> Found:
    place = ":".join(str(part) for part in (one.get("path"), one.get("line")) if part)
    return Found(
        rule=str(one.get("rule") or ""),
        enforcement=str(one.get("enforcement") or ""),
        verdict=str(one.get("verdict") or ""),
        reason_code=str(one.get("reason_code") or ""),
        place=place or str(one.get("target") or ""),
        message=str(one.get("message") or ""),
        quote=str(one.get("quote") or ""),
        is_quoted=one.get("quote_verified") is not False,
    )


def recorded_of(spec: Mapping[str, Any]) -> dict[tuple[int, str, int], Mapping[str, Any]]:
    """By what it answers, counted where the document does not number it (docs/golden.md)."""
    seen: Counter[tuple[int, str]] = Counter()
    found: dict[tuple[int, str, int], Mapping[str, Any]] = {}
    for one in _dicts(spec.get("replies")):
        tier, ask = int(one.get("tier") or 2), str(one.get("ask") or "assess")
        seen[tier, ask] += 1
        found[tier, ask, int(one.get("number") or seen[tier, ask])] = one
    return found


def _dicts(listed: Any) -> Iterator[Mapping[str, Any]]:
    return (one for one in listed or () if isinstance(one, dict))


def _key(one: Mapping[str, Any]) -> tuple[int, str, int]:
    return int(one.get("tier") or 0), str(one.get("ask") or ""), int(one.get("number") or 0)


def _asked(played: Mapping[str, Any], recorded: Mapping[str, Any]) -> Asked:
    """Live judges' answers stand with the question itself."""
    said = played if "text" in played or "lost" in played else recorded
    tier, ask, number = _key(played)
    return Asked(
        tier=tier,
        what=judge_wording.ask(ask),
        number=number,
        reading=judge_wording.stage(str(played.get("recovery") or "")),
        text=str(said.get("text") or ""),
        lost=str(said.get("lost") or ""),
        is_cut=bool(said.get("is_cut")),
        is_stale=bool(played.get("is_stale")),
        is_missing=bool(played.get("is_missing")),
        was=str(recorded.get("prompt") or ""),
        now=str(played.get("prompt") or ""),
    )
