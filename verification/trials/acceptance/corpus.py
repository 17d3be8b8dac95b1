"""Golden cases behind the targets: the last replay of the whole corpus by what judges runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KT, KeyTransform

from verification.engine.finding import TraceReason, TraceVerdict
from verification.engine.golden.scores import expected_verdict
from verification.engine.outcome import FindingVerdict, Verdict
from verification.golden.models import Replay, ReplayResult, ReplayState
from verification.golden.replays import selectors as replays
from verification.trials.acceptance.behind import Which
from verification.trials.acceptance.measures import FalseFails
from verification.trials.acceptance.scope import Scope
from verification.trials.acceptance.structural import (
    is_structural_legacy,
    is_structural_replayed,
)

REJECT = Verdict.REJECT.value
HEAVY = ("observed", "played", "differences", "case_version__spec", "case_version__likeness")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Results by their keys. `known` expect a verdict, and both engines gave one."""

    replay: Replay | None = None
    judged: Sequence[int] = ()
    cross_phase: Sequence[int] = ()
    known: Sequence[int] = ()
    old_false: frozenset[int] = field(default=frozenset())
    new_false: frozenset[int] = field(default=frozenset())

    @property
    def false_fails(self) -> FalseFails:
        kept = len(self.old_false & self.new_false)
        return FalseFails(
            len(self.known), len(self.old_false) - kept, kept, len(self.new_false) - kept
        )

    def false_fail_rows(self, which: Which) -> QuerySet[ReplayResult]:
        found: dict[Which, Collection[int]] = {
            Which.COUNTED: self.new_false,
            Which.ALL: self.old_false,
            Which.KNOWN: self.known,
        }
        return _rows(found[which]).defer(*HEAVY)

    def cross_phase_rows(self, which: Which) -> QuerySet[ReplayResult]:
        crossing = set(self.cross_phase)
        rest = [pk for pk in self.judged if pk not in crossing]
        found: dict[Which, Collection[int]] = {
            Which.COUNTED: self.cross_phase,
            Which.ALL: self.judged,
            Which.REST: rest,
        }
        return _rows(found[which]).defer(*HEAVY, "legacy")


def _rows(keys: Collection[int]) -> QuerySet[ReplayResult]:
    rows = ReplayResult.objects.filter(pk__in=list(keys))
    return rows.select_related("replay", "case", "case_version")


def last_replay(scope: Scope) -> Replay | None:
    """By the verifier that judges now: one of before an activation says nothing of it."""
    rows = replays.replays(scope.project).filter(
        state=ReplayState.FINISHED,
        is_live_line=True,
        verifier_version__is_active=True,
        process=None,
        tags=[],
        total__gt=0,
    )
    return rows.first()


def corpus(scope: Scope) -> Corpus:
    replay = last_replay(scope)
    if replay is None:
        return Corpus()
    rows = ReplayResult.objects.filter(replay=replay, missing=0).exclude(verdict="")
    if scope.process:
        rows = rows.filter(case__process=scope.slug)
    rows = rows.annotate(
        expected=KeyTransform("expected", "case_version__spec"),
        rules=KeyTransform("rules", "observed"),
        found=KeyTransform("findings", "observed"),
        tiers=KeyTransform("tiers", "observed"),
        old=KT("legacy__verdict"),
        old_reason=KT("legacy__reason_code"),
        old_missing=KT("legacy__missing"),
    )
    names = ("pk", "verdict", "reason_code", "expected", "rules", "found", "tiers", "old",
             "old_reason", "old_missing", "played")  # fmt: skip
    read = list(rows.order_by("pk").values(*names).iterator(chunk_size=1000))
    known = [one for one in read if _is_known(one)]
    good = [one for one in known if expected_verdict(one["expected"] or {}) is Verdict.ACCEPT]
    return Corpus(
        replay,
        judged=[one["pk"] for one in read],
        cross_phase=[one["pk"] for one in read if one["verdict"] == REJECT and _crosses(one)],
        known=[one["pk"] for one in known],
        old_false=frozenset(one["pk"] for one in good if _is_false(one, is_old=True)),
        new_false=frozenset(one["pk"] for one in good if _is_false(one, is_old=False)),
    )


def _is_known(one: Mapping[str, Any]) -> bool:
    wanted = expected_verdict(one["expected"] or {})
    decided = (Verdict.ACCEPT.value, REJECT)
    is_heard = one["old"] in decided and not int(one["old_missing"] or 0)
    return wanted in decided and is_heard and one["verdict"] in decided


def _is_false(one: Mapping[str, Any], *, is_old: bool) -> bool:
    """Of good work: rejected for its form."""
    if is_old:
        reason = one["old_reason"] or ""
        return one["old"] == REJECT and is_structural_legacy(reason, one["played"] or ())
    is_form = is_structural_replayed(one["reason_code"], one["tiers"] or ())
    return one["verdict"] == REJECT and is_form


def _crosses(one: Mapping[str, Any]) -> bool:
    """A rule of another phase was applied and violated, or found something though it was not."""
    rules = one["rules"] or {}
    elsewhere = {
        entry["rule"]
        for entry in rules.get("skipped", ())
        if entry.get("reason") == TraceReason.OTHER_PHASE
    }
    applied = any(
        entry.get("reason") == TraceReason.GLOBAL_SCOPE
        and entry.get("verdict") == TraceVerdict.VIOLATED
        for entry in rules.get("applied", ())
    )
    return applied or any(
        entry.get("rule") in elsewhere and entry.get("verdict") == FindingVerdict.VIOLATED
        for entry in one["found"] or ()
    )
