"""Manifests of a work, read as tables. Hostile input: what is odd, or too large, says nothing."""

from __future__ import annotations

import configparser
import json
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

import re2

MAX_MANIFEST_BYTES = 1_000_000
# A key of so many parts takes the reader quadratic time; no table of anybody's is so deep.
_DEEP_KEY = re2.compile(r"""(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){50}""")

MAX_LINE_BYTES = 5_000


def toml_table(content: bytes | None, most: int = MAX_MANIFEST_BYTES) -> Mapping[str, Any]:
    return _toml(content, most) or {}


def json_table(content: bytes | None, most: int = MAX_MANIFEST_BYTES) -> Mapping[str, Any]:
    return _json(content, most) or {}


READ: Mapping[str, Callable[[bytes], Mapping[str, Any] | None]] = {
    "package.json": lambda content: _json(content, MAX_MANIFEST_BYTES),
    "composer.json": lambda content: _json(content, MAX_MANIFEST_BYTES),
    "pyproject.toml": lambda content: _toml(content),
    "Cargo.toml": lambda content: _toml(content),
}


def unread(name: str, content: bytes) -> bool:
    """Whether a manifest holds something, and nobody here knows what: others may well read it.

    >>> unread("package.json", b"[" * 100_000), unread("package.json", b"{}")
    (True, False)
    """
    return bool(content.strip()) and name in READ and READ[name](content) is None


def _toml(content: bytes | None, most: int = MAX_MANIFEST_BYTES) -> Mapping[str, Any] | None:
    if not content or len(content) > most or _DEEP_KEY.search(content):
        return None
    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError):  # a number may have too many digits
        return None


def _json(content: bytes | None, most: int) -> Mapping[str, Any] | None:
    if not content or len(content) > most:
        return None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def ini_table(content: bytes | None) -> Mapping[str, Mapping[str, str]]:
    """By section. A long line takes the reader quadratic time, and is nobody's."""
    if not content or len(content) > MAX_MANIFEST_BYTES:
        return {}
    if max(map(len, content.splitlines()), default=0) > MAX_LINE_BYTES:
        return {}
    parser = configparser.ConfigParser(interpolation=None, strict=False, default_section="")
    try:
        parser.read_string(content.decode())
    except (configparser.Error, ValueError):
        return {}
    return {name: dict(parser[name]) for name in parser.sections()}


def texts_of(value: object) -> list[str]:
    """Those in a list; none where it is something else."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def inner_table(owner: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = owner.get(name)
    return value if isinstance(value, dict) else {}
