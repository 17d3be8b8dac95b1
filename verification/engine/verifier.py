"""A verifier version's content: everything that can change a verdict."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Self

ENGINE_BUILD = "6"
"""Raised whenever a check, a parser or the policy may answer differently than before."""

PROMPT_VERSION = 1
"""Raised whenever judges are told something else: earlier replies are answers no more."""


class Engine(StrEnum):
    POLICY = "policy"
    LEGACY = "legacy"


class PhaseScope(StrEnum):
    CURRENT_PHASE = "current_phase"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class Flags:
    """Source: docs/engine.md, "Flags"."""

    policy_engine_enabled: bool = True
    regex_default_advisory: bool = True
    strict_output_protocol: bool = True
    shadow_compare_enabled: bool = False
    phase_scope_default: PhaseScope = PhaseScope.CURRENT_PHASE
    allow_partial_verified: bool = True
    unconfirmed_supporting_threshold: float = 0.30
    auto_confirm_prune_critical_path: bool = True
    tier2_enabled: bool = True
    tier3_enabled: bool = True
    tier3_vote_count: int = 3


LEGACY_FLAGS = replace(
    Flags(),
    policy_engine_enabled=False,
    regex_default_advisory=False,
    strict_output_protocol=False,
    phase_scope_default=PhaseScope.GLOBAL,
    allow_partial_verified=False,
    auto_confirm_prune_critical_path=False,
)
PRESETS = {Engine.POLICY: Flags(), Engine.LEGACY: LEGACY_FLAGS}
"""Each engine as it came."""


@dataclass(frozen=True, slots=True)
class JudgeModels:
    """Names of judge connections; empty: none is configured.

    A connection's model and address never change, so that a name says which model is asked.
    """

    primary: str = ""
    alternate: str = ""
    panel: tuple[str, ...] = ()

    @property
    def is_configured(self) -> bool:
        return bool(self.primary)

    @property
    def names(self) -> tuple[str, ...]:
        """All that are named, each once."""
        return tuple(dict.fromkeys(filter(None, (self.primary, self.alternate, *self.panel))))


@dataclass(frozen=True, slots=True)
class Limits:
    """How far an evaluation goes, and what is assumed where nothing was said.

    The defaults stay what they are: versions that were made before there were limits are judged
    by them. `prompt_chars` can only shorten what the judges' connections take.

    Source: docs/engine.md, "Limits".
    """

    judge_calls: int = 8
    call_tries: int = 4
    prompt_chars: int = 4_000_000
    vote_temperature: float = 0.7
    assumed_confidence: float = 0.5
    search_seconds: float = 1.5
    pattern_seconds: float = 0.5
    syntax_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class VerifierSpec:
    flags: Flags = Flags()
    models: JudgeModels = JudgeModels()
    prompt_version: int = PROMPT_VERSION
    engine_build: str = ENGINE_BUILD
    limits: Limits = Limits()

    @property
    def engine(self) -> Engine:
        return Engine.POLICY if self.flags.policy_engine_enabled else Engine.LEGACY

    @property
    def is_as_it_came(self) -> bool:
        """Whether it is its engine with nothing changed but, perhaps, the judges."""
        return self.flags == PRESETS[self.engine] and self.limits == Limits()

    @classmethod
    def from_json(cls, spec: dict[str, Any]) -> Self:
        flags = dict(spec["flags"])
        flags["phase_scope_default"] = PhaseScope(flags["phase_scope_default"])
        models = dict(spec["models"])
        models["panel"] = tuple(models["panel"])
        return cls(
            flags=Flags(**flags),
            models=JudgeModels(**models),
            prompt_version=spec["prompt_version"],
            engine_build=spec["engine_build"],
            limits=Limits(**spec.get("limits", {})),
        )

    def to_json(self) -> dict[str, Any]:
        spec = asdict(self)
        spec["models"]["panel"] = list(self.models.panel)
        return spec

    @property
    def sha256(self) -> str:
        """Names the content. The usual limits add nothing to it: older versions tell none."""
        told = self.to_json()
        if self.limits == Limits():
            del told["limits"]
        text = json.dumps(told, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
