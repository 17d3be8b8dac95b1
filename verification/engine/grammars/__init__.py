"""Parsers that say where a file breaks its language's grammar. They run in a limited child.

Importing this loads none of the heavy ones: they load on the first file of their language.
"""

from __future__ import annotations

from verification.engine.grammars import csv_text as csv_text
from verification.engine.grammars import json_lines as json_lines
from verification.engine.grammars import json_text as json_text
from verification.engine.grammars import notebook as notebook
from verification.engine.grammars import sql_text as sql_text
from verification.engine.grammars import toml_text as toml_text
from verification.engine.grammars import tree as tree
from verification.engine.grammars import xml_text as xml_text
from verification.engine.grammars import yaml_text as yaml_text
from verification.engine.grammars.registry import (
    GRAMMARS,
    MAX_SOURCE_BYTES,
    PYTHON,
    Grammar,
    Parsed,
    foreign,
    grammar_of,
    register,
    seconds_for,
)

__all__ = ["GRAMMARS", "PYTHON", "Grammar", "Parsed", "foreign", "grammar_of", "seconds_for"]

register(
    Grammar(PYTHON, MAX_SOURCE_BYTES, bytes_per_second=500_000, start_seconds=1.0), ".py", ".pyi"
)
