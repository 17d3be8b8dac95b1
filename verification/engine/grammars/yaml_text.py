from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import yaml

from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars.registry import MAX_DATA_BYTES, Parsed, grammar
from verification.engine.grammars.templates import excused
from verification.engine.grammars.text import decoded, line_and_column, sentence
from verification.engine.grammars.yaml_12 import read_yaml_12

MAX_DOUBTED_BYTES = 5_000_000
"""In larger files no key is compared with another."""
_MAX_DOUBTS = 10
_MAX_SHOWN_KEY = 80
# An expression in quotes is YAML; one that stands free is filled in before anyone parses it.
_FILLED_IN = re.compile(r"\{%|<%|\{\{[-#/~]|(?:^|[:\-?,\[])[ \t]*\{\{", re.MULTILINE)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TWICE = 'The key "{}" stands twice in one mapping.'
_UNDEFINED = "The alias *{} has no anchor before it."
_LIBYAML_REFUSES = "libyaml refuses this, and the YAML 1.2 parser (py-yaml12) reads it: {}"
_LIBYAML_READS = "The YAML 1.2 parser (py-yaml12) refuses this, and libyaml reads it: {}"
_SURROGATES = "Both YAML parsers refuse surrogate pairs in escapes, as JSON has them: {}"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_UNKNOWN = ("unknown directive", "incompatible yaml document", "%yaml directive")
_TAB_INDENTS = re.compile(r""" *\t[ \t]*(?:- |[^\s#,\[\]{}"'][^#]*:(?:\s|$))""")
_TAB_OR_INDENT = re.compile(r"\b(?:tabs?|indent\w*)\b", re.IGNORECASE)
_TOO_DEEP = "depth"


@grammar("YAML", ".yaml", ".yml", max_bytes=MAX_DATA_BYTES, bytes_per_second=1_000_000)
def parse_yaml(_path: str, content: bytes) -> Parsed:
    read = decoded(content)
    if isinstance(read, SyntaxProblem):
        return (read,)
    events = _Events(read.text if read.wide else content)
    try:
        events.look()
    except yaml.YAMLError as error:
        if _TOO_DEEP in str(getattr(error, "problem", "")):
            return NotInspected("It is nested too deeply to be parsed.")
        problem = _problem(error, read.text)
        if _FILLED_IN.search(read.text):
            return (excused(problem),)
        return (problem,) if "\0" in read.text else _ask_yaml_12(problem, read.text)
    refusal = read_yaml_12(read.text)
    if not isinstance(refusal, SyntaxProblem):
        return tuple(events.doubts)
    if _FILLED_IN.search(read.text):
        return (*events.doubts, excused(refusal))
    return (*events.doubts, _doubted(refusal, _LIBYAML_READS))


def _ask_yaml_12(problem: SyntaxProblem, text: str) -> Parsed:
    """Hold against the work only what both parsers refuse."""
    refusal = read_yaml_12(text)
    if refusal is None:
        return (_doubted(problem, _LIBYAML_REFUSES),)
    if isinstance(refusal, NotInspected):
        if not problem.certain:
            return (problem,)
        line = f" (line {problem.line})" if problem.line else ""
        return NotInspected(
            f"{refusal.why} libyaml refuses it: {problem.message.rstrip('.')}{line}."
        )
    if _SURROGATE.search(text) and not read_yaml_12(_SURROGATE.sub(r"\\uFFFD", text)):
        return (_doubted(problem, _SURROGATES),)
    if problem.certain:
        return (problem,)
    # libyaml goes no further than what is only unknown to it.
    is_doubted = bool(_TAB_OR_INDENT.search(refusal.message))
    return (problem if is_doubted else refusal,)


def _doubted(problem: SyntaxProblem, message: str) -> SyntaxProblem:
    return replace(problem, message=message.format(problem.message), certain=False)


class _Events:
    """The events alone say whether it parses: many documents and unknown tags are no errors."""

    def __init__(self, content: str | bytes) -> None:
        self._content = content
        self._anchors: set[str] = set()
        self.doubts: list[SyntaxProblem] = []

    def look(self) -> None:
        loader = _LOADER(self._content)
        try:
            if len(self._content) > MAX_DOUBTED_BYTES and hasattr(loader, "raw_parse"):
                # Without an object for each event: ten times faster, and blind to doubts.
                loader.raw_parse()
            else:
                self._read(loader.get_event)
        finally:
            loader.dispose()

    def _read(self, next_event: Any) -> None:
        # Called for each scalar of a file: what is looked up once is not looked up again.
        scalar, alias, end = yaml.ScalarEvent, yaml.AliasEvent, yaml.StreamEndEvent
        starts = {yaml.MappingStartEvent, yaml.SequenceStartEvent}
        ends = {yaml.MappingEndEvent, yaml.SequenceEndEvent}
        outer: list[tuple[set[Any] | None, bool]] = []
        keys: set[Any] | None = None
        is_key = False
        while (kind := type(event := next_event())) is not end:
            if kind is scalar:
                if is_key and keys is not None:
                    self._see_key(event, keys)
                is_key = not is_key
                if event.anchor:
                    self._anchors.add(event.anchor)
            elif kind in starts:
                outer.append((keys, not is_key))
                keys, is_key = (set(), True) if kind is yaml.MappingStartEvent else (None, False)
                if event.anchor:
                    self._anchors.add(event.anchor)
            elif kind in ends:
                keys, is_key = outer.pop()
            elif kind is alias:
                is_key = not is_key
                self._see_alias(event)
            elif kind is yaml.DocumentStartEvent:
                self._anchors.clear()

    def _see_key(self, event: Any, keys: set[Any]) -> None:
        key = (event.value, event.implicit[0], event.tag)
        if key in keys and event.value != "<<":
            shown = event.value[:_MAX_SHOWN_KEY]
            self._doubt(_TWICE.format(shown), event.start_mark)
        keys.add(key)

    def _see_alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            message = _UNDEFINED.format(event.anchor[:_MAX_SHOWN_KEY])
            # A fragment that is put together with others has its anchors elsewhere.
            self._doubt(message, event.start_mark)

    def _doubt(self, message: str, mark: Any) -> None:
        if len(self.doubts) < _MAX_DOUBTS:
            line, column = mark.line + 1, mark.column + 1
            self.doubts.append(SyntaxProblem(message, line, column, certain=False))


def _problem(error: yaml.YAMLError, text: str) -> SyntaxProblem:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        message = ", ".join(part for part in (error.context, error.problem) if part)
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        certain = not _is_disputed(message, text, line)
        return SyntaxProblem(sentence(message), line, column, certain)
    if isinstance(error, yaml.reader.ReaderError):
        return _unreadable(error, text)
    return SyntaxProblem(sentence(str(error)))


def _is_disputed(message: str, text: str, line: int) -> bool:
    if any(unknown in message.lower() for unknown in _UNKNOWN):
        return True
    if "tab character" not in message and "cannot start any token" not in message:
        return False
    # A tab before a comment or inside of brackets is white space and no indentation.
    lines = text.split("\n", line)
    shown = lines[line - 1] if 0 < line <= len(lines) else ""
    return shown.lstrip(" ").startswith("\t") and not _TAB_INDENTS.match(shown)


def _unreadable(error: Any, text: str) -> SyntaxProblem:
    character = error.character if isinstance(error.character, int) else ord(error.character)
    at = text.find(chr(character)) if character <= 0x10FFFF else -1
    line, column = line_and_column(text, at) if at >= 0 else (0, 0)
    is_nul = character == 0
    return SyntaxProblem(f"U+{character:04X}: {error.reason}.", line, column, is_nul)
