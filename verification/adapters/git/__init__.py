"""Repositories by the `git` program: changes applied in a mirror of ours, landed by one push."""

from verification.adapters.git.calling import CALL_SECONDS
from verification.adapters.git.errors import (
    ChangeRefused,
    Conflicted,
    GitLost,
    LocationRefused,
    Moved,
    PushRefused,
)
from verification.adapters.git.folders import folders_of, path_of
from verification.adapters.git.landing import RefUpdate
from verification.adapters.git.mirror import Mirror
from verification.adapters.git.remote import Identity, Remote
from verification.adapters.git.trees import ChangedPath, Entry

__all__ = [
    "CALL_SECONDS",
    "ChangeRefused",
    "ChangedPath",
    "Conflicted",
    "Entry",
    "GitLost",
    "Identity",
    "LocationRefused",
    "Mirror",
    "Moved",
    "PushRefused",
    "RefUpdate",
    "Remote",
    "folders_of",
    "path_of",
]
