"""What must not be kept is replaced before anything is stored, in a limited child process."""

from __future__ import annotations

import codecs
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from django.utils.crypto import salted_hmac

from loomverify.accounts.models import Project
from loomverify.errors import FaultError, InputError
from verification.adapters.probe import ChildProbe, TookTooLong
from verification.adapters.redacting import REPLACEMENT
from verification.engine.checks.materials import is_binary
from verification.engine.evidence import CouldNotInspect

BASE_SECONDS = 1.5
SECONDS_A_TEXT = 0.002
BYTES_A_SECOND = 20_000_000
TRIES = 2
FREE_FIELDS = frozenset({"args", "result", "files_changed"})
SALT = "loomverify.redaction"
MARKED = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Read so that the mark stays where it is."""
UNMARKED = ("utf-16-le", "utf-16-be")


class Redaction:
    """A project's patterns at work on one request, within one allowance of time.

    Raises:
        InputError: `redaction.too_slow`, the patterns take longer than any should.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)
        self._seconds_left = BASE_SECONDS

    def json(self, node: Any) -> Any:
        """Return the same JSON with every match in every string replaced; keys stay."""
        if not self._patterns:
            return node
        texts = [text.encode() for text in strings(node)]
        return rebuilt(node, (text.decode() for text in self._replaced(texts)))

    def keyed(self, node: Any) -> Any:
        """Return a JSON of anybody's making with its keys redacted; none takes another's place."""
        keys = list(dict.fromkeys(_keys(node)))
        kept = self.json(keys)
        return node if kept == keys else _named(node, dict(zip(keys, kept, strict=True)))

    def name_keys(self, calls: Any) -> None:
        """Redact the keys in calls of tools that are anybody's; ours stay."""
        for call in calls if isinstance(calls, list | tuple) else ():
            for field in FREE_FIELDS & call.keys() if isinstance(call, dict) else ():
                call[field] = self.keyed(call[field])

    def content(self, content: bytes, path: str = "") -> bytes:
        """Redact a text file, whatever it is written in; what is no text stays as it is.

        What is in no encoding for certain is read in each that it may be in, byte by byte too: all
        letters of ASCII are found, and all else comes back as it was.
        """
        if not self._patterns or is_binary(path, content):
            return content
        for encoding in _encodings(content):
            text = content.decode(encoding).encode()
            [kept] = self._replaced([text])
            content = content if kept == text else kept.decode().encode(encoding)
        return content

    def _replaced(self, texts: Sequence[bytes]) -> Sequence[bytes]:
        size = sum(map(len, texts))
        self._seconds_left += SECONDS_A_TEXT * len(texts) + size / BYTES_A_SECOND
        with suppress(CouldNotInspect):  # its start is no pattern's delay; it is tried again below
            _probe().start()
        started = time.monotonic()
        try:
            return self._asked(texts)
        except TookTooLong as error:
            raise InputError(
                "redaction.too_slow",
                "This project's redaction patterns take too long on what was submitted, so that "
                "nothing was stored. An admin can simplify them in the project's settings.",
            ) from error
        finally:
            self._seconds_left -= time.monotonic() - started

    def _asked(self, texts: Sequence[bytes]) -> Sequence[bytes]:
        for number in range(TRIES):
            try:
                return _probe().redact(self._patterns, texts, seconds=self._seconds_left)
            except TookTooLong:
                raise
            except CouldNotInspect as error:
                if number == TRIES - 1:
                    raise FaultError("redaction could not run") from error
        raise AssertionError("unreachable")


def redacted_text(project: Project, text: str) -> str:
    """What a person writes, as it is kept. It may take a while: not within a transaction."""
    kept: str = Redaction(project.redaction_patterns).json(text) if text else text
    return kept


def apart(kept: str, name: str, *, most: int | None = None) -> str:
    """A redacted name that differs where what was redacted does, without telling what it was.

    It begins and ends as the name does, by which a file is known for what it is; only where it
    would be longer than `most` is its end left out.
    """
    before, mark, behind = kept.partition(REPLACEMENT.decode())
    differs = known_by(name)[:8]
    told = f"{before}{mark}{differs}{behind}"
    return told if most is None or len(told) <= most else f"{kept[: most - 8]}{differs}"


def known_by(name: str) -> str:
    """What tells whether a name is this one, and does not tell it."""
    return salted_hmac(SALT, name).hexdigest()


def _keys(node: Any) -> Iterator[str]:
    children = node.values() if isinstance(node, dict) else node
    if isinstance(node, dict):
        yield from node
    if isinstance(node, dict | list | tuple):
        for child in children:
            yield from _keys(child)


def _named(node: Any, names: Mapping[str, str]) -> Any:
    if isinstance(node, list | tuple):
        return [_named(child, names) for child in node]
    if not isinstance(node, dict):
        return node
    shared = Counter(names[key] for key in node)
    kept: dict[str, Any] = {}
    for key, child in node.items():
        name = names[key]
        kept[apart(name, key) if name != key and shared[name] > 1 else name] = _named(child, names)
    return kept


def _encodings(content: bytes) -> list[str]:
    """Each gives the same bytes back. Plain letters are UTF-8, and may be half of wider ones."""
    marked = next((name for mark, name in MARKED if content.startswith(mark)), "")
    if marked and _is_in(marked, content):
        return [marked]
    plain = "utf-8" if _is_in("utf-8", content) else "latin-1"
    return [plain, *(one for one in UNMARKED if b"\0" in content and _is_in(one, content))]


def _is_in(encoding: str, content: bytes) -> bool:
    try:
        return content.decode(encoding).encode(encoding) == content
    except UnicodeError:
        return False


def strings(node: Any, keys: Collection[str] | None = None, key: str = "") -> Iterator[str]:
    """Every text of a JSON; with `keys`, those alone that stand right under one of them."""
    if isinstance(node, str):
        if keys is None or key in keys:
            yield node
    elif isinstance(node, list | tuple):
        for child in node:
            yield from strings(child, keys)
    elif isinstance(node, dict):
        for name, child in node.items():
            yield from strings(child, keys, name)


def rebuilt(
    node: Any, texts: Iterator[str], keys: Collection[str] | None = None, key: str = ""
) -> Any:
    """The same JSON with other texts in the places of `strings`."""
    if isinstance(node, str):
        return next(texts) if keys is None or key in keys else node
    if isinstance(node, list | tuple):
        return [rebuilt(child, texts, keys) for child in node]
    if isinstance(node, dict):
        return {name: rebuilt(child, texts, keys, name) for name, child in node.items()}
    return node


@cache
def _probe() -> ChildProbe:
    return ChildProbe()
