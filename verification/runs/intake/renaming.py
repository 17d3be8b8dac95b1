"""Names of files as they are stored: where redaction makes two of them one, both are told apart.

It goes by all the names of a run and its base at once. So no name depends on the order in which
they are met, a file has the same name in both, a folder stays one folder, and a name that nothing
else comes to is the one that redacted texts mention.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from verification.runs.intake.redaction import Redaction, apart

MAX_PATH = 500


def names_of(paths: Collection[str], redaction: Redaction) -> dict[str, str]:
    """Return what each file is stored under."""
    told = redaction.json(list(paths))
    return told_apart(dict(zip(paths, told, strict=True)))


def told_apart(kept: Mapping[str, str], *, most: int = MAX_PATH) -> dict[str, str]:
    """The same of paths as redaction leaves them."""
    meant: dict[str, set[str]] = defaultdict(set)
    for path, name in kept.items():
        for before, after in _prefixes(path, name):
            meant[after].add(before)
    return {path: _named(path, name, meant, most) for path, name in kept.items()}


def _named(path: str, name: str, meant: Mapping[str, set[str]], most: int) -> str:
    parts, before, after = [], "", ""
    for part, told in _steps(path, name):
        before, after = _joined(before, part), _joined(after, told)
        is_shared = part != told and len(meant[after]) > 1
        parts.append(apart(told, before) if is_shared else told)
    named = "/".join(parts)
    return named if len(named) <= most else apart(name, path, most=most)


def _prefixes(path: str, name: str) -> Iterator[tuple[str, str]]:
    before, after = "", ""
    for part, told in _steps(path, name):
        before, after = _joined(before, part), _joined(after, told)
        yield before, after


def _steps(path: str, name: str) -> list[tuple[str, str]]:
    """Each folder and the file with its redacted name; what a match took together is one step."""
    parts, told = path.split("/"), name.split("/")
    if len(parts) == len(told):
        return list(zip(parts, told, strict=True))
    same = min(len(parts), len(told)) - 1
    left = next((n for n in range(same) if parts[n] != told[n]), same)
    right = next((n for n in range(same - left) if parts[-1 - n] != told[-1 - n]), same - left)
    taken, put = ("/".join(one[left : len(one) - right]) for one in (parts, told))
    behind = parts[len(parts) - right :]
    return [*((one, one) for one in parts[:left]), (taken, put), *((one, one) for one in behind)]


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
