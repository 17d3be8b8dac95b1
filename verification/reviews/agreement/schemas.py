"""Agreement and calibration in the words of the HTTP contract."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from ninja import Field, Schema
from pydantic import ConfigDict

from verification.engine.statistics.agreement import Agreement
from verification.engine.statistics.calibration import Floor, NoFloor, NoFloorReason
from verification.engine.statistics.estimates import Estimate, Figure, SampleRates, TooFew
from verification.reviews.agreement.calibrating import Calibration, ProcessFloor
from verification.reviews.agreement.examples import AGREEMENT, CALIBRATION, FEW, KNOWN
from verification.reviews.agreement.filters import PEOPLE_SAID, VERIFIER_SAID
from verification.reviews.agreement.selectors import (
    AgreementFigures,
    Group,
    Pair,
    RuleOverturned,
)


class Known(Schema):
    """The true value lies from `low` to `high`, at the level of 95 %."""

    n: int
    value: float
    low: float
    high: float


class Few(Schema):
    """There are `n` decisions, and a figure takes `needed`."""

    n: int
    needed: int


class NoKappa(Schema):
    """All said the same one thing: nothing tells agreement from chance."""

    n: int
    reason: Literal["one_category"]


AnyFigure = Annotated[Known | Few | NoKappa, Field(json_schema_extra={"examples": [KNOWN, FEW]})]


class AgreementOut(Schema):
    """`kappa` is Cohen's: 1 is perfect, 0 what chance would bring."""

    n: int
    percentage: AnyFigure
    kappa: AnyFigure

    @classmethod
    def of(cls, found: Agreement) -> Self:
        return cls(n=found.n, percentage=figure(found.percentage), kappa=figure(found.kappa))


class WithPeopleOut(Schema):
    """Over decided reviews. `confusion[verifier][people]` counts them all."""

    n: int
    undecided: int = Field(description="By the verifier; in no figure but the confusion.")
    verdicts: AgreementOut = Field(description="Of accept and reject.")
    outcomes: AgreementOut = Field(description="Of all four outcomes.")
    precision: AnyFigure = Field(description="Of rejections, among what people saw.")
    recall: AnyFigure
    confusion: dict[str, dict[str, int]]


class SampleOut(Schema):
    """Shares of all runs, by the random sample alone, weighted by how likely each was drawn."""

    drawn: int
    decided: int
    false_fail_rate: AnyFigure = Field(description="Of rejected runs, those that people accept.")
    escaped_defect_rate: AnyFigure = Field(
        description="Of accepted runs, those that people reject."
    )
    precision: AnyFigure
    recall: AnyFigure

    @classmethod
    def of(cls, found: SampleRates) -> Self:
        return cls(
            drawn=found.drawn,
            decided=found.decided,
            false_fail_rate=figure(found.false_fail),
            escaped_defect_rate=figure(found.escaped_defect),
            precision=figure(found.precision),
            recall=figure(found.recall),
        )


class PhaseAgreementOut(Schema):
    process: str
    phase: str
    decided: int
    undecided: int
    verdicts: AgreementOut


class ModelOut(Schema):
    model: str
    decided: int
    undecided: int
    verdicts: AgreementOut


class RuleAgreementOut(Schema):
    """`overturned`: the share of reviews in which people found the rule wrong."""

    process: str
    rule: str
    overturned: AnyFigure

    @classmethod
    def of(cls, one: RuleOverturned) -> Self:
        return cls(process=one.process, rule=one.rule, overturned=figure(one.overturned))


class PairOut(Schema):
    reviewers: list[str]
    verdicts: AgreementOut

    @classmethod
    def of(cls, one: Pair) -> Self:
        return cls(reviewers=[one.first, one.second], verdicts=AgreementOut.of(one.verdicts))


class AmongPeopleOut(Schema):
    """Two who decided the same review apart from each other; in a blind one, at first."""

    verdicts: AgreementOut
    outcomes: AgreementOut
    differing: int
    pairs: list[PairOut]


class BlindOut(Schema):
    decisions: int
    changed: int
    change_rate: AnyFigure


class ReviewAgreement(Schema):
    """Each figure is `{n, value, low, high}`, or `{n, needed}` where decisions are too few."""

    model_config = ConfigDict(json_schema_extra={"examples": [AGREEMENT]})

    with_people: WithPeopleOut
    sample: SampleOut
    phases: list[PhaseAgreementOut] = Field(description="Most decided first, at most 50.")
    models: list[ModelOut] = Field(description="Most decided first, at most 50.")
    rules: list[RuleAgreementOut] = Field(description="Worst first, at most 50.")
    people: AmongPeopleOut
    blind: BlindOut

    @classmethod
    def of(cls, found: AgreementFigures) -> Self:
        among = found.among
        return cls(
            with_people=_with_people(found),
            sample=SampleOut.of(found.sample),
            phases=[
                PhaseAgreementOut(process=one.process, phase=one.phase, **_group(one))
                for one in found.phases
            ],
            models=[ModelOut(model=one.model, **_group(one)) for one in found.models],
            rules=[RuleAgreementOut.of(one) for one in found.rules],
            people=AmongPeopleOut(
                verdicts=AgreementOut.of(among.verdicts),
                outcomes=AgreementOut.of(among.outcomes),
                differing=among.differing,
                pairs=[PairOut.of(one) for one in among.pairs],
            ),
            blind=BlindOut(
                decisions=found.blind.n,
                changed=found.blind.changed,
                change_rate=figure(found.changed),
            ),
        )


class TenthOut(Schema):
    """Verdicts whose confidence lies from `low` up to `high`; `confidence` is their mean."""

    low: float
    high: float
    n: int
    confidence: float | None
    agreed: Known | None


class ErrorOut(Schema):
    """The mean distance of confidence and agreement, 0 to 1."""

    n: int
    value: float


class FloorOut(Schema):
    """`floor` null: none does, and `reason` says why; `needed` is how many it takes at least.

    `below_now` and `below_then` are shares of the runs that models judged in the span, which by
    default is 90 days.
    """

    process: str
    n: int
    present: dict[str, float] = Field(description="By phase.")
    floor: float | None
    reason: Literal[tuple(NoFloorReason)] | None  # type: ignore[valid-type]
    needed: int | None
    agreed: Known | None = Field(description="From the floor on; without one, at best.")
    judged_runs: int
    below_now: float | None
    below_then: float | None

    @classmethod
    def of(cls, one: ProcessFloor) -> Self:
        found = one.proposal
        best = found.agreed if isinstance(found, Floor) else found.best
        is_known = isinstance(found, Floor)
        return cls(
            process=one.process,
            n=one.n,
            present=dict(one.floors),
            floor=found.floor if isinstance(found, Floor) else None,
            reason=found.reason.value if isinstance(found, NoFloor) else None,
            needed=found.needed if isinstance(found, NoFloor) else None,
            agreed=_known(best) if best else None,
            judged_runs=one.runs,
            below_now=one.below_now / one.runs if one.runs else None,
            below_then=one.below_then / one.runs if one.runs and is_known else None,
        )


class ReviewCalibration(Schema):
    """Whether a judge's confidence keeps what it says; verdicts of tier 2 that people decided."""

    model_config = ConfigDict(json_schema_extra={"examples": [CALIBRATION]})

    n: int
    expected_calibration_error: ErrorOut | Few
    tenths: list[TenthOut]
    floors: list[FloorOut]

    @classmethod
    def of(cls, found: Calibration) -> Self:
        error = found.error
        return cls(
            n=found.n,
            expected_calibration_error=Few(n=error.n, needed=error.needed)
            if isinstance(error, TooFew)
            else ErrorOut(n=found.n, value=error),
            tenths=[
                TenthOut(
                    low=one.low,
                    high=one.high,
                    n=one.n,
                    confidence=one.confidence,
                    agreed=_known(one.agreed) if one.agreed else None,
                )
                for one in found.bins
            ],
            floors=[FloorOut.of(one) for one in found.floors],
        )


def figure(found: Figure) -> Known | Few | NoKappa:
    if isinstance(found, TooFew):
        return Few(n=found.n, needed=found.needed)
    if isinstance(found, Estimate):
        return _known(found)
    return NoKappa(n=found.n, reason="one_category")


def _known(found: Estimate) -> Known:
    return Known(n=found.n, value=found.value, low=found.low, high=found.high)


def _group(one: Group) -> dict[str, Any]:
    return {
        "decided": one.n,
        "undecided": one.undecided,
        "verdicts": AgreementOut.of(one.verdicts),
    }


def _with_people(found: AgreementFigures) -> WithPeopleOut:
    people = found.people
    return WithPeopleOut(
        n=people.n,
        undecided=people.undecided,
        verdicts=AgreementOut.of(people.verdicts),
        outcomes=AgreementOut.of(people.outcomes),
        precision=figure(people.precision),
        recall=figure(people.recall),
        confusion={
            said: {word: people.matrix.get((said, word), 0) for word in PEOPLE_SAID}
            for said in VERIFIER_SAID
        },
    )
