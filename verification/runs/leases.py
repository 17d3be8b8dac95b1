"""Who works on a run: claimed by compare-and-set, held by a lease, guarded by a fencing number."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from verification.runs import events, statements
from verification.runs.holding import LeaseLost
from verification.runs.models import Run, RunState

logger = logging.getLogger(__name__)

MAX_CLAIMS = 12
"""More claims than this mean that the run kills its workers."""


@dataclass(frozen=True, slots=True)
class Lease:
    """`claims` counts how often the evaluation under way was taken up, this time included."""

    run_id: int
    fence: int
    claims: int

    @property
    def is_first(self) -> bool:
        return self.fence == 1

    @property
    def is_last(self) -> bool:
        return self.claims >= MAX_CLAIMS

    @property
    def share_of_day(self) -> Decimal:
        return Decimal(1)

    def check(self) -> None:
        check(self)

    def add_cost(self, evaluation_id: int, usd: Decimal) -> bool | None:
        """It counts for the evaluation and for its run."""
        held = statements.one(
            statements.ADD_COST,
            run=self.run_id,
            fence=self.fence,
            evaluation=evaluation_id,
            cost_usd=usd,
        )
        return None if held is None else bool(held[0])

    def lengthen(self) -> None:
        hold(self)


def claim(run_id: int) -> Lease | None:
    """Take a due run. None: it is not due, not open, or another was faster."""
    now = timezone.now()
    row = statements.one(statements.CLAIM, run=run_id, now=now, until=until(now))
    return Lease(run_id, *row) if row else None


def hold(lease: Lease) -> None:
    """Lengthen the lease and lock the run's row until the transaction ends.

    Raises:
        LeaseLost: the fencing number is no longer ours.
    """
    lease_until = until(timezone.now())
    held = Run.objects.filter(pk=lease.run_id, fence=lease.fence, state=RunState.RUNNING).update(
        lease_until=lease_until, next_at=lease_until
    )
    if not held:
        raise LeaseLost(f"run {lease.run_id} fence {lease.fence}")


def check(lease: Lease) -> None:
    """Look whether the run is still ours to work on.

    Raises:
        LeaseLost: it was cancelled, or another worker holds it.
    """
    held = Run.objects.filter(pk=lease.run_id, fence=lease.fence, state=RunState.RUNNING)
    if not held.exists():
        raise LeaseLost(f"run {lease.run_id} fence {lease.fence}")


def give_back(lease: Lease, *, error: Exception) -> None:
    """After a fault of ours: let the run be taken again a little later, within bounds."""
    if lease.is_last:
        give_up(lease, f"{type(error).__name__} in the verifier, {lease.claims} times.")
        return
    later = timezone.now() + timedelta(seconds=min(60, 2**lease.claims))
    Run.objects.filter(pk=lease.run_id, fence=lease.fence, state=RunState.RUNNING).update(
        lease_until=None, next_at=later
    )


def give_up(lease: Lease, error_text: str) -> None:
    """End a run that cannot be verified: errored, which blames nobody."""
    now = timezone.now()
    with transaction.atomic():
        ended = Run.objects.filter(
            pk=lease.run_id, fence=lease.fence, state=RunState.RUNNING
        ).update(
            state=RunState.ERRORED,
            error_text=error_text[:500],
            reason_code="infra_verifier_error",
            severity_class="infra",
            next_at=None,
            lease_until=None,
            finished_at=now,
        )
        if ended:
            events.append(lease.run_id, [("verification_errored", {"error": error_text})], at=now)


class Lengthened(Protocol):
    """Something that is held for a time. It is told apart by what it is, or by what it says."""

    def __hash__(self) -> int: ...

    def lengthen(self) -> None:
        """Raises `LeaseLost`: there is nothing to hold any more."""


@dataclass(slots=True)
class _Heart:
    """One thread per worker process that lengthens the leases of what it works on."""

    leases: set[Lengthened] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopped: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def beat_forever(self) -> None:
        while not self.stopped.wait(settings.RUN_LEASE_SECONDS / 3):
            with self.lock:
                leases = list(self.leases)
            for lease in leases:
                try:
                    lease.lengthen()
                except LeaseLost:
                    self.drop(lease)
                except DatabaseError:
                    logger.warning("heartbeat_failed lease=%s", lease)
            connection.close()

    def keep(self, lease: Lengthened) -> None:
        with self.lock:
            self.leases.add(lease)
            if self.thread is None or not self.thread.is_alive():
                self.thread = threading.Thread(target=self.beat_forever, daemon=True)
                self.thread.start()

    def drop(self, lease: Lengthened) -> None:
        with self.lock:
            self.leases.discard(lease)


HEART = _Heart()


def until(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.RUN_LEASE_SECONDS)
