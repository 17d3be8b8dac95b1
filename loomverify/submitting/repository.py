"""What git takes for part of the work: the files it tracks, and those it does not ignore.

The folder may hold what an agent wrote, its `.git` too: git is called so that no setting of the
repository starts a program, and what it lists is looked for below the folder alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loomverify.submitting.errors import UsageError
from loomverify.submitting.folders import EntryKind, Folder

GIT_SECONDS = 120.0
MAX_LISTED_BYTES = 256 * 1024 * 1024
MAX_ERROR_BYTES = 4_000
MAX_REPOSITORIES = 1_000
"""The one around the folder, those within it, and those within these."""
IGNORE_FILE = ".loomverifyignore"
MAX_IGNORE_BYTES = 1024 * 1024

_OF_ANOTHER_REPOSITORY = frozenset(
    {
        "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE",
        "GIT_GRAFT_FILE", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
    }
)  # fmt: skip
"""Set where this command runs in a git hook, of the hook's repository."""
_OWN_VARIABLES = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
}
_SETTINGS = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_SEND_ALL = "or send all files with --all-files"


@dataclass(frozen=True, slots=True)
class Listing:
    """Paths relative to the folder. One that ends with `/` stands for all below it."""

    files: tuple[str, ...]
    ignored: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Ended:
    code: int
    out: bytes
    error: str

    @property
    def paths(self) -> list[str]:
        return list(dict.fromkeys(os.fsdecode(path) for path in self.out.split(b"\0") if path))


def list_repository(folder: Folder) -> Listing | None:
    """List a folder as `git ls-files -co --exclude-standard` does, and repositories within it.

    None: it is in no repository, or in a part of one that is ignored as a whole.

    Raises:
        UsageError: there is a repository, and git cannot list it.
    """
    marker = _find_marker(folder.root.resolve())
    if marker is None:
        return None
    git = shutil.which("git")
    if git is None:
        raise UsageError(
            f"{marker.parent} is a git repository, and git is not installed: install it, {_SEND_ALL}."
        )
    if not _is_listed(git, folder.root, marker):
        return None
    files: list[str] = []
    ignored: list[str] = []
    pending, count = [""], 0
    while pending:
        prefix = pending.pop()
        count += 1
        if count > MAX_REPOSITORIES:
            raise UsageError(f"{folder.root} holds more than {MAX_REPOSITORIES:,} repositories.")
        for path in _list(git, folder.root / prefix, "-c", "-o", "--exclude-standard"):
            whole = f"{prefix}{path.rstrip('/')}"
            if folder.kind(whole) is not EntryKind.FOLDER:
                files.append(whole)
            elif os.path.lexists(folder.root / whole / ".git"):
                pending.append(f"{whole}/")
            else:  # a submodule without a repository of its own
                files.append(f"{whole}/")
        ignored += (
            prefix + path
            for path in _list(
                git, folder.root / prefix, "-o", "-i", "--exclude-standard", "--directory"
            )
        )
    return Listing(tuple(files), tuple(ignored))


def find_ignored(ignore_file: Path, paths: Sequence[str]) -> frozenset[str]:
    """Return what the patterns of a file ignore, as git reads them in `.gitignore`.

    Of an ignored folder all that is in it is returned, and the folder with `/` behind its name.

    Raises:
        UsageError: the file cannot be read, or there is no git to read it.
    """
    if not os.path.lexists(ignore_file):
        return frozenset()
    patterns, _ = Folder(ignore_file.parent).read(ignore_file.name, MAX_IGNORE_BYTES + 1)
    if len(patterns) > MAX_IGNORE_BYTES:
        raise UsageError(f"{ignore_file} has more than {MAX_IGNORE_BYTES:,} bytes.")
    git = shutil.which("git")
    if git is None:
        raise UsageError(
            f"git reads {ignore_file}, and is not installed: install it, or remove the file."
        )
    with tempfile.TemporaryDirectory(prefix="loomverify-") as scratch:
        # In a repository of its own nothing else ignores a path, and none needs to be there.
        place = Path(scratch)
        begun = _call(git, place, "init", "-q", "--template=")
        (place / ".gitignore").write_bytes(patterns)
        given = b"\0".join(b"./" + os.fsencode(path) for path in [*_folders_of(paths), *paths])
        options = ("-c", f"core.excludesFile={os.devnull}", "-c", "core.ignoreCase=false")
        asked = ("check-ignore", "--no-index", "-z", "--stdin")
        ended = begun if begun.code else _call(git, place, *options, *asked, given=given)
    if ended.code not in (0, 1):
        raise UsageError(f"git cannot read {ignore_file}: {_first_line(ended.error)}.")
    return frozenset(path.removeprefix("./") for path in ended.paths)


def _folders_of(paths: Iterable[str]) -> set[str]:
    """Return every folder above these paths, with `/` behind its name."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and f"{folder}/" not in folders:
            folders.add(f"{folder}/")
            folder = folder.rpartition("/")[0]
    return folders


def _find_marker(folder: Path) -> Path | None:
    """Return the nearest `.git`, of the folder or of one above it."""
    markers = (place / ".git" for place in (folder, *folder.parents))
    return next((marker for marker in markers if os.path.lexists(marker)), None)


def _is_listed(git: str, root: Path, marker: Path) -> bool:
    """Whether the repository has anything to say of this folder."""
    ended = _call(git, root, "rev-parse", "--is-inside-work-tree")
    if ended.code and "not a git repository (or any" in ended.error:
        if _is_beyond(root.resolve(), marker):
            return False
        raise UsageError(f"{marker} is no repository that git can read: remove it, {_SEND_ALL}.")
    if ended.code:
        raise _unlisted(root, marker, ended)
    if ended.out.strip() != b"true":
        if ".git" in root.resolve().parts:
            return False
        raise UsageError(
            f"{marker} is of a work tree elsewhere: check its core.worktree, {_SEND_ALL}."
        )
    ignoring = _call(git, root, "check-ignore", "-q", ".")
    if ignoring.code not in (0, 1):
        raise _unlisted(root, marker, ignoring)
    return ignoring.code == 1


def _is_beyond(root: Path, marker: Path) -> bool:
    """Whether git has reason to see no repository in this `.git` above the folder."""
    is_above = marker.parent != root
    is_on_another_disk = is_above and marker.parent.stat().st_dev != root.stat().st_dev
    is_out_of_reach = is_above and "GIT_CEILING_DIRECTORIES" in os.environ
    is_empty = is_above and marker.is_dir() and not os.path.lexists(marker / "HEAD")
    return is_on_another_disk or is_out_of_reach or is_empty


def _list(git: str, place: Path, *options: str) -> list[str]:
    ended = _call(git, place, "ls-files", "-z", *options)
    if ended.code:
        raise _unlisted(place, place / ".git", ended)
    paths = ended.paths
    if any(path.startswith("/") or ".." in path.split("/") for path in paths):
        raise UsageError(f"git lists files outside {place}: check its core.worktree, {_SEND_ALL}.")
    return paths


def _unlisted(place: Path, marker: Path, ended: _Ended) -> UsageError:
    if "dubious ownership" in ended.error or "unsafe repository" in ended.error:
        return UsageError(
            f"{marker.parent} belongs to another user, so that git does not read it. If you trust "
            f"it: git config --global --add safe.directory '{marker.parent}'; {_SEND_ALL}."
        )
    return UsageError(
        f"git cannot list {place}: {_first_line(ended.error)}. Mend the repository, {_SEND_ALL}."
    )


def _first_line(error: str) -> str:
    lines = error.strip().splitlines() or ["it gave no reason"]
    return lines[0].removeprefix("fatal: ").removeprefix("error: ").rstrip(".")


def _call(git: str, place: Path, *arguments: str, given: bytes = b"") -> _Ended:
    """Call git and wait for it, for so long and for so much; its code is negative beyond that."""
    variables = {
        name: value for name, value in os.environ.items() if name not in _OF_ANOTHER_REPOSITORY
    }
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as input_file:
        input_file.write(given)
        input_file.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - our own words, and no shell
                (git, *_SETTINGS, *arguments), cwd=place, env=variables | _OWN_VARIABLES,
                stdin=input_file, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        except OSError as error:
            return _Ended(-1, b"", f"it was not started: {error.strerror}")
        timer = threading.Timer(GIT_SECONDS, process.kill)
        timer.start()
        with process:
            assert process.stdout  # noqa: S101 - a pipe was asked for
            out = process.stdout.read(MAX_LISTED_BYTES + 1)
            is_whole = len(out) <= MAX_LISTED_BYTES
            if not is_whole:
                process.kill()
        timer.cancel()
        errors.seek(0)
        error_text = errors.read(MAX_ERROR_BYTES).decode(errors="replace")
    if not is_whole:
        return _Ended(-1, b"", "it lists more than can be submitted")
    if process.returncode < 0:
        return _Ended(-1, b"", f"it was ended, at the latest after {GIT_SECONDS:g} seconds")
    return _Ended(process.returncode, out, error_text)
