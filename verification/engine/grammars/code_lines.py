"""Which lines of a source hold code that runs, by tree-sitter grammars. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verification.engine.evidence import SyntaxProblem
from verification.engine.grammars.registry import MAX_SOURCE_BYTES, grammar_of
from verification.engine.grammars.text import decoded
from verification.engine.grammars.tree import tree_of


@dataclass(frozen=True, slots=True)
class _Kinds:
    """`silent` nodes hold nothing that runs; nor do those in `without` that lack each such field.

    `within` names the nodes in which alone there is code; '' where all of the file is.
    """

    silent: frozenset[str]
    without: Mapping[str, tuple[str, ...]]
    within: str = ""


_SCRIPT = _Kinds(
    frozenset(
        {
            "comment", "hash_bang_line", "import_statement", "export", "interface_declaration",
            "type_alias_declaration", "ambient_declaration", "function_signature",
            "method_signature", "abstract_method_signature", "type_annotation",
            "type_arguments", "type_parameters", "implements_clause",
        }
    ),
    {
        "export_statement": ("declaration", "value"),
        "public_field_definition": ("value",),
        "field_definition": ("value",),
    },
)  # fmt: skip
_KINDS: Mapping[str, _Kinds] = {
    "JavaScript": _SCRIPT,
    "TypeScript": _SCRIPT,
    "TSX": _SCRIPT,
    # As its own profiles know it: what stands outside of functions is in none.
    "Go": _Kinds(frozenset({"comment"}), {}, within="block"),
}


def code_lines(path: str, content: bytes) -> frozenset[int] | None:
    """Lines, from 1, with more than comments, brackets, imports and types; None: not known.

    >>> code_lines("a.js", b"const a = 1; // one"), code_lines("a.ts", b"type A = string;")
    (frozenset({1}), frozenset())
    """
    grammar = grammar_of(path)
    kinds = _KINDS.get(grammar.language) if grammar else None
    if grammar is None or kinds is None or len(content) > MAX_SOURCE_BYTES:
        return None
    read = decoded(content)
    if isinstance(read, SyntaxProblem):
        return None
    source = read.text.encode()
    tree = tree_of(grammar.language, source)
    if tree.root_node.has_error:
        return None
    held = _lines_of_tokens(tree.walk(), source, kinds)
    # A token may hold several: a text of JSX, a template.
    lines = source.split(b"\n")
    return frozenset(line + 1 for line in held if lines[line].strip())


def _lines_of_tokens(cursor: Any, source: bytes, kinds: _Kinds) -> set[int]:
    """Lines, from 0, of what is more than brackets and the like. No recursion."""
    found: set[int] = set()
    inside = 0
    while True:
        node = cursor.node
        first, last = node.start_point[0], node.end_point[0]
        is_entered = node.type == kinds.within
        inside += is_entered
        is_passed = (first == last and first in found) or _is_silent(node, kinds)
        if not is_passed and cursor.goto_first_child():
            continue
        is_code = not is_passed and (not kinds.within or inside > 0)
        if is_code and _is_word(source[node.start_byte : node.end_byte]):
            found.update(range(first, last + 1))
        inside -= is_entered
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found
            inside -= cursor.node.type == kinds.within


def _is_silent(node: Any, kinds: _Kinds) -> bool:
    if node.type in kinds.silent:
        return True
    fields = kinds.without.get(node.type, ())
    return bool(fields) and not any(node.child_by_field_name(one) for one in fields)


def _is_word(token: bytes) -> bool:
    return any(one.isalnum() for one in token.decode("utf-8", "replace"))
