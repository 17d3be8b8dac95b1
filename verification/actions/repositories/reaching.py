"""How a repository is reached and its commits are signed: by which secret, and whose."""

from __future__ import annotations

import logging
import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from uuid import UUID

from django.conf import settings

from loomverify.env import environment
from loomverify.errors import InputError
from verification.actions.models import Repository
from verification.actions.repositories.terms import remote_at
from verification.adapters.git import (
    CALL_SECONDS,
    GitLost,
    Identity,
    LocationRefused,
    Mirror,
    Remote,
)
from verification.verifiers.selectors import ConnectionUnusable, key_in

logger = logging.getLogger(__name__)

EVERY_PROJECT = "*"
PRUNE_SECONDS = CALL_SECONDS * 0.4
"""For each of two calls of git, so that nobody waits for the copy longer than they would wait at all."""
NEEDS_KEY = (
    "This project has no use of the workers' own SSH key: name the variable of a key's file. "
    "An operator may name the project in LOOMVERIFY_WORKER_SSH_PROJECTS instead."
)
_READABLE_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Reached(StrEnum):
    """By what a repository is reached."""

    PATH = "path"
    NOTHING = "nothing"
    TOKEN = "token"  # noqa: S105 - a word for people
    KEY = "ssh_key"
    WORKER_KEY = "worker_ssh_key"
    NO_KEY = "no_ssh_key"


def reached_by(location: str, credential_reference: str, *, project: str) -> Reached:
    """Say by what it is reached. `project` is a slug.

    Raises:
        LocationRefused: it is no repository's.
    """
    remote = Remote(location)
    if remote.is_local:
        return Reached.PATH
    has_own = bool(credential_reference)
    if remote.protocol != "ssh":
        return Reached.TOKEN if has_own else Reached.NOTHING
    if has_own:
        return Reached.KEY
    allowed = environment().worker_ssh_projects
    return Reached.WORKER_KEY if {EVERY_PROJECT, project} & set(allowed) else Reached.NO_KEY


def reached(repository: Repository) -> Reached:
    slug = repository.project.slug
    return reached_by(repository.location, repository.credential_reference, project=slug)


def mirror_of(repository: Repository) -> Mirror:
    """Our bare copy of a repository, which is a cache and nothing more.

    Raises:
        GitLost: its secret is not there, or its host is one that nobody may name.
    """
    try:  # what a name leads to, and what the operator allows, may have changed since
        remote = _with_secret(remote_at(repository.location), repository)
    except InputError as error:
        raise GitLost("target_refused", str(error)) from error
    except LocationRefused as error:
        raise GitLost("secret_unusable", str(error)) from error
    return Mirror(_mirrored_in(repository), remote)


def prune_mirror(repository: Repository) -> bool:
    """Let what nobody needs any more go from our copy; the remote is not asked. False: no copy.

    Raises:
        GitLost: it could not be done; another day may do.
    """
    folder = _mirrored_in(repository)
    if not folder.is_dir():
        return False
    Mirror(folder, Remote(repository.location), seconds=PRUNE_SECONDS).prune()
    return True


def forget_mirror(repository: Repository) -> None:
    """Remove our copy, with all that was ever submitted to it. What is left is tried again each day."""
    _removed(_mirrored_in(repository))


def forget_mirrors_of_nobody() -> int:
    """Remove copies of repositories that are in use no more; return how many are gone.

    A worker may have written into one while it was removed, or the disk refused.
    """
    used = {f"{name}.git" for name in _in_use()}
    found = settings.MIRRORS.glob("*.git") if settings.MIRRORS.is_dir() else ()
    return sum(_removed(folder) for folder in found if folder.name not in used)


def _in_use() -> Iterable[UUID]:
    return Repository.objects.filter(is_removed=False).values_list("uuid", flat=True)


def _removed(folder: Path) -> bool:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return not folder.exists()
    except OSError as error:
        logger.warning("mirror_not_removed folder=%s error=%s", folder.name, error.strerror)
        return False
    return True


def _mirrored_in(repository: Repository) -> Path:
    return settings.MIRRORS / f"{repository.uuid}.git"


def _with_secret(remote: Remote, repository: Repository) -> Remote:
    by = reached(repository)
    if by is Reached.NO_KEY:
        raise GitLost("secret_missing", NEEDS_KEY)
    if by is Reached.TOKEN:
        return replace(remote, token=_secret(repository, repository.credential_reference))
    if by not in (Reached.KEY, Reached.WORKER_KEY):
        return remote
    remote = replace(remote, known_hosts=environment().known_hosts)
    return replace(remote, key=_ssh_key_of(repository)) if by is Reached.KEY else remote


def _ssh_key_of(repository: Repository) -> Path:
    path = _key_file(
        repository, repository.credential_reference,
        GitLost("ssh_key_missing", "The SSH key's file cannot be read."),
    )  # fmt: skip
    there = path.stat()
    if there.st_uid == os.geteuid() and there.st_mode & _READABLE_BY_OTHERS:
        raise GitLost(
            "ssh_key_open", "Others can read the SSH key's file, so that ssh takes none: chmod 600."
        )
    return path


def identity_of(repository: Repository) -> Identity:
    return Identity(repository.author_name, repository.author_email)


def signing_key_of(repository: Repository) -> Path | None:
    """The file of the SSH key that commits are signed with.

    Raises:
        GitLost: the variable, or the file it names, is not there.
    """
    if not repository.signing_reference:
        return None
    return _key_file(
        repository, repository.signing_reference,
        GitLost("signing_key_missing", "The signing key's file cannot be read."),
    )  # fmt: skip


def _key_file(repository: Repository, reference: str, missing: GitLost) -> Path:
    path = Path(_secret(repository, reference))
    try:
        if not path.is_file() or not os.access(path, os.R_OK):
            raise missing
    except (OSError, ValueError):  # its words would hold what may be the key itself
        raise missing from None
    return path.absolute()


def _secret(repository: Repository, reference: str) -> str:
    if not reference:
        return ""
    try:
        return key_in(reference, project=repository.project.slug)
    except ConnectionUnusable as error:
        raise GitLost("secret_missing", str(error)) from error
