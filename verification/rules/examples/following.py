"""Pins go with a rule that is renamed, as its new name is published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from processes.models import Process, Rule
from processes.renames import RENAMED
from verification.rules.examples.services import MAX_PINS
from verification.rules.models import Pin


def follow(process: Process, renamed: Mapping[str, str], actor: Actor) -> None:
    """Runs within the transaction that publishes. What the new name has already stays behind."""
    names = {*renamed, *renamed.values()}
    locked = Rule.objects.select_for_update().filter(process=process, name__in=names)
    rows = {row.name: row for row in locked.order_by("pk")}
    for new, old in renamed.items():
        if old in rows and new in rows:
            _move(process, rows[old], rows[new], actor)


def register() -> None:
    RENAMED.append(follow)


def _move(process: Process, old: Rule, new: Rule, actor: Actor) -> None:
    living = Pin.objects.filter(removed_at__isnull=True)
    there = living.filter(rule=new)
    going = living.filter(rule=old).exclude(text__in=there.values("text")).order_by("-pk")
    room = max(0, MAX_PINS - there.count())
    moved = Pin.objects.filter(pk__in=list(going.values_list("pk", flat=True)[:room]))
    Pin.objects.filter(rule=old, removed_at__isnull=False).update(rule=new)
    if count := moved.update(rule=new):
        diff: dict[str, list[Any]] = {"rule": [old.name, new.name], "pins": [None, count]}
        record(actor, "examples.followed", process, project=process.project, diff=diff)
