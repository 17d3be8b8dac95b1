"""What a tree holds, and what of a change's tree is refused before anything else looks at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from verification.adapters.git.calling import Git, TooMuch
from verification.adapters.git.errors import ChangeRefused, GitLost
from verification.adapters.git.naming import first_collision, is_modules, sha, unsafe_because

MAX_FILES: Final = 10_000
MAX_TREE_BYTES: Final = 64 * 1024**2
MAX_CHANGED_FILE_BYTES: Final = 10 * 1024**2
LINK: Final = "120000"
SUBMODULE: Final = "160000"

_BINARY_WITHIN: Final = 8_000
_AT_ONCE: Final = 256
_TOO_LARGE: Final = "change.too_large"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a tree. A submodule has no size."""

    path: str
    mode: str
    sha: str
    size: int


@dataclass(frozen=True, slots=True)
class ChangedPath:
    """`status` is A, M, D, R (moved, its content the same) or T (another kind of file)."""

    path: str
    status: str
    old_path: str = ""


def entries(git: Git, tree: str) -> list[Entry]:
    """Return all files, ordered as git orders them.

    Raises:
        ChangeRefused: `change.too_large`, `change.path_unsafe` where a path is not UTF-8.
    """
    try:
        listed = git.run("ls-tree", "-r", "-l", "-z", "--full-tree", sha(tree)).out
    except TooMuch:
        raise _too_many() from None
    return [_entry(line) for line in listed.split(b"\0") if line]


def read(git: Git, shas: Iterable[str]) -> Iterator[bytes]:
    """Yield the contents, in this order."""
    waiting = [sha(one) for one in shas]
    for start in range(0, len(waiting), _AT_ONCE):
        some = waiting[start : start + _AT_ONCE]
        asked = "".join(f"{one}\n" for one in some).encode()
        most = MAX_TREE_BYTES + 100 * len(some)
        yield from _contents(git.run("cat-file", "--batch", given=asked, most=most).out, len(some))


def changed(git: Git, base_tree: str, tree: str, *, takes_binary: bool) -> list[ChangedPath]:
    """Return what is changed, by path; refuse what is not safe to look at.

    Raises:
        ChangeRefused: see docs/landing.md, "Submit a change".
    """
    if base_tree == tree:
        raise ChangeRefused("change.empty", "The change changes nothing.")
    listed = entries(git, tree)
    _check_size(listed)
    files = {entry.path: entry for entry in listed}
    _check_paths(listed, files)
    rows = _differences({entry.path: entry for entry in entries(git, base_tree)}, files)
    new = [files[row.path] for row in rows if row.path in files]
    _check_kinds(rows, new)
    _check_collisions(files, {row.path for row in rows if row.status in "AR"})
    _check_contents(git, new, takes_binary=takes_binary)
    return rows


def patch_of(git: Git, base_tree: str, tree: str) -> bytes:
    """Return the difference as `git apply` takes it, binary contents within."""
    try:
        return git.run(
            "diff-tree", "-r", "-p", "--full-index", "--binary", "--no-renames", "--no-ext-diff",
            "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
            sha(base_tree), sha(tree),
            most=2 * MAX_TREE_BYTES,
        ).out  # fmt: skip
    except TooMuch:
        raise ChangeRefused(_TOO_LARGE, "The change is too large to be shown.") from None


def _differences(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> list[ChangedPath]:
    """Compare by what is listed; git's own comparison believes that trees are in order."""
    rows = [
        ChangedPath(path, _status(before.get(path), after.get(path)))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    ]
    return sorted(_with_moves(rows, before, after), key=lambda row: row.path)


def _status(old: Entry | None, new: Entry | None) -> str:
    if not old or not new:
        return "A" if new else "D"
    return "M" if old.mode[:2] == new.mode[:2] else "T"


def _with_moves(
    rows: Sequence[ChangedPath], before: Mapping[str, Entry], after: Mapping[str, Entry]
) -> Iterator[ChangedPath]:
    """Tell a file that went and came elsewhere, the same, as one that moved; each moves once."""
    gone: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.status == "D" and before[row.path].size:
            gone.setdefault((before[row.path].mode, before[row.path].sha), []).append(row.path)
    moved = set()
    for row in rows:
        froms = gone.get((after[row.path].mode, after[row.path].sha)) if row.status == "A" else None
        if froms:
            moved.add(froms[-1])
            yield ChangedPath(row.path, "R", froms.pop())
        elif row.status != "D":
            yield row
    yield from (row for row in rows if row.status == "D" and row.path not in moved)


def _entry(line: bytes) -> Entry:
    head, _, name = line.partition(b"\t")
    mode, _, found, size = head.decode().split()
    try:
        path = name.decode()
    except UnicodeDecodeError:
        shown = name.decode(errors="replace")
        raise ChangeRefused("change.path_unsafe", "The path is not UTF-8.", shown) from None
    return Entry(path, mode, found, int(size) if size.isdigit() else 0)


def _contents(out: bytes, count: int) -> Iterator[bytes]:
    at = 0
    for _ in range(count):
        end = out.find(b"\n", at)
        head = out[at:end].split(b" ")
        if end < 0 or len(head) != 3:
            raise GitLost("missing", "the mirror lacks an object")
        start, size = end + 1, int(head[2])
        yield out[start : start + size]
        at = start + size + 1


def _check_size(files: Iterable[Entry]) -> None:
    sizes = [entry.size for entry in files]
    if len(sizes) > MAX_FILES:
        raise _too_many()
    if sum(sizes) > MAX_TREE_BYTES:
        raise ChangeRefused(
            _TOO_LARGE, f"With the change, the files have more than {MAX_TREE_BYTES} bytes."
        )


def _check_paths(listed: Sequence[Entry], files: Mapping[str, Entry]) -> None:
    for path in files:
        why = unsafe_because(path)
        if why:
            raise ChangeRefused("change.path_unsafe", f"The path is not safe: {why}.", path)
        if any(path[:end] in files for end, sign in enumerate(path) if sign == "/"):
            raise ChangeRefused("change.path_unsafe", "A folder of it is also a file.", path)
    if len(files) < len(listed):
        twice = Counter(entry.path for entry in listed).most_common(1)[0][0]
        raise ChangeRefused("change.path_unsafe", "The path is there twice.", twice)


def _check_kinds(rows: Sequence[ChangedPath], new: Sequence[Entry]) -> None:
    for row in rows:
        if is_modules(row.path) or is_modules(row.old_path):
            raise ChangeRefused("change.submodule", "Submodules are not taken.", row.path)
    for entry in new:
        if entry.mode == SUBMODULE:
            raise ChangeRefused("change.submodule", "Submodules are not taken.", entry.path)
        if entry.mode == LINK:
            raise ChangeRefused("change.link", "Links are not taken.", entry.path)


def _check_collisions(files: Iterable[str], added: set[str]) -> None:
    found = first_collision((path for path in files if path not in added), sorted(added))
    if found:
        path, other = found
        message = f"It differs in case or composition alone from {other!r}, which is there."
        raise ChangeRefused("change.path_unsafe", message, path)


def _check_contents(git: Git, new: Sequence[Entry], *, takes_binary: bool) -> None:
    for entry in new:
        if entry.size > MAX_CHANGED_FILE_BYTES:
            message = f"A changed file has more than {MAX_CHANGED_FILE_BYTES} bytes."
            raise ChangeRefused(_TOO_LARGE, message, entry.path)
    if takes_binary:
        return
    for entry, content in zip(new, read(git, [entry.sha for entry in new]), strict=True):
        if _is_binary(content):
            raise ChangeRefused("change.binary", "Its content is no UTF-8 text.", entry.path)


def _is_binary(content: bytes) -> bool:
    if b"\0" in content[:_BINARY_WITHIN]:
        return True
    try:
        content.decode()
    except UnicodeDecodeError:
        return True
    return False


def _too_many() -> ChangeRefused:
    return ChangeRefused(_TOO_LARGE, f"With the change, there are more than {MAX_FILES} files.")
