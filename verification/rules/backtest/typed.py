"""The rule as somebody types it: the draft's file with the form's fields in it."""

from __future__ import annotations

from django.http import QueryDict

from loomverify.errors import InputError
from processes import rule_edits
from processes.definition.load import load
from processes.definition.patch import Append
from processes.forms import RuleForm
from processes.models import Draft
from processes.renames import published_name
from verification.rules.backtest.wish import Wish, wish_of


def wish_typed(draft: Draft, sent: QueryDict) -> Wish:
    """What the form says, stored or not; `seen_name` is the rule's name in the draft.

    Raises:
        InputError: what is typed is no whole rule yet.
    """
    text = rule_edits.text_of(draft.source_text)
    definition = text.definition
    seen = sent.get("seen_name", "")
    index = next((n for n, rule in enumerate(definition.rules) if rule.name == seen), None)
    rule = None if index is None else definition.rules[index]
    form = RuleForm(sent, definition=definition, rule=rule)
    if not form.is_valid():
        key, told = next(iter(form.errors.items()))
        label = form.fields[key].label or key if key in form.fields else ""
        raise InputError("rule.invalid", f"{str(label).capitalize()}: {told[0]}".lstrip(": "))
    if rule is None or index is None:
        added = rule_edits.new_rule(form.values())
        source = text.patched([Append(rule_edits.RULES, added)])
        return wish_of(draft.process, source, _last(source, str(added["name"])))
    source = text.patched(rule_edits.rule_edits(text, rule, form.values()))
    return wish_of(draft.process, source, index, replaces=published_name(draft, seen) or seen)


def _last(source: str, name: str) -> int:
    definition = load(source).definition
    names = [rule.name for rule in definition.rules] if definition else []
    if name not in names:
        raise InputError("draft.broken", "The YAML of the draft would hold errors.")
    return names.index(name)
