"""From a path to the place that it names, and why a place cannot be edited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from processes.definition.model import Problem
from processes.definition.patching.tree import Document, Entry, Kind, Node
from processes.definition.stream import TAG

Key = str | int
Path = tuple[Key, ...]
MAX_SHOWN = 60


class Unpatchable(Exception):
    """The text cannot be changed there without touching more; the problem says what is in the way."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.edit = 0
        """Which of the edits it was, from 0."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: into `parent`, to the entry at `index`; past the last: not there yet."""

    parent: Node
    index: int
    owner: Entry | None
    """The entry whose value the parent is; None for the root."""
    rest: Path = ()
    """Keys below an entry that is not there yet."""

    @property
    def entry(self) -> Entry | None:
        entries = self.parent.entries
        return entries[self.index] if self.index < len(entries) else None


def shown(path: Sequence[Key]) -> str:
    """Write a path as complaints of the loader do: `phases[2].id`."""
    return "".join(map(_shown_key, path[:MAX_SHOWN])).removeprefix(".")


def _shown_key(key: Key) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return "." + str(key)[:MAX_SHOWN].encode("utf-8", "backslashreplace").decode()


def refusal(
    document: Document, code: str, message: str, *, path: Sequence[Key], at: int
) -> Unpatchable:
    line, column = document.line(at), document.column(at)
    return Unpatchable(Problem(code, message, shown(path), line + 1, max(column, 0) + 1))


def find(document: Document, path: Path) -> Place:
    """Follow a path.

    Raises:
        Unpatchable: nothing stands at a key before the last, or what stands there is shared.
    """
    if not path:
        raise refusal(
            document,
            "patch.root",
            "An edit names a key; send a whole file as text.",
            path=path,
            at=0,
        )
    node, owner = document.root, None
    for depth in range(1, len(path) + 1):
        refuse_shared(document, node, path[: depth - 1])
        rest = path[depth:]
        place = Place(node, _index(document, node, path[:depth]), owner, rest)
        if place.entry is None and not all(isinstance(key, str) for key in rest):
            raise missing(document, node, path[:depth])
        if place.entry is None or not rest:
            return place
        owner = place.entry
        node = owner.value
    raise AssertionError(path)


def resolved(document: Document, path: Path) -> Path:
    """Lead a path that begins with `rules` to where the rules stand."""
    if path[:1] != ("rules",) or _own_index(document.root, "rules") is not None:
        return path
    return ("verification", *path)


def _index(document: Document, node: Node, path: Path) -> int:
    key = path[-1]
    if node.kind is Kind.LIST and isinstance(key, int) and not isinstance(key, bool):
        index = key if key >= 0 else len(node.entries) + key
        if 0 <= index < len(node.entries):
            return index
        raise missing(document, node, path)
    if node.kind is Kind.LIST and isinstance(key, str):
        return _index_of_name(document, node, path, key)
    if node.kind is Kind.MAPPING and isinstance(key, str):
        return _index_of_key(document, node, path, key)
    if node.kind is Kind.SCALAR and node.tag == f"{TAG}null" and isinstance(key, str):
        return 0
    raise missing(document, node, path)


def _index_of_name(document: Document, node: Node, path: Path, name: str) -> int:
    """Find an entry by its name, or by its id where it has no name."""
    found = [index for index, entry in enumerate(node.entries) if _name_of(entry.value) == name]
    if len(found) > 1:
        message = f"{len(found)} entries are named {name[:MAX_SHOWN]!r}: say which by its number."
        at = node.entries[found[1]].start
        raise refusal(document, "patch.ambiguous", message, path=path, at=at)
    if not found:
        raise missing(document, node, path)
    return found[0]


def _name_of(node: Node) -> str | None:
    for key in ("name", "id"):
        index = _own_index(node, key)
        if index is not None:
            value = node.entries[index].value
            return value.text if value.kind is Kind.SCALAR else None
    return None


def _index_of_key(document: Document, node: Node, path: Path, key: str) -> int:
    index = _own_index(node, key)
    if index is not None:
        return index
    refuse_merged(document, node, path)
    return len(node.entries)


def _own_index(node: Node, key: str) -> int | None:
    if node.kind is not Kind.MAPPING:
        return None
    for index in range(len(node.entries) - 1, -1, -1):  # the last of several counts
        named = node.entries[index].key
        named = named.target if named is not None and named.kind is Kind.ALIAS else named
        if named is not None and named.kind is Kind.SCALAR and named.text == key:
            return None if named.tag == f"{TAG}merge" else index
    return None


def refuse_merged(document: Document, node: Node, path: Path) -> None:
    if _is_merged(node, path[-1]):
        message = f"{shown(path)} comes from a merge (<<): change it where it is written."
        raise refusal(document, "patch.merged", message, path=path, at=node.body)


def _is_merged(node: Node, key: Key) -> bool:
    """Whether a merge key brings this key, or is it."""
    sources = [
        entry.value
        for entry in node.entries
        if entry.key is not None and entry.key.tag == f"{TAG}merge"
    ]
    while sources:
        source = sources.pop()
        source = source.target if source.target is not None else source
        if source.kind is Kind.LIST:
            sources += [entry.value for entry in source.entries]
        for entry in source.entries:
            if entry.key is not None and entry.key.text == key:
                return True
            if entry.key is not None and entry.key.tag == f"{TAG}merge":
                sources.append(entry.value)
    return key == "<<"


def missing(document: Document, node: Node, path: Path) -> Unpatchable:
    return refusal(
        document, "patch.missing", f"Nothing stands at {shown(path)}.", path=path, at=node.body
    )


def refuse_shared(document: Document, node: Node, path: Path) -> None:
    if node.kind is Kind.ALIAS:
        message = f"{shown(path)} is written elsewhere and only named here (*): change it there."
        raise refusal(document, "patch.alias", message, path=path, at=node.start)
    if node.aliases:
        message = (
            f"{shown(path) or 'This'} is used in {node.aliases + 1} places (&{node.anchor}): "
            "an edit here would change them all."
        )
        raise refusal(document, "patch.shared", message, path=path, at=node.start)


def refuse_shared_within(document: Document, node: Node, path: Path) -> None:
    """Refuse to replace or remove what is named elsewhere.

    Raises:
        Unpatchable: the node, or one inside it, is used outside it too.
    """
    inside: dict[int, int] = {}
    nodes, pending = [], [node]
    while pending:
        one = pending.pop()
        nodes.append(one)
        if one.target is not None:
            inside[id(one.target)] = inside.get(id(one.target), 0) + 1
        for entry in one.entries:
            pending += [entry.value] if entry.key is None else [entry.key, entry.value]
    for one in nodes:
        if one.aliases > inside.get(id(one), 0):
            refuse_shared(document, one, path)
