"""What may go wrong with a repository, by whose it is to mend."""

from __future__ import annotations


class LocationRefused(ValueError):
    """No address that we speak to."""


class GitLost(Exception):
    """The infrastructure's: it may pass, and blames nobody's work."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class ChangeRefused(Exception):
    """The submitter's mistake. `path` and `line` say where, as far as there is a place."""

    def __init__(self, code: str, message: str, path: str = "", line: int | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.path = path
        self.line = line


class Conflicted(Exception):
    """Both sides changed these paths, and no one but a person can say what is meant."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(", ".join(paths))
        self.paths = paths


class Moved(Exception):
    """The remote's ref is not where it was expected; nothing was pushed. None: it is not there."""

    def __init__(self, ref: str, expected: str | None, found: str | None) -> None:
        super().__init__(f"{ref} is at {found}, not at {expected}")
        self.ref = ref
        self.expected = expected
        self.found = found


class PushRefused(Exception):
    """The remote, or a rule of ours, does not take this update; nothing was pushed."""

    def __init__(self, ref: str, reason: str, *, is_checked_out: bool = False) -> None:
        super().__init__(f"{ref}: {reason}")
        self.ref = ref
        self.reason = reason
        self.is_checked_out = is_checked_out
