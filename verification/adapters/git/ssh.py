"""How ssh is called: with the one key that a remote has, or as the worker's user would call it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from verification.adapters.git.remote import Remote

KEY_VARIABLE: Final = "LOOMVERIFY_SSH_KEY"
HOSTS_VARIABLE: Final = "LOOMVERIFY_SSH_HOSTS"
"""Names of files travel beside the command, where ssh looks them up: neither a shell nor ssh's own
signs (`%`, `~`, `${}`, blanks) can make anything of them."""
PORT: Final = 22

_ALWAYS: Final = (
    "-oBatchMode=yes", "-oConnectTimeout=20", "-oServerAliveInterval=15", "-oForwardAgent=no",
)  # fmt: skip
_BY_KEY_ALONE: Final = (
    "-Fnone", "-oIdentitiesOnly=yes", "-oIdentityAgent=none",
    "-oPreferredAuthentications=publickey", "-oStrictHostKeyChecking=yes", "-oUpdateHostKeys=no",
    f"-oIdentityFile=${{{KEY_VARIABLE}}}",
)  # fmt: skip
"""Without a file of settings: one could name further keys, hosts, or a connection that is open."""


def command(remote: Remote) -> str:
    """Return what `GIT_SSH_COMMAND` is to be."""
    words = ["ssh", *_ALWAYS]
    if remote.known_hosts is not None:
        words += [f"-oUserKnownHostsFile=${{{HOSTS_VARIABLE}}}", "-oGlobalKnownHostsFile=/dev/null"]
    if remote.key is not None:
        words += [*_BY_KEY_ALONE, *_pinned(remote)]
    return shlex.join(words)


def variables(remote: Remote) -> dict[str, str]:
    """What stands in the environment of such a call."""
    named = {KEY_VARIABLE: remote.key, HOSTS_VARIABLE: remote.known_hosts}
    return {name: str(path) for name, path in named.items() if path is not None}


def _pinned(remote: Remote) -> Iterator[str]:
    """It goes to the address that was found; the server is known by the name all the same."""
    if not remote.pinned:
        return
    host, port = remote.server
    yield f"-oHostName={remote.pinned[0]}"
    yield f"-oHostKeyAlias={host if port == PORT else f'[{host}]:{port}'}"
