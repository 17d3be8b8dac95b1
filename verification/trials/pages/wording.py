"""Trials, gates and criteria in signs and words for people."""

from __future__ import annotations

from verification.engine.cutover import CriterionState, GateState
from verification.runs import wording
from verification.runs.models import RunState
from verification.runs.wording import Badge
from verification.trials.models import Trial, TrialState

NONE = "\N{EN DASH}"
TIMES = "\N{MULTIPLICATION SIGN}"
_STOPPED = "M3 3h6v6H3z"
_BACK = "M4.5 2 2 4.5 4.5 7M2 4.5h5a3 3 0 0 1 0 6H4"
_LOCK = "M2.5 5.5h7v5h-7zM4 5.5V4a2 2 0 0 1 4 0v1.5"
_OPEN_LOCK = "M2.5 5.5h7v5h-7zM4 5.5V4a2 2 0 0 1 3.7-1"

STATES = {
    TrialState.RUNNING: wording.STATES[RunState.RUNNING],
    TrialState.ENDED: Badge("ended", "open", wording.PASS.sign),
    TrialState.STOPPED: Badge("stopped", "open", _STOPPED),
    TrialState.PROMOTED: Badge("promoted", "pass", wording.PASS.sign),
    TrialState.ROLLED_BACK: Badge("rolled back", "warn", _BACK),
}
GATES = {
    GateState.OPEN: Badge("open", "pass", _OPEN_LOCK),
    GateState.CLOSED: Badge("closed", "fail", _LOCK),
    GateState.INSUFFICIENT_DATA: Badge("too little data", "open", wording.UNDECIDED.sign),
}
CRITERION_STATES = {
    CriterionState.HOLDS: Badge("holds", "pass", wording.PASS.sign),
    CriterionState.FAILS: Badge("fails", "fail", wording.FAIL.sign),
    CriterionState.WAITING: Badge("waits", "open", wording.STATES[RunState.QUEUED].sign),
}
CRITERIA = {
    "discordant_pairs": "Enough discordant pairs",
    "difference": "The new one is right no less often",
    "false_fails": "False fails at least halved",
    "unsafe_passes": "Unsafe new passes at most 1 %",
    "old_flips": "Asked twice (A/A), the old one flips at most 5 %",
    "new_flips": "Asked twice (A/A), the new one flips at most 5 %",
    "undecided": "Undecided at most 1 %",
    "cost": f"Cost at most 1.5 {TIMES}",
    "latency": f"Time at most 2 {TIMES}",
    "corpus": "Golden corpus unharmed",
}
SHOWN = {
    "laxer_unsafe": "Laxer moves that people found unsafe",
    "stricter_wrong": "Stricter moves that people found wrong",
    "old_undecided": "The old one undecided",
}


def sides_in_words(trial: Trial) -> str:
    """New beside old, "policy v3 beside legacy v2", whatever the trial's title says."""
    return f"{_side(trial, 'candidate')} beside {_side(trial, 'baseline')}"


def _side(trial: Trial, name: str) -> str:
    verifier = getattr(trial, f"{name}_verifier")
    version = getattr(trial, f"{name}_process_version")
    words = f"{verifier.engine} v{verifier.number}"
    return (
        f"{words} with {trial.process.slug} v{version.number}"
        if version and trial.process
        else words
    )
