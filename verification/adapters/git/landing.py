"""Commits made, carried over to another base, and pushed: by exact expectations or not at all."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from verification.adapters.git.calling import Git, lost
from verification.adapters.git.errors import Conflicted, GitLost, Moved, PushRefused
from verification.adapters.git.faults import OURS
from verification.adapters.git.naming import BRANCHES, is_branch, sha
from verification.adapters.git.remote import Identity

OWN_BRANCHES: Final = "refs/heads/loomverify/"
"""Only of these a push removes any: what else is on a remote is others'."""
MAX_MESSAGE_BYTES: Final = 1024**2
MAX_CONFLICTS: Final = 1_000

_NOBODY: Final = Identity("LoomVerify", "loomverify@localhost")
_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_CHECKED_OUT: Final = ("currently checked out", "deletion of the current branch")
_PASSING: Final = ("cannot lock ref", "failed to update ref", "incorrect old value", "stale info")


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """From where to where. `expected` None: it is not there yet; `new` None: it goes."""

    ref: str
    expected: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Written:
    """What a commit says beside its tree and parents. The same words make the same commit."""

    message: str
    identity: Identity
    at: datetime
    signing_key: Path | None = None


def commit(git: Git, tree: str, parents: Sequence[str], written: Written) -> str:
    """Write a commit and return its name.

    Raises:
        GitLost: `signing`, when the key cannot be used, or signs differently every time.
    """
    if written.at.tzinfo is None:
        raise ValueError("a commit's time has a zone")
    message = written.message.encode()
    if b"\0" in message or not message.strip() or len(message) > MAX_MESSAGE_BYTES:
        raise ValueError("a commit has a message, of text")
    signing = _signing(written.signing_key)
    ended = git.run(
        "commit-tree", *(("-S",) if signing else ()),
        *(word for parent in parents for word in ("-p", sha(parent))), sha(tree),
        given=message, settings=signing, variables=_by(written), codes=(0, 1, 128),
    )  # fmt: skip
    if ended.code:
        raise _uncommitted(lost(ended), written.signing_key)
    if signing and b"ecdsa" in _signer(git, ended.line):
        raise GitLost("signing", "An ECDSA key signs differently every time; take Ed25519.")
    return ended.line


def merged(git: Git, base_tree: str, ours: str, theirs: str) -> str:
    """Return the tree that has what both sides changed since `base_tree`. All four are trees.

    Raises:
        Conflicted: there is none.
    """
    plain = Written("merge", _NOBODY, _EPOCH)
    base = commit(git, base_tree, (), plain)
    # Commits of ours stand for the trees, so that their common parent is what was asked for.
    left, right = (commit(git, tree, (base,), plain) for tree in (ours, theirs))
    if left == right:
        return ours
    ended = git.run(
        "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", left, right,
        codes=(0, 1),
    )  # fmt: skip
    tree, *paths = [word for word in ended.out.decode(errors="replace").split("\0") if word]
    if ended.code:
        raise Conflicted(tuple(sorted(set(paths))[:MAX_CONFLICTS]))
    return tree


def tips(git: Git, refs: Sequence[str]) -> dict[str, str]:
    """Return where the remote's refs are now; those that it has not are left out."""
    told = _listed(git, refs)
    if not told and git.remote.protocol in ("http", "https") and not _listed(git, ()):
        # A page that is no repository at all reads as an empty one, by git's oldest protocol.
        raise GitLost("unreachable", "The address shows no branch at all.")
    rows = [line.split("\t") for line in told.splitlines()]
    return {row[1]: row[0] for row in rows if len(row) == 2 and row[1] in refs}


def _listed(git: Git, refs: Sequence[str]) -> str:
    other_end = git.remote.other_end("upload-pack")
    told = git.run("ls-remote", *other_end, "--", git.remote.address(), *refs)
    return told.out.decode(errors="replace")


def check_updates(updates: Sequence[RefUpdate]) -> None:
    for update in updates:
        ref = update.ref
        if not ref.startswith(BRANCHES) or not is_branch(ref.removeprefix(BRANCHES)):
            raise PushRefused(ref, "only branches are pushed")
        if update.new is None and not ref.startswith(OWN_BRANCHES):
            raise PushRefused(ref, "only branches of LoomVerify's own are removed")
        if update.new is None and update.expected is None:
            raise PushRefused(ref, "there is nothing to remove")
        for name in (update.expected, update.new):
            if name is not None:
                sha(name)
    if not updates or len({update.ref for update in updates}) != len(updates):
        raise ValueError("a push has updates, one for each ref")


def push(git: Git, updates: Sequence[RefUpdate], *, lands_checked_out: bool) -> None:
    """Have all refs moved, or none; the other end compares and swaps. The caller checked them.

    Raises:
        Moved, PushRefused, GitLost.
    """
    leases = [f"--force-with-lease={one.ref}:{one.expected or ''}" for one in updates]
    specs = [f"{one.new or ''}:{one.ref}" for one in updates]
    checked_out = "ignore" if lands_checked_out else "refuse"
    other_end = git.remote.other_end("receive-pack", {"receive.denyCurrentBranch": checked_out})
    ended = git.run(
        "push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
        *(("--atomic",) if len(updates) > 1 else ()),
        *other_end, *leases, "--", git.remote.address(), *specs,
        codes=(0, 1, 128),
    )  # fmt: skip
    if ended.code:
        raise _why_not(git, updates, _told_of_refs(ended.out), lost(ended))


def _why_not(
    git: Git, updates: Sequence[RefUpdate], told: Mapping[str, str], otherwise: GitLost
) -> Exception:
    if not told:
        return otherwise
    found = tips(git, [one.ref for one in updates])
    for one in updates:
        if found.get(one.ref) not in (one.expected, one.new):
            return Moved(one.ref, one.expected, found.get(one.ref))
    for ref, why in told.items():
        if any(word in why for word in _CHECKED_OUT):
            return PushRefused(ref, why, is_checked_out=True)
    ref, why = next(
        ((r, w) for r, w in told.items() if "atomic" not in w), next(iter(told.items()))
    )
    if any(word in why for word in _PASSING):
        return GitLost("locked", why)
    return PushRefused(ref, why)


def _told_of_refs(out: bytes) -> dict[str, str]:
    """Read which refs were refused, and why. Lines are flag, from:to and a summary, by tabs."""
    told = {}
    for line in out.decode(errors="replace").splitlines():
        words = line.split("\t")
        if words[0] == "!" and len(words) == 3:
            told[words[1].partition(":")[2]] = words[2][:200]
    return told


def _signing(key: Path | None) -> dict[str, str]:
    if key is None:
        return {}
    return {"gpg.format": "ssh", "user.signingKey": str(key.absolute())}


def _uncommitted(why: GitLost, key: Path | None) -> GitLost:
    if key is None:
        return why
    known = why.reason in {*OURS, "missing"}
    # Where the key lies is the operator's to know.
    detail = why.detail.replace(str(key.absolute()), "[key]")
    return GitLost(why.reason if known else "signing", detail)


def _signer(git: Git, name: str) -> bytes:
    """Return what the signature says of its key: the names of kinds of keys stand in it."""
    content = git.run("cat-file", "commit", name).out
    found = re.search(
        rb"^gpgsig -----BEGIN SSH SIGNATURE-----\n((?: .*\n)+?) -----END", content, re.M
    )
    return base64.b64decode(found[1].replace(b" ", b"").replace(b"\n", b"")) if found else b""


def _by(written: Written) -> dict[str, str]:
    when = f"@{int(written.at.timestamp())} {written.at.strftime('%z')[:5]}"
    named: dict[str, str] = {}
    for role in ("AUTHOR", "COMMITTER"):
        named |= {
            f"GIT_{role}_NAME": written.identity.name,
            f"GIT_{role}_EMAIL": written.identity.email,
            f"GIT_{role}_DATE": when,
        }
    return named
