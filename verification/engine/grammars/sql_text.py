"""SQL by the dialects of sqlglot: what none of them reads is worth a word, and never more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars.registry import Parsed, grammar
from verification.engine.grammars.templates import excused, has_marks
from verification.engine.grammars.text import decoded, line_and_column

MAX_BYTES = 300_000
MAX_PROBLEMS = 5
MAX_TRIED_CHARS = 150_000
"""Of statements that the first dialect did not read, over all further dialects."""
DIALECTS = (
    "", "postgres", "mysql", "sqlite", "tsql", "oracle", "snowflake", "bigquery", "duckdb",
    "clickhouse", "spark",
)  # fmt: skip
_DELIMITER = re.compile(r"^[ \t]*DELIMITER\b", re.IGNORECASE | re.MULTILINE)
_COPIED = re.compile(
    r"^(COPY\b[^;]*\bFROM\s+STDIN\b[^;]*;)(.*?)^\\\.$", re.IGNORECASE | re.MULTILINE | re.DOTALL
)
_OF_CLIENT = re.compile(
    r"^[ \t]*(?:\\[^\n]*|\.[a-z][^\n]*|@[^\n]*|(?:PROMPT|REM|SPOOL|WHENEVER)\b[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_END_OF_BATCH = re.compile(r"^[ \t]*(?:GO(?:[ \t]+\d+)?|/)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
# Languages of their own, in which each database writes what it administers and programs.
_ADMINISTERS = re.compile(
    r"""\s*(?:CREATE\s+(?!(?:OR\s+REPLACE\s+|TEMP\w*\s+|GLOBAL\s+|LOCAL\s+|UNLOGGED\s+|EXTERNAL\s+
    |MATERIALIZED\s+|UNIQUE\s+|RECURSIVE\s+|TRANSIENT\s+|COLUMN\s+|VIRTUAL\s+)*
    (?:TABLE|VIEW|INDEX|DATABASE|SCHEMA)\b)
    |(?:ALTER|DROP)\s+(?!(?:TABLE|VIEW|INDEX|DATABASE|SCHEMA)\b)
    |(?:GRANT|REVOKE|VACUUM|ANALYZE|PRAGMA|SET|RESET|COPY|LOCK|UNLOCK|CALL|EXEC|EXECUTE|DECLARE
    |BEGIN|END|IF|ELSE|ELSIF|ELSEIF|WHILE|FOR|LOOP|REPEAT|RETURN|RETURNS|RAISE|DO|OPEN|CLOSE|FETCH
    |EXCEPTION|WHEN|COMMENT|LOAD|USE|SHOW|KILL|PRINT|USING|AS|LANGUAGE|REINDEX|CLUSTER|SECURITY
    |NOTIFY|LISTEN|PREPARE|DEALLOCATE|DISCARD|CHECKPOINT|REFRESH|RENAME|FLUSH|OPTIMIZE|ATTACH|DETACH
    |EXPLAIN|IMPORT|EXPORT|BACKUP|RESTORE|DBCC|WAITFOR|THROW|GOTO|AUDIT|PURGE|REPLACE|HANDLER|SIGNAL
    |START|STOP|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|ABORT|LEAVE|ITERATE|PERFORM|NULL|INSTALL|DELIMITER
    )\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_COMMENTS = re.compile(r"(?:\s+|--[^\n]*|/\*.*?\*/)*", re.DOTALL)
_DEFINES = re.compile(
    r"\bCREATE\b[^;]{0,200}?\b(?:FUNCTION|PROCEDURE|TRIGGER|PACKAGE|EVENT|RULE)\b", re.IGNORECASE
)
_NO_DIALECT = "No SQL dialect that is known here reads this statement."
_NO_TOKENS = "A text, name or comment opens and never closes."
_TOO_MANY = "No dialect that is known here reads many of its statements."
_DELIMITED = "It changes its delimiter: that is a language of its client."


@grammar(
    "SQL", ".sql", max_bytes=MAX_BYTES, is_certain=False, bytes_per_second=25_000, start_seconds=3.0
)
def parse_sql(_path: str, content: bytes) -> Parsed:
    read = decoded(content)
    text = content.decode("latin-1") if isinstance(read, SyntaxProblem) else read.text
    if _DELIMITER.search(text):
        return NotInspected(_DELIMITED)
    text = _without_client(text)
    if _reads("", text):
        return ()
    found = _problems(text)
    if isinstance(found, NotInspected):
        return found
    return tuple(excused(one) for one in found[:1]) if has_marks(text) else tuple(found)


@dataclass(frozen=True, slots=True)
class _Statement:
    text: str
    start: int


def _problems(text: str) -> list[SyntaxProblem] | NotInspected:
    statements = _statements(text)
    if statements is None:
        return [SyntaxProblem(_NO_TOKENS, certain=False)]
    found: list[SyntaxProblem] = []
    tries = _Tries()
    for one in statements:
        if tries.is_read(one.text) or not _is_told(one, text):
            continue
        if tries.are_spent:
            return NotInspected(_TOO_MANY)
        start = one.start + _begins_at(one.text)
        found.append(SyntaxProblem(_NO_DIALECT, *line_and_column(text, start), certain=False))
        if len(found) == MAX_PROBLEMS:
            break
    # Where texts end differs from dialect to dialect, and with it where statements do.
    is_one_dialect = found and any(_reads(dialect, text) for dialect in DIALECTS[1:4])
    return [] if is_one_dialect else found


class _Tries:
    """Asks the dialects in turn, beginning with the one that helped last; a bound on the work."""

    def __init__(self) -> None:
        self._order = list(DIALECTS)
        self._left_chars = MAX_TRIED_CHARS

    @property
    def are_spent(self) -> bool:
        return self._left_chars < 0

    def is_read(self, statement: str) -> bool:
        for at, dialect in enumerate(self._order):
            if at:
                self._left_chars -= len(statement)
            if self.are_spent:
                return False
            if _reads(dialect, statement):
                self._order.insert(0, self._order.pop(at))
                return True
        return False


def _is_told(statement: _Statement, text: str) -> bool:
    if _ADMINISTERS.match(statement.text, _begins_at(statement.text)):
        return False
    # The statements of a body follow its head, and are parted by semicolons like any other.
    return not _DEFINES.search(text, 0, statement.start)


def _begins_at(statement: str) -> int:
    found = _COMMENTS.match(statement)
    return found.end() if found else 0


def _without_client(text: str) -> str:
    """Blank what is said to a database's client; every other character keeps its place."""
    text = _COPIED.sub(lambda found: found[1] + _blank(found[2]) + "  ", text)
    text = _OF_CLIENT.sub(lambda found: _blank(found[0]), text)
    return _END_OF_BATCH.sub(lambda found: ";" + " " * (len(found[0]) - 1), text)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _statements(text: str) -> list[_Statement] | None:
    """None: a text, name or comment never closes, whatever the dialect."""
    for dialect in DIALECTS:
        tokens = _tokens(dialect, text)
        if tokens is not None:
            return list(_parted(tokens, text))
    return None


def _parted(tokens: Any, text: str) -> Iterator[_Statement]:
    start = 0
    for token in tokens:
        if token.text == ";" and token.token_type.name == "SEMICOLON":
            yield _Statement(text[start : token.start], start)
            start = token.end + 1
    if text[start:].strip():
        yield _Statement(text[start:], start)


def _reads(dialect: str, text: str) -> bool:
    from sqlglot.errors import SqlglotError

    try:
        _dialect(dialect).parse(text)
    except SqlglotError:
        return False
    except (RecursionError, MemoryError):
        raise
    except Exception:
        # A mistake of the library's own says nothing about the text.
        return True
    return True


def _tokens(dialect: str, text: str) -> Any:
    from sqlglot.errors import SqlglotError

    try:
        return _dialect(dialect).tokenize(text)
    except SqlglotError:
        return None


@cache
def _dialect(name: str) -> Any:
    import logging

    from sqlglot.dialects.dialect import Dialect

    # It logs the statements that it passes over: submitted text belongs in no log.
    logging.getLogger("sqlglot").disabled = True
    return Dialect.get_or_raise(name or None)
