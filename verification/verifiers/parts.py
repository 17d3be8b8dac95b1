"""What a verifier version is made of, in words, with what each part may be set to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from loomverify.errors import Issue, Loc
from verification.engine.verifier import Flags, Limits, PhaseScope

MAX_PANEL = 9
MAX_ISSUES = 20
"""Told at once: a body may hold any number of names that are none."""


@dataclass(frozen=True, slots=True)
class Part:
    """A flag or a limit. `low` and `high` bound a number; `choices` are all there is of a text.

    `usual` is a value of the very type that is taken.
    """

    name: str
    usual: Any
    label: str
    about: str
    low: float = 0
    high: float = 0
    choices: Mapping[str, str] | None = None

    @property
    def is_switch(self) -> bool:
        return isinstance(self.usual, bool)

    @property
    def is_whole(self) -> bool:
        return isinstance(self.usual, int) and not self.is_switch

    def read(self, value: Any) -> Any:
        """The value as it is stored. Raises `ValueError` with a sentence for whoever gave it."""
        if self.is_switch:
            return _switch(value)
        if self.choices is not None:
            return self._choice(value)
        return self._number(value)

    def words(self, value: Any) -> str:
        if self.is_switch:
            return "on" if value else "off"
        if self.choices is not None:
            return self.choices[value]
        return f"{value:,}" if self.is_whole else f"{value:,.10g}"

    @property
    def schema(self) -> dict[str, Any]:
        """As JSON Schema has it."""
        if self.is_switch:
            return {"type": "boolean", "description": f"{self.label}. {self.about}"}
        if self.choices is not None:
            return {"enum": list(self.choices), "description": f"{self.label}. {self.about}"}
        kind = "integer" if self.is_whole else "number"
        bounds = {"minimum": self.low, "maximum": self.high}
        return {"type": kind, **bounds, "description": f"{self.label}. {self.about}"}

    def _choice(self, value: Any) -> Any:
        if not isinstance(value, str) or value not in (self.choices or ()):
            raise ValueError(f"This must be one of: {', '.join(self.choices or ())}.")
        return type(self.usual)(value)

    def _number(self, value: Any) -> int | float:
        is_number = type(value) is int or (type(value) is float and math.isfinite(value))
        if not is_number or (self.is_whole and value != int(value)):
            raise ValueError(f"This must be a {'whole number' if self.is_whole else 'number'}.")
        if not self.low <= value <= self.high:
            raise ValueError(f"This must be from {self.low:,} to {self.high:,}.")
        return int(value) if self.is_whole else float(value) + 0.0  # -0.0 is stored as 0.0


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("This must be true or false.")
    return value


_FLAGS, _LIMITS = asdict(Flags()), asdict(Limits())


def _flag(name: str, label: str, about: str, **more: Any) -> Part:
    return Part(name, _FLAGS[name], label, about, **more)


def _limit(name: str, label: str, about: str, low: float, high: float) -> Part:
    return Part(name, _LIMITS[name], label, about, low, high)


FLAGS: tuple[Part, ...] = (
    _flag(
        "policy_engine_enabled",
        "Policy engine",
        "Off, the legacy engine judges: each failure of tier 1 and each regex match is hard, "
        "every rule speaks in every phase, and there are two outcomes.",
    ),
    _flag(
        "regex_default_advisory",
        "Regex rules are advisory",
        "Off, a regex rule is hard unless it says advisory.",
    ),
    _flag(
        "strict_output_protocol",
        "Judges' replies are recovered",
        "Off, only a reply that is one JSON object is read; any other is unreadable.",
    ),
    _flag(
        "shadow_compare_enabled",
        "Legacy judges beside it",
        "On, a standing shadow trial holds this version against the legacy engine.",
    ),
    _flag(
        "phase_scope_default",
        "Rules speak in",
        "Whether a rule is asked in the phases it names, or in all of them.",
        choices={
            PhaseScope.CURRENT_PHASE.value: "their own phases",
            PhaseScope.GLOBAL.value: "every phase",
        },
    ),
    _flag(
        "allow_partial_verified",
        "Partly verified is an outcome",
        "Off, what is partly verified fails.",
    ),
    _flag(
        "unconfirmed_supporting_threshold",
        "Share that may be unconfirmed",
        "Of the claims outside of recommendations, 0 to 1; above it, the work is partly verified.",
        low=0,
        high=1,
    ),
    _flag(
        "auto_confirm_prune_critical_path",
        "Unconfirmed claims are settled at once",
        "On the critical path and in a synthesis they are confirmed or taken out; "
        "off, that is left to people.",
    ),
    _flag("tier2_enabled", "Tier 2", "A judge. Off, a run that asks for it is undecided."),
    _flag("tier3_enabled", "Tier 3", "Votes. Off, a run that asks for them is undecided."),
    _flag(
        "tier3_vote_count",
        "Votes of tier 3",
        "How often the first judge votes. A panel votes once each instead.",
        low=1,
        high=MAX_PANEL,
    ),
)
LIMITS: tuple[Part, ...] = (
    _limit(
        "judge_calls",
        "Calls in tier 2",
        "Of one evaluation, retries among them; with none left an answer is lost.",
        1,
        40,
    ),
    _limit(
        "call_tries",
        "Tries at a question",
        "In all, while its answers are lost on the way.",
        1,
        10,
    ),
    _limit(
        "prompt_chars",
        "Characters of a prompt",
        "A judge's connection may take less. What does not fit is shown in part.",
        10_000,
        4_000_000,
    ),
    _limit(
        "vote_temperature",
        "Temperature of repeated votes",
        "Of a judge that votes more than once: at 0 it would copy itself.",
        0,
        2,
    ),
    _limit(
        "assumed_confidence",
        "Confidence where none is named",
        "What counts for a judge that does not say how sure it is.",
        0,
        1,
    ),
    _limit(
        "search_seconds",
        "Seconds for all patterns",
        "Of one evaluation together; what is left then is unknown.",
        0.1,
        30,
    ),
    _limit(
        "pattern_seconds",
        "Seconds for one pattern",
        "Over all texts; a slow one leaves time to the others.",
        0.05,
        30,
    ),
    _limit(
        "syntax_seconds",
        "Seconds for syntax",
        "After so long no further file is parsed.",
        1,
        120,
    ),
)
SEATS: tuple[tuple[str, str, str], ...] = (
    ("primary", "First judge", "Asked in tier 2; votes in tier 3 unless there is a panel."),
    ("alternate", "Alternate", "Takes over when the first cannot be read, or did the work itself."),
    ("panel", "Panel", "Each votes once in tier 3: an even number can be split."),
)


def read_parts(
    parts: Sequence[Part], given: Mapping[str, Any], place: Loc, issues: list[Issue]
) -> dict[str, Any]:
    """Those that make sense; what does not is added to `issues`, each at its place."""
    known = {one.name: one for one in parts}
    found: dict[str, Any] = {}
    for name, value in given.items():
        try:
            if name not in known:
                raise ValueError(f"Not one of: {', '.join(known)}.")
            found[name] = known[name].read(value)
        except ValueError as error:
            code = "unknown" if name not in known else "invalid"
            issues.append(Issue(f"verifier.{place[-1]}.{code}", str(error), (*place, name)))
        if len(issues) >= MAX_ISSUES:
            break
    return found
