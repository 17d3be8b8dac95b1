"""Which paths and refs are safe to have, on whatever system they may once be laid out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

MAX_PATH_BYTES: Final = 4_096
MAX_PART_BYTES: Final = 255
"""What the usual file systems hold in one name."""
MAX_DEPTH: Final = 100
MAX_REF_CHARS: Final = 250
BRANCHES: Final = "refs/heads/"

_HIDDEN: Final = re.compile("[\u200c-\u200f\u202a-\u202e\u2060\u2066-\u2069\u206a-\u206f\ufeff]")
"""macOS leaves the first of these out when it compares names; all of them are not seen."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_NTFS_GIT: Final = re.compile(r"(?:\.git|git~\d+)[ .]*(?::.*)?", re.DOTALL)
_NTFS_MODULES: Final = re.compile(r"(?:\.gitmodules|gitmod~\d+|gi7eb[0-9a-f]~\d+)[ .]*(?::.*)?")
_SHA: Final = re.compile(r"[0-9a-f]{40}")
_REF_FORBIDDEN: Final = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|\.(?:/|$)"
)


def is_sha(text: str) -> bool:
    return bool(_SHA.fullmatch(text))


def sha(text: str) -> str:
    """Return it, or raise: what is no full object name does not reach a command line."""
    if not is_sha(text):
        raise ValueError(f"{text[:80]!r} is no object's name")
    return text


def is_branch(name: str) -> bool:
    return (
        0 < len(name) <= MAX_REF_CHARS
        and not _REF_FORBIDDEN.search(name)
        and not name.startswith(("-", "/", "."))
        and not name.endswith("/")
        and name not in ("@", "HEAD")
    )


def unsafe_because(path: str) -> str:
    """Say what is wrong with a path, '' when nothing is."""
    parts = path.split("/")
    if not path or len(path.encode()) > MAX_PATH_BYTES or len(parts) > MAX_DEPTH:
        return "it is empty, too long or too deep"
    if any(len(part.encode()) > MAX_PART_BYTES for part in parts):
        return f"a name in it has more than {MAX_PART_BYTES} bytes"
    if "" in parts or "." in parts or ".." in parts:
        return "it is absolute, or leads out"
    if _CONTROL.search(path):
        return "it holds control characters"
    if "\\" in path:
        return "a backslash parts folders on other systems"
    if any(_is_git(part) for part in parts):
        return "it names git's own folder"
    return ""


def is_modules(path: str) -> bool:
    return bool(_NTFS_MODULES.fullmatch(folded(path)))


def folded(part: str) -> str:
    """Return the form in which systems that ignore case and composition compare names."""
    if part.isascii():
        return part.lower()
    seen = _HIDDEN.sub("", part)
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", seen).casefold())


def first_collision(there: Iterable[str], added: Iterable[str]) -> tuple[str, str] | None:
    """Find an added path, with a spelling of it or of a folder of it that is there otherwise."""
    spelled: dict[tuple[int, str], tuple[int, str]] = {}
    for path in there:
        _place(path, spelled)
    for path in added:
        other = _place(path, spelled)
        if other is not None:
            return path, other
    return None


def _place(path: str, spelled: dict[tuple[int, str], tuple[int, str]]) -> str | None:
    """Walk a path through all spellings; each step is one look-up, however long the path."""
    folder, clash = 0, None
    for part in path.split("/"):
        folder, spelling = spelled.setdefault((folder, folded(part)), (len(spelled) + 1, part))
        if spelling != part and clash is None:
            clash = spelling
    return clash


def _is_git(part: str) -> bool:
    return bool(_NTFS_GIT.fullmatch(folded(part)))
