"""A repository made on the spot, and a project that verifies changes to it."""

from __future__ import annotations

import base64
import difflib
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loomverify.accounts.access import SYSTEM, Access
from loomverify.accounts.models import Project, Role
from tests.runs.conftest import Caller, body_of
from verification.actions.landing import working
from verification.actions.models import Action, ActionState, Change, Repository
from verification.reviews.queue.asking import ask_about
from verification.runs import outbox, worker
from verification.runs.models import Run

PROCESS = """\
name: coding
phases:
  - id: implement
    description: Write it
    acceptance_criteria: It works
    verification_tier: 2
    may_lower_tier: true
verification:
  policy:
    auto_commit: judge_is_enough
"""
BASE = {"app.py": "def add(a, b):\n    return a + b\n", "notes.txt": "One.\nTwo.\nThree.\n"}
ENVIRONMENT = {
    **os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com",
}  # fmt: skip


def git(where: Path, *words: str, given: str | None = None) -> str:
    ended = subprocess.run(
        ["git", *words], cwd=where, env=ENVIRONMENT, input=given, text=True, check=True,
        capture_output=True,
    )  # fmt: skip
    return ended.stdout.strip()


@dataclass(frozen=True)
class Origin:
    """A bare repository, and a clone to work in."""

    path: Path
    clone: Path

    @classmethod
    def made(cls, path: Path) -> Origin:
        git(path.parent, "init", "-q", "--bare", "-b", "main", str(path))
        clone = path.with_name("clone")
        git(path.parent, "clone", "-q", str(path), str(clone))
        origin = cls(path, clone)
        origin.commit(BASE)
        return origin

    def commit(self, files: Mapping[str, str | None], branch: str = "main") -> str:
        """Commit and push, as somebody else would; None deletes."""
        git(self.clone, "fetch", "-q", "origin")
        known = git(self.clone, "branch", "-r", "--list", f"origin/{branch}")
        git(self.clone, "checkout", "-q", "-B", branch, *([f"origin/{branch}"] if known else []))
        self.write(files)
        git(self.clone, "add", "-A")
        git(self.clone, "commit", "-q", "-m", "Somebody's work")
        git(self.clone, "push", "-q", "origin", branch)
        return git(self.clone, "rev-parse", "HEAD")

    def write(self, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            path = self.clone / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink() if text is None else path.write_text(text)

    def patch(self, files: Mapping[str, str | None]) -> str:
        """The difference that an agent would send; the clone stays as it was."""
        git(self.clone, "fetch", "-q", "origin")
        git(self.clone, "checkout", "-q", "-B", "main", "origin/main")
        self.write(files)
        git(self.clone, "add", "-A")
        patch = git(self.clone, "diff", "--cached", "--binary") + "\n"
        git(self.clone, "reset", "-q", "--hard")
        return patch

    def tip(self, branch: str = "main") -> str:
        return git(self.path, "rev-parse", f"refs/heads/{branch}")

    def refs(self) -> dict[str, str]:
        listed = git(self.path, "for-each-ref", "--format=%(refname) %(objectname)")
        return dict(line.split(" ") for line in listed.splitlines())

    def show(self, *words: str) -> str:
        return git(self.path, *words)


@dataclass(frozen=True)
class Scene:
    project: Project
    repository: Repository
    origin: Origin
    agent: Caller
    reviewer: Caller

    def answer(self, patch: str, **fields: Any) -> Any:
        change = {"repository": "origin", "base": "main", "patch": patch} | fields.pop("change", {})
        change = {name: value for name, value in change.items() if value is not None}
        return self.agent.post("/runs", body_of(**{"process": "coding", **fields}, change=change))

    def taken(self, answer: Any) -> Change:
        assert answer.status_code == 202, answer.content
        return Change.objects.get(run__uuid=answer.json()["id"])

    def submitted(self, files: Mapping[str, str | None], **fields: Any) -> Change:
        return self.taken(self.answer(self.origin.patch(files), **fields))

    def landed_commit(self, base: str, commit: str, **fields: Any) -> Change:
        """What somebody committed already, verified, and what follows done."""
        change = {"base": base, "patch": None, "commit": commit}
        taken = self.verify(self.taken(self.answer("", change=change, **fields)))
        self.act()
        return taken

    def bundle(self, files: Mapping[str, str | None]) -> str:
        """A commit upon main that nobody has pushed, as base64."""
        clone = self.origin.clone
        git(clone, "checkout", "-q", "-B", "work", "origin/main")
        self.origin.write(files)
        git(clone, "commit", "-q", "-am", "Work")
        git(clone, "bundle", "create", "-q", "work.bundle", "origin/main..work")
        return base64.b64encode((clone / "work.bundle").read_bytes()).decode()

    def patch_of_text(self, path: str, before: str, after: str) -> str:
        lines = difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True),
            f"a/{path}", f"b/{path}",
        )  # fmt: skip
        return "".join(lines)

    def verified(self, files: Mapping[str, str | None], **fields: Any) -> Change:
        return self.verify(self.submitted(files, **fields))

    def verify(self, change: Change) -> Change:
        worker.work_on(change.run_id)
        outbox.dispatch()
        change.refresh_from_db()
        return change

    def act(self) -> None:
        """Let workers do what is due, and the relay hand on what they tell."""
        for action in Action.objects.filter(state=ActionState.PENDING).order_by("pk"):
            working.act(action_id=action.pk, attempt=action.attempts + 1)
        outbox.dispatch()

    def landed(self, files: Mapping[str, str | None], **fields: Any) -> Change:
        change = self.verified(files, **fields)
        self.act()
        return change

    def actions_of(self, change: Change) -> dict[str, tuple[str, str]]:
        rows = Action.objects.filter(change=change)
        return {row.kind: (row.state, row.reason_code) for row in rows}

    def ask(self, run: Run) -> None:
        """Somebody wants a person to look at it."""
        access = Access(self.project, Role.REVIEWER, SYSTEM)
        assert ask_about(access=access, runs=[run.uuid], why="To be sure.") == 1

    def decide(self, run: Run, outcome: str) -> None:
        answer = self.reviewer.post(f"/runs/{run.uuid}/review", {"outcome": outcome})
        assert answer.status_code == 200, answer.content
        outbox.dispatch()
