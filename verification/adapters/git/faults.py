"""What git's own words mean, as far as they say why it could not work."""

from __future__ import annotations

import re
import signal
from typing import Final

NOT_FOUND_CODES: Final = (126, 127)

_TELLING: Final = (
    ("too_large", rf"died of signal {int(signal.SIGXFSZ)}\b"),
    ("timed_out", rf"died of signal {int(signal.SIGXCPU)}\b"),
    ("killed", r"died of signal \d"),
    ("disk_full", r"No space left on device|Disk quota exceeded"),
    ("object_format", r"mismatched algorithms|unknown repository extension.*objectformat"),
    ("locked", r"Unable to create '.*\.lock'|cannot lock ref|could not lock"),
    (
        "redirected",
        r"unable to update url base from redirection|The requested URL returned error: 3",
    ),
    (
        "denied",
        r"Authentication failed|returned error: 40[13]|could not read (?:Username|Password)"
        r"|Permission denied|Host key verification failed",
    ),
    ("timed_out", r"timed out|Operation too slow|less than \d+ bytes/sec"),
    (
        "unreachable",
        r"Could not resolve host|Failed to connect|Connection (?:refused|reset)|unable to access"
        r"|does not appear to be a git repository|not a git repository|Repository not found"
        r"|Could not read from remote repository|No such file or directory|does not exist",
    ),
    ("memory", r"[Oo]ut of memory|mmap failed|Cannot allocate memory"),
    ("unreachable", r"not valid: is this a git repository|early EOF|invalid server response"),
    (
        "missing",
        r"Needed a single revision|[Nn]ot a valid (?:object name|commit name|'\w+' object)"
        r"|bad revision",
    ),
)
_BROKEN: Final = re.compile(
    r"^(?!remote:).*(?:is corrupt|object file .* is empty|loose object .* corrupt|"
    r"packfile .* (?:cannot be|is truncated)|bad config|bad object [0-9a-f]{40}|"
    r"does not point to a valid object|bad tree object|unable to read tree|"
    r"missing (?:blob|tree|commit) [0-9a-f]{40}|not a git repository: )",
    re.MULTILINE,
)


_FATAL: Final = re.compile(r"^fatal: .*$", re.MULTILINE)
_QUOTED: Final = re.compile(r"'[^\n]*'|\"[^\n]*\"")
_SYSTEM_S: Final = re.compile(
    r"^error: (?:unable to (?:create temporary|write(?: loose object)?) file|file write error)"
    r": (?:No space left on device|Disk quota exceeded|File too large|Cannot allocate memory)$",
    re.MULTILINE,
)


def own_words(said: str) -> str:
    """Return what git says by itself, where it was given what a submitter wrote.

    Its errors repeat names of the submitter's; not where it gives up, but in quotes, nor in what
    it says of the system, which is a whole line.
    """
    fatal = (_QUOTED.sub(_emptied, line) for line in _FATAL.findall(said))
    return "\n".join([*fatal, *_SYSTEM_S.findall(said)])


def _emptied(quoted: re.Match[str]) -> str:
    return "'.lock'" if quoted[0].endswith(".lock'") else "''"


def reason_of(code: int, said: str) -> str:
    if code in NOT_FOUND_CODES:
        return "git_missing"
    if code in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ) or "File too large" in said:
        return "too_large"
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "timed_out"
    if code < 0:
        return "killed"
    if _BROKEN.search(said):
        return "mirror_broken"
    for reason, telling in _TELLING:
        if re.search(telling, said):
            return reason
    return "failed"


OURS: Final = frozenset(
    {
        "disk_full",
        "git_missing",
        "killed",
        "locked",
        "memory",
        "mirror_broken",
        "timed_out",
        "too_large",
    }
)
"""Reasons that are never the fault of what git was given, when it was given a change."""
