"""What a node of YAML stands for, as JSON."""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from processes.definition.stream import TAG

TRUE_WORDS = frozenset({"true", "yes", "on", "y"})
FALSE_WORDS = frozenset({"false", "no", "off", "n"})
INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
NUMBER = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]*)?|\.[0-9]+)")


def plain(node: yaml.Node) -> Any:
    """What is neither number, flag nor null is text."""
    if isinstance(node, yaml.SequenceNode):
        return [plain(child) for child in node.value]
    if isinstance(node, yaml.MappingNode):
        return {
            str(key.value) if isinstance(key, yaml.ScalarNode) else "?": plain(child)
            for key, child in node.value
        }
    return _scalar(node.tag, node.value)


def _scalar(tag: str, text: str) -> Any:
    if tag == f"{TAG}null":
        return None
    if tag == f"{TAG}bool":
        return text.strip().lower() in TRUE_WORDS
    if tag == f"{TAG}int" and INTEGER.fullmatch(text):
        return int(text)
    if tag == f"{TAG}float" and NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text
