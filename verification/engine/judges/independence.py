"""Which judges are asked, so that no model judges its own work."""

from __future__ import annotations

from dataclasses import dataclass

from verification.engine.case import Case


@dataclass(frozen=True, slots=True)
class Seat:
    """`is_independent` is False where the judge is the model that did the work."""

    judge: str
    is_independent: bool = True


def first_seat(case: Case) -> Seat:
    """Seat the primary; where it did the work, the alternate; with none, the primary afresh."""
    return _seated(case, case.verifier.models.primary)


def seats(case: Case) -> tuple[Seat, ...]:
    """Seat those who vote: the panel where there is one, else one judge so often as asked."""
    models = case.verifier.models
    if models.panel:
        return tuple(_seated(case, judge) for judge in models.panel)
    return (first_seat(case),) * max(1, case.verifier.flags.tier3_vote_count)


def is_same_model(one: str, other: str) -> bool:
    """Compare names of models, whoever offers them: `openai/gpt-x` is `gpt-x`."""
    return bool(one) and _bare(one) == _bare(other)


def _seated(case: Case, judge: str) -> Seat:
    models = case.verifier.models
    for one in (judge, models.alternate, models.primary):
        if one and not _did_the_work(case, one):
            return Seat(one)
    return Seat(judge, is_independent=False)


def _did_the_work(case: Case, judge: str) -> bool:
    executor = case.submission.executor_model
    return is_same_model(executor, case.judge_models.get(judge, judge))


def _bare(model: str) -> str:
    return model.strip().rpartition("/")[2].casefold()
