"""Rules that a draft or a version calls otherwise than what is published."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loomverify.accounts.access import Actor
from processes.definition.load import load
from processes.definition.model import Definition, Rule
from processes.definition.renaming import renamed
from processes.models import Draft, Process
from processes.selectors import definition_of

Follow = Callable[[Process, Mapping[str, str], Actor], None]

RENAMED: list[Follow] = []
"""Rooms above that keep something by a rule's name register here.

They are told old names by new ones, in the transaction that publishes the new names.
"""


def renamed_in(process: Process, definition: Definition) -> dict[str, str]:
    """By the new name of each rule that was renamed, the one that is published."""
    if process.published_id is None:
        return {}
    return renamed(definition_of(process.published_id), definition)


def published_name(draft: Draft, name: str) -> str:
    """Under which name a draft's rule is published; '' where it is new."""
    found = published_rule(draft, name)
    return found.name if found else ""


def published_rule(draft: Draft, name: str) -> Rule | None:
    """What a draft's rule says as it is published, perhaps under another name; None: it is new."""
    published_id = draft.process.published_id
    if not name or published_id is None:
        return None
    rules = {rule.name: rule for rule in reversed(definition_of(published_id).rules)}
    if name not in rules and (definition := load(draft.source_text).definition):
        name = renamed_in(draft.process, definition).get(name, "")
    return rules.get(name)


def tell(process: Process, definition: Definition, actor: Actor) -> None:
    """Tell who registered what a definition renames that is about to be published."""
    if names := renamed_in(process, definition):
        for follow in RENAMED:
            follow(process, names, actor)
