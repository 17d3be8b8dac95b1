"""Words of the rule workbench."""

from __future__ import annotations

from django import template

from verification.engine.statistics.intervals import Interval

register = template.Library()


@register.simple_tag
def wrong_share(wrong: tuple[float, Interval]) -> str:
    """Of what a rule holds back, how much is wrong: `(share, interval)`, 0 to 1."""
    share, around = wrong
    return (
        f"{share:.0%} of what it newly speaks against is wrong, as far as people decided "
        f"({around.low:.0%} to {around.high:.0%})."
    )
