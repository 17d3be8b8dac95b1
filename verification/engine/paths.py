"""Paths as submitted, in whatever spelling, brought to the form in which files are stored."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote

from verification.engine.evidence import SubmittedFile

MAX_PATH_CHARS = 4_096
"""No system opens a longer one: such a text is not a path."""
EMPTY_BY_NATURE = frozenset(
    {
        "__init__.py", "__init__.pyi", "conftest.py", "py.typed", "_SUCCESS", ".nojekyll",
        ".nomedia", ".gitkeep", ".keep", ".placeholder", ".empty",
    }
)  # fmt: skip
"""Files that say what they have to say by being there."""
_EMPTY_BY_KIND = re.compile(r"\..*ignore|.*\.(?:log|stamp|done|ok)", re.IGNORECASE)

_FILE_URL = re.compile(r"file:(?://(?:localhost(?=/))?)?", re.IGNORECASE)
_DRIVE_OF_URL = re.compile(r"/(?=[A-Za-z]:/)")
_ANCHOR = re.compile(
    r"(?P<drive>[A-Za-z]:)/|(?P<home>~[\w.-]*|\$HOME|\$\{HOME\}|%USERPROFILE%)(?:/|$)"
    r"|(?P<variable>\$\w+|\$\{[\w.:]+\}|%\w+%)(?:/|$)|(?P<root>/)"
)
_SYSTEM = re.compile(
    r"/(?:private/)?(?:etc|bin|sbin|boot|dev|proc|sys|lib(?:32|64)?|System|Library)(?:/|$)"
    r"|/usr/(?:local/)?(?:bin|sbin|lib(?:32|64)?|libexec|include|share)(?:/|$)"
    r"|[a-z]:/(?:windows|program files(?: \(x86\))?|programdata)(?:/|$)",
    re.IGNORECASE,
)
_TEMPORARY = re.compile(
    r"/(?:private/)?(?:var/)?tmp/|/(?:private/)?var/folders/|/dev/shm/"
    r"|[a-z]:/(?:users/[^/]+/appdata/local/|windows/)?te?mp/|(?:\$\{?|%)te?mp(?:dir)?[}%]?/",
    re.IGNORECASE,
)
_HIDDEN_AT_HOME = re.compile(
    r"(?:(?:[a-z]:)?/(?:home|users)/[^/]+|/root|~[\w.-]*|\$HOME|\$\{HOME\}|%USERPROFILE%)"
    r"/(?:\.|AppData/)",
    re.IGNORECASE,
)
_HOMES = re.compile(r"(?:[a-z]:)?/?(?:(?:home|users)(?:/[^/]+)?|root)?", re.IGNORECASE)
_NOWHERE = re.compile(r"/dev/(?:null|tty|std(?:in|out|err)|fd/\d+)")


@dataclass(frozen=True, slots=True)
class Anchored:
    """A path that does not start at the workspace. `anchor` is '', a drive, a home or a variable."""

    anchor: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        return "/".join((self.anchor, *self.parts))

    @property
    def is_absolute(self) -> bool:
        """Whether it can be compared with others: a home or a variable may stand for anything."""
        return not self.anchor or self.anchor.endswith(":")

    @property
    def is_of_the_system(self) -> bool:
        """No workspace lies there."""
        return bool(_SYSTEM.match(self.text)) and not self.is_temporary

    @property
    def is_temporary(self) -> bool:
        return bool(_TEMPORARY.match(self.text))

    @property
    def is_hidden_at_home(self) -> bool:
        """Somebody's settings and secrets."""
        return bool(_HIDDEN_AT_HOME.match(self.text))

    @property
    def leads_nowhere(self) -> bool:
        """A device that keeps nothing."""
        return bool(_NOWHERE.fullmatch(self.text))


def spelled(path: str) -> str:
    """The path with its parts between `/`, whatever system or program wrote it."""
    path = path.strip().replace("\\", "/")
    if url := _FILE_URL.match(path):
        path = _DRIVE_OF_URL.sub("", unquote(path[url.end() :]), count=1)
    return unicodedata.normalize("NFC", path)


def relative(path: str) -> str | None:
    """Bring a path to `a/b.txt`; None: it does not start at the workspace, or climbs out of it."""
    path = spelled(path)
    if _ANCHOR.match(path):
        return None
    parts = _walked(path.split("/"))
    return None if parts is None else "/".join(parts)


def anchored(path: str) -> Anchored | None:
    """Read a path that starts elsewhere; None: it does not, or leads nowhere that has a name."""
    path = spelled(path)
    start = _ANCHOR.match(path)
    if not start:
        return None
    anchor = start["drive"] or start["home"] or start["variable"] or ""
    parts = _walked(path[start.end() :].split("/"), stops=not anchor or bool(start["drive"]))
    return None if parts is None else Anchored(anchor, tuple(parts))


def is_home_or_above(folder: str) -> bool:
    """Whether too much that is not work lies under this folder."""
    return bool(_HOMES.fullmatch(folder))


def is_empty(file: SubmittedFile) -> bool:
    return file.size == 0 and not is_empty_by_nature(file.path)


def is_empty_by_nature(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name in EMPTY_BY_NATURE or bool(_EMPTY_BY_KIND.fullmatch(name))


def _walked(parts: list[str], *, stops: bool = False) -> list[str] | None:
    """Follow `.` and `..`; None: they lead out. `stops`: there is nothing above to lead to."""
    walked: list[str] = []
    for part in parts:
        if part == "..":
            if walked:
                walked.pop()
            elif not stops:
                return None
        elif part not in ("", "."):
            walked.append(part)
    return walked
