"""What a repository may be, and in which words it is refused."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from loomverify.env import environment
from loomverify.errors import InputError
from verification.actions.models import Mode, Repository
from verification.actions.targets import TargetRefused, allowed_target
from verification.adapters.git import Identity, LocationRefused, Remote, folders_of, path_of

NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,59}")
BRANCH = re.compile(
    r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)|/\.|\.$))[A-Za-z0-9_][A-Za-z0-9_./-]{0,198}"
)
OBJECT = re.compile(r"[0-9a-f]{40}")
EMAIL = re.compile(r"[^\s<>\x00-\x1f]+@[^\s<>\x00-\x1f]+")
OWN_BRANCHES = "loomverify/"
MODE_FIELDS = frozenset({"commit_mode", "branch_mode", "revert_mode"})


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
            or OBJECT.fullmatch(self.target_branch)
        ):
            raise _refused("target_branch", "This is not the name of a branch to land on.")
        if not EMAIL.fullmatch(self.author_email):
            raise _refused("author_email", "This is not an e-mail address.")
        try:
            Identity(self.author_name, self.author_email)
        except ValueError as error:
            raise _refused("author_name", "A name and an address as git keeps them.") from error
        for field in sorted(MODE_FIELDS):
            if getattr(self, field) not in Mode.values:
                raise _refused(field, f"One of {', '.join(Mode.values)}.")
        remote_at(self.location)


def stops_alone(was: Terms, now: Terms) -> dict[str, str]:
    """The modes that become propose only, where nothing else changes; else nothing.

    Who stops a repository is not asked whether it can be reached just now.
    """
    before, after = asdict(was), asdict(now)
    changed = {field: after[field] for field in after if before[field] != after[field]}
    stops = all(field in MODE_FIELDS and to == Mode.PROPOSE for field, to in changed.items())
    return changed if stops else {}


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise _refused("name", "Lower-case letters, digits, and . _ - between them, at most 60.")


def remote_at(location: str) -> Remote:
    """Return the remote at the very place that was checked.

    Raises:
        InputError: `repository.location`; what the operator allows may have changed since.
    """
    try:
        remote = Remote(location)
        if remote.is_local:
            return replace(remote, folder=_check_folder(location))
        return replace(remote, addresses=_addresses_of(remote))
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


def _addresses_of(remote: Remote) -> tuple[str, ...]:
    host, _port = remote.server
    named = f"[{host}]" if ":" in host else host
    return allowed_target(f"https://{named}/").addresses


def _refused(field: str, msg: str) -> InputError:
    return InputError(f"repository.{field}", msg, loc=("body", field))
