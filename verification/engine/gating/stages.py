"""One gate of one component: what is run, within which bounds, and what it is to report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from verification.engine.gating.components import Component
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.model import WORKSPACE
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

INSTALL, BUILD, TYPES, TEST, LINT, SECURITY, RUN = (
    "install", "build", "types", "test", "lint", "security", "run",
)  # fmt: skip
ORDER = (INSTALL, BUILD, TYPES, LINT, SECURITY, TEST, RUN)
"""The work's own code is met as late as can be: what it changes, nothing after it judges by."""

OWN_FILE = "loomverify.yaml"
"""In it the work names its own commands; at its root, or in the folder before all its paths."""
REPORT = "$LV_REPORT"
"""In a command: the file for its report, under a name that changes with every run."""
COVERAGE = f"{REPORT}.coverage"
OWN_COVERAGE = f'"{REPORT}".coverage'
"""The same file, for a report that the work names itself: nothing else is run for its sake."""
TOOLS = "/opt/loomverify"
"""Where ours lie in every image."""
PROGRAMS = f"{TOOLS}/bin:/usr/local/bin:/usr/bin:/bin"
"""Where ours are found, and the image's: before all that the work installs under their names."""
JUDGES = f"{TOOLS}/npm/node_modules/.bin"
"""Where a part's judges are found."""
TRAILER = "loomverify: the test runner came to its end"
"""What our own runners write last."""
FRAMED = "@COMMANDS@"
MAX_FOLDER_CHARS = 100
"""Each component has an image of its own: no two need to be told apart by it."""
SECONDS: Mapping[str, int] = MappingProxyType(
    {INSTALL: 300, BUILD: 300, TYPES: 120, TEST: 120, LINT: 60, SECURITY: 120, RUN: 60}
)


class Stream(StrEnum):
    """Where a tool puts its report."""

    FILE = "file"
    OUT = "out"
    ERR = "err"


@dataclass(frozen=True, slots=True)
class Expected:
    """The report that a command owes. `is_word`: it is the work that says which one it is."""

    format: TestFormat | ProblemFormat
    stream: Stream = Stream.FILE
    is_word: bool = False


@dataclass(frozen=True, slots=True)
class Cover:
    """How a test command also tells which lines it ran: `arguments` behind the word `after`.

    `first` stands before the command. `instead` is a whole command in its place, of a report that
    the work names itself. `module` is what the report calls the component's folder; `inner` is its
    name where it is written into a folder.
    """

    after: str
    arguments: str
    format: CoverageFormat
    module: str = ""
    inner: str = ""
    first: str = ""
    instead: str = ""

    @property
    def is_word(self) -> bool:
        """Whether it is the work that says where it lies."""
        return bool(self.instead)


@dataclass(frozen=True, slots=True)
class Ready:
    """A service answers on `port` with a status below 500, asked for `path`, within `seconds`."""

    port: int
    path: str = "/"
    seconds: int = 20


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the work, and what is expected of it.

    `output` None: it may write what it likes. `ready` None: it ends by itself, with `exit_code`.
    `line` is where the workspace names it, in its file `path`; None where somebody else does.
    """

    command: str
    input: str = ""
    output: str | None = None
    exit_code: int = 0
    ready: Ready | None = None
    line: int | None = None
    path: str = OWN_FILE


@dataclass(frozen=True, slots=True)
class Stage:
    """`command` is a shell's text, run in the component's folder; '' where `skipped` says why not.

    `is_apart`: it runs none of the work and needs nothing that was installed, so that it is run
    where neither can reach it. `is_given`: the plan or the workspace names the command itself;
    `is_own`: it is the workspace. `trailer`: the line that its runner ends with, when it comes to
    its end. `starts`: what is started one after another, in place of the command. `unreadable`:
    why nobody knows what was to be run. `cover`: how it tells which lines it ran. `note` is
    told where it passed. `frame`: what stands around commands of somebody else's, at `FRAMED`.
    """

    gate: str
    command: str = ""
    expected: Expected | None = None
    seconds: int = 0
    is_apart: bool = False
    is_given: bool = False
    skipped: str = ""
    trailer: str = ""
    is_own: bool = False
    starts: tuple[Start, ...] = ()
    input: str = ""
    unreadable: str = ""
    cover: Cover | None = None
    note: str = ""
    frame: str = ""

    def framed(self, other: Stage) -> Stage:
        """One in its place, which had its commands from somebody else."""
        if not self.frame or other.frame:
            return other
        return replace(other, command=self.frame.replace(FRAMED, other.command, 1))

    def covered(self) -> Stage:
        """Told which lines it runs, too, where its runner can."""
        if self.cover is None:
            return self
        if self.cover.instead:
            return replace(self, command=self.cover.instead)
        command = self.command
        if self.cover.after:
            more = f"{self.cover.after} {self.cover.arguments}"
            command = command.replace(self.cover.after, more, 1)
        first = f"{self.cover.first}\n" if self.cover.first else ""
        return replace(self, command=f"{first}{command}")


NO_TYPE_CHECKER = Stage(TYPES, skipped="No type checker is configured.")
TYPES_BY_BUILD = Stage(TYPES, skipped="The build checks the types.")
NO_LINTER = Stage(LINT, skipped="No linter is configured.")
NO_ENTRY_POINT = Stage(RUN, skipped="No entry point is named.")


@dataclass(frozen=True, slots=True)
class Install:
    """`inputs` are the files it may read, by path; '' as a command: nothing is to be installed.

    `prepare` makes the place that somebody's own commands install into. `owner` is the component
    whose install it is, in whose folder it is run; None: its own. `notes` are lines that it may
    write, to be told where it passed. `excuses` is a pattern of re2 of what it writes where the image
    is why it failed, and not the work.
    """

    command: str = ""
    inputs: tuple[str, ...] = ()
    prepare: str = ""
    is_given: bool = False
    notes: tuple[str, ...] = ()
    owner: Component | None = None
    excuses: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A component, and how it is built and tried. `environment` is that of all its commands.

    `linked` are folders of the component, made to point to what was installed: {name: target}.
    `before` is what a container does before its first command, for whoever named that.
    `judges` are npm packages, name@range, that judge the work: taken from the registry, never from
    what the work installed. `built_by` names another image than its language's. `files` are those of
    the whole work, by which what a report names is found.
    """

    component: Component
    install: Install
    stages: tuple[Stage, ...]
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    linked: Mapping[str, str] = field(default_factory=dict, hash=False)
    seconds: Mapping[str, int] = field(default_factory=lambda: SECONDS, hash=False)
    before: str = ""
    judges: tuple[str, ...] = ()
    built_by: str = ""
    files: frozenset[str] = field(default=frozenset(), hash=False, compare=False, repr=False)

    @property
    def is_run(self) -> bool:
        """Whether anything of the work is: to look at it takes no image of its language."""
        run = (stage.command for stage in self.stages if not stage.is_apart)
        return bool(self.install.command) or any(run)

    @property
    def tools(self) -> str:
        """Which image it is run in: one for each language, and for each further way to build it."""
        return self.built_by or str(self.component.language)

    @property
    def deps(self) -> str:
        """Where its dependencies are installed."""
        return deps_of(self.component)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `exit_code` None: it was stopped, or was lost for the reason `lost`.

    `out` and `err` are heads and tails of what it wrote; `whole` says that nothing is missing.
    """

    exit_code: int | None = None
    is_timed_out: bool = False
    lost: str = ""
    out: bytes = b""
    err: bytes = b""
    is_whole: bool = True
    report: bytes | None = None
    coverage: bytes | None = None
    duration_ms: int = 0

    @property
    def is_lost(self) -> bool:
        """Whether nobody knows how it ended."""
        return bool(self.lost) or (self.exit_code is None and not self.is_timed_out)


def deps_of(component: Component) -> str:
    folder = re.sub(r"[^A-Za-z0-9._]+", "-", component.folder)[:MAX_FOLDER_CHARS] or "root"
    return f"/deps/{folder}.{component.language}"


def workdir(component: Component) -> str:
    """The folder in which its commands are run."""
    return f"{WORKSPACE}/{component.folder}".rstrip("/")
