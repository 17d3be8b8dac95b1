"""What a repository may be, in which words it is refused, and how it is reached."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings

from loomverify.env import environment
from loomverify.errors import InputError
from verification.actions.models import Mode, Repository
from verification.actions.targets import TargetRefused, find_target
from verification.adapters.git import GitLost, Identity, LocationRefused, Mirror, Remote
from verification.verifiers.selectors import ConnectionUnusable, key_in

NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,59}")
BRANCH = re.compile(
    r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)|/\.|\.$))[A-Za-z0-9_][A-Za-z0-9_./-]{0,198}"
)
EMAIL = re.compile(r"[^\s<>\x00-\x1f]+@[^\s<>\x00-\x1f]+")
PRINTED = re.compile(r"[^\x00-\x1f\x7f<>]+")
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
        if not PRINTED.fullmatch(self.author_name.strip()):
            raise _refused("author_name", "A name as git keeps it: no <, >, or line ends.")
        if not EMAIL.fullmatch(self.author_email):
            raise _refused("author_email", "This is not an e-mail address.")
        for field in ("commit_mode", "branch_mode", "revert_mode"):
            if getattr(self, field) not in Mode.values:
                raise _refused(field, f"One of {', '.join(Mode.values)}.")
        _check_location(self.location)


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise _refused("name", "Lower-case letters, digits, and . _ - between them, at most 60.")


def _check_location(location: str) -> None:
    try:
        remote = Remote(location)
    except LocationRefused as error:
        raise _refused("location", str(error)) from error
    if remote.is_local:
        _check_folder(location)
        return
    try:
        _check_host(location)
    except TargetRefused as error:
        raise _refused("location", str(error)) from error


def _check_folder(location: str) -> None:
    """An operator says which folders of the machine a project may name."""
    allowed = environment().repository_folders
    inside = Path(unquote(location.removeprefix("file://"))).resolve()
    if allowed is not None and not any(inside.is_relative_to(one.resolve()) for one in allowed):
        raise _refused(
            "location",
            "The operator allows no repository in this folder: LOOMVERIFY_REPOSITORIES names "
            "those that are.",
        )


def _check_host(location: str) -> None:
    host = urlsplit(location).hostname or ""
    if "://" not in location:  # user@host:path
        host = location.partition(":")[0].rpartition("@")[2]
    find_target(f"https://{host}/", loopback_allowed=not settings.ENV.production)


def _refused(field: str, msg: str) -> InputError:
    return InputError(f"repository.{field}", msg, loc=("body", field))


def mirror_of(repository: Repository) -> Mirror:
    """Our bare copy of a repository, which is a cache and nothing more.

    Raises:
        GitLost: its secret is not there, or its host is one that nobody may name.
    """
    try:  # what a name leads to, and what the operator allows, may have changed since
        _check_location(repository.location)
        token = _secret(repository, repository.credential_reference)
        remote = Remote(repository.location, token=token)
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
    if not path.is_file() or not os.access(path, os.R_OK):
        raise GitLost("signing_key_missing", "The signing key's file cannot be read.")
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
