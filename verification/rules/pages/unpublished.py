"""What is known of a rule that no stored version has: it stands in drafts alone, or did."""

from __future__ import annotations

from dataclasses import dataclass

from loomverify.accounts.models import User
from processes import selectors
from processes.definition.load import load
from processes.definition.model import Definition, Rule
from processes.models import Draft, Process
from processes.renames import renamed_in
from verification.rules.examples.selectors import pins_of
from verification.rules.models import Backtest


@dataclass(frozen=True, slots=True)
class Unpublished:
    """`rule` is what the reader's own draft says, at `index`; drafts of others are their own.

    `definition` is that draft's, where it loads. `formerly`: under which name it is published, '' where it is new.
    """

    name: str
    draft: Draft | None
    definition: Definition | None
    rule: Rule | None
    index: int | None
    formerly: str
    backtest: Backtest | None


def unpublished(process: Process, name: str, user: User | None) -> Unpublished | None:
    """`user`: whose draft is looked at, None: nobody's. None: nothing at all is known of it."""
    draft = selectors.draft_of(process, user) if user else None
    definition = load(draft.source_text).definition if draft else None
    rules = definition.rules if definition else ()
    index = next((at for at, rule in enumerate(rules) if rule.name == name), None)
    tried = Backtest.objects.filter(process=process, rule=name).order_by("-tried_at")
    backtest = tried.first() if user else None
    if index is None and backtest is None and not pins_of(process, [name]).exists():
        return None
    return Unpublished(
        name=name,
        draft=draft,
        definition=definition,
        rule=None if index is None else rules[index],
        index=index,
        formerly=renamed_in(process, definition).get(name, "") if definition else "",
        backtest=backtest,
    )
