from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement
from tests.engine.cases import finding
from tests.tables import check_rows
from verification.engine import policy
from verification.engine.backtest import Bucket, Past, Weighed, weigh
from verification.engine.finding import Finding
from verification.engine.outcome import FindingVerdict, Outcome, Verdict
from verification.engine.reasons import REASONS
from verification.engine.verifier import Flags

HARD, ADVISORY = Enforcement.HARD, Enforcement.ADVISORY
SAYS = finding(rule="tried")
WARNS = finding(rule="tried", enforcement=ADVISORY)
LOST = finding(rule="tried", reason_code="infra_verifier_error", verdict=FindingVerdict.UNKNOWN)
OTHER = finding(rule="other")


def past(*own: Finding, others: tuple[Finding, ...] = (), **known: object) -> Past:
    flags = Flags()
    result = policy.outcome_of((*own, *others), flags)
    return Past(**{"result": result, "own": own, "others": others, "flags": flags, **known})  # type: ignore[arg-type]


@check_rows(
    ("before", "now", "is_good", "bucket"),
    [
        ((), (SAYS,), False, "good_catch"),
        ((), (SAYS,), True, "false_alarm"),
        ((), (SAYS,), None, "unlabelled"),
        ((), (WARNS,), None, "unlabelled"),
        ((WARNS,), (SAYS,), True, "false_alarm"),
        ((SAYS,), (), False, "unsafe_pass"),
        ((SAYS,), (), True, "relieved"),
        # What nobody looked at is not let go unseen.
        ((SAYS,), (), None, "unsafe_pass"),
        ((WARNS,), (), None, "let_go"),
        ((SAYS,), (WARNS,), None, "unsafe_pass"),
        ((WARNS,), (), False, "unsafe_pass"),
        ((), (LOST,), None, "could_not_evaluate"),
        ((SAYS,), (LOST,), False, "could_not_evaluate"),
        ((SAYS,), (SAYS,), False, None),
        ((), (), None, None),
    ],
)
def test_each_change_has_its_bucket(
    before: tuple[Finding, ...],
    now: tuple[Finding, ...],
    is_good: bool | None,
    bucket: str | None,
) -> None:
    assert weigh(past(*before, is_good=is_good), now).bucket == bucket


def test_a_run_that_fails_for_another_reason_stays_as_it_is() -> None:
    known = past(others=(OTHER,))

    assert weigh(known, (SAYS,)) == Weighed(None, (Outcome.FAIL, Verdict.REJECT))


def test_what_was_never_asked_is_not_known() -> None:
    weighed = weigh(past(SAYS, is_climbed=False, is_good=True), ())

    assert (weighed.bucket, weighed.after) == (Bucket.COULD_NOT_EVALUATE, None)
    assert "never asked" in weighed.why


def test_a_run_that_was_accepted_had_everything_asked() -> None:
    assert weigh(past(WARNS, is_climbed=False, is_good=True), ()).bucket is Bucket.RELIEVED


def test_an_outcome_that_its_findings_do_not_explain_is_not_guessed_at() -> None:
    weighed = weigh(past(result=(Outcome.FAIL, Verdict.REJECT)), (WARNS,))

    assert weighed.bucket is Bucket.COULD_NOT_EVALUATE
    assert weighed.after is None


FINDINGS = st.lists(
    st.builds(
        finding,
        rule=st.just("other"),
        reason_code=st.sampled_from(sorted(REASONS)),
        enforcement=st.sampled_from(Enforcement),
        verdict=st.sampled_from(FindingVerdict),
    ),
    max_size=4,
).map(tuple)


@given(others=FINDINGS, own=st.sampled_from([(), (SAYS,), (WARNS,)]), is_good=st.booleans())
def test_a_violation_is_never_more_lenient_than_none(
    others: tuple[Finding, ...], own: tuple[Finding, ...], is_good: bool
) -> None:
    stricter = weigh(past(others=others, is_good=is_good), own)
    laxer = weigh(past(*own, others=others, is_good=is_good), ())

    assert stricter.bucket in (None, Bucket.GOOD_CATCH, Bucket.FALSE_ALARM)
    assert laxer.bucket in (None, Bucket.UNSAFE_PASS, Bucket.RELIEVED)
    assert (stricter.bucket is None) == (laxer.bucket is None)
