"""A bare mirror of a remote: where changes are applied, and from where they land.

It is a cache. There is never a work tree, so that no hook, filter or attribute has anything to
act on; the remote is only read by fetches, and written by one push.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from verification.adapters.git import bundles, changing, landing, making, trees
from verification.adapters.git.calling import CALL_SECONDS, Git
from verification.adapters.git.errors import ChangeRefused, GitLost, Moved, PushRefused
from verification.adapters.git.landing import RefUpdate, Written
from verification.adapters.git.naming import BRANCHES, is_branch, is_sha, sha
from verification.adapters.git.remote import Identity, Remote
from verification.adapters.git.trees import ChangedPath, Entry

THEIRS: Final = "refs/theirs/"
"""Where the mirror keeps the remote's branches: nothing is believed of them but what is there."""
_ABBREVIATED: Final = re.compile(r"[0-9a-f]{7,40}")


class Mirror:
    """One remote's mirror in a folder of its own. Several processes may use it at a time.

    Every method may raise `GitLost`.
    """

    def __init__(self, folder: Path, remote: Remote, *, seconds: float = CALL_SECONDS) -> None:
        self._git = Git(folder.absolute(), remote, seconds)

    def resolve(self, name: str) -> str:
        """Return the commit of a branch, or of a name (7 digits or more) that a branch reaches.

        Raises:
            ChangeRefused: `change.base_unknown`.
        """
        with self._ready():
            if is_sha(name) and self._is_theirs(name):
                return name
            self._fetch()
            if is_sha(name) and self._is_theirs(name):  # before a branch that is named so
                return name
            if is_branch(name):
                found = self._commit(f"{THEIRS}{name}")
                if found:
                    return found
            if _ABBREVIATED.fullmatch(name):
                found = self._commit(name)
                if found and self._is_theirs(found):
                    return found
        message = "The repository has no such branch or commit, or several that begin so."
        raise ChangeRefused("change.base_unknown", message)

    def tip(self, branch: str) -> str | None:
        """Ask the remote where a branch is now."""
        if not is_branch(branch):
            return None
        ref = f"{BRANCHES}{branch}"
        with self._ready() as git:
            return landing.tips(git, [ref]).get(ref)

    def has(self, name: str) -> bool:
        """Whether the mirror holds this object, whoever's it is."""
        with self._ready() as git:
            return git.run("cat-file", "-e", sha(name), codes=(0, 1, 128)).code == 0

    def tree_of(self, commit: str) -> str:
        """Return the tree of a commit, which is fetched where it is not there."""
        with self._ready() as git:
            asked = ("rev-parse", "--verify", f"{sha(commit)}^{{tree}}")
            ended = git.run(*asked, codes=(0, 128))
            if ended.code:
                self._fetch()
                ended = git.run(*asked)
            return ended.line

    def parent(self, commit: str) -> str | None:
        """Return the first parent."""
        return self._commit(f"{sha(commit)}^1")

    def is_ancestor(self, earlier: str, later: str) -> bool:
        """Whether `later` has `earlier` in its history, or is it."""
        with self._ready() as git:
            asked = ("merge-base", "--is-ancestor", sha(earlier), sha(later))
            return git.run(*asked, codes=(0, 1)).code == 0

    def entries(self, tree: str) -> list[Entry]:
        with self._ready() as git:
            return trees.entries(git, tree)

    def read(self, shas: Iterable[str]) -> Iterator[bytes]:
        with self._ready() as git:
            yield from trees.read(git, shas)

    def changed(self, base_tree: str, tree: str, *, takes_binary: bool) -> list[ChangedPath]:
        with self._ready() as git:
            return trees.changed(git, base_tree, tree, takes_binary=takes_binary)

    def patch_of(self, base_tree: str, tree: str) -> bytes:
        with self._ready() as git:
            return trees.patch_of(git, base_tree, tree)

    def with_patch(self, base: str, patch: bytes) -> str:
        changing.check_patch(patch)
        base = self.resolve(sha(base))
        with self._ready() as git:
            return changing.with_patch(git, base, patch)

    def with_files(self, base: str, files: Mapping[str, tuple[str, bytes] | None]) -> str:
        """Return the tree of `base` with these files, each its mode and content; None: it is gone."""
        base = self.resolve(sha(base))
        with self._ready() as git:
            return changing.with_files(git, base, files)

    def with_bundle(self, base: str, bundle: bytes) -> tuple[str, str]:
        """Return tree and tip."""
        base = self.resolve(sha(base))
        with self._ready() as git:
            return bundles.with_bundle(git, base, bundle, self._knows)

    def with_commit(self, commit: str, base: str) -> str:
        """Return the tree of a commit that the remote has, made upon `base`."""
        base, commit = self.resolve(sha(base)), self.resolve(sha(commit))
        if not self.is_ancestor(base, commit):
            message = "The commit does not descend from the base."
            raise ChangeRefused("change.not_on_base", message)
        return self.tree_of(commit)

    def commit(
        self,
        tree: str,
        parent: str,
        message: str,
        *,
        identity: Identity,
        at: datetime,
        signing_key: Path | None = None,
    ) -> str:
        """Write a commit; the same arguments give the same name."""
        with self._ready() as git:
            written = Written(message, identity, at, signing_key)
            return landing.commit(git, tree, (parent,), written)

    def rebased(self, base: str, tree: str, onto: str) -> str:
        """Return the tree of `onto` with what `tree` changed since the commit `base`."""
        with self._ready() as git:
            return landing.merged(git, self.tree_of(base), self.tree_of(onto), sha(tree))

    def reverted(self, base: str, commit: str, onto: str) -> str:
        """Return the tree of `onto` without what came between the commits `base` and `commit`."""
        with self._ready() as git:
            undone, there = self.tree_of(commit), self.tree_of(onto)
            return landing.merged(git, undone, there, self.tree_of(base))

    def push(self, updates: Sequence[RefUpdate], *, lands_checked_out: bool = False) -> None:
        """Move all refs of the remote from where they are expected to be, or none.

        Done already is done. Raises `Moved` or `PushRefused`; nothing was pushed then.
        """
        landing.check_updates(updates)
        with self._ready() as git:
            for update in updates:
                if update.new and not self.has(update.new):
                    self.tree_of(update.new)
                self._check_descent(update)
            landing.push(git, updates, lands_checked_out=lands_checked_out)

    def prune(self, age: str = "1.day.ago") -> None:
        """Let go of what no branch of the remote reaches and nobody has written for so long.

        What is being applied is younger: git marks an object as new whenever it is written again.
        A mirror that cannot be pruned in time is made anew by the next call.
        """
        with self._ready() as git, making.locked(git):
            try:
                git.run("repack", "-A", "-d", "-q", f"--unpack-unreachable={age}")
                git.run("prune", f"--expire={age}")
            except GitLost as lost:
                if lost.reason == "timed_out":
                    making.thrown_away(git)
                raise

    def forget(self) -> None:
        """Remove the mirror, with all that was ever submitted to it; the next call makes it anew."""
        with making.locked(self._git):
            making.thrown_away(self._git)

    def _check_descent(self, update: RefUpdate) -> None:
        """No commit that a branch reaches is lost by what a push makes of the branch."""
        if update.expected is None or update.new is None:
            return
        if not self._knows(update.expected):
            branch = update.ref.removeprefix(BRANCHES)
            raise Moved(update.ref, update.expected, self.tip(branch))
        if not self.is_ancestor(update.expected, update.new):
            raise PushRefused(update.ref, "the new commit does not descend from the one there")

    def _knows(self, commit: str) -> bool:
        if self._is_theirs(commit):
            return True
        self._fetch()
        return self._is_theirs(commit)

    def _is_theirs(self, commit: str) -> bool:
        """Whether a branch of the remote reached it when last looked at."""
        with self._ready() as git:
            asked = ("rev-list", "-n1", sha(commit), "--not", f"--glob={THEIRS}*")
            ended = git.run(*asked, codes=(0, 128))
            return ended.code == 0 and not ended.line and self._commit(commit) == commit

    def _commit(self, name: str) -> str | None:
        with self._ready() as git:
            asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
            ended = git.run(*asked, codes=(0, 1, 128))
            return ended.line if ended.code == 0 and is_sha(ended.line) else None

    def _fetch(self) -> None:
        with self._ready() as git, making.locked(git):
            if making.is_too_large(git.repository):
                making.thrown_away(git)
                raise GitLost("too_large", "the mirror had grown too large, and is made anew")
            git.run(
                "fetch", "--quiet", "--prune", "--force", "--no-tags", "--no-write-fetch-head",
                "--no-auto-maintenance", "--no-recurse-submodules", "--update-shallow",
                *git.remote.other_end("upload-pack"),
                "--", git.remote.address(), f"+{BRANCHES}*:{THEIRS}*",
            )  # fmt: skip
            if not git.run("for-each-ref", "--count=1", THEIRS).out:
                landing.tips(git, [BRANCHES])

    @contextlib.contextmanager
    def _ready(self) -> Iterator[Git]:
        """Have the repository there; a spoilt one is thrown away, and the next call makes it anew."""
        making.made(self._git)
        try:
            yield self._git
        except GitLost as lost:
            if lost.reason == "mirror_broken":
                making.thrown_away(self._git)
            raise
