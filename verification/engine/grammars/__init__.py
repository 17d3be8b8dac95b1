"""Parsers that say where a file breaks its language's grammar. They run in a limited child."""

from __future__ import annotations

from verification.engine.grammars import json_text as json_text
from verification.engine.grammars import yaml_text as yaml_text
from verification.engine.grammars.registry import GRAMMARS, Grammar, Parsed, grammar_of, register

__all__ = ["GRAMMARS", "PYTHON", "Grammar", "Parsed", "grammar_of"]

PYTHON = "python"
register(Grammar(PYTHON, max_bytes=5_000_000), ".py", ".pyi")
