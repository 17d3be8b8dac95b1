"""Why a reviewer can take nothing, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, Exists, Q
from django.utils import timezone

from loomverify.accounts.access import Access
from verification.reviews.queue.rows import decided_by
from verification.reviews.queue.selectors import QueueFilters, matching
from verification.reviews.reviewers import held_by
from verification.runs.models import ReviewState

NOTHING_WAITS = "Nothing waits for a person."
NOTHING_FITS = "Nothing that waits fits these filters."


def why_nothing(access: Access, filters: QueueFilters) -> str:
    """Say what keeps the reviews that wait from this reviewer."""
    now, actor = timezone.now(), access.actor
    waiting = matching(access.project, filters, user=actor.user).filter(state=ReviewState.PENDING)
    decided = Exists(decided_by(actor))
    held = Q(lease_until__gt=now) & ~held_by(actor)
    others = Q(assigned_to__isnull=False)
    if actor.user is not None:
        others &= ~Q(assigned_to=actor.user)
    counts = waiting.order_by().aggregate(
        all=Count("pk"),
        decided=Count("pk", filter=Q(decided)),
        held=Count("pk", filter=~Q(decided) & held),
        assigned=Count("pk", filter=~Q(decided) & ~held & others),
    )
    if not counts["all"]:
        return NOTHING_FITS if filters.given() else NOTHING_WAITS
    said = ", ".join(_parts(counts))
    return f"Nothing is left that you can take: {said}." if said else NOTHING_WAITS


def _parts(counts: dict[str, int]) -> Iterator[str]:
    decided, held, assigned = counts["decided"], counts["held"], counts["assigned"]
    if held:
        yield f"{held} {'is' if held == 1 else 'are'} with somebody else now"
    if assigned:
        yield f"{assigned} {'is' if assigned == 1 else 'are'} assigned to somebody else"
    if decided:
        yield f"you have decided {decided} that another person still looks at"
