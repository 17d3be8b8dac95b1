from __future__ import annotations

from verification.trials.models.comparison import (
    PAIR,
    SAID,
    CaseQuestion,
    Comparison,
    Judged,
    Tally,
)
from verification.trials.models.judging import Acknowledgement, ComparisonNote, Judgement, Reveal
from verification.trials.models.trial import Origin, StopReason, Trial, TrialReplay, TrialState

__all__ = [
    "PAIR",
    "SAID",
    "Acknowledgement",
    "CaseQuestion",
    "Comparison",
    "ComparisonNote",
    "Judged",
    "Judgement",
    "Origin",
    "Reveal",
    "StopReason",
    "Tally",
    "Trial",
    "TrialReplay",
    "TrialState",
]
