"""Programming languages by their tree-sitter grammars: always a remark, never more.

These grammars follow their languages at some distance, so that a problem may be theirs.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any

from verification.engine.evidence import SyntaxProblem
from verification.engine.grammars.grammar_gaps import GAPS
from verification.engine.grammars.registry import Parsed, grammar
from verification.engine.grammars.templates import excused, has_control_marks, mark_at
from verification.engine.grammars.text import Decoded, decoded, line_and_column

_MAX_SHOWN = 40
_MISSING = "{} is missing here."
_UNEXPECTED = "This does not fit the grammar: {}"
_ENCODING = "The file is not valid UTF-8."
_WIDE = "The file is {}, and most tools read UTF-8."
_SHELL = re.compile(r"#![^\n]*?\b(?:ba|da|k|a)?sh\b")
_OTHER_XML = re.compile(r"\s*<\?xml|\s*<!DOCTYPE TS>")
_OWN_MARKS = frozenset({"PHP", "Ruby"})
"""Languages in which such marks stand for themselves: `<?php`, a text of ERB."""
_NAMED_WITHIN_BYTES = 1_024
_ENCODINGS = {
    "HTML": re.compile(rb"<meta[^>]*charset\s*=|<\?xml[^>]*encoding\s*=", re.IGNORECASE),
    "CSS": re.compile(rb"\A@charset "),
    "Ruby": re.compile(rb"\A(?:#[^\n]*\n)?#[^\n]*coding[:=]"),
}
"""Where a file names its encoding."""

LANGUAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "JavaScript": ("tree_sitter_javascript:language", (".js", ".mjs", ".cjs", ".jsx")),
    "TypeScript": ("tree_sitter_typescript:language_typescript", (".ts", ".mts", ".cts")),
    "TSX": ("tree_sitter_typescript:language_tsx", (".tsx",)),
    "Go": ("tree_sitter_go:language", (".go",)),
    "Rust": ("tree_sitter_rust:language", (".rs",)),
    "Ruby": ("tree_sitter_ruby:language", (".rb", ".rake", ".gemspec")),
    "PHP": ("tree_sitter_php:language_php", (".php", ".phtml")),
    "CSS": ("tree_sitter_css:language", (".css",)),
    "HTML": ("tree_sitter_html:language", (".html", ".htm")),
    "Java": ("tree_sitter_java:language", (".java",)),
    "shell": ("tree_sitter_bash:language", (".sh", ".bash")),
}


def parse_source(language: str, content: bytes) -> Parsed:
    read = decoded(content)
    if isinstance(read, SyntaxProblem) and _names_encoding(language, content):
        # One letter for each byte: whatever it is, the signs of the language are those of ASCII.
        read = Decoded(content.decode("latin-1"))
    if isinstance(read, SyntaxProblem):
        return (SyntaxProblem(_ENCODING, read.line, read.column, certain=False),)
    if read.wide:
        return (SyntaxProblem(_WIDE.format(read.wide), 1, 1, certain=False),)
    text = read.text
    if _is_of_another_language(language, text):
        return ()
    source = text.encode(errors="replace")
    tree = tree_of(language, source)
    if tree.root_node.has_error and (hide := GAPS.get(language)):
        source = hide(text).encode(errors="replace")
        tree = tree_of(language, source)
    node = _first_problem(tree.root_node)
    if node is None:
        return ()
    offset = len(source[: node.start_byte].decode("utf-8", "replace"))
    length = len(source[node.start_byte : node.end_byte].decode("utf-8", "replace"))
    message = _message(node, text[offset : offset + length])
    problem = SyntaxProblem(message, *line_and_column(text, offset), certain=False)
    is_template = mark_at(text, offset) or (language not in _OWN_MARKS and has_control_marks(text))
    return (excused(problem) if is_template else problem,)


def _names_encoding(language: str, content: bytes) -> bool:
    """Whether the file may be in another encoding than UTF-8. Texts of PHP are bytes."""
    named = _ENCODINGS.get(language)
    return language == "PHP" or bool(named and named.search(content[:_NAMED_WITHIN_BYTES]))


def _is_of_another_language(language: str, text: str) -> bool:
    """Scripts for another interpreter, and translations that are called .ts as well."""
    if language == "shell":
        return text.startswith("#!") and not _SHELL.match(text)
    return language == "TypeScript" and bool(_OTHER_XML.match(text))


def _first_problem(root: Any) -> Any:
    """The innermost first place that the grammar does not know; None: there is none."""
    node = root if root.has_error else None
    while node is not None and not (node.is_missing or node.is_error):
        node = next((child for child in node.children if child.has_error), None)
    while node is not None and node.is_error:
        inner = next((child for child in node.children if child.is_error), None)
        if inner is None:
            break
        node = inner
    return node


def _message(node: Any, text: str) -> str:
    if node.is_missing:
        return _MISSING.format(f"`{node.type}`")
    shown = text.strip().split("\n", 1)[0].strip()
    return _UNEXPECTED.format(f"`{shown[:_MAX_SHOWN]}`" + ("…" if len(shown) > _MAX_SHOWN else "."))


def tree_of(language: str, source: bytes) -> Any:
    return _parser(language).parse(source)


@cache
def _parser(language: str) -> Any:
    from tree_sitter import Language, Parser

    module, function = LANGUAGES[language][0].split(":")
    return Parser(Language(getattr(import_module(module), function)()))


def _register(language: str, suffixes: tuple[str, ...]) -> None:
    @grammar(language, *suffixes, is_certain=False, bytes_per_second=400_000, start_seconds=0.5)
    def parse(_path: str, content: bytes) -> Parsed:
        return parse_source(language, content)


for _language, (_, _suffixes) in LANGUAGES.items():
    _register(_language, _suffixes)
