"""Who reviews: a person before a page, or a key that works for one."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from loomverify.accounts.access import Actor
from verification.runs.models import Review


def holder(actor: Actor) -> dict[str, Any]:
    """The columns of a review that this reviewer holds."""
    return {"claimed_by": actor.user, "claimed_key": actor.api_key}


def holds(review: Review, actor: Actor) -> bool:
    """Whether the claim is this reviewer's, whether or not its lease has run out."""
    mine = (actor.user.pk if actor.user else None, actor.api_key.pk if actor.api_key else None)
    return mine != (None, None) and mine == (review.claimed_by_id, review.claimed_key_id)


def held_by(actor: Actor) -> Q:
    """Reviews that this reviewer holds."""
    return Q(claimed_by=actor.user) if actor.user else Q(claimed_key=actor.api_key)


def reviewer(actor: Actor) -> dict[str, Any]:
    """The columns of a decision or a skip that say whose it is."""
    return {"reviewer": actor.user, "api_key": actor.api_key}
