"""Targets in signs and words for people."""

from __future__ import annotations

from collections.abc import Mapping

from verification.runs import wording
from verification.runs.models import RunState
from verification.runs.templatetags.loomverify import percent
from verification.runs.wording import Badge
from verification.trials.acceptance import measures
from verification.trials.acceptance.behind import Which
from verification.trials.acceptance.measures import Target, TargetState

STATES: Mapping[TargetState, Badge] = {
    TargetState.MET: Badge("met", "pass", wording.PASS.sign),
    TargetState.MISSED: Badge("missed", "fail", wording.FAIL.sign),
    TargetState.TOO_FEW: Badge("too few", "open", wording.STATES[RunState.QUEUED].sign),
}
PARTS: Mapping[str, Mapping[Which, str]] = {
    "unreadable": {
        Which.COUNTED: "not readable",
        Which.ALL: "judged",
        Which.REST: "read",
    },
    "retries": {
        Which.COUNTED: "decided",
        Which.ALL: "asked again",
        Which.REST: "still undecided",
    },
    "false_fails": {
        Which.COUNTED: "false fails of policy",
        Which.ALL: "false fails of legacy",
        Which.KNOWN: "cases of known truth",
    },
    "escaped": {
        Which.COUNTED: "escaped",
        Which.ALL: "decided since",
        Which.REST: "accepted rightly",
        Which.BEFORE: "decided before",
        Which.ESCAPED_BEFORE: "escaped before",
    },
    "named": {
        Which.COUNTED: "with rule and enforcement",
        Which.ALL: "rejected",
        Which.REST: "without",
    },
    "traced": {
        Which.COUNTED: "told of whole",
        Which.ALL: "with rules",
        Which.REST: "not told of whole",
    },
    "cross_phase": {
        Which.COUNTED: "failed across phases",
        Which.ALL: "judged",
        Which.REST: "others",
    },
    "completing": {
        Which.COUNTED: "complete now",
        Which.ALL: "failed for form or claims",
        Which.REST: "do not complete",
    },
    "recommendations": {
        Which.COUNTED: "with an unconfirmed recommendation",
        Which.ALL: "accepted with claims",
        Which.REST: "others",
    },
}
AGAINST: Mapping[str, Which] = {
    **dict.fromkeys(("unreadable", "escaped", "cross_phase", "recommendations"), Which.COUNTED),
    **dict.fromkeys(("retries", "named", "traced", "completing"), Which.REST),
    "false_fails": Which.COUNTED,
}
"""Which rows speak against a target."""


def value_in_words(target: Target) -> str:
    """Such as 0.4 %, 62.0 % fewer or +1.2 points; '' where nothing was counted."""
    value = target.value
    if value is None:
        return ""
    if target.about is measures.FALSE_FAILS:
        return f"{percent(abs(value))} {'fewer' if value >= 0 else 'more'}"
    if target.about is measures.ESCAPED:
        return f"{_points(value)} points"
    return percent(value)


def interval_in_words(target: Target) -> str:
    if target.low is None or target.high is None:
        return ""
    if target.about is measures.ESCAPED:
        return f"{_points(target.low)} to {_points(target.high)}"
    places = 1 if target.high - target.low < 0.05 else 0
    low, high = (_signed(at * 100, places) for at in (target.low, target.high))
    return f"{low} to {high} %"


def _points(share: float) -> str:
    sign = "+" if share > 0 else ""
    return sign + _signed(share * 100, 1)


def _signed(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    return (
        ("0" if not places else "0.0") if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")
    )
