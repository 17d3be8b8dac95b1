"""What a promotion would change, and what is said of that before it is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loomverify.errors import Conflict
from loomverify.guarding import Word
from processes.guards import PUBLISHING, Publication
from processes.models import Process, ProcessVersion
from verification.engine.cutover import CriterionState, Gate
from verification.golden.guards.words import REGRESSED
from verification.trials import selectors
from verification.trials.figures import COUNTED
from verification.trials.models import Comparison, Trial
from verification.trials.services.starting import live_verifier, same_verifiers
from verification.verifiers.guards import ACTIVATING
from verification.verifiers.models import VerifierVersion


@dataclass(frozen=True, slots=True)
class Cutover:
    """What a promotion changes; None: not that. `before` judges up to now, `after` from then on."""

    verifier: tuple[VerifierVersion, VerifierVersion] | None
    process: tuple[ProcessVersion, ProcessVersion] | None

    def as_json(self) -> dict[str, Any]:
        """As `Trial.promotion` keeps it, by numbers."""
        told: dict[str, Any] = {}
        if self.verifier:
            before, after = self.verifier
            told["verifier"] = {"before": before.number, "after": after.number}
        if self.process:
            old, new = self.process
            slug = new.process.slug
            told["process"] = {"slug": slug, "before": old.number, "after": new.number}
        return told


def cutover_of(trial: Trial) -> Cutover:
    """What has to change, while the baseline is still what judges.

    Raises:
        Conflict: `trial.live_changed`, `trial.already_live`, `trial.same_but_program`,
            `trial.same_but_standing`.
    """
    now = live_verifier(trial.project)
    old, new = trial.baseline_verifier, trial.candidate_verifier
    pair = _process_pair(trial)
    is_other = old.pk != new.pk
    if now.pk == new.pk and pair is None:
        raise Conflict("trial.already_live", f"Runs are judged by {now} already.")
    if now.pk != old.pk:
        raise Conflict(
            "trial.live_changed",
            f"Runs are judged by {now} now, which is not this trial's baseline, {old}.",
        )
    same = same_verifiers(old, new) if is_other and pair is None else None
    if same is not None:
        raise Conflict(same.code, same.msg)
    return Cutover((old, new) if is_other else None, pair)


def _process_pair(trial: Trial) -> tuple[ProcessVersion, ProcessVersion] | None:
    """The published version and the one that is to be; None: that stays as it is."""
    old, new = trial.baseline_process_version, trial.candidate_process_version
    version = new or old
    if version is None:
        return None
    published = Process.objects.select_related("published").get(pk=version.process_id).published
    if published is None or (old is not None and published.pk != old.pk):
        if published is not None and new is not None and published.pk == new.pk:
            raise Conflict("trial.already_live", f"Runs are judged by {new} already.")
        raise Conflict(
            "trial.live_changed",
            f"Runs are judged by {published} now, which is not this trial's baseline, {old}.",
        )
    return None if new is None or new.pk == published.pk else (published, new)


def heard_already(trial: Trial, cutover: Cutover, gate: Gate) -> str:
    """The corpus was replayed for the cutover, the held set too: that is what guards ask for.

    Where both change, it was replayed by both. Where a guard knows of a later replay in which
    cases regressed, nothing has answered it.
    """
    holds = {one.name for one in gate.criteria if one.state is CriterionState.HOLDS}
    replay = selectors.cutover_replay(trial) if "corpus" in holds else None
    if replay is None:
        return ""
    objections = (word.objection for word in words_of(cutover))
    if any(one is not None and one.code == REGRESSED for one in objections):
        return ""
    return f"Replayed for the cutover: of {replay.total:,} cases none regressed ({replay.uuid})."


def not_compared(trial: Trial, cutover: Cutover) -> list[str]:
    """Processes that a new verifier would judge as well, and of which the trial saw no run."""
    if cutover.verifier is None:
        return []
    pairs = Comparison.objects.filter(trial=trial, origin__in=COUNTED).exclude(diff_class="")
    published = trial.project.processes.filter(published__isnull=False)
    others = published.exclude(slug__in=pairs.order_by().values("process").distinct())
    return list(others.order_by("slug").values_list("slug", flat=True))


def words_of(cutover: Cutover) -> list[Word]:
    """What the guards of publishing and activating say of it."""
    words: list[Word] = []
    if cutover.process:
        version = cutover.process[1]
        words += PUBLISHING.words(Publication(version.process, version.source_text, version))
    if cutover.verifier:
        words += ACTIVATING.words(cutover.verifier[1])
    return words
