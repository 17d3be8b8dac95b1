"""Marks of template languages: what holds them is filled in before anyone parses it."""

from __future__ import annotations

import re
from dataclasses import replace

from verification.engine.evidence import SyntaxProblem

_PAIRS = (("{{", "}}"), ("{%", "%}"), ("{#", "#}"), ("<%", "%>"), ("${", "}"))
_MAX_MARK_CHARS = 300
_CONTROL = re.compile(r"\{%|<%|\{\{[#/]|\{\{-? *(?:if|range|with|else|end)\b|<\?(?:php|=)")
_ANY = re.compile(r"\{\{|\{%|<%|\$\{|<\?(?:php|=)")
# Braces that were doubled for a format string and never filled in are a mistake, no template.
_DOUBLED_OBJECT = re.compile(r'\{\{\s*"(?:[^"\\]|\\.){0,200}"\s*:')


def mark_at(text: str, offset: int) -> bool:
    """Does a template mark stand at the offset or around it?"""
    for opening, closing in _PAIRS:
        start = text.rfind(opening, 0, offset + len(opening))
        if start < 0 or _DOUBLED_OBJECT.match(text, start):
            continue
        end = text.find(closing, start, start + _MAX_MARK_CHARS)
        if end >= 0 and offset < end + len(closing):
            return True
    return False


def has_control_marks(text: str) -> bool:
    return bool(_CONTROL.search(text))


def has_marks(text: str) -> bool:
    return bool(_ANY.search(text))


def excused(problem: SyntaxProblem) -> SyntaxProblem:
    message = f"It holds template marks, so this does not count: {problem.message}"
    return replace(problem, message=message, certain=False, note=True)
