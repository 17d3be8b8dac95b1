from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from loomverify.accounts.models import User
from loomverify.errors import NotFound
from processes.definition.load import load
from processes.definition.model import Definition, Rule
from processes.models import Draft, Process
from processes.models import Rule as RuleName
from processes.selectors import definition_of
from processes.services import newest_version
from verification.rules.models import Pin


@dataclass(frozen=True, slots=True)
class Stand:
    """What a process says, and where it says that."""

    words: str
    definition: Definition
    draft: Draft | None = None

    def rule(self, name: str) -> Rule | None:
        return next((rule for rule in self.definition.rules if rule.name == name), None)


def stand_of(process: Process, user: User | None = None) -> Stand:
    """Return what one's own draft says, where it loads; else what is published, else the newest.

    Raises:
        NotFound: the process has no version yet.
    """
    draft = _draft(process, user)
    definition = load(draft.source_text).definition if draft else None
    if definition:
        return Stand("your draft", definition, draft)
    version = process.published or newest_version(process)
    return Stand(f"v{version.number}", definition_of(version.pk))


def pins_of(process: Process, names: Iterable[str]) -> QuerySet[Pin]:
    """Return what is pinned to rules of these names, newest first."""
    found = Pin.objects.filter(
        rule__process=process, rule__name__in=list(names), removed_at__isnull=True
    )
    return found.select_related("rule", "run").defer(*HEAVY).order_by("-id")


HEAVY = ("run__search", "run__result")


def rule_row(process: Process, name: str, user: User | None = None) -> RuleName:
    """Return a rule by its name; it need not be stored yet where one's draft has it.

    Raises:
        NotFound: no version and no draft of this person has a rule of this name.
    """
    usable = bool(name) and "\0" not in name and len(name) <= 200 and _is_whole(name)
    found = RuleName.objects.filter(process=process, name=name).first() if usable else None
    if found is None and not (usable and stand_of(process, user).rule(name)):
        shown = name[:80].encode(errors="replace").decode()
        raise NotFound("rule.unknown", f"{process} has no rule {shown!r}.")
    return found or RuleName(process=process, name=name)


def _draft(process: Process, user: User | None) -> Draft | None:
    if user is None:
        return None
    return process.drafts.filter(editor=user, discarded_at__isnull=True).first()


def _is_whole(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
