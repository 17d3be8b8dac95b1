"""What pages of other rooms show of reviews."""

from __future__ import annotations

from django import template
from django.utils import timezone

from verification.reviews.item import run_box as boxes
from verification.runs.models import Run

register = template.Library()


@register.simple_tag
def run_box(run: Run) -> boxes.RunBox | None:
    return boxes.run_box(run, timezone.now())
