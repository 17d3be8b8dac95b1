from __future__ import annotations

import re
from typing import Any

import yaml

from verification.engine.evidence import SyntaxProblem
from verification.engine.grammars.registry import MAX_DATA_BYTES, Parsed, grammar

_TEMPLATED = re.compile(rb"\{\{|\{%|<%|\$\{\{")
# The events alone say whether it parses: many documents and unknown tags are no errors.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@grammar("yaml", ".yaml", ".yml", max_bytes=MAX_DATA_BYTES)
def parse_yaml(_path: str, content: bytes) -> Parsed:
    try:
        for _event in yaml.parse(content, Loader=_LOADER):
            pass
    except yaml.YAMLError as error:
        return () if _TEMPLATED.search(content) else (_problem(error, content),)
    return ()


def _problem(error: yaml.YAMLError, content: bytes) -> SyntaxProblem:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        message = ", ".join(part for part in (error.context, error.problem) if part)
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        return SyntaxProblem(_sentence(message), line, column)
    if isinstance(error, yaml.reader.ReaderError):
        line = content.count(b"\n", 0, error.position) + 1
        return SyntaxProblem(_sentence(str(error.reason)), line)
    return SyntaxProblem(_sentence(str(error)))


def _sentence(message: str) -> str:
    message = message.strip() or "it does not parse"
    return f"{message[0].upper()}{message[1:].rstrip('.')}."
