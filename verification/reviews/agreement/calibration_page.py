"""What the calibration page says of each tenth and each process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from verification.engine.statistics.calibration import TARGET, Bin, Floor, NoFloor, NoFloorReason
from verification.engine.statistics.estimates import Estimate, TooFew
from verification.reviews.agreement.calibrating import ProcessFloor
from verification.reviews.agreement.filters import AgreementFilters
from verification.reviews.agreement.shown import Shown, ends, plural, share_shown
from verification.runs.templatetags.loomverify import percent

ADVICE = {
    "raise": "raise it",
    "lower": "may be lower",
    "keep": "keep it",
    "wait": "not known yet",
    "none": "none does",
}
SURE = f"{TARGET * 100:g} %"


@dataclass(frozen=True, slots=True)
class TenthRow:
    words: str
    said: str
    agreed: Shown | None
    query: str


@dataclass(frozen=True, slots=True)
class FloorRow:
    """`now` and `proposal` in words; `why` and `consequence` are sentences."""

    process: str
    n: int
    now: str
    proposal: str
    advice: str
    why: str
    consequence: str


def error_shown(error: float | TooFew) -> str:
    if isinstance(error, TooFew):
        return ""
    return f"{error:.2f}"


def tenth_rows(bins: Sequence[Bin], filters: AgreementFilters) -> list[TenthRow]:
    """Those that hold something, the surest first."""
    return [
        TenthRow(
            words=f"{one.low:.1f} to {one.high:.1f}",
            said=f"{one.confidence or 0:.2f}",
            agreed=share_shown(one.agreed) if one.agreed else None,
            query=urlencode({**filters.given(), "tenth": number}),
        )
        for number, one in reversed(list(enumerate(bins)))
        if one.n
    ]


def floor_rows(floors: Sequence[ProcessFloor]) -> list[FloorRow]:
    return [
        FloorRow(
            process=one.process,
            n=one.n,
            now=_now(one),
            proposal=f"{one.proposal.floor:.2f}" if isinstance(one.proposal, Floor) else "",
            advice=ADVICE[one.advice],
            why=_why(one.proposal),
            consequence=_consequence(one),
        )
        for one in floors
    ]


def _now(one: ProcessFloor) -> str:
    low, high = one.present
    return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}, by phase"


def _why(proposal: Floor | NoFloor) -> str:
    if isinstance(proposal, Floor):
        return f"From there on people agree with {_agreed(proposal.agreed)}."
    if proposal.reason is NoFloorReason.TOO_FEW:
        return (
            f"{plural(proposal.n, 'decision')}; it takes {proposal.needed} that all agree to be "
            f"sure of {SURE}."
        )
    best = f" At best they agree with {_agreed(proposal.best)}." if proposal.best else ""
    return f"However sure the judge is, people do not surely agree with {SURE}.{best}"


def _agreed(agreed: Estimate) -> str:
    of = plural(agreed.n, "verdict")
    return f"{percent(agreed.value)} of {of} ({ends(agreed)})"


def _consequence(one: ProcessFloor) -> str:
    """What the floor would ask of people."""
    if not one.runs:
        return "No judged run of this time to tell what it would ask of people."
    now, of = percent(one.below_now / one.runs), f"of {plural(one.runs, 'judged run')}"
    if not isinstance(one.proposal, Floor):
        return f"{now} {of} lie below the floor now, and go to people."
    then = percent(one.below_then / one.runs)
    return f"With it {then} {of} would go to people for their confidence; now it is {now}."
