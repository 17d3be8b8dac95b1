"""Which reviews the figures are of, as it stands in a URL."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When

from loomverify.accounts.models import Project
from loomverify.errors import InputError
from loomverify.filters import AddressFilters, check_choice
from processes.selectors import process_by_slug
from verification.engine.outcome import Outcome, Verdict
from verification.runs.models import Finding, Review, ReviewState, TierResult
from verification.runs.selectors import NAME, moment

UNDECIDED = "undecided"
PEOPLE_SAID = tuple(outcome.value for outcome in Outcome)
VERIFIER_SAID = (*PEOPLE_SAID, UNDECIDED)
ACCEPTED = tuple(word for word in PEOPLE_SAID if word != Outcome.FAIL)
JUDGED_TIER = 2
"""The lowest tier at which a model has a say."""


class Sample(StrEnum):
    ONLY = "only"


@dataclass(frozen=True, slots=True)
class AgreementFilters(AddressFilters):
    """Empty: not asked for.

    `rule` is one with a finding, `model` one that judged; `since` and `until` are of the time at
    which people were asked: RFC 3339 times, dates, or spans before now such as `30d`.
    """

    process: str = ""
    phase: str = ""
    rule: str = ""
    model: str = ""
    since: str = ""
    until: str = ""
    sample: str = ""


def asked(project: Project, filters: AgreementFilters) -> QuerySet[Review]:
    """Reviews that pass the filters, decided or not, in no order.

    Raises:
        InputError: `filter.invalid`, its place `("query", name)`.
        NotFound: the project has no such process.
    """
    rows = Review.objects.filter(project=project).exclude(state=ReviewState.WITHDRAWN)
    for name in ("phase", "rule", "model"):
        _named(name, getattr(filters, name))
    if filters.process:
        rows = rows.filter(process=process_by_slug(project, filters.process))
    if filters.phase:
        rows = rows.filter(phase_id=filters.phase)
    if filters.since:
        rows = rows.filter(created_at__gte=moment("since", filters.since))
    if filters.until:
        rows = rows.filter(created_at__lt=moment("until", filters.until))
    if filters.rule:
        rows = rows.filter(Exists(_findings(filters.rule)))
    if filters.model:
        rows = rows.filter(Exists(_judged_by(filters.model)))
    check_choice("sample", filters.sample, Sample)
    return rows.filter(sample_rate__isnull=False) if filters.sample else rows


def decided(project: Project, filters: AgreementFilters) -> QuerySet[Review]:
    """Reviews whose decision has taken effect, with what the verifier said, in no order.

    A review's outcome is empty until then, and stays while somebody changes their mind.
    """
    return asked(project, filters).exclude(outcome="").annotate(said=VERIFIER_WORD)


VERIFIER_WORD = Case(
    When(evaluation__verdict=Verdict.REJECT, then=Value(Outcome.FAIL.value)),
    When(
        evaluation__verdict=Verdict.ACCEPT,
        evaluation__outcome__in=PEOPLE_SAID,
        then=F("evaluation__outcome"),
    ),
    default=Value(UNDECIDED),
)
"""Doubt comes first: what is undecided is no fail and no partial."""


def _findings(rule: str) -> QuerySet[Finding]:
    return Finding.objects.filter(evaluation=OuterRef("evaluation"), rule=rule)


def _judged_by(model: str) -> QuerySet[TierResult]:
    return TierResult.objects.filter(
        Q(tier__gte=JUDGED_TIER), evaluation=OuterRef("evaluation"), model=model
    )


def _named(name: str, value: str) -> None:
    if value and not NAME.fullmatch(value):
        raise _invalid(name, f"This cannot be the name of a {name}.")


def _invalid(name: str, msg: str) -> InputError:
    return InputError("filter.invalid", msg, loc=("query", name), status=400)
