"""A pattern that rejects work should have been tried on history first."""

from __future__ import annotations

from collections.abc import Iterator

from processes.definition.model import Definition, Enforcement, Problem, Rule, RuleType
from processes.models import Process
from verification.rules.backtest.wish import speaks
from verification.rules.models import Backtest
from verification.runs.models import Run, RunState


def never_tried(process: Process, definition: Definition) -> Iterator[Problem]:
    """Whatever its name was then: what counts is what it looks for.

    Where nothing has run yet, in no phase where it speaks, there is nothing to try it on.
    """
    hard = [rule for rule in definition.rules if _rejects(rule)]
    hard = [rule for rule in hard if _has_run(process, definition, rule)] if hard else []
    if not hard:
        return
    wanted = {rule.looks_for_sha256 for rule in hard}
    rows = Backtest.objects.filter(process=process, looks_for_sha256__in=wanted)
    tried = set(rows.values_list("looks_for_sha256", flat=True))
    for rule in hard:
        if rule.looks_for_sha256 not in tried:
            told = f"The rule {rule.name!r} rejects work, and was never tried on past runs."
            yield Problem("rule.never_tried", told, f"{rule.path}.check")


def _has_run(process: Process, definition: Definition, rule: Rule) -> bool:
    phases = [phase.id for phase in definition.phases if speaks(definition, rule, phase)]
    runs = Run.objects.filter(process=process, phase_id__in=phases, state=RunState.FINISHED)
    return runs.exists()


def _rejects(rule: Rule) -> bool:
    return rule.type is RuleType.REGEX and rule.usual_enforcement is Enforcement.HARD
