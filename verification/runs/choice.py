"""What of a run its page is asked to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from verification.runs.viewing.viewer import Place, places_of


@dataclass(frozen=True, slots=True)
class Choice:
    """What of the run's material is looked at: the place of a finding, or a whole artefact."""

    at: int = 0
    show: str = ""
    path: str = ""
    evidence: str = ""
    made: str = ""
    claims: str = ""
    places: tuple[Place, ...] = ()
    """What an address marks beside the findings, in what else it names."""
    rule: str = ""
    finding: str = ""
    """A fingerprint."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Choice:
        """As it stands in a page's address."""
        at = query.get("at", "")
        return cls(
            at=int(at) if at.isdecimal() and len(at) < 6 else 0,
            show=query.get("show", ""),
            path=query.get("file", "").replace("\x00", ""),
            evidence=query.get("evidence", ""),
            made=query.get("made", ""),
            claims=query.get("claims", ""),
            places=places_of(query.get("places", "")),
            rule=query.get("rule", ""),
            finding=query.get("finding", ""),
        )

    @property
    def is_of_material(self) -> bool:
        return bool(self.show or self.path or self.evidence or self.made)
