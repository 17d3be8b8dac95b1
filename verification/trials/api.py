"""`/api/v1/shadow/trials`: start, read, stop, replay, promote, roll back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router
from ninja.responses import Status

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project, Role
from loomverify.api import access_of, errors
from loomverify.errors import InputError, NotFound
from loomverify.paging import newest_first
from processes.models import Process, ProcessVersion
from processes.selectors import process_by_slug, version_by_number
from verification.runs.api import refuse_unknown_parameters
from verification.trials import rendering, schemas, selectors
from verification.trials.filters import ComparisonFilters
from verification.trials.models import Trial
from verification.trials.replays import cutover
from verification.trials.replays import services as replaying
from verification.trials.replays.selectors import progress, replay_of
from verification.trials.services import promoting, starting, stopping
from verification.verifiers.models import VerifierVersion

router = Router(tags=["Shadow"])
ALL = "/shadow/trials"
ONE = f"{ALL}/{{uuid:trial_id}}"


@router.post(
    ALL,
    response={201: schemas.TrialOut} | errors(403, 404, 409, 422),
    summary="Start a shadow trial",
)
def start_trial(request: HttpRequest, body: schemas.TrialWish) -> Status[dict[str, Any]]:
    """Takes runs that finish from now on, beside what judges them. At most ten run at once."""
    access = access_of(request)
    access.need(Role.EDITOR)
    project = access.project
    process = process_by_slug(project, body.process) if body.process else None
    trial = starting.start(
        access=access,
        baseline_verifier=_verifier(project, body.baseline_verifier),
        candidate_verifier=_verifier(project, body.candidate_verifier),
        baseline_process_version=_version(process, "baseline", body.baseline_process_version),
        candidate_process_version=_version(process, "candidate", body.candidate_process_version),
        process=process,
        sample_rate=body.sample_rate,
        aa_rate=body.aa_rate,
        budget_usd=body.budget_usd,
        ends_at=body.ends_at,
        title=body.title,
    )
    return Status(201, _whole(access, trial.uuid))


@router.get(ALL, response={200: schemas.TrialPage} | errors(400, 422), summary="Shadow trials")
def list_trials(request: HttpRequest, query: Query[schemas.TrialQuery]) -> dict[str, Any]:
    """Newest first. A parameter that is none of these is refused."""
    refuse_unknown_parameters(request, schemas.TrialQuery)
    wanted = query.dict(include={"state"}, exclude_none=True)
    rows = selectors.trials(access_of(request).project).filter(**wanted)
    page, following = newest_first(rows, cursor=query.cursor, limit=query.limit)
    return {"items": [rendering.summary(row) for row in page], "next": following}


@router.get(
    ONE, response={200: schemas.TrialOut} | errors(404), summary="A trial, its figures and gate"
)
def get_trial(request: HttpRequest, trial_id: UUID) -> dict[str, Any]:
    """Figures and gate count live and past runs; the golden corpus is a criterion of its own."""
    return _whole(access_of(request), trial_id)


@router.get(
    f"{ONE}/comparisons",
    response={200: schemas.ComparisonPage} | errors(400, 404, 422),
    summary="What a trial compared",
)
def list_comparisons(
    request: HttpRequest, trial_id: UUID, query: Query[schemas.ComparisonQuery]
) -> dict[str, Any]:
    """Newest first. A parameter that is none of these is refused."""
    refuse_unknown_parameters(request, schemas.ComparisonQuery)
    trial = selectors.trial_of(access_of(request).project, trial_id)
    filters = ComparisonFilters.of(query.dict())
    page, following = selectors.comparisons_page(
        trial, filters, cursor=query.cursor, limit=query.limit
    )
    return {"items": [rendering.comparison(trial, row) for row in page], "next": following}


@router.get(
    f"{ONE}/comparisons/{{uuid:comparison_id}}",
    response={200: schemas.ComparisonWhole} | errors(404),
    summary="One comparison with both sides' full results",
)
def get_comparison(request: HttpRequest, trial_id: UUID, comparison_id: UUID) -> dict[str, Any]:
    trial = selectors.trial_of(access_of(request).project, trial_id)
    return rendering.whole_comparison(trial, selectors.comparison_of(trial, comparison_id))


@router.post(
    f"{ONE}/stop",
    response={200: schemas.TrialStopped} | errors(403, 404, 409, 422),
    summary="Stop a trial and its replays",
)
def stop_trial(request: HttpRequest, trial_id: UUID, body: schemas.StopWish) -> dict[str, Any]:
    """What was compared stays. A standing trial ends with its flag."""
    access, trial = _found(request, trial_id, Role.EDITOR)
    stopped = stopping.stop(access=access, trial=trial, reason=body.reason)
    trial.refresh_from_db(fields=["state"])
    return {"id": trial.uuid, "state": trial.state, "stopped": stopped}


@router.post(
    f"{ONE}/replay",
    response={202: schemas.TrialReplayOut} | errors(403, 404, 409, 422),
    summary="Take a trial over past runs or over the golden corpus",
)
def replay_trial(
    request: HttpRequest, trial_id: UUID, body: schemas.TrialReplayWish
) -> Status[dict[str, Any]]:
    """A trial that is over may look back too. With nothing to compare it is over at once."""
    access, trial = _found(request, trial_id, Role.EDITOR)
    if body.origin == "past":
        replay = replaying.start_past(
            access=access, trial=trial,
            **body.dict(include={"since", "until", "limit", "phase"}),
        )  # fmt: skip
    else:
        replay = replaying.start_corpus(
            access=access, trial=trial, tags=body.tags, with_canary=body.canary
        )
    return Status(202, rendering.trial_replay(replay, progress(replay)))


@router.post(
    f"{ONE}/replays/{{uuid:trial_replay_id}}/cancel",
    response={200: schemas.TrialReplayOut} | errors(403, 404),
    summary="Cancel a replay of a trial that is not over",
)
def cancel_trial_replay(
    request: HttpRequest, trial_id: UUID, trial_replay_id: UUID
) -> dict[str, Any]:
    """What was compared stays, what waits goes. `cancelled` is false where it had ended before."""
    access, trial = _found(request, trial_id, Role.EDITOR)
    replaying.cancel(access=access, trial=trial, replay=trial_replay_id)
    replay = replay_of(access.project, trial, trial_replay_id)
    return rendering.trial_replay(replay, progress(replay))


@router.post(
    f"{ONE}/cutover-replay",
    response={202: schemas.CorpusReplay} | errors(403, 404, 409),
    summary="Replay the golden corpus by the candidate, for the gate",
)
def replay_cutover_corpus(request: HttpRequest, trial_id: UUID) -> Status[dict[str, Any]]:
    """The whole corpus, the held set too: what the criterion `corpus` asks for."""
    access, trial = _found(request, trial_id, Role.EDITOR)
    replay = cutover.replay_corpus(access=access, trial=trial)
    return Status(202, rendering.corpus_replay(replay))


@router.post(
    f"{ONE}/promote",
    response={200: schemas.TrialOut} | errors(403, 404, 409, 422),
    summary="Let the candidate judge runs from now on",
)
def promote_trial(
    request: HttpRequest, trial_id: UUID, body: schemas.PromoteWish
) -> dict[str, Any]:
    """409 `trial.gate_closed` or `trial.gate_insufficient_data` names what does not hold.

    409 `golden.regressed` or `golden.not_replayed`: give `corpus_reason`, or replay first.
    """
    access, trial = _found(request, trial_id, Role.ADMIN)
    promoting.promote(access=access, trial=trial, **body.dict())
    return _whole(access, trial_id)


@router.post(
    f"{ONE}/roll-back",
    response={200: schemas.TrialOut} | errors(403, 404, 409, 422),
    summary="Let judge again what did before the promotion",
)
def roll_back_trial(
    request: HttpRequest, trial_id: UUID, body: schemas.RollBackWish
) -> dict[str, Any]:
    """409 `trial.live_changed` where something else judges runs by now."""
    access, trial = _found(request, trial_id, Role.ADMIN)
    promoting.roll_back(access=access, trial=trial, reason=body.reason)
    return _whole(access, trial_id)


def _found(request: HttpRequest, trial_id: UUID, needed: Role) -> tuple[Access, Trial]:
    access = access_of(request)
    access.need(needed)
    return access, selectors.trial_of(access.project, trial_id)


def _whole(access: Access, trial_id: UUID) -> dict[str, Any]:
    return rendering.whole(selectors.trial_of(access.project, trial_id))


def _verifier(project: Project, number: int | None) -> VerifierVersion | None:
    if number is None:
        return None
    found = VerifierVersion.objects.filter(project=project, number=number).first()
    if found is None:
        raise NotFound("verifier.unknown", f"There is no verifier version {number}.")
    return found


def _version(process: Process | None, side: str, number: int | None) -> ProcessVersion | None:
    if number is None:
        return None
    if process is None:
        place = ("body", f"{side}_process_version")
        raise InputError("trial.no_process", "Say of which process.", loc=place)
    return version_by_number(process, number)
