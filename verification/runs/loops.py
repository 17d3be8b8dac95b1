"""What judging a task has cost, and may cost where its phase goes by a score."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Sum

from processes.definition.model import Phase
from verification.runs.models import Run


@dataclass(frozen=True, slots=True)
class LoopBudget:
    """Of all of a task's runs together, in US dollars."""

    task_id: int
    usd: Decimal

    @property
    def spent_usd(self) -> Decimal:
        spent = Run.objects.filter(task=self.task_id).aggregate(usd=Sum("cost_usd"))["usd"]
        return Decimal(spent or 0)

    def why_spent(self) -> str:
        """Why no judge is asked any more; '' while one may be."""
        spent = self.spent_usd
        if spent < self.usd:
            return ""
        told = f"${spent.normalize():f} of the ${self.usd.normalize():f}"
        return f"Judging this task has cost {told} that its loop may cost."


def budget_of(phase: Phase | None, task_id: int) -> LoopBudget | None:
    """None: judging may cost whatever the day's budgets hold."""
    if phase is None or phase.score is None or phase.score.budget_usd is None:
        return None
    return LoopBudget(task_id, Decimal(str(phase.score.budget_usd)))
