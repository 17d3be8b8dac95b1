"""The bytes of a lock file as text, JSON, TOML or YAML, bounded in size, depth and entries."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import re2
import yaml

from verification.engine.advisories.model import MAX_LOCK_BYTES, BeyondBounds
from verification.engine.reports.model import Unreadable

MAX_PARTS = 1_000_000
MAX_DEPTH = 60
MAX_LINE_CHARS = 20_000
# A key of so many parts takes the reader quadratic time; no lock file's is so deep.
_DEEP_KEY = re2.compile(r"""(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){20}""")
# A text without an end goes to the end: nothing is looked at twice.
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*"?)|,(\s*[}\]])', re.DOTALL)
_ELSEWHERE = re2.compile(
    r"(?:git|hg|svn|bzr)(?:\+[a-z]+)?:|git@"
    r"|(?:file|link|portal|workspace|patch|path|ssh|github|gitlab|bitbucket|gist):"
    r"|https?://(?:[\w.-]*@)?(?:codeload\.)?(?:github|gitlab|bitbucket)\.",
)


def text_of(content: bytes) -> str:
    if len(content) > MAX_LOCK_BYTES:
        raise BeyondBounds(f"It is larger than {MAX_LOCK_BYTES:,} bytes.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("It is not UTF-8.") from None


def lines_of(content: bytes) -> list[str]:
    """Lines end where the package managers end them."""
    whole = text_of(content).replace("\r\n", "\n").split("\n")
    if any(len(line) > MAX_LINE_CHARS for line in whole):
        raise Unreadable("It has a line that is overlong.")
    return whole


def json_of(content: bytes) -> Mapping[str, Any]:
    return _json(text_of(content))


def json_with_commas_of(content: bytes) -> Mapping[str, Any]:
    """JSON in which a comma may stand behind the last entry."""
    return _json(_LAST_COMMA.sub(lambda found: found[1] or found[2], text_of(content)))


def _json(whole: str) -> Mapping[str, Any]:
    if whole.count("{") + whole.count("[") > MAX_PARTS:
        raise BeyondBounds("It has more parts than are read.")
    try:
        return table(json.loads(whole))
    except (ValueError, RecursionError):
        raise Unreadable("It is not JSON.") from None


def toml_of(content: bytes) -> Mapping[str, Any]:
    if len(content) <= MAX_LOCK_BYTES and _DEEP_KEY.search(content):
        raise Unreadable("It has keys that are too deep.")
    try:
        return tomllib.loads(text_of(content).replace("\r\n", "\n"))
    except (ValueError, RecursionError):
        raise Unreadable("It is not TOML.") from None


def yaml_scalars(content: bytes) -> Iterator[tuple[tuple[str, ...], str | None, int]]:
    """(keys above and with it, text, line) of each entry of nested mappings; None for a mapping.

    Sequences are passed over. Nothing is composed: aliases and depth cost nothing.
    """
    keys: list[str | None] = []
    for event in _outside_sequences(content):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.MappingEndEvent):
            keys.pop()
            keys[-1:] = [None] * bool(keys)
        elif keys and keys[-1] is None:
            if not isinstance(event, yaml.ScalarEvent):
                raise Unreadable("It has a key that is no text.")
            keys[-1] = event.value
        elif isinstance(event, yaml.MappingStartEvent):
            if len(keys) >= MAX_DEPTH:
                raise Unreadable("It is too deep.")
            if keys:
                yield _path(keys), None, line
            keys.append(None)
        elif keys:
            if isinstance(event, yaml.ScalarEvent):
                yield _path(keys), event.value, line
            keys[-1] = None


def _outside_sequences(content: bytes) -> Iterator[yaml.NodeEvent | yaml.MappingEndEvent]:
    """What begins or ends a value; of a sequence its begin alone."""
    inside = 0
    try:
        for count, event in enumerate(yaml.parse(text_of(content), Loader=yaml.CBaseLoader)):
            if count > MAX_PARTS:
                raise BeyondBounds("It has more parts than are read.")
            if inside == 0 and isinstance(event, yaml.NodeEvent | yaml.MappingEndEvent):
                yield event
            if inside or isinstance(event, yaml.SequenceStartEvent):
                inside += isinstance(event, yaml.CollectionStartEvent)
                inside -= isinstance(event, yaml.CollectionEndEvent)
            if inside > MAX_DEPTH:  # each further level takes the reader more time
                raise Unreadable("It is too deep.")
    except (yaml.YAMLError, ValueError, RecursionError):
        raise Unreadable("It is not YAML.") from None


def _path(keys: list[str | None]) -> tuple[str, ...]:
    return tuple(key or "" for key in keys)


def table(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Unreadable("Where a table should stand stands something else.")
    return value


def tables(owner: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """A list of tables; one that is not there is empty."""
    value = owner.get(name)
    if value is not None and not isinstance(value, list):
        raise Unreadable("Where a list should stand stands something else.")
    return (table(one) for one in value or ())


def entries(owner: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A table of tables; one that is not there is empty."""
    value = owner.get(name)
    return ((key, table(one)) for key, one in (table(value) if value else {}).items())


def said(owner: Mapping[str, Any], name: str) -> str:
    """A text that must be there."""
    value = owner.get(name)
    if not isinstance(value, str):
        raise Unreadable("Where a name or a version should stand stands something else.")
    return value


def optional(owner: Mapping[str, Any], name: str) -> str:
    value = owner.get(name)
    return value if isinstance(value, str) else ""


def is_elsewhere(source: str) -> bool:
    """Whether a package comes from no registry: a repository, a folder, an archive of a fork."""
    return bool(_ELSEWHERE.match(source))


def places(content: bytes, pattern: str) -> dict[str, int]:
    """The line of each text that the pattern's one group finds, of those it finds once."""
    found: dict[str, int] = {}
    seen: Counter[str] = Counter()
    matcher = re2.compile(pattern)
    for number, line in enumerate(text_of(content).split("\n"), 1):
        if len(line) <= MAX_LINE_CHARS and (match := matcher.search(line)):
            seen[match[1]] += 1
            found[match[1]] = number
    return {name: line for name, line in found.items() if seen[name] == 1}
