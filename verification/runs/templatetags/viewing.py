"""The viewer of a pane, by the address of the page it stands on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from django import template

from verification.runs.material import Pane
from verification.runs.models import Run
from verification.runs.viewing.viewer import Viewer, viewer_of

register = template.Library()

AHEAD_SECONDS: Final = 1.5
"""Nobody waits yet for what is fetched ahead; soon somebody may."""


@register.simple_tag(takes_context=True)
def viewer(context: dict[str, Any], pane: Pane, run: Run) -> Viewer | None:
    """With the view, where it was made before; and where the page is fetched ahead, made now."""
    if pane.viewable is None:
        return None
    request = context["request"]
    where = (request.access.project.slug, run.uuid)
    if request.method != "POST":
        return viewer_of(where, pane.viewable, request.GET)
    made = viewer_of(where, pane.viewable, request.GET, seconds=AHEAD_SECONDS)
    is_there = made.opened is None or made.opened.is_lasting
    return made if is_there else replace(made, opened=None)
