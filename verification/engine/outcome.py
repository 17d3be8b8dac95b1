"""The words in which a verdict is said. Values are those of the HTTP contract."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    PASS = "pass"  # noqa: S105 - an outcome, not a password
    PASS_WITH_WARNINGS = "pass_with_warnings"  # noqa: S105
    PARTIAL_VERIFIED = "partial_verified"
    FAIL = "fail"


WHOLE_OUTCOMES = (Outcome.PASS, Outcome.PASS_WITH_WARNINGS)
"""Outcomes of work that is accepted, and not in part."""


class Verdict(StrEnum):
    """What a caller acts on. Undecided is doubt: it neither accepts nor blames the work."""

    ACCEPT = "accept"
    REJECT = "reject"
    UNDECIDED = "undecided"

    @property
    def passed(self) -> bool | None:
        return {"accept": True, "reject": False}.get(self.value)


class SeverityClass(StrEnum):
    HARD_INVARIANT = "hard_invariant"
    SEMANTIC = "semantic"
    INCONCLUSIVE = "inconclusive"
    INFRA = "infra"


class FindingVerdict(StrEnum):
    SATISFIED = "satisfied"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


class Source(StrEnum):
    DETERMINISTIC = "deterministic"
    GATE = "gate"
    LLM = "llm"
    CUSTOM = "custom"
    HUMAN = "human"


class Status(StrEnum):
    """How a tier or a gate ended."""

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    SKIPPED = "skipped"
    ERROR = "error"


class ConfidenceLevel(StrEnum):
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    FAILED = "FAILED"


class Action(StrEnum):
    RETRY = "retry"
    AUTO_COMMIT = "auto_commit"
    REVIEW_BRANCH = "review_branch"
    REVERT = "revert"


class RetryStrategy(StrEnum):
    NONE = "none"
    GENERIC = "generic"
    EVIDENCE_GAP = "evidence_gap"
    UNCONFIRMED_DATA = "unconfirmed_data"
    VERIFIER_PARSE = "verifier_parse"
    RATE_LIMIT = "rate_limit"


class Purpose(StrEnum):
    """Why an evaluation was made."""

    LIVE = "live"
    SHADOW = "shadow"
    AA = "aa"
    REVERIFY = "reverify"
    REPLAY = "replay"
    BACKTEST = "backtest"


COUNTING = (Purpose.LIVE, Purpose.REVERIFY)
"""Evaluations that the run's verdict came from; what is made beside a run is none of them."""


class LastOutcome(StrEnum):
    """How a task's last evaluation ended."""

    PASSED = "passed"
    REJECTED = "rejected"
    SYSTEM_ERROR = "system_error"
