"""What becomes of unconfirmed claims: values shared by the engine and by who stores them."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self


class ClaimSource(StrEnum):
    SUBMISSION = "submission"
    JUDGE = "judge"


class ClaimState(StrEnum):
    """`standing` is neither confirmed by confirm-or-prune nor taken out by it."""

    STANDING = "standing"
    CONFIRMED = "confirmed"
    PRUNED = "pruned"


@dataclass(frozen=True, slots=True)
class CountedClaim:
    """A claim as it counts. `said` is the label it came with, `label` the one that holds.

    `note` says why the two differ, or what confirm-or-prune did. `quote` is the evidence's own
    words that confirm it, `evidence` the ids it names.
    """

    text: str
    label: str
    said: str
    section: str
    evidence: tuple[str, ...] = ()
    source: ClaimSource = ClaimSource.SUBMISSION
    state: ClaimState = ClaimState.STANDING
    note: str = ""
    quote: str = ""

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        return cls(
            **{
                **saved,
                "evidence": tuple(saved["evidence"]),
                "source": ClaimSource(saved["source"]),
                "state": ClaimState(saved["state"]),
            }
        )


class ArtefactKind(StrEnum):
    PRUNED = "pruned"
    """A submitted text without the claims that nothing confirms; every other byte as it was."""
    VERIFIED_FINDINGS = "verified_findings"
    UNCONFIRMED_APPENDIX = "unconfirmed_appendix"


@dataclass(frozen=True, slots=True)
class Artefact:
    """What the engine made of a submitted text, in that text's own encoding.

    `path` is the submitted file it was made of, '' the output.
    """

    kind: ArtefactKind
    path: str
    content: bytes

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "path": self.path,
            "content": b64encode(self.content).decode("ascii"),
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        content = b64decode(saved["content"])
        return cls(ArtefactKind(saved["kind"]), saved["path"], content)


@dataclass(frozen=True, slots=True)
class RemediationDraft:
    """Work to be queued. `mode` is one of the process file's remediation modes.

    `request` is what an agent needs to work from: `{reason_code, rule?, claims: [{text, label,
    section, evidence}], instructions?}`.
    """

    mode: str
    request: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, Any]:
        return {"mode": self.mode, "request": dict(self.request)}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        return cls(saved["mode"], saved["request"])
