"""What a row of the rules' or phases' list changes: one field, or its place. Text in, text out.

Each change names its rule or phase, so that it is right whatever else was edited meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from loomverify.errors import Conflict, InputError
from processes.definition import patterns
from processes.definition.model import Rule, RuleType
from processes.definition.patch import Move, Path
from processes.phase_edits import phase_at
from processes.rule_edits import PHASES, path_of, rule_edits, text_of


def fields_set(
    source: str, *, index: int, name: str, fields: Mapping[str, str], seen: Mapping[str, str]
) -> str:
    """Give fields of one rule these values, in the place of those that were `seen`.

    Raises:
        InputError: the text is broken, or a text that is no pattern would become one.
        Conflict: the rule is gone, or such a field says something else by now.
    """
    text = text_of(source)
    rule = text.rule(index, name)
    for field, value in fields.items():
        _need_as_seen(rule, field, {seen[field], value})
    if fields.get("type") == RuleType.REGEX and rule.type is not RuleType.REGEX:
        _need_pattern(name, rule.check, line=text.definition.place(f"{rule.path}.check")[0])
    return text.patched(rule_edits(text, rule, fields))


def _need_as_seen(rule: Rule, field: str, known: Collection[str]) -> None:
    now = str(getattr(rule, field) or "")
    if now not in known:
        raise Conflict(
            "draft.stale",
            f"Of {rule.name!r}, {field} was set to {now or 'usual'} in another window meanwhile. "
            "Nothing was changed: choose again.",
        )


def _need_pattern(name: str, check: str, *, line: int) -> None:
    if problem := patterns.problem_of(check):
        place = f", column {problem.column} of the pattern" if problem.column else ""
        raise InputError(
            "rule.pattern.unsupported",
            f"{name!r} cannot be a pattern: {problem.message} (line {line}{place}) "
            "Edit the rule, and change both together.",
        )


def rule_moved(source: str, *, index: int, name: str, step: int) -> str:
    """Move a rule up (-1) or down (1); at the end of its list it stays."""
    text = text_of(source)
    path = path_of(text.rule(index, name).path)
    return _moved(source, path, int(path[-1]) + step)


def rule_moved_to(source: str, *, rule: tuple[int, str], beside: tuple[int, str]) -> str:
    """Put a rule in the place of another, which makes room for it. Both: number and name.

    Raises:
        InputError: `rule.other_list`, the two do not stand in the same list.
        Conflict: one of them is gone.
    """
    text = text_of(source)
    path = path_of(text.rule(*rule).path)
    target = path_of(text.rule(*beside).path)
    if path[:-1] != target[:-1]:
        raise InputError(
            "rule.other_list",
            "Rules and semantic checks stand in lists of their own: a rule moves within its list.",
        )
    return _moved(source, path, int(target[-1]))


def phase_moved(source: str, *, name: str, step: int) -> str:
    """Move a phase up or down."""
    return _moved(source, (*PHASES, (at := phase_at(text_of(source), name))), at + step)


def phase_moved_to(source: str, *, name: str, beside: str) -> str:
    text = text_of(source)
    return _moved(source, (*PHASES, phase_at(text, name)), phase_at(text, beside))


def _moved(source: str, path: Path, to: int) -> str:
    text = text_of(source)
    length = len(text.written(path[:-1]) or ())
    to = min(max(to, 0), length - 1)
    return text.patched([Move(path, to)]) if to != path[-1] else source
