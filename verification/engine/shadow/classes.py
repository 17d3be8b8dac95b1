"""Two verifiers over the same work: in which class their difference falls."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol, Self

from verification.engine.outcome import Outcome, Verdict


class DiffClass(StrEnum):
    """Source: docs/engine.md, "Old and new"."""

    NO_DIFF = "no_diff"
    OLD_FAIL_NEW_PASS = "old_fail_new_pass"  # noqa: S105 - a class, not a password
    OLD_PASS_NEW_FAIL = "old_pass_new_fail"  # noqa: S105
    BOTH_FAIL_REASON_DIFF = "both_fail_reason_diff"
    WARNINGS_DIFF = "warnings_diff"
    NEW_UNDECIDED = "new_undecided"
    OLD_UNDECIDED = "old_undecided"


class SideOutcome(StrEnum):
    """An outcome, or none: doubt is apart from the fail that stands beside it."""

    PASS = "pass"  # noqa: S105
    PASS_WITH_WARNINGS = "pass_with_warnings"  # noqa: S105
    PARTIAL_VERIFIED = "partial_verified"
    FAIL = "fail"
    UNDECIDED = "undecided"

    @classmethod
    def of(cls, outcome: str, verdict: str) -> Self:
        return cls("undecided" if verdict == Verdict.UNDECIDED else outcome)

    @property
    def verdict(self) -> Verdict:
        if self is SideOutcome.UNDECIDED:
            return Verdict.UNDECIDED
        return Verdict.REJECT if self is SideOutcome.FAIL else Verdict.ACCEPT


class Side(Protocol):
    """What one verifier made of the work."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def reason_code(self) -> str: ...


def diff_class(old: Side, new: Side) -> DiffClass:
    """Compare what counts for a caller; doubt on one side is a class of its own."""
    if old.verdict is not new.verdict:
        if new.verdict is Verdict.UNDECIDED:
            return DiffClass.NEW_UNDECIDED
        if old.verdict is Verdict.UNDECIDED:
            return DiffClass.OLD_UNDECIDED
        is_laxer = new.verdict is Verdict.ACCEPT
        return DiffClass.OLD_FAIL_NEW_PASS if is_laxer else DiffClass.OLD_PASS_NEW_FAIL
    if new.verdict is Verdict.ACCEPT:
        return DiffClass.NO_DIFF if old.outcome is new.outcome else DiffClass.WARNINGS_DIFF
    is_same = old.reason_code == new.reason_code
    return DiffClass.NO_DIFF if is_same else DiffClass.BOTH_FAIL_REASON_DIFF
