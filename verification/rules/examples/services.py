from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, NotFound
from processes.models import Process, Rule
from verification.rules.examples.selectors import rule_row
from verification.rules.examples.sources import Source, pinnable, text_of
from verification.rules.models import Expected, Pin
from verification.runs.intake.redaction import Redaction
from verification.runs.storable import storable

MAX_PINS = 50


@dataclass(frozen=True, slots=True)
class Pinned:
    pin: Pin
    is_new: bool


def pin(
    *,
    access: Access,
    process: Process,
    name: str,
    expected: Expected,
    text: str = "",
    source: Source | None = None,
    note: str = "",
) -> Pinned:
    """Keep a copy of a text that a rule must speak against, or let pass.

    A rule that stands in one's draft alone is known by its name from then on. The same text
    again is the pin that is there.

    Raises:
        NotFound: `rule.unknown`
        Conflict: `example.contradicts`, `example.too_many`
        InputError: no text that could be pinned.
    """
    access.need(Role.EDITOR)
    redaction = Redaction(access.project.redaction_patterns)
    kept = redaction.json(text_of(source) if source else pinnable(text))
    note = redaction.json(storable(note))
    place = {"run": source.run, "path": source.path, "evidence": source.evidence} if source else {}
    with transaction.atomic():
        rule = _locked(rule_row(process, name, access.actor.user))
        process.refresh_from_db(fields=["published"])
        rule_row(process, name, access.actor.user)  # it may have been renamed while we waited
        same = _need_room(rule, kept, expected)
        if same is not None:
            return Pinned(same, is_new=False)
        made = Pin.objects.create(
            rule=rule,
            expected=expected,
            text=kept,
            note=note.strip()[:300],
            created_by=access.actor.name[:200],
            **place,
        )
        _record(access, "example.pinned", made, process, [None, expected.label])
    return Pinned(made, is_new=True)


def take_away(*, access: Access, pin: UUID) -> Pin:
    """Take a pin away; it can be taken back. Once more changes nothing.

    Raises:
        NotFound: the project has no such pin.
    """
    access.need(Role.EDITOR)
    with transaction.atomic():
        found = pin_named(access, pin)
        there = Pin.objects.filter(pk=found.pk, removed_at__isnull=True)
        if there.update(removed_at=timezone.now()):
            process = found.rule.process
            _record(access, "example.removed", found, process, [found.get_expected_display(), None])
    return found


def take_back(*, access: Access, pin: UUID) -> Pin:
    """Bring back a pin that was taken away.

    Raises:
        NotFound: the project has no such pin.
        Conflict: `example.contradicts`, `example.too_many`
    """
    access.need(Role.EDITOR)
    with transaction.atomic():
        _locked(pin_named(access, pin).rule)
        found = pin_named(access, pin)  # a publication may have moved it while we waited
        if _need_room(found.rule, found.text, Expected(found.expected)) is None:
            Pin.objects.filter(pk=found.pk).update(removed_at=None)
            process = found.rule.process
            _record(
                access, "example.restored", found, process, [None, found.get_expected_display()]
            )
    return found


def pin_named(access: Access, pin: UUID) -> Pin:
    rows = Pin.objects.select_related("rule__process__project")
    found = rows.filter(uuid=pin, rule__process__project=access.project).first()
    if found is None:
        raise NotFound("example.unknown", "There is no such example.")
    return found


def _locked(rule: Rule) -> Rule:
    """The rule's row, made where there is none; nobody else pins to it meanwhile."""
    Rule.objects.bulk_create([Rule(process=rule.process, name=rule.name)], ignore_conflicts=True)
    return Rule.objects.select_for_update().get(process=rule.process, name=rule.name)


def _need_room(rule: Rule, text: str, expected: Expected) -> Pin | None:
    """Return the pin that says just this, if there is one."""
    living = Pin.objects.filter(rule=rule, removed_at__isnull=True)
    for one in living.filter(text=text):
        if one.expected == expected:
            return one
        message = f"The same text is pinned to this rule already: {one.get_expected_display()}."
        raise Conflict("example.contradicts", message, loc=("body", "expected"))
    if living.count() >= MAX_PINS:
        message = f"A rule may have {MAX_PINS} pinned examples: take one away first."
        raise Conflict("example.too_many", message, loc=("body",))
    return None


def _record(
    access: Access, verb: str, pin: Pin, process: Process, change: list[str | None]
) -> None:
    diff = {"expected": change, "process": [None, process.slug]}
    record(access.actor, verb, pin, project=process.project, diff=diff, reason=pin.note)
