"""Which files a task declares as its outputs, as the server reads the declarations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from loomverify.submitting.errors import UsageError
from loomverify.submitting.folders import EntryKind, Folder
from processes.definition.globs import compile_glob, has_wildcards
from verification.engine.evidence import SubmittedFile
from verification.engine.paths import anchored, relative, spelled
from verification.engine.tree import Tree

MAX_WILDCARDS = 1_000
"""Each is tried on every ignored file."""
_EM_DASH = "—"


def find_declared(
    folder: Folder, expected: Sequence[str], selected: Sequence[str], ignored: Collection[str]
) -> set[str]:
    """Return the ignored files that are declared. An ignored folder ends with `/`.

    A wildcard reaches into an ignored folder only where it names that folder, or means nothing
    else: `**/*.py` does not ask for what was installed into `.venv`.
    """
    if not expected or not ignored:
        return set()
    single = [path for path in ignored if not path.endswith("/")]
    folders = {path: _simple(path.rstrip("/")) for path in ignored if path.endswith("/")}
    trees: dict[tuple[str, ...], Tree] = {}

    def tree_with(places: tuple[str, ...]) -> Tree:
        """Walk a folder when the first declaration reaches it."""
        if places not in trees:
            trees[places] = _tree([*single, *_files_below(folder, places)])
        return trees[places]

    patterns = _spellings(expected)
    if sum(map(has_wildcards, patterns)) > 2 * MAX_WILDCARDS:
        raise UsageError(f"At most {MAX_WILDCARDS:,} wildcards can be declared as outputs.")
    declared: set[str] = set()
    selected_tree = _tree(selected)
    for pattern in patterns:
        names = _literal_names(pattern)
        reached = tuple(path for path, name in folders.items() if name in names)
        meant = _meant(tree_with(reached), pattern)
        if not meant and has_wildcards(pattern) and not _meant(selected_tree, pattern):
            meant = _meant(tree_with(tuple(folders)), pattern)
        declared |= meant
    return declared


def find_named(expected: Sequence[str], paths: Collection[str]) -> set[str]:
    """Return the paths that a declaration names themselves, not by a folder or by `*` alone."""
    if not paths:
        return set()
    tree = _tree(paths)
    named = set()
    for pattern in _spellings(expected):
        last = _simple(pattern)
        if last.strip("*?"):
            named |= {path for path in _meant(tree, pattern) if _is_name(last, _simple(path))}
    return named


def _is_name(pattern: str, name: str) -> bool:
    matcher = compile_glob(pattern)
    return name == pattern if matcher is None else matcher.search(name) is not None


def _files_below(folder: Folder, places: Iterable[str]) -> Iterable[str]:
    for place in places:
        if folder.kind(place) is EntryKind.FOLDER:
            yield from folder.walk(place)


def _spellings(expected: Iterable[str]) -> list[str]:
    """Each declaration, and what stands before its description: `file — what it is`."""
    heads = (declared.split(_EM_DASH, 1)[0].strip() for declared in expected)
    return [text for text in dict.fromkeys([*expected, *heads]) if text]


def _literal_names(pattern: str) -> set[str]:
    start = anchored(pattern)
    parts = start.parts if start else (relative(pattern) or "").split("/")
    return {_simple(part) for part in parts if part and not has_wildcards(part)}


def _simple(path: str) -> str:
    """The last name of a path, as names are compared."""
    return spelled(path).rstrip("/").rpartition("/")[2].casefold()


def _tree(paths: Iterable[str]) -> Tree:
    return Tree(SubmittedFile(path, "", 0) for path in paths)


def _meant(tree: Tree, pattern: str) -> set[str]:
    meant = tree.meant(pattern)
    return {file.path for file in meant.files} if meant.is_same else set()
