"""Two kinds of error, always apart: the caller's, shown to them; and ours, logged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Loc = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing wrong with an input. `loc` leads to it: `("body", "run", "phase")`."""

    code: str
    msg: str
    loc: Loc = ()


class InputError(Exception):
    """The caller's mistake: shown to them with its place, never retried."""

    status = 422
    title = "The request cannot be processed"

    def __init__(self, code: str, msg: str, *, loc: Loc = (), status: int | None = None) -> None:
        super().__init__(msg)
        self.issues: Sequence[Issue] = (Issue(code, msg, loc),)
        if status is not None:
            self.status = status

    @property
    def code(self) -> str:
        return self.issues[0].code

    @classmethod
    def of(cls, issues: Sequence[Issue], *, status: int = 422) -> InputError:
        error = cls(issues[0].code, issues[0].msg, status=status)
        error.issues = tuple(issues)
        return error


class NotFound(InputError):
    status = 404
    title = "Not found"

    def __init__(self, code: str = "not_found", msg: str = "There is nothing here.") -> None:
        super().__init__(code, msg)


class Conflict(InputError):
    status = 409
    title = "The request conflicts with what is stored"


class Forbidden(InputError):
    status = 403
    title = "This role may not do that"


class FaultError(Exception):
    """Our fault: logged, retried within bounds, never blamed on the work."""
