"""What judges add to the page of a run: calls, votes, claims, texts made, remediations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from verification.engine.claims.settlement import ArtefactKind, ClaimSource, ClaimState
from verification.runs import judge_wording, wording
from verification.runs.exchanges import ListedCall, calls_of
from verification.runs.models import Artefact, Evaluation, Remediation, Run, Vote

MAX_CLAIMS_SHOWN = 200
MAX_REMEDIATIONS_SHOWN = 20
MAX_RESULT_CHARACTERS = 60_000

RECOMMENDATION = "recommendation"
CLAIM_FILTERS = (
    ("confirmed", "confirmed"),
    ("inferred", "inferred"),
    ("unsupported", "unsupported"),
    ("recommendation_unconfirmed", "unconfirmed in recommendations"),
    ("pruned", "pruned"),
)
LABEL_TONES = {"confirmed": "pass", "inferred": "warn", "unsupported": "fail"}


@dataclass(frozen=True, slots=True)
class ShownClaim:
    number: int
    text: str
    label: str
    said: str
    section: str
    evidence: Sequence[str]
    source: str
    state: str
    note: str
    quote: str

    @classmethod
    def of(cls, number: int, claim: Mapping[str, Any]) -> ShownClaim:
        return cls(
            number=number,
            text=str(claim.get("text") or ""),
            label=str(claim.get("label") or ""),
            said=str(claim.get("said") or ""),
            section=str(claim.get("section") or ""),
            evidence=[str(one) for one in claim.get("evidence") or ()],
            source=str(claim.get("source") or ClaimSource.SUBMISSION),
            state=str(claim.get("state") or ClaimState.STANDING),
            note=str(claim.get("note") or ""),
            quote=str(claim.get("quote") or ""),
        )

    @property
    def tone(self) -> str:
        return LABEL_TONES.get(self.label, "open")

    @property
    def is_relabelled(self) -> bool:
        return bool(self.said) and self.said != self.label

    @property
    def is_pruned(self) -> bool:
        return self.state == ClaimState.PRUNED

    @property
    def is_confirmed_later(self) -> bool:
        return self.state == ClaimState.CONFIRMED

    def fits(self, name: str) -> bool:
        """Whether a filter keeps it. Pruned claims are counted as pruned alone."""
        if name == "pruned" or self.is_pruned:
            return name in ("", "pruned") and (self.is_pruned or not name)
        if name == "recommendation_unconfirmed":
            return self.section == RECOMMENDATION and self.label != "confirmed"
        return name in ("", self.label)


@dataclass(frozen=True, slots=True)
class ClaimTable:
    """`counts` are of all claims: (name, words, count), those of none left out."""

    chosen: str
    counts: Sequence[tuple[str, str, int]]
    rows: Sequence[ShownClaim]
    hidden: int
    total: int
    ratio: float | None


@dataclass(frozen=True, slots=True)
class Tally:
    """All N votes. An unreadable vote is not one that passes."""

    rows: Sequence[Vote]

    @property
    def passed(self) -> int:
        return sum(vote.passed is True for vote in self.rows)

    @property
    def failed(self) -> int:
        return sum(vote.passed is False for vote in self.rows)

    @property
    def unreadable(self) -> int:
        return sum(vote.passed is None for vote in self.rows)

    @property
    def bars(self) -> list[tuple[str, str, str, str]]:
        """(tone, word, x, width) of a bar of 100, from the left."""
        counts = (
            ("pass", "for", self.passed),
            ("fail", "against", self.failed),
            ("open", "unreadable", self.unreadable),
        )
        bars, x = [], 0.0
        for tone, word, count in counts:
            width = count / len(self.rows) * 100
            if count:
                bars.append((tone, f"{count} {word}", f"{x:.2f}", f"{width:.2f}"))
            x += width
        return bars

    @property
    def said(self) -> str:
        """What the votes come to, in a sentence."""
        n = len(self.rows)
        if self.passed == n:
            return f"All {n} are for it."
        if self.failed == n:
            return f"All {n} are against it."
        if self.passed * 2 > n:
            return f"A majority of all {n} is for it. Not unanimous: a person looks at it."
        if self.failed * 2 > n:
            return f"A majority of all {n} is against it. Not unanimous: a person looks at it."
        return f"No majority among all {n}: nothing is decided, a person looks at it."


def artefact_of(run: Run, artefact: UUID) -> Artefact | None:
    rows = Artefact.objects.select_related("blob__project")
    return rows.filter(evaluation__run=run, uuid=artefact).first()


@dataclass(frozen=True, slots=True)
class MadeText:
    row: Artefact

    @property
    def title(self) -> str:
        return judge_wording.MADE[ArtefactKind(self.row.kind)]

    @property
    def id(self) -> str:
        return str(self.row.uuid)

    @property
    def origin(self) -> str:
        return self.row.path or "output"


@dataclass
class JudgedParts:
    """Read when the template asks for them; empty where no judge was asked."""

    run: Run
    evaluation: Evaluation | None
    claim_filter: str = ""

    @cached_property
    def calls(self) -> Mapping[int, list[ListedCall]]:
        """By tier, in the order in which they were made."""
        found: dict[int, list[ListedCall]] = {}
        for call in calls_of(self.evaluation.pk) if self.evaluation else ():
            found.setdefault(call.row.tier, []).append(call)
        return found

    @cached_property
    def tally(self) -> Tally | None:
        rows = list(self.evaluation.votes.order_by("index")) if self.evaluation else []
        return Tally(rows) if rows else None

    @cached_property
    def claims(self) -> ClaimTable | None:
        saved = self.evaluation.claim_list if self.evaluation else []
        if not saved or self.evaluation is None:
            return None
        claims = [ShownClaim.of(number, one) for number, one in enumerate(saved, start=1)]
        counts = [
            (name, words, sum(one.fits(name) for one in claims)) for name, words in CLAIM_FILTERS
        ]
        chosen = self.claim_filter if self.claim_filter in dict(CLAIM_FILTERS) else ""
        fitting = [one for one in claims if one.fits(chosen)]
        return ClaimTable(
            chosen=chosen,
            counts=[one for one in counts if one[2]],
            rows=fitting[:MAX_CLAIMS_SHOWN],
            hidden=max(0, len(fitting) - MAX_CLAIMS_SHOWN),
            total=len(claims),
            ratio=(self.evaluation.claims or {}).get("supporting_unconfirmed_ratio"),
        )

    @property
    def confirming(self) -> list[str]:
        """Words of the evidence that confirm a claim."""
        saved = self.evaluation.claim_list if self.evaluation else []
        return [quote for one in saved if (quote := str(one.get("quote") or ""))]

    @cached_property
    def made(self) -> list[MadeText]:
        if self.evaluation is None:
            return []
        rows = self.evaluation.artefacts.select_related("blob__project").order_by("kind", "path")
        return [MadeText(row) for row in rows]

    @cached_property
    def remediations(self) -> list[tuple[Remediation, wording.Badge, str]]:
        """Each with its state and what is to be done, in words."""
        rows = self.run.remediations.order_by("id")[:MAX_REMEDIATIONS_SHOWN]
        modes, states = wording.REMEDIATION_MODES, wording.REMEDIATION_STATES
        return [(row, states[row.state], modes.get(row.mode, row.mode)) for row in rows]

    @cached_property
    def result(self) -> str:
        """What a custom verifier returned, as JSON."""
        if self.run.result is None:
            return ""
        text = json.dumps(self.run.result, indent=2, ensure_ascii=False)
        hidden = len(text) - MAX_RESULT_CHARACTERS
        cut = f"\n… {hidden:,} characters more" if hidden > 0 else ""
        return text[:MAX_RESULT_CHARACTERS] + cut
