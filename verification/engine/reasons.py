"""The closed registry of reason codes. Source: docs/engine.md, "Reasons"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from verification.engine.outcome import Outcome, RetryStrategy, SeverityClass, Verdict


class Effect(StrEnum):
    """What a counted finding with this reason does to the run."""

    REJECT = "reject"
    """fail, reject: the work is at fault."""
    ACCEPT_PARTLY = "accept_partly"
    """partial_verified, accept."""
    UNDECIDED = "undecided"
    """fail, undecided: verification was asked for and lost."""
    UNDECIDED_PARTLY = "undecided_partly"
    """partial_verified, undecided: nobody was there to ask."""
    WARN = "warn"
    """An advisory; a hard finding with such a reason rejects all the same."""
    NOTE = "note"
    """Leaves the outcome to the rest."""
    TERMINAL = "terminal"
    """Ends the task; the outcome is the run's own."""


RESULTS: Mapping[Effect, tuple[Outcome, Verdict]] = MappingProxyType(
    {
        Effect.REJECT: (Outcome.FAIL, Verdict.REJECT),
        Effect.UNDECIDED: (Outcome.FAIL, Verdict.UNDECIDED),
        Effect.UNDECIDED_PARTLY: (Outcome.PARTIAL_VERIFIED, Verdict.UNDECIDED),
        Effect.ACCEPT_PARTLY: (Outcome.PARTIAL_VERIFIED, Verdict.ACCEPT),
    }
)


@dataclass(frozen=True, slots=True)
class Reason:
    """`title` is a short sentence for people.

    `when_switched_off` replaces the effect where the operator switched the means off.
    `may_pass`: the cause may be gone later, so that asking again is worth it.
    """

    code: str
    severity_class: SeverityClass | None
    effect: Effect
    retry_strategy: RetryStrategy
    title: str
    asks_a_person: bool = False
    counts_attempt: bool = True
    queues_remediation: bool = False
    when_switched_off: Effect | None = None
    may_pass: bool = False


class UnknownReason(LookupError):
    """The registry is closed: no code is made up on the way."""


def reason(code: str) -> Reason:
    try:
        return REASONS[code]
    except KeyError:
        raise UnknownReason(code) from None


_HARD = SeverityClass.HARD_INVARIANT
_SEMANTIC = SeverityClass.SEMANTIC
_INCONCLUSIVE = SeverityClass.INCONCLUSIVE
_INFRA = SeverityClass.INFRA
_GENERIC = RetryStrategy.GENERIC
_UNCONFIRMED = RetryStrategy.UNCONFIRMED_DATA
_NONE = RetryStrategy.NONE


def _rejecting(
    severity_class: SeverityClass, retry: RetryStrategy, **titles: str
) -> tuple[Reason, ...]:
    return tuple(
        Reason(code, severity_class, Effect.REJECT, retry, title) for code, title in titles.items()
    )


def _infra(
    code: str, title: str, retry: RetryStrategy = _NONE, *, may_pass: bool = False
) -> Reason:
    return Reason(
        code, _INFRA, Effect.UNDECIDED, retry, title, asks_a_person=True, may_pass=may_pass
    )


_REGISTRY: tuple[Reason, ...] = (
    *_rejecting(
        _HARD,
        _GENERIC,
        hard_invariant_failed="A rule that must always hold was broken.",
        output_empty="Nothing was submitted.",
        path_outside_workspace="A path leads outside the workspace.",
        tool_failed="A tool call failed.",
        nonzero_return_code="The work ended with a return code other than 0.",
        deliverable_missing="A declared deliverable is missing.",
        deliverable_empty="A declared deliverable is empty.",
        syntax_invalid="A file does not parse.",
    ),
    *_rejecting(
        _SEMANTIC,
        _GENERIC,
        incomplete_deliverable_placeholder="A placeholder was left in the work.",
        rule_violated="A rule of the process was broken.",
        llm_semantic_failed="The judge found that the work does not do what was asked.",
        custom_rejected="A verifier of the operator's own rejected the work.",
        vote_rejected="Most judges rejected the work.",
    ),
    Reason(
        "below_threshold",
        _SEMANTIC,
        Effect.REJECT,
        _GENERIC,
        "The score is below the threshold of the phase.",
        asks_a_person=True,
    ),
    *_rejecting(
        _SEMANTIC,
        RetryStrategy.EVIDENCE_GAP,
        evidence_gap="The work lacks the evidence that its claims need.",
    ),
    *_rejecting(
        _HARD,
        _GENERIC,
        install_failed="The dependencies could not be installed.",
        build_failed="The build failed.",
        types_failed="The type check failed.",
        tests_failed="Tests failed.",
        run_failed="The program did not run.",
        lint_failed="The linter found problems.",
        security_failed="A new security problem was found.",
        gate_timed_out="A gate took too long.",
        gate_out_of_memory="A gate ran out of memory.",
    ),
    *_rejecting(
        _SEMANTIC,
        _UNCONFIRMED,
        recommendation_unconfirmed="A recommendation rests on data that nothing confirms.",
        unconfirmed_critical_path="Too much on the critical path is unconfirmed.",
    ),
    *(
        Reason(
            code,
            _SEMANTIC,
            Effect.ACCEPT_PARTLY,
            _UNCONFIRMED,
            title,
            queues_remediation=True,
        )
        for code, title in (
            ("unconfirmed_above_threshold", "More is unconfirmed than the process allows."),
            ("recommendation_pruned", "Unconfirmed recommendations were taken out."),
        )
    ),
    Reason("no_tests", None, Effect.NOTE, _NONE, "There are no tests."),
    _infra("gate_contradiction", "A gate's report and its exit code contradict each other."),
    _infra("gate_error", "A gate could not be run."),
    Reason(
        "sandbox_unavailable",
        _INFRA,
        Effect.UNDECIDED,
        _NONE,
        "No sandbox was there to run the gates in.",
        asks_a_person=True,
        when_switched_off=Effect.UNDECIDED_PARTLY,
        may_pass=True,
    ),
    Reason(
        "verifier_unavailable",
        _INFRA,
        Effect.UNDECIDED_PARTLY,
        _NONE,
        "A verifier was asked for, and none is there.",
        asks_a_person=True,
    ),
    Reason(
        "verifier_not_independent",
        None,
        Effect.WARN,
        _NONE,
        "The judge is the model that did the work.",
    ),
    Reason(
        "parse_inconclusive",
        _INCONCLUSIVE,
        Effect.UNDECIDED,
        RetryStrategy.VERIFIER_PARSE,
        "The judge's answer could not be read.",
        asks_a_person=True,
        may_pass=True,
    ),
    Reason(
        "claims_missing",
        _INCONCLUSIVE,
        Effect.UNDECIDED,
        RetryStrategy.VERIFIER_PARSE,
        "A synthesis has no labelled claim.",
        asks_a_person=True,
        may_pass=True,
    ),
    _infra(
        "infra_verifier_error",
        "The verifier could not look into it.",
        RetryStrategy.VERIFIER_PARSE,
        may_pass=True,
    ),
    _infra(
        "rate_limited",
        "The judge had no capacity left.",
        RetryStrategy.RATE_LIMIT,
        may_pass=True,
    ),
    Reason(
        "vote_divergence",
        _INCONCLUSIVE,
        Effect.UNDECIDED,
        _NONE,
        "The judges disagree.",
        asks_a_person=True,
    ),
    Reason(
        "low_confidence",
        _INCONCLUSIVE,
        Effect.NOTE,
        _NONE,
        "The judge is not sure.",
        asks_a_person=True,
    ),
    *(
        Reason(
            code,
            _INCONCLUSIVE,
            Effect.UNDECIDED,
            RetryStrategy.VERIFIER_PARSE,
            title,
            asks_a_person=True,
            may_pass=True,
        )
        for code, title in (
            ("score_missing", "The phase asks for a score, and there is none."),
            (
                "score_contradiction",
                "The score and the verdict of the judge contradict each other.",
            ),
        )
    ),
    _infra("budget_exhausted", "The budget for verification is spent."),
    Reason(
        "invalid_output",
        None,
        Effect.REJECT,
        _GENERIC,
        "The output does not have the shape that was asked for.",
        counts_attempt=False,
    ),
    *(
        Reason(code, _SEMANTIC, Effect.TERMINAL, _NONE, title, asks_a_person=True)
        for code, title in (
            ("attempts_exhausted", "All attempts are used."),
            ("repeated_candidate", "The same rejected work was submitted again and again."),
        )
    ),
    *(
        Reason(code, None, Effect.WARN, _NONE, title)
        for code, title in (
            ("changed_file_missing", "A file said to be changed is not there."),
            ("file_type_mismatch", "A file's content does not fit its name."),
            ("odd_payload", "A tool call carries values of an unusual shape."),
            ("tool_result_error", "A tool call reports an error, and does not count as failed."),
            ("unsupported_pattern", "A rule's pattern cannot be run."),
            ("claim_label_invalid", "A claim carries a label that does not exist."),
            ("legacy_unscoped", "A rule names no phase, and was not applied."),
        )
    ),
)

REASONS: Mapping[str, Reason] = MappingProxyType({one.code: one for one in _REGISTRY})
