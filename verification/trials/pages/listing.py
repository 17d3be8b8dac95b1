"""What the list of trials shows, and how many run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loomverify.accounts.models import Project
from loomverify.paging import newest_first
from verification.engine.shadow import DiffClass
from verification.runs.wording import Badge
from verification.trials import selectors
from verification.trials.models import Trial, TrialState
from verification.trials.pages.wording import GATES, STATES, sides_in_words
from verification.trials.promoted import still_in_force
from verification.verifiers.models import VerifierVersion

PER_PAGE = 25
COUNT_CAP = 99


@dataclass(frozen=True, slots=True)
class TrialRow:
    trial: Trial
    badge: Badge
    sides: str
    pairs: int
    laxer: int
    stricter: int
    judged: int
    gate: Badge
    held: int
    criteria: int
    is_alarmed: bool
    """A drift was seen in this watch, and the cutover stands."""


@dataclass(frozen=True, slots=True)
class TrialList:
    rows: Sequence[TrialRow]
    next: str | None


def trial_list(project: Project, *, state: str = "", cursor: str = "") -> TrialList:
    """Newest first.

    Raises:
        InputError: `cursor.invalid`.
    """
    rows = selectors.trials(project)
    if state:
        rows = rows.filter(state=state)
    page, following = newest_first(rows, cursor=cursor, limit=PER_PAGE)
    return TrialList(list(_rows(page)), following)


def _rows(trials: Iterable[Trial]) -> Iterable[TrialRow]:
    found = list(trials)
    gates = selectors.gates_of(found)
    drifted = [one.watches for one in found if one.drift_at and one.watches]
    standing = still_in_force(drifted)
    for trial in found:
        figures, gate = gates[trial.pk]
        yield TrialRow(
            trial=trial,
            badge=STATES[TrialState(trial.state)],
            sides=sides_in_words(trial),
            pairs=figures.count,
            laxer=figures.classes[DiffClass.OLD_FAIL_NEW_PASS],
            stricter=figures.classes[DiffClass.OLD_PASS_NEW_FAIL],
            judged=figures.judged,
            gate=GATES[gate.state],
            held=sum(one.state.value == "holds" for one in gate.criteria),
            criteria=len(gate.criteria),
            is_alarmed=bool(trial.drift_at) and trial.watches_id in standing,
        )


@dataclass(frozen=True, slots=True)
class UsualPair:
    """The two engines: what a first trial compares."""

    old: VerifierVersion
    new: VerifierVersion


def usual_pair(project: Project) -> UsualPair | None:
    """The newest legacy version beside the policy one that judges, else the newest. None: no pair."""
    rows = VerifierVersion.objects.filter(project=project).defer("spec", "environment_models")
    newest = rows.order_by("-is_active", "-number")
    old = newest.filter(engine="legacy").first()
    new = newest.filter(engine="policy").first()
    return UsualPair(old, new) if old and new else None
