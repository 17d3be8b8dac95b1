"""A submitted change, applied to its base in our mirror: what is under test, and what it changes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project
from loomverify.errors import InputError, Loc, NotFound
from verification.actions.models import Change, ChangeKind, Repository
from verification.actions.repositories.reaching import mirror_of
from verification.adapters.git import ChangedPath, ChangeRefused, GitLost, Mirror
from verification.runs.evidence_store import digest_of, name_blobs, store_contents
from verification.runs.intake.changes import Applied
from verification.runs.intake.redaction import Redaction, known_by
from verification.runs.intake.schemas import MAX_TEXT, ChangeIn
from verification.runs.models import Run

DELETED = "D"
FILES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Given:
    """A change as it was sent: its bytes, or the commit that is there already."""

    kind: ChangeKind
    content: bytes = b""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A change in the words of our mirror. `commit`: what was committed already, else empty."""

    base: str
    tree: str
    paths: tuple[ChangedPath, ...]
    commit: str = ""


class RepositoryUnreachable(InputError):
    """Nobody's mistake: the repository, or its secret, is not there now."""

    status = 503
    title = "The repository cannot be reached"


def take(access: Access, change: ChangeIn, *, loc: Loc) -> Applied:
    """Apply a change to its base.

    Raises:
        NotFound: this project has no such repository.
        InputError: what is wrong with the change, at its place.
        RepositoryUnreachable: try again later.
    """
    given = given_by(change, loc=loc)
    repository = named(access.project, change.repository)
    try:
        mirror = mirror_of(repository)
        found = resolve(mirror, repository, given, base=change.base)
        return _applied(access.project, repository, mirror, given, found)
    except ChangeRefused as error:
        raise InputError(error.code, words_of(error), loc=(*loc, _field(error, given))) from error
    except GitLost as error:
        raise RepositoryUnreachable(
            "repository.unreachable", str(error), loc=(*loc, "repository")
        ) from error


def named(project: Project, name: str) -> Repository:
    rows = Repository.objects.filter(project=project, is_removed=False, name=name)
    repository = rows.select_related("project").first()
    if repository is None:
        raise NotFound("repository.unknown", f"This project has no repository {name!r}.")
    return repository


def given_by(change: ChangeIn, *, loc: Loc) -> Given:
    """Raises InputError: not exactly one of patch, bundle and commit."""
    sent = {kind for kind in ChangeKind if getattr(change, kind.value) is not None}
    if len(sent) != 1:
        raise InputError("change.one_of", "Send one of patch, bundle and commit.", loc=loc)
    [kind] = sent
    if kind is ChangeKind.COMMIT:
        return Given(kind, commit=change.commit or "")
    if kind is ChangeKind.PATCH:
        return Given(kind, (change.patch or "").encode())
    try:
        encoded = change.bundle.base64 if change.bundle else ""
        return Given(kind, base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError) as error:
        raise InputError(
            "file.base64", "This is not base64.", loc=(*loc, "bundle", "base64")
        ) from error


def resolve(mirror: Mirror, repository: Repository, given: Given, *, base: str) -> Resolved:
    """Apply a change in a mirror and look at each path of it. The same again gives the same tree."""
    base_sha = mirror.resolve(base)
    commit = ""
    if given.kind is ChangeKind.COMMIT:
        commit = mirror.resolve(given.commit)
        tree = mirror.with_commit(commit, base_sha)
        if not mirror.is_ancestor(commit, mirror.resolve(repository.target_branch)):
            raise ChangeRefused(
                "change.not_landed",
                f"The commit is not on {repository.target_branch}: send it as a patch or bundle.",
            )
    elif given.kind is ChangeKind.BUNDLE:
        tree, _tip = mirror.with_bundle(base_sha, given.content)
    else:
        tree = mirror.with_patch(base_sha, given.content)
    paths = mirror.changed(mirror.tree_of(base_sha), tree, takes_binary=repository.takes_binary)
    return Resolved(base_sha, tree, tuple(paths), commit)


def _applied(
    project: Project, repository: Repository, mirror: Mirror, given: Given, found: Resolved
) -> Applied:
    base_tree = mirror.tree_of(found.base)
    diff = mirror.patch_of(base_tree, found.tree).decode(errors="replace")
    redacts = bool(project.redaction_patterns)
    paths = (
        _rebuilt_from(mirror, found, Redaction(project.redaction_patterns))
        if redacts
        else [{"path": one.path, "status": one.status} for one in found.paths]
    )
    changed = frozenset(one.path for one in found.paths if one.status != DELETED)
    return Applied(
        files=partial(_contents, mirror, found.tree),
        base=partial(_contents, mirror, base_tree),
        changed=changed,
        diff=diff[:MAX_TEXT],
        told={
            "repository": repository.name,
            "base": found.base,
            "kind": given.kind.value,
            "paths": sorted(changed),
        },
        keep=partial(
            _keep,
            project,
            repository,
            replace(given, content=b"") if redacts else given,
            found,
            paths,
        ),
        forget=mirror.forget,
    )


def _rebuilt_from(mirror: Mirror, found: Resolved, redaction: Redaction) -> list[dict[str, str]]:
    """The paths with all that it takes to make the tree again from the files that are stored.

    What was sent may hold what the project redacts, where it is taken away, and is not kept. So may
    the name of a file that goes: of it `gone` is kept, by which it is known in the base.
    """
    modes = {one.path: one.mode for one in mirror.entries(found.tree)}
    names = {name for one in found.paths for name in (one.path, one.old_path) if name}
    kept = dict(zip(names, redaction.json(list(names)), strict=True))
    rows = []
    for one in found.paths:
        row = {"path": kept[one.path], "status": one.status}
        if one.path in modes:
            row["mode"] = modes[one.path]
        if one.old_path:
            row["from"] = kept[one.old_path]
        gone = one.old_path or one.path
        if kept[gone] != gone:
            row["gone"] = known_by(gone)
        rows.append(row)
    return rows


def _contents(mirror: Mirror, tree: str) -> Iterator[tuple[str, bytes]]:
    """The regular files of a tree; links and other repositories in it are not followed."""
    files = [one for one in mirror.entries(tree) if one.mode in FILES]
    yield from zip(
        (one.path for one in files), mirror.read([one.sha for one in files]), strict=True
    )


def _keep(
    project: Project,
    repository: Repository,
    given: Given,
    found: Resolved,
    paths: Sequence[Mapping[str, str]],
    run: Run,
) -> None:
    blob = None
    if given.content:
        store_contents(project, [given.content])
        sha256, size = digest_of(given.content)
        blob = name_blobs(project, {sha256: size})[sha256]
    Change.objects.create(
        project=project,
        submitted_at=run.created_at,
        run=run,
        repository=repository,
        kind=given.kind,
        base_sha=found.base,
        tree_sha=found.tree,
        commit_sha=found.commit,
        blob=blob,
        paths=list(paths),
    )


def _field(error: ChangeRefused, given: Given) -> str:
    return "base" if error.code == "change.base_unknown" else given.kind.value


def words_of(error: ChangeRefused) -> str:
    """What is wrong, behind the file and line it is wrong at."""
    place = ":".join(str(part) for part in (error.path, error.line) if part)
    return f"{place}: {error.message}" if place else error.message
