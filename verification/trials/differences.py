"""On what the sides of a trial differ: by rule, and by kind of difference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.utils import timezone

from verification.trials.figures import COUNTED
from verification.trials.models import Origin, Trial

MAX_RULES = 50
MAX_KINDS = 100


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """A rule on which the sides differ: how often, and which way the verdict moved then."""

    rule: str
    count: int
    laxer: int
    stricter: int
    judged: int


def differences_by_rule(trial: Trial, origins: Iterable[Origin] = COUNTED) -> list[RuleDifference]:
    """The rules that differ most often first."""
    return [RuleDifference(*row) for row in _grouped(_BY_RULE, trial, origins, MAX_RULES)]


@dataclass(frozen=True, slots=True)
class KindDifference:
    """One known difference wherever it occurs in the trial. `until`: acknowledged up to then."""

    kind: str
    summary: str
    count: int
    laxer: int
    stricter: int
    judged: int
    until: datetime | None


def differences_by_kind(trial: Trial, origins: Iterable[Origin] = COUNTED) -> list[KindDifference]:
    """The kinds that occur most often first."""
    return [KindDifference(*row) for row in _grouped(_BY_KIND, trial, origins, MAX_KINDS)]


_COUNTS = """
    sum(count) as counted,
    coalesce(sum(count) filter (where diff_class = 'old_fail_new_pass'), 0) as laxer,
    coalesce(sum(count) filter (where diff_class = 'old_pass_new_fail'), 0) as stricter,
    coalesce(sum(count) filter (where judged <> ''), 0) as judged_ones
"""
_BY_RULE = f"""
    select rule, {_COUNTS}
    from trials_tally, unnest(rules) as rule
    where trial_id = %(trial)s and origin = any(%(origins)s)
    group by rule having sum(count) > 0 order by counted desc, rule limit %(limit)s
"""  # noqa: S608 - counts of our own
_BY_KIND = f"""
    select found.*, known.until
    from (
        select kind, min(summary) as summary, {_COUNTS}
        from trials_tally
        where trial_id = %(trial)s and origin = any(%(origins)s) and kind <> ''
        group by kind having sum(count) > 0 order by counted desc, kind limit %(limit)s
    ) found
    left join trials_acknowledgement known
      on known.trial_id = %(trial)s and known.kind = found.kind
     and known.withdrawn_at is null and known.until > %(now)s
    order by found.counted desc, found.kind
"""  # noqa: S608


def _grouped(
    statement: str, trial: Trial, origins: Iterable[Origin], limit: int
) -> list[tuple[Any, ...]]:
    given: dict[str, Any] = {
        "trial": trial.pk,
        "origins": [str(origin) for origin in origins],
        "limit": limit,
        "now": timezone.now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return list(cursor.fetchall())
