"""`/api/v1/reviews/agreement` and `/calibration`: the figures of their pages."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema

from loomverify.api import access_of, errors
from verification.reviews.agreement.calibrating import calibration
from verification.reviews.agreement.filters import AgreementFilters, Sample
from verification.reviews.agreement.schemas import ReviewAgreement, ReviewCalibration
from verification.reviews.agreement.selectors import agreement_figures
from verification.runs.api import refuse_unknown_parameters
from verification.runs.schema_values import FilterValues

router = Router(tags=["Reviews"])


class AgreementQuery(Schema):
    """Times are RFC 3339, dates, or spans before now: `24h`, `30d`. They are of being asked."""

    process: str = ""
    phase: str = ""
    rule: str = Field("", description="One with a finding.")
    model: str = Field("", description="One that judged.")
    since: str = ""
    until: str = ""
    sample: Annotated[str, FilterValues.of(Sample)] = ""


@router.get(
    "/reviews/agreement",
    response={200: ReviewAgreement} | errors(400, 404, 422),
    summary="How the verifier agrees with people, and people with each other",
)
def review_agreement(request: HttpRequest, query: Query[AgreementQuery]) -> ReviewAgreement:
    """Decisions that took effect. A parameter that is none of these is refused."""
    refuse_unknown_parameters(request, AgreementQuery)
    found = agreement_figures(access_of(request).project, AgreementFilters(**query.dict()))
    return ReviewAgreement.of(found)


@router.get(
    "/reviews/calibration",
    response={200: ReviewCalibration} | errors(400, 404, 422),
    summary="Whether confidence keeps what it says, and the floors that follow",
)
def review_calibration(request: HttpRequest, query: Query[AgreementQuery]) -> ReviewCalibration:
    """A floor is proposed where people surely agree with 95 % of the verdicts above it."""
    refuse_unknown_parameters(request, AgreementQuery)
    found = calibration(access_of(request).project, AgreementFilters(**query.dict()))
    return ReviewCalibration.of(found)
