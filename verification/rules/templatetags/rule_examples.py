from __future__ import annotations

from typing import Any

from django import template

from processes.definition.model import Rule
from processes.models import Process
from verification.rules.examples.listing import listing

register = template.Library()


@register.inclusion_tag("rules/_pins.html")
def rule_pins(process: Process, name: str, rule: Rule | None, formerly: str = "") -> dict[str, Any]:
    """The pins of a rule, also under its former name, each with what `rule` says of it."""
    return {"shown": listing(process, name, rule, formerly)}
