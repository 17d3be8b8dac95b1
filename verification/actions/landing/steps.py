"""What each kind of action does in the repository: one push with exact expectations, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.urls import reverse

from verification.actions.landing.opening import branch_of
from verification.actions.landing.standing import standing_of
from verification.actions.models import Action, ActionKind, Change, ChangeKind
from verification.actions.repositories.reaching import identity_of, mirror_of, signing_key_of
from verification.actions.repositories.taking import Given, resolve
from verification.adapters.git import Mirror, Moved, RefUpdate
from verification.engine.landing import (
    Told,
    closed_branch,
    message_of,
    review_branch,
)
from verification.runs import evidence_store
from verification.runs.intake.redaction import known_by
from verification.runs.models import RunFile

HEADS = "refs/heads/"


class Held(Exception):
    """A person has to look at it; nothing was pushed."""

    def __init__(self, reason_code: str, detail: str) -> None:
        super().__init__(detail)
        self.reason_code = reason_code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Planned:
    """Commits that are made in our mirror, and the push that is to be.

    No updates: there is nothing to be done any more. `ref`, `expected` and `new` are what the
    action's row says of it.
    """

    ref: str
    expected: str
    new: str
    updates: Sequence[RefUpdate]
    detail: str = ""


def plan(action: Action, mirror: Mirror) -> Planned:
    """Say what is to be pushed, by what the repository holds now.

    Raises:
        Held, Moved, Conflicted, ChangeRefused, GitLost: why it is not to be done.
    """
    steps: dict[str, Callable[[Action, Mirror], Planned]] = {
        ActionKind.COMMIT: _commit,
        ActionKind.REVIEW_BRANCH: _review_branch,
        ActionKind.REVERT: _revert,
        ActionKind.RESTORE: _restore,
        ActionKind.CLOSE: _close,
    }
    return steps[action.kind](action, mirror)


def mirror_for(action: Action) -> Mirror:
    return mirror_of(action.change.repository)


def _commit(action: Action, mirror: Mirror) -> Planned:
    change = action.change
    branch = change.repository.target_branch
    ref, tip = HEADS + branch, mirror.tip(branch)
    if action.new_sha and tip and _is_in(mirror, action.new_sha, branch, tip):
        return Planned(ref, action.expected_sha, action.new_sha, (), "It was there already.")
    if tip != change.base_sha:
        raise Moved(ref, change.base_sha, tip)
    new = _verified_commit(action, mirror)
    return Planned(ref, change.base_sha, new, [RefUpdate(ref, change.base_sha, new)])


def _review_branch(action: Action, mirror: Mirror) -> Planned:
    change = action.change
    ref = review_branch(_ended_at(change).date(), change.run.uuid)
    new = _verified_commit(action, mirror)
    if action.new_sha and mirror.tip(action.ref.removeprefix(HEADS)) == action.new_sha:
        return Planned(action.ref, "", action.new_sha, (), "It was there already.")
    found = mirror.tip(ref.removeprefix(HEADS))
    if found == new:
        return Planned(ref, "", new, (), "It was there already.")
    if found is not None:
        raise Moved(ref, None, found)
    return Planned(ref, "", new, [RefUpdate(ref, None, new)])


def _revert(action: Action, mirror: Mirror) -> Planned:
    change = action.change
    landed = standing_of(change)
    base, commit = landed.base, landed.commit
    branch = change.repository.target_branch
    ref, tip = HEADS + branch, mirror.tip(branch)
    if tip is None or not _is_in(mirror, commit, branch, tip):
        return Planned(ref, tip or "", "", (), "The commit is not on the target branch.")
    if action.new_sha and _is_in(mirror, action.new_sha, branch, tip):
        return Planned(ref, action.expected_sha, action.new_sha, (), "It was there already.")
    if mirror.parent(commit) != base and not action.decided_by:
        raise Held("many_commits", "More than one commit would be taken back: a person says so.")
    tree = mirror.reverted(base, commit, tip)
    if tree == mirror.tree_of(tip):
        return Planned(ref, tip, "", (), "Somebody took it back already.")
    message = message_of(_told(action), reverts=commit)
    new = _made(action, mirror, tree, tip, message)
    return Planned(ref, tip, new, [RefUpdate(ref, tip, new)])


def _restore(action: Action, mirror: Mirror) -> Planned:
    """The verified tree upon what is there now, where that is the base's tree once more."""
    change = action.change
    branch = change.repository.target_branch
    ref, tip = HEADS + branch, mirror.tip(branch)
    if action.new_sha and tip and _is_in(mirror, action.new_sha, branch, tip):
        return Planned(ref, action.expected_sha, action.new_sha, (), "It was there already.")
    there = mirror.tree_of(tip) if tip else ""
    if tip and there == change.tree_sha:
        return Planned(ref, tip, "", (), "Somebody put it back already.")
    if tip is None or there != mirror.tree_of(change.base_sha):
        raise Moved(ref, change.base_sha, tip)
    message = message_of(_told(action), restores=standing_of(change).commit)
    new = _made(action, mirror, verified_tree(action, mirror), tip, message)
    return Planned(ref, tip, new, [RefUpdate(ref, tip, new)])


def _close(action: Action, mirror: Mirror) -> Planned:
    made = branch_of(action.change)
    if made is None:
        return Planned("", "", "", (), "There is no review branch.")
    closed = closed_branch(made.ref)
    found = mirror.tip(made.ref.removeprefix(HEADS))
    if found is None:
        return Planned(closed, "", made.new_sha, (), "The review branch is gone already.")
    if found != made.new_sha:
        raise Moved(made.ref, made.new_sha, found)
    if mirror.tip(closed.removeprefix(HEADS)) is not None:
        raise Held("ref_taken", f"{closed} is there already.")
    updates = [RefUpdate(closed, None, found), RefUpdate(made.ref, found, None)]
    return Planned(closed, "", found, updates)


def _is_in(mirror: Mirror, commit: str, branch: str, tip: str) -> bool:
    mirror.resolve(branch)
    return commit == tip or (mirror.has(commit) and mirror.is_ancestor(commit, tip))


def _verified_commit(action: Action, mirror: Mirror) -> str:
    """One commit upon the base, with the very tree that was verified."""
    tree = verified_tree(action, mirror)
    return _made(action, mirror, tree, action.change.base_sha, message_of(_told(action)))


def verified_tree(action: Action, mirror: Mirror) -> str:
    """Have the tree that was verified in the mirror, which keeps nothing for long.

    Raises:
        Held: the change gives something else now.
    """
    change = action.change
    if change.blob is None and change.kind != ChangeKind.COMMIT:
        tree = mirror.with_files(change.base_sha, _stored_files(change, mirror))
    else:
        given = Given(ChangeKind(change.kind), _content(change), change.commit_sha)
        tree = resolve(mirror, change.repository, given, base=change.base_sha).tree
    if tree != change.tree_sha:
        raise Held(
            "tree_differs", "Applied again, the change gives other files than were verified."
        )
    return tree


def _stored_files(change: Change, mirror: Mirror) -> dict[str, tuple[str, bytes] | None]:
    """What is changed, from the files of the run: of a project that redacts, nothing else is kept."""
    modes = {one["path"]: one["mode"] for one in change.paths if "mode" in one}
    files: dict[str, tuple[str, bytes] | None]
    files = dict.fromkeys([*_gone(change, mirror), *modes])
    rows = RunFile.objects.filter(run=change.run_id, path__in=modes).select_related("blob__project")
    for row in rows:
        files[row.path] = (modes[row.path], evidence_store.read_blob(row.blob))
    return files


def _gone(change: Change, mirror: Mirror) -> list[str]:
    """What the base has and the change takes away, also where its name must not be kept."""
    names = [one.get("from", one["path"]) for one in change.paths if "gone" not in one]
    known = {one["gone"] for one in change.paths if "gone" in one}
    there = mirror.entries(mirror.tree_of(change.base_sha)) if known else ()
    return [*names, *(one.path for one in there if known_by(one.path) in known)]


def _content(change: Change) -> bytes:
    return evidence_store.read_blob(change.blob) if change.blob else b""


def _made(action: Action, mirror: Mirror, tree: str, parent: str, message: str) -> str:
    """The same inputs make the same commit, but for keys whose signatures differ each time."""
    repository = action.change.repository
    return mirror.commit(
        tree,
        parent,
        message,
        identity=identity_of(repository),
        at=_ended_at(action.change),
        signing_key=signing_key_of(repository),
    )


def _ended_at(change: Change) -> datetime:
    return change.run.finished_at or change.created_at


def _told(action: Action) -> Told:
    change, evidence = action.change, action.evidence
    run = change.run
    body = run.submission.body
    path = reverse("run_detail", args=[run.project.slug, run.uuid])
    return Told(
        run=run.uuid,
        task=run.task.external_id,
        description=body["task"]["description"],
        process=evidence["process"],
        process_version=evidence["process_version"],
        phase=run.phase_id,
        verifier_version=evidence["verifier_version"],
        confidence=evidence["confidence_level"],
        approved_by=action.decided_by,
        url=settings.BASE_URL.rstrip("/") + path,
    )
