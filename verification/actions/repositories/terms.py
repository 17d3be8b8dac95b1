"""What a repository may be, in which words it is refused, and how it is reached."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from loomverify.env import environment
from loomverify.errors import InputError
from verification.actions.models import Mode, Repository
from verification.actions.targets import TargetRefused, allowed_target
from verification.adapters.git import (
    GitLost,
    Identity,
    LocationRefused,
    Mirror,
    Remote,
    folders_of,
    path_of,
)
from verification.verifiers.selectors import ConnectionUnusable, key_in

NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,59}")
BRANCH = re.compile(
    r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)|/\.|\.$))[A-Za-z0-9_][A-Za-z0-9_./-]{0,198}"
)
EMAIL = re.compile(r"[^\s<>\x00-\x1f]+@[^\s<>\x00-\x1f]+")
OWN_BRANCHES = "loomverify/"


@dataclass(frozen=True, slots=True)
class Terms:
    """All that can be said of a repository but its name. Secrets are names of variables."""

    location: str
    target_branch: str = "main"
    author_name: str = "LoomVerify"
    author_email: str = "loomverify@localhost"
    credential_reference: str = ""
    signing_reference: str = ""
    commit_mode: str = Mode.PROPOSE
    branch_mode: str = Mode.PROPOSE
    revert_mode: str = Mode.PROPOSE
    takes_binary: bool = False
    lands_checked_out: bool = False

    @classmethod
    def of(cls, row: Repository) -> Terms:
        return cls(**{field.name: getattr(row, field.name) for field in fields(cls)})

    def check(self) -> None:
        """Refuse what no repository can be.

        Raises:
            InputError: `repository.<field>`, with its place.
        """
        if (
            not BRANCH.fullmatch(self.target_branch)
            or self.target_branch.endswith("/")
            or self.target_branch.startswith(OWN_BRANCHES)
        ):
            raise _refused("target_branch", "This is not the name of a branch to land on.")
        if not EMAIL.fullmatch(self.author_email):
            raise _refused("author_email", "This is not an e-mail address.")
        try:
            Identity(self.author_name, self.author_email)
        except ValueError as error:
            raise _refused("author_name", "A name and an address as git keeps them.") from error
        for field in ("commit_mode", "branch_mode", "revert_mode"):
            if getattr(self, field) not in Mode.values:
                raise _refused(field, f"One of {', '.join(Mode.values)}.")
        _check_location(self.location)


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise _refused("name", "Lower-case letters, digits, and . _ - between them, at most 60.")


def _check_location(location: str) -> Remote:
    """Return the remote at the very place that was checked."""
    try:
        remote = Remote(location)
        if remote.is_local:
            return replace(remote, folder=_check_folder(location))
        return replace(remote, addresses=_check_host(location))
    except (LocationRefused, TargetRefused) as error:
        raise _refused("location", str(error)) from error


def _check_folder(location: str) -> Path | None:
    """An operator says which folders of the machine a project may name.

    None: any, and git looks for itself.
    """
    allowed = environment().repository_folders
    if allowed is None:
        return None
    places = [one.resolve() for one in allowed]
    try:  # what is named comes first: nothing is told of the folders of others
        _check_inside([path_of(location).resolve()], places)
        found = folders_of(location)
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, and what is no name
        raise _refused("location", str(error)[:200]) from error
    _check_inside(found, places)
    return found[0]


def _check_inside(found: list[Path], places: list[Path]) -> None:
    if not all(any(one.is_relative_to(place) for place in places) for one in found):
        raise _refused(
            "location",
            "The operator allows no repository in this folder: LOOMVERIFY_REPOSITORIES names "
            "those that are.",
        )


def _check_host(location: str) -> tuple[str, ...]:
    host = urlsplit(location).hostname or ""
    if "://" not in location:  # user@host:path
        host = location.partition(":")[0].rpartition("@")[2]
    return allowed_target(f"https://{host}/").addresses


def _refused(field: str, msg: str) -> InputError:
    return InputError(f"repository.{field}", msg, loc=("body", field))


def mirror_of(repository: Repository) -> Mirror:
    """Our bare copy of a repository, which is a cache and nothing more.

    Raises:
        GitLost: its secret is not there, or its host is one that nobody may name.
    """
    try:  # what a name leads to, and what the operator allows, may have changed since
        remote = _check_location(repository.location)
        token = _secret(repository, repository.credential_reference)
        remote = replace(remote, token=token)
    except InputError as error:
        raise GitLost("target_refused", str(error)) from error
    except LocationRefused as error:
        raise GitLost("secret_unusable", str(error)) from error
    return Mirror(settings.MIRRORS / f"{repository.uuid}.git", remote)


def identity_of(repository: Repository) -> Identity:
    return Identity(repository.author_name, repository.author_email)


def signing_key_of(repository: Repository) -> Path | None:
    """The file of the SSH key that commits are signed with.

    Raises:
        GitLost: the variable, or the file it names, is not there.
    """
    if not repository.signing_reference:
        return None
    path = Path(_secret(repository, repository.signing_reference))
    missing = GitLost("signing_key_missing", "The signing key's file cannot be read.")
    try:
        if not path.is_file() or not os.access(path, os.R_OK):
            raise missing
    except OSError:  # its words would hold what may be the key itself
        raise missing from None
    return path


def _secret(repository: Repository, reference: str) -> str:
    if not reference:
        return ""
    try:
        return key_in(reference, project=repository.project.slug)
    except ConnectionUnusable as error:
        raise GitLost("secret_missing", str(error)) from error


def terms_from(values: dict[str, Any]) -> Terms:
    known = {field.name for field in fields(Terms)}
    return Terms(**{name: value for name, value in values.items() if name in known})
