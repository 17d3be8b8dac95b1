"""Which files of a folder are sent, and why others are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from pathlib import Path

from loomverify.submitting.declared import find_declared, find_named
from loomverify.submitting.folders import SKIPPED_NAMES, EntryKind, Folder
from loomverify.submitting.repository import IGNORE_FILE, find_ignored, list_repository
from loomverify.submitting.secret_files import MAX_LOOKED_BYTES, find_secret

MAX_OPENED_FILES = 20_000
"""Of more files, which cannot be sent anyway, none is opened to see whether it is a secret."""
DECLARED_ARE_SENT = "but declared outputs in it are sent"


class Reason(StrEnum):
    """Why files are left out, as it is shown."""

    IGNORED = "ignored by git"
    IGNORED_HERE = f"ignored by {IGNORE_FILE}"
    LINK = "symbolic links"
    SPECIAL = "no regular files"
    SECRET = "they look like secrets"  # noqa: S105 - a reason
    NOT_IN_WORK = "left out of the work too"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """`path` ends with `/` for a folder with all that is in it. `words` say more of it."""

    path: str
    reason: Reason
    words: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the caller asks for. `without` is the name of one file that is no part of the work."""

    all_files: bool = False
    include_secrets: bool = False
    expected_outputs: Sequence[str] = ()
    without: str = ""


@dataclass(slots=True)
class Selection:
    """`files` are relative paths in order. `declared_secrets` wait for an answer."""

    folder: Folder
    files: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    declared_secrets: list[LeftOut] = field(default_factory=list)

    @property
    def may_lack_outputs(self) -> bool:
        """Whether a declaration would have files sent that are left out."""
        reasons = (Reason.IGNORED, Reason.IGNORED_HERE, Reason.SECRET)
        return any(entry.reason in reasons for entry in self.left_out)

    def include_declared_secrets(self) -> None:
        self.files = sorted([*self.files, *(secret.path for secret in self.declared_secrets)])
        self.declared_secrets = []


def select_files(root: Path, choice: Choice, *, ignore_file: Path | None = None) -> Selection:
    """Select the files of a folder that are sent.

    `ignore_file` holds patterns of files that are not; None: the folder's own, where it has one.

    Raises:
        UsageError: git or a folder cannot be read.
    """
    folder = Folder(root)
    candidates, ignored = _list_candidates(folder, choice)
    ignored_here = find_ignored(ignore_file or root / IGNORE_FILE, candidates)
    selected = [path for path in candidates if path not in ignored_here]
    reasons = dict.fromkeys(ignored, Reason.IGNORED)
    reasons |= dict.fromkeys(_collapse(ignored_here), Reason.IGNORED_HERE)
    declared = find_declared(folder, choice.expected_outputs, selected, reasons)

    selection = Selection(folder)
    selection.left_out = [
        LeftOut(path, reason, DECLARED_ARE_SENT if _holds_some(path, declared) else "")
        for path, reason in reasons.items()
        if path not in declared
    ]
    for path in sorted({*selected, *declared}):
        kind = folder.kind(path)
        if kind is EntryKind.FILE:
            selection.files.append(path)
        elif kind in (EntryKind.LINK, EntryKind.SPECIAL):
            reason = Reason.LINK if kind is EntryKind.LINK else Reason.SPECIAL
            selection.left_out.append(LeftOut(path, reason))
    if not choice.include_secrets:
        _leave_out_secrets(selection, choice.expected_outputs)
    return selection


def select_base(root: Path, choice: Choice, work: Selection) -> Selection:
    """Select the files of the folder as it was before the work, by the same rules.

    What is left out of the work is left out of its base: else the work would seem to remove it.
    """
    selection = select_files(root, choice, ignore_file=work.folder.root / IGNORE_FILE)
    sent = set(work.files)
    selection.left_out += (entry for entry in selection.declared_secrets if entry.path not in sent)
    selection.declared_secrets = [
        entry for entry in selection.declared_secrets if entry.path in sent
    ]
    selection.include_declared_secrets()
    left_out = {
        path
        for path in selection.files
        if path not in sent and work.folder.kind(path) is not EntryKind.MISSING
    }
    selection.files = [path for path in selection.files if path not in left_out]
    selection.left_out += (LeftOut(path, Reason.NOT_IN_WORK) for path in sorted(left_out))
    return selection


def _list_candidates(folder: Folder, choice: Choice) -> tuple[list[str], list[str]]:
    """Return what may be sent, and what git ignores."""
    listing = None if choice.all_files else list_repository(folder)
    if listing is None:
        paths: Iterable[str] = folder.walk()
    else:
        paths = chain.from_iterable(
            folder.walk(path) if path.endswith("/") else (path,) for path in listing.files
        )
    ignored = listing.ignored if listing else ()
    return _of_work(paths, choice), sorted(_of_work(ignored, choice))


def _of_work(paths: Iterable[str], choice: Choice) -> list[str]:
    return [
        path
        for path in paths
        if path != choice.without and SKIPPED_NAMES.isdisjoint(path.split("/"))
    ]


def _holds_some(folder: str, paths: Iterable[str]) -> bool:
    return folder.endswith("/") and any(path.startswith(folder) for path in paths)


def _collapse(paths: frozenset[str]) -> list[str]:
    """Return the paths, without those of which a folder above is among them."""
    return sorted(
        path
        for path in paths
        if not (above := path.rstrip("/").rpartition("/")[0]) or f"{above}/" not in paths
    )


def _leave_out_secrets(selection: Selection, expected: Sequence[str]) -> None:
    """Take secrets out of the files. One that a declaration names waits for an answer."""
    is_opened = len(selection.files) <= MAX_OPENED_FILES
    secrets = {}
    for path in selection.files:
        head = selection.folder.read(path, MAX_LOOKED_BYTES)[0] if is_opened else b""
        if words := find_secret(path, head):
            secrets[path] = LeftOut(path, Reason.SECRET, words)
    named = find_named(expected, secrets)
    selection.files = [path for path in selection.files if path not in secrets]
    selection.declared_secrets = [secret for path, secret in secrets.items() if path in named]
    selection.left_out += (secret for path, secret in secrets.items() if path not in named)
