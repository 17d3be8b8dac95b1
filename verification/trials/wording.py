"""Trials in words, for titles, the audit log and messages."""

from __future__ import annotations

from verification.engine.cutover import CriterionState, Gate
from verification.trials.models import Trial

MAX_TITLE = 200
CRITERIA = {
    "discordant_pairs": "enough discordant pairs",
    "difference": "the difference",
    "false_fails": "false fails",
    "unsafe_passes": "unsafe new passes",
    "old_flips": "A/A flips of the old",
    "new_flips": "A/A flips of the new",
    "undecided": "undecided",
    "cost": "cost",
    "latency": "latency",
    "corpus": "the golden corpus",
}


def title_of(trial: Trial) -> str:
    """What stands beside what: "policy v3 beside legacy v2, market-study"."""
    words = []
    if trial.baseline_verifier_id != trial.candidate_verifier_id or not _versions(trial):
        old, new = trial.baseline_verifier, trial.candidate_verifier
        words.append(f"{new.engine} v{new.number} beside {old.engine} v{old.number}")
    if _versions(trial):
        words.append(f"{_process(trial)} {_versions(trial)}")
    elif trial.process:
        words.append(trial.process.slug)
    return ", ".join(words)[:MAX_TITLE]


def gate_in_words(gate: Gate) -> str:
    """Its figures in a line, for the audit log."""
    p_value = "none" if gate.p_value is None else f"{gate.p_value:.4f}"
    figures = f"{gate.pairs.all:,} pairs, {gate.pairs.discordant:,} discordant, p {p_value}"
    return f"{gate.state.value}: {figures}. {lacking(gate)}".strip()


def lacking(gate: Gate) -> str:
    """What does not hold, and what is missing; '' where everything holds."""
    open_ones = [one for one in gate.criteria if one.state is not CriterionState.HOLDS]
    told = [
        f"{CRITERIA.get(one.name, one.name)}: {one.missing or one.state.value}" for one in open_ones
    ]
    return f"Not held: {'; '.join(told)}." if told else ""


def _process(trial: Trial) -> str:
    return trial.process.slug if trial.process else ""


def _versions(trial: Trial) -> str:
    """'' where both sides judge by the run's own version."""
    numbers = [
        f"v{version.number}" if version else "as published"
        for version in (trial.candidate_process_version, trial.baseline_process_version)
    ]
    return f"{numbers[0]} beside {numbers[1]}" if numbers[0] != numbers[1] else ""
