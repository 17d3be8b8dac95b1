"""What must not be kept is replaced before anything is stored, on a linear-time matcher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import re2

REPLACEMENT = "[redacted]"
MAX_PROGRAM_BYTES = 8 * 1024 * 1024


def redact_json(node: Any, patterns: Sequence[str]) -> Any:
    """Return the same JSON with every match in every string replaced; keys stay."""
    if not patterns:
        return node
    return _walk(node, _replacer(tuple(patterns)))


def redact_content(content: bytes, patterns: Sequence[str]) -> bytes:
    """Redact a text file; content that is not UTF-8 stays as it is."""
    if not patterns:
        return content
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    return _replacer(tuple(patterns))(text).encode()


def _walk(node: Any, replace: Callable[[str], str]) -> Any:
    if isinstance(node, str):
        return replace(node)
    if isinstance(node, list):
        return [_walk(child, replace) for child in node]
    if isinstance(node, dict):
        return {key: _walk(child, replace) for key, child in node.items()}
    return node


@lru_cache(maxsize=64)
def _replacer(patterns: tuple[str, ...]) -> Callable[[str], str]:
    options = re2.Options()
    options.max_mem = MAX_PROGRAM_BYTES
    options.log_errors = False
    compiled = [re2.compile(pattern, options) for pattern in patterns]

    def replace(text: str) -> str:
        for pattern in compiled:
            text = pattern.sub(REPLACEMENT, text)
        return text

    return replace
