"""Stage 4: YAML, or lines of `key: value`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from processes.definition.stream import Unreadable, compose
from verification.engine.protocol.doubt import BROKEN_OFF, DISAGREE, UNCLEAR, Doubt
from verification.engine.protocol.mentions import all_mentions
from verification.engine.protocol.objects import closes_what_never_began
from verification.engine.protocol.prose import LIST_ITEM, fenced, is_quoted, without_fences
from verification.engine.protocol.reading import (
    CONFIDENCE,
    ISSUES,
    REPLY_KEYS,
    SUGGESTION,
    WHY,
    reply_of,
)
from verification.engine.protocol.reply import Reply
from verification.engine.protocol.shown import Shown
from verification.engine.protocol.verdict_line import check_beside
from verification.engine.protocol.words import CONFLICT, PASSED_KEYS, VERDICT_KEYS, plain_key
from verification.engine.protocol.wrappers import may_speak, replies_in

MAX_CHARS = 64_000
MAX_FENCES = 10
_LINE = re.compile(
    r"^[ \t]{0,3}(?:[-*+•][ \t]{1,3}|\|[ \t]{0,9})?[*_`\"']{0,3}([A-Za-z][A-Za-z _-]{0,30}?)[*_`\"']{0,3}"
    r"[ \t]{0,9}[:=：|][ \t]{0,9}[*_`\"']{0,3}([^\n]{0,2000}?)[*_`\"',|; \t]{0,9}$"
)
_KNOWN = REPLY_KEYS | PASSED_KEYS | VERDICT_KEYS | frozenset((*WHY, "token"))
_BARE_TAG = re.compile(r"(?:^|[:{,\[-])[ \t]{0,9}![ \t]", re.MULTILINE)
"""YAML drops it before a word, where a writer may mean that it turns the word round."""
_OF_A_TABLE = " \t|:-+"
_READ = frozenset((*CONFIDENCE, *ISSUES, *SUGGESTION))


def read(text: str, shown: Shown) -> Reply | None:
    """Read a mapping, or a block of lines that give a verdict and at least one thing more.

    Raises:
        Doubt: there is more than one verdict, or it is neither pass nor fail.
    """
    if not may_speak(text):
        return None
    found = [
        (reply_of(reply), rest)
        for document, rest in _documents(text, shown)
        for reply in replies_in(document)
        if _is_whole(reply)
    ]
    if not found:
        return None
    last = found[-1][0]
    if last is None or any(reply is None for reply, _ in found):
        raise Doubt(UNCLEAR)
    if last.passed and closes_what_never_began(text, 0):
        raise Doubt(BROKEN_OFF)
    said = {mention.truth for mention in all_mentions(text) if mention.is_of_the_whole}
    for reply, rest in found:
        if reply != last or (not last.passed) in said:
            raise Doubt(DISAGREE)
        check_beside(rest, last)
    return last


def _documents(text: str, shown: Shown) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each mapping, and the text beside it."""
    if isinstance(whole := _yaml(text), Mapping):
        if not shown.holds(text):
            yield whole, ""
        return
    bare = without_fences(text)
    for start, told in fenced(text)[:MAX_FENCES]:
        if is_quoted(text, start, len(text)) or shown.holds(told):
            continue
        if isinstance(found := _yaml(told), Mapping):
            yield found, bare
    for start, end in _blocks(bare):
        if not shown.holds(bare[start:end]):
            yield _of_lines(bare[start:end].split("\n")), bare[:start] + bare[end:]


def _is_whole(document: Mapping[str, Any]) -> bool:
    """Every key is one of a reply, so that no sentence with a colon is taken for one."""
    keys = {plain_key(key) for key in document}
    return keys <= _KNOWN and (bool(keys & PASSED_KEYS) or len(keys) > 1)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where lines with keys of a reply stand together.

    Blank lines may stand between them, and the items of a list below a key of issues.
    """
    first = end = count = at = 0
    is_listing = False
    for line in [*text.split("\n"), "end of text"]:
        found = _key_line(line)
        if found:
            first, count, end = first if count else at, count + 1, at + len(line)
            is_listing = _begins_a_list(found)
        elif is_listing and LIST_ITEM.match(line):
            end = at + len(line)
        elif line.strip(_OF_A_TABLE):
            if count > 1 and not is_quoted(text, first, end):
                yield first, end
            count, is_listing = 0, False
        at += len(line) + 1


def _key_line(line: str) -> re.Match[str] | None:
    found = _LINE.match(line)
    return found if found and plain_key(found[1]) in _KNOWN else None


def _begins_a_list(line: re.Match[str]) -> bool:
    return plain_key(line[1]) in ISSUES and not line[2].strip()


def _of_lines(block: Sequence[str]) -> dict[str, Any]:
    """Return what such lines say; whatever they say of single rules is there, and not read."""
    document: dict[str, Any] = {}
    items: list[str] | None = None
    for line in block:
        found = _key_line(line)
        if found is None:
            if items is not None and (item := LIST_ITEM.match(line)):
                items.append(item[1].strip())
            continue
        key = plain_key(found[1])
        items = [] if _begins_a_list(found) else None
        is_read = key in _READ | PASSED_KEYS | VERDICT_KEYS
        value: Any = (found[2].strip() if items is None else items) if is_read else ""
        document[key] = value if document.setdefault(key, value) == value else CONFLICT
    return document


def _yaml(text: str) -> Any:
    """The document as texts, lists and mappings; None: no YAML, or beyond a bound."""
    text = text.strip().removeprefix("---").removesuffix("---").removesuffix("...")
    if len(text) > MAX_CHARS or ":" not in text or _BARE_TAG.search(text):
        return None
    try:
        return _value(compose(text))
    except (Unreadable, yaml.YAMLError):
        return None


def _value(node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key, inner in node.value:
            name, value = str(key.value)[:200], _value(inner)
            found[name] = value if found.setdefault(name, value) == value else CONFLICT
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(inner) for inner in node.value]
    return str(node.value)
