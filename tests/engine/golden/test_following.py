from __future__ import annotations

import pytest

from tests.engine.cases import case, finding, ports
from tests.tables import check_rows
from verification.engine.attempts import Accounted, TaskHistory
from verification.engine.climb import Conclusion, climb, conclude
from verification.engine.following import counts_attempt, follow
from verification.engine.outcome import Action, Status
from verification.engine.reasons import REASONS
from verification.engine.tiers import TierReport

ASKED = case(return_code=1)
ACCEPTED = case()


def concluded(reason_code: str = "") -> Conclusion:
    findings = (finding(reason_code=reason_code, fingerprint="f"),) if reason_code else ()
    return conclude(ASKED, [TierReport(1, Status.FAILED, findings)])


def history(used: int, **about: object) -> TaskHistory:
    return TaskHistory(max_attempts=3, attempts_used=used, **about)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("used", "terminal", "action", "reruns"),
    [
        (1, "", Action.RETRY, True),
        (2, "", Action.RETRY, True),
        (3, "attempts_exhausted", Action.REVERT, False),
        (1, "repeated_candidate", Action.REVERT, False),
    ],
)
def test_a_reject_is_run_again_while_attempts_are_left(
    used: int, terminal: str, action: Action, reruns: bool
) -> None:
    accounted = Accounted(history(used), used, counted=True, terminal=terminal)

    following = follow(ASKED, concluded("syntax_invalid"), accounted)

    assert (following.action, following.reruns_execution) == (action, reruns)


def test_an_accept_is_reviewed_where_only_checks_looked() -> None:
    conclusion = conclude(ACCEPTED, list(climb(ACCEPTED, ports())))

    following = follow(ACCEPTED, conclusion, Accounted(history(0)))

    assert following.action is Action.REVIEW_BRANCH
    assert following.conclusion is conclusion


def test_only_a_candidate_that_came_again_and_again_changes_the_reason() -> None:
    conclusion = concluded("syntax_invalid")

    told = {
        terminal: follow(ASKED, conclusion, Accounted(history(3), 3, terminal=terminal)).conclusion
        for terminal in ("", "attempts_exhausted", "repeated_candidate")
    }

    assert told[""] is told["attempts_exhausted"] is conclusion
    repeated = told["repeated_candidate"]
    why = REASONS["repeated_candidate"]
    assert (repeated.reason_code, repeated.severity_class) == (why.code, why.severity_class)
    assert repeated.retry_strategy is why.retry_strategy
    assert (repeated.findings, repeated.verdict) == (conclusion.findings, conclusion.verdict)


@check_rows("code", ["", *REASONS])
def test_every_reason_but_an_output_of_the_wrong_shape_counts_an_attempt(code: str) -> None:
    assert counts_attempt(concluded(code)) is (code != "invalid_output")


def test_what_is_said_names_the_attempt_and_the_reason() -> None:
    accounted = Accounted(history(2), 2, counted=True)

    said = follow(ASKED, concluded("syntax_invalid"), accounted).said.text

    assert '<verification_rejected code="syntax_invalid" attempt="2" of="3">' in said
