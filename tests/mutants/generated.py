"""Mutants by mutmut's operators, over the modules that decide."""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from pathlib import Path

import libcst as cst
from mutmut.mutation.file_mutation import Mutation, create_mutations

from tests.mutants.mutant import ENGINE, Mutant

MODULES: dict[str, Sequence[str]] = {
    "policy": ["policy.py"],
    "scoping": ["scoping.py"],
    "recovery": [
        "protocol/recovery.py",
        "protocol/embedded.py",
        "protocol/damaged.py",
        "protocol/lines.py",
        "protocol/verdict_line.py",
    ],
    "claims": ["claims/*.py"],
    "attempts": ["attempts.py"],
    "confidence": ["decision.py"],
}


def mutants(*, per_area: int | None = None, area: str = "") -> Iterator[Mutant]:
    """Yield the mutants of each area in a fixed order; at most so many of each, spread evenly."""
    for name, patterns in MODULES.items():
        if area in ("", name):
            paths = sorted(path for pattern in patterns for path in ENGINE.glob(pattern))
            yield from islice(_mutants_of(name, paths), per_area)


@dataclass(frozen=True, slots=True)
class _Place:
    """One change that could be made. By `digest` neighbours stand no nearer than any two."""

    path: Path
    source: str
    module: cst.Module
    mutation: Mutation
    digest: str


def _mutants_of(area: str, paths: Sequence[Path]) -> Iterator[Mutant]:
    seen: set[str] = set()
    places = [place for path in paths for place in _places(path)]
    for place in sorted(places, key=attrgetter("digest")):
        mutation = place.mutation
        changed = place.module.deep_replace(mutation.original_node, mutation.mutated_node)
        assert isinstance(changed, cst.Module)
        if changed.code not in seen and meaning_of(changed.code) != meaning_of(place.source):
            seen.add(changed.code)
            yield Mutant(area, place.path, changed.code, _told(place.source, changed.code))


def _places(path: Path) -> Iterator[_Place]:
    source = path.read_text(encoding="utf-8")
    module, mutations, *_ = create_mutations(str(path), source)
    for number, mutation in enumerate(mutations):
        if not is_prose(mutation.original_node):
            digest = hashlib.sha256(f"{path.name} {number}".encode()).hexdigest()
            yield _Place(path, source, module, mutation, digest)


def is_prose(node: cst.CSTNode) -> bool:
    """Sentences are read by people and decide nothing."""
    return isinstance(node, cst.SimpleString) and " " in node.value


class _SameEmptiness(ast.NodeTransformer):
    """No condition tells None from an argument that is False, or from a field's empty default."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.args = [_none_for(one, (False,)) for one in node.args]
        for keyword in node.keywords:
            keyword.value = _none_for(keyword.value, (False,))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        for one in node.body:
            if isinstance(one, ast.AnnAssign) and one.value:
                one.value = _none_for(one.value, (False, 0, ""))
        return node


def _none_for(node: ast.expr, empty: Sequence[object]) -> ast.expr:
    is_empty = isinstance(node, ast.Constant) and any(
        node.value == one and type(node.value) is type(one) for one in empty
    )
    return ast.Constant(None) if is_empty else node


@lru_cache(maxsize=64)
def meaning_of(source: str) -> str:
    return ast.dump(_SameEmptiness().visit(ast.parse(source)))


def _told(before: str, after: str) -> str:
    """The changed lines, and where the first of them stands."""
    lines = list(difflib.unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm=""))
    number = lines[2].split()[1].lstrip("-").split(",")[0]
    changed = [line.strip() for line in lines[3:] if line[0] in "+-"]
    return f"{number}: {' '.join(' '.join(changed).split())[:300]}"
