"""What lets a worker write for an evaluation, whoever the evaluation is for."""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol


class LeaseLost(Exception):
    """Another worker holds the work now, or nobody wants it: nothing more may be written for it."""


class DaySpent(LeaseLost):
    """The day's budgets leave no call for what is not a live run: it waits for another day."""


class Hold(Protocol):
    """A hold on the work that evaluations are made for: a run, or a comparison beside it."""

    @property
    def share_of_day(self) -> Decimal:
        """Up to which share of a day's budget it may ask judges; below 1, the rest is live runs'."""

    def check(self) -> None:
        """Look whether the work is still ours.

        Raises:
            LeaseLost: it is not, or nothing more may be paid for it.
        """

    def add_cost(self, evaluation_id: int, usd: Decimal) -> bool | None:
        """Enter what a call cost, and lock what its number is counted from.

        Call it in the transaction that writes the call. False: it was paid, and the work is no
        longer ours. None: there is nothing left to enter it for.
        """
