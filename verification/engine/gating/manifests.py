"""Manifests of a work, read as tables. Hostile input: what is odd, or too large, says nothing."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

import re2

MAX_MANIFEST_BYTES = 1_000_000
# A key of so many parts takes the reader quadratic time; no table of anybody's is so deep.
_DEEP_KEY = re2.compile(r"""(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){50}""")


def toml_table(content: bytes | None) -> Mapping[str, Any]:
    if not content or len(content) > MAX_MANIFEST_BYTES or _DEEP_KEY.search(content):
        return {}
    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError):  # a number may have too many digits
        return {}


def json_table(content: bytes | None, most: int = MAX_MANIFEST_BYTES) -> Mapping[str, Any]:
    if not content or len(content) > most:
        return {}
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def inner_table(owner: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = owner.get(name)
    return value if isinstance(value, dict) else {}
