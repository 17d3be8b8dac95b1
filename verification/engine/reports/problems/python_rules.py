"""How bad a rule of ruff or flake8 is, by its code: they do not say."""

from __future__ import annotations

import re

from verification.engine.reports.model import ProblemSeverity

_SECURITY = re.compile(r"S[1-7]\d{2}\Z")
_HIGH_SECURITY = frozenset(
    {
        "S102",  # exec
        "S105",  # passwords
        "S106",
        "S107",
        "S202",  # tarfile without a filter
        "S301",  # unpickling
        "S302",
        "S307",  # eval
        "S323",  # certificates not verified
        "S501",
        "S502",
        "S504",
        "S506",  # yaml.load
        "S507",
        "S602",  # shell
        "S604",
        "S605",
        "S608",  # SQL from parts
        "S609",
        "S701",  # no escaping
        "S702",
    }
)
_NOT_PYTHON = ("E9", "invalid-syntax", "io-error")


def severity_of(code: str) -> ProblemSeverity:
    """A code that is not there stands for what the tool could not read: ruff once said it so."""
    if not code or code.startswith(_NOT_PYTHON) or code in _HIGH_SECURITY:
        return ProblemSeverity.HIGH
    return ProblemSeverity.MEDIUM if _SECURITY.match(code) else ProblemSeverity.LOW
