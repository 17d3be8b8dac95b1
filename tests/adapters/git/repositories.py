"""Real repositories, made on the spot, and what is to be found in them."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from verification.adapters.git import Identity, Mirror, Remote

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
LOOM = Identity("Loom", "loom@example.org")
HOOKS = ("pre-receive", "update", "post-receive", "post-update", "reference-transaction",
         "post-checkout", "pre-push", "pre-commit", "push-to-checkout", "post-index-change")  # fmt: skip

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "User",
    "GIT_AUTHOR_EMAIL": "user@example.org",
    "GIT_AUTHOR_DATE": "@1700000000 +0000",
    "GIT_COMMITTER_NAME": "User",
    "GIT_COMMITTER_EMAIL": "user@example.org",
    "GIT_COMMITTER_DATE": "@1700000000 +0000",
    "LC_ALL": "C",
    # What the tests themselves do leaves no mark; what the adapter does would.
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "core.hooksPath",
    "GIT_CONFIG_VALUE_0": "/dev/null",
    "GIT_CONFIG_KEY_1": "core.fsmonitor",
    "GIT_CONFIG_VALUE_1": "false",
}


@dataclass(frozen=True, slots=True)
class Repo:
    folder: Path

    def git(self, *arguments: str, given: bytes = b"") -> str:
        return self.raw(*arguments, given=given).decode().strip()

    def raw(self, *arguments: str, given: bytes = b"") -> bytes:
        ended = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=_ENVIRONMENT,
            input=given,
            capture_output=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr.decode()
        return ended.stdout

    def commit(self, files: Mapping[str, str | bytes | None], branch: str = "main") -> str:
        """Write a commit upon a branch, with these files put or (None) taken; no work tree moves."""
        ref = f"refs/heads/{branch}"
        there = self.refs().get(ref)
        lines = [
            f"commit {ref}\ncommitter User <user@example.org> 1700000000 +0000\ndata 1\nx\n".encode()
        ]
        if there:
            lines.append(f"from {there}\n".encode())
        for path, content in files.items():
            if content is None:
                lines.append(f"D {path}\n".encode())
            else:
                body = content if isinstance(content, bytes) else content.encode()
                head = f"M 100644 inline {path}\ndata {len(body)}\n"
                lines.append(head.encode() + body + b"\n")
        self.git("fast-import", "--quiet", "--force", given=b"".join(lines))
        return self.git("rev-parse", ref)

    def refs(self) -> dict[str, str]:
        told = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split(" ") for line in told)

    def reachable(self, *names: str) -> set[str]:
        return set(self.git("rev-list", *(names or ("--all",))).split())

    def blob(self, content: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", given=content)

    def tree(self, *rows: tuple[str, str, bytes | str]) -> str:
        """Write a tree as it is told, however unsafe: (mode, object, name)."""
        kinds = {"040000": "tree", "160000": "commit"}
        text = b"".join(
            f"{mode} {kinds.get(mode, 'blob')} {name}\t".encode()
            + (path if isinstance(path, bytes) else path.encode())
            + b"\0"
            for mode, name, path in rows
        )
        return self.git("mktree", "-z", "--missing", given=text)

    def commit_tree(self, tree: str, *parents: str) -> str:
        words = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", *words, "-m", "x", tree)

    def patch(self, old: str, new: str) -> bytes:
        return self.raw("diff", "--binary", "--full-index", "--no-renames", old, new)

    def bundle(self, *asked: str) -> bytes:
        return self.raw("bundle", "create", "--quiet", "-", *asked)

    def files(self, name: str) -> dict[str, bytes]:
        rows = self.git("ls-tree", "-r", "-z", "--name-only", name).split("\0")
        return {path: self.raw("cat-file", "blob", f"{name}:{path}") for path in rows if path}


def bare(folder: Path) -> Repo:
    return _made(folder, "--bare")


def worked_in(folder: Path, marks: Path) -> Repo:
    """A user's own: dirty in every way there is, its hooks and filters would leave a mark."""
    repo = _made(folder)
    for path, content in {
        "a.txt": "one\ntwo\nthree\n",
        "b.txt": "b\n",
        ".gitignore": "*.log\n",
    }.items():
        (folder / path).write_text(content)
    repo.git("add", ".")
    repo.git("commit", "-qm", "first")
    (folder / "b.txt").write_text("stashed\n")
    repo.git("stash", "push", "-q")
    (folder / "staged.txt").write_text("staged\n")
    repo.git("add", "staged.txt")
    (folder / "b.txt").write_text("dirty\n")
    (folder / "untracked.txt").write_text("untracked\n")
    (folder / "ignored.log").write_text("ignored\n")
    repo.git("branch", "side")
    repo.git("worktree", "add", "-q", str(folder.parent / "linked"), "side")
    for name in ("core.fsmonitor", "core.sshCommand", "core.alternateRefsCommand",
                 "uploadpack.packObjectsHook", "filter.f.smudge", "diff.external"):  # fmt: skip
        repo.git("config", name, f"touch {marks / name}")
    repo.git("config", "receive.denyCurrentBranch", "updateInstead")
    plant_hooks(folder / ".git", marks)
    return repo


def plant_hooks(git_folder: Path, marks: Path) -> None:
    marks.mkdir(exist_ok=True)
    (git_folder / "hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        hook = git_folder / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {marks / name}\n")
        hook.chmod(0o755)


def contents(*folders: Path) -> dict[str, str]:
    """Hash every file but git's objects, refs and their logs, which are compared by name."""
    seen = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            inner = path.relative_to(folder).as_posix()
            if path.is_file() and not inner.startswith(
                (".git/objects/", ".git/refs/", ".git/logs/")
            ):
                mode = path.stat().st_mode
                seen[f"{folder}/{inner}"] = (
                    f"{mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
                )
    return seen


def mirror_of(repo: Repo, folder: Path, *, seconds: float = 30) -> Mirror:
    return Mirror(folder, Remote(str(repo.folder)), seconds=seconds)


def committed(mirror: Mirror, base: str, patch: bytes, parent: str | None = None) -> str:
    tree = mirror.with_patch(base, patch)
    return mirror.commit(tree, parent or base, "Land it\n", identity=LOOM, at=AT)


def _made(folder: Path, *options: str) -> Repo:
    folder.mkdir(parents=True)
    repo = Repo(folder)
    repo.git("init", "-q", "--template=", "-b", "main", *options)
    return repo
