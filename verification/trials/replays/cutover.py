"""Before a cutover the candidate is replayed over the whole corpus, the held set included."""

from __future__ import annotations

from loomverify.accounts.access import Access
from loomverify.accounts.models import Role
from verification.golden.models import OPEN_STATES, Replay, ReplayPurpose
from verification.golden.replays import services
from verification.trials.models import Trial
from verification.trials.selectors import corpus_terms, newest_cutover_replay


def replay_corpus(*, access: Access, trial: Trial) -> Replay:
    """Replay what the candidate would change: a process version alone, the cases of its process.

    One of just this that is under way is returned instead of a second one.

    Raises:
        Conflict: `replay.too_many` of this project are not over yet.
    """
    access.need(Role.EDITOR)
    process, version = corpus_terms(trial)
    return under_way(trial) or services.start(
        project=access.project,
        actor=access.actor,
        purpose=ReplayPurpose.CUTOVER,
        verifier=trial.candidate_verifier,
        process=process,
        process_version=version,
        is_over_all=process is None,
    )


def under_way(trial: Trial) -> Replay | None:
    """A replay for this cutover that is not over yet, over the cases as they are now."""
    return newest_cutover_replay(trial, OPEN_STATES)
