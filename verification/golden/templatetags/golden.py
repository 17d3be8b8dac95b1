"""What the pages of the corpus share."""

from __future__ import annotations

from typing import Any

from django import template

from verification.reviews.models import CaseDraft

register = template.Library()

DRAFT_CAP = 99


@register.simple_tag(takes_context=True)
def draft_count(context: dict[str, Any]) -> str:
    """How many drafts wait to be taken over, beside the tab's name; nothing where none does."""
    access = getattr(context.get("request"), "access", None)
    if access is None:
        return ""
    count = CaseDraft.objects.filter(project=access.project)[: DRAFT_CAP + 1].count()
    return f"{DRAFT_CAP}+" if count > DRAFT_CAP else str(count or "")
