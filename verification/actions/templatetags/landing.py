"""What pages of other rooms show of changes to repositories."""

from __future__ import annotations

from django import template

from verification.actions.landing.page import Box, Row
from verification.actions.landing.selectors import actions_of_run
from verification.actions.models import Change
from verification.runs.models import Run

register = template.Library()


@register.simple_tag
def change_box(run: Run) -> Box | None:
    """A run's change and what became of it; None: it brings none."""
    change = Change.objects.select_related("repository").filter(run=run.pk).first()
    if change is None:
        return None
    return Box(change, [Row(action) for action in actions_of_run(run.pk)])
