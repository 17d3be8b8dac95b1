"""Which parts of a workspace are built and tried on their own: by their marker files, else by words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from verification.engine.gating.members import Candidate, Declared, declared_by, tries_nothing
from verification.engine.gating.members_java import MAVEN_CONFIG
from verification.engine.gating.members_node import PNPM_WORKSPACE
from verification.engine.shared import shared_folder

MAX_COMPONENTS = 20
MAX_MARKED = 2_000
"""So many marked folders are looked at for what belongs to what; more are left out."""
MAX_MARKER_BYTES = 1_000_000
IGNORED = frozenset(
    {
        ".git", ".hg", ".tox", ".nox", ".venv", "venv", "node_modules", "bower_components",
        "site-packages", "__pycache__", "vendor", "third_party", "target", "dist", "build",
        "testdata", "fixtures", "__fixtures__",
    }
)  # fmt: skip
"""Folders whose markers are not the work's own, or are there to be broken."""


class Language(StrEnum):
    PYTHON = "python"
    NODE = "node"
    GO = "go"
    RUST = "rust"
    JAVA = "java"
    RUBY = "ruby"
    PHP = "php"
    DOTNET = "dotnet"
    MAKE = "make"


MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which make looks for one."""
MARKERS = {
    "pyproject.toml": Language.PYTHON,
    "requirements.txt": Language.PYTHON,
    "setup.py": Language.PYTHON,
    "pytest.ini": Language.PYTHON,
    "package.json": Language.NODE,
    "go.mod": Language.GO,
    "Cargo.toml": Language.RUST,
    "pom.xml": Language.JAVA,
    "build.gradle": Language.JAVA,
    "build.gradle.kts": Language.JAVA,
    "settings.gradle": Language.JAVA,
    "settings.gradle.kts": Language.JAVA,
    "Gemfile": Language.RUBY,
    "composer.json": Language.PHP,
    **dict.fromkeys(MAKEFILES, Language.MAKE),
    "CMakeLists.txt": Language.MAKE,
}
SUFFIXES = {
    Language.PYTHON: (".py",),
    Language.NODE: (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"),
    Language.GO: (".go",),
    Language.RUST: (".rs",),
    Language.JAVA: (".java", ".kt"),
    Language.RUBY: (".rb",),
    Language.PHP: (".php",),
    Language.DOTNET: (".cs", ".fs", ".vb"),
}
CODE_SUFFIXES = (
    *(ending for endings in SUFFIXES.values() for ending in endings),
    *(".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".sh", ".bats"),
)
"""Suffixes of files that hold code."""
_MAKES = re.compile(r"(?:`|^[\s$>*-]*)make(?=[\s`]|$)", re.MULTILINE)
"""The plan names a command of it."""
PROJECTS = (".csproj", ".fsproj", ".vbproj")
_OF_DOTNET = (*PROJECTS, ".sln")
WEAK = frozenset({"requirements.txt", "pytest.ini"})
"""Below a component of their language they belong to it: docs and tests have their own."""
DOCUMENTATION = frozenset({"doc", "docs", "documentation"})
_OF_TESTS = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test|conftest)\.py")
WORDS = {
    Language.PYTHON: r"python|pytest|pip|django|flask|fastapi|poetry",
    Language.NODE: r"node(?:\.?js)?|npm|yarn|pnpm|javascript|typescript|react|vue|jest|vitest",
    Language.GO: r"golang|go (?:mod|test|build|module)",
    Language.RUST: r"rust|cargo|clippy",
    Language.JAVA: r"java|maven|gradle|junit|kotlin|spring",
    Language.RUBY: r"ruby|rails|rspec|bundler",
    Language.PHP: r"php|composer|phpunit|laravel",
    Language.DOTNET: r"dotnet|\.net|c#|nuget|xunit",
}

_NEEDS_NO_MARKER = frozenset({Language.PYTHON, Language.GO, Language.RUBY, Language.PHP})
"""Their files are compiled, and their tests found, by what they are called."""

Read = Callable[[str], bytes | None]
"""The content of a path of the workspace, None where it cannot be had."""


@dataclass(frozen=True, slots=True)
class Component:
    """`folder` is '' for the workspace's root, else a path without a slash at its end."""

    folder: str
    language: Language
    markers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As findings call it: one language at the root needs none."""
        return f"{self.folder or '.'} ({self.language})"

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}" if self.folder else name

    def all_of(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Those in its folder, however deep."""
        return tuple(path for path in paths if path.startswith(self.path("")))

    def inner_of(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The same, as they are called from its folder."""
        return tuple(path.removeprefix(self.path("")) for path in self.all_of(paths))


def below(folders: Iterable[str], paths: Iterable[str]) -> tuple[str, ...]:
    """The paths that lie in any of these folders, however deep."""
    starts = tuple(f"{one}/" for one in folders)
    return tuple(path for path in paths if path.startswith(starts))


@dataclass(frozen=True, slots=True)
class Components:
    """`left_out`: how many more there are than are tried."""

    found: tuple[Component, ...] = ()
    left_out: int = 0


def components_of(
    paths: Iterable[str], read: Read, words: str = "", named: Collection[str] = ()
) -> Components:
    """Return the components of a workspace, nearest to the root first.

    `paths` are those of its files; `words` are the plan's, for a workspace without a marker. In
    folders that are `named` the work runs commands of its own: nobody knows what they leave out.
    """
    known = tuple(paths)
    marked = _without_documentation(_marked(known), known)
    own = _without_members(marked[:MAX_MARKED], read, named)
    if not _MAKES.search(words):
        own = tuple(one for one in own if one.folder in named or not _only_joins(one, own, known))
    if not own:
        return Components(_by_words(known, words))
    more = max(0, len(marked) - MAX_MARKED)
    return Components(own[:MAX_COMPONENTS], more + max(0, len(own) - MAX_COMPONENTS))


def _marked(paths: Sequence[str]) -> list[Component]:
    """By folder and language, the upper folders first."""
    found: dict[tuple[str, Language], set[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        language = MARKERS.get(name) or (Language.DOTNET if name.endswith(_OF_DOTNET) else None)
        if language and IGNORED.isdisjoint(folder.split("/")):
            found.setdefault((folder, language), set()).add(name)
    keys = sorted(found, key=lambda key: (key[0].count("/") + bool(key[0]), *key))
    return [Component(*key, tuple(sorted(found[key]))) for key in keys]


def _without_documentation(marked: list[Component], paths: Sequence[str]) -> list[Component]:
    """What only says what the documentation is made with has nothing to try beside other work."""
    kept = [
        one
        for one in marked
        if one.markers != ("requirements.txt",)
        or DOCUMENTATION.isdisjoint(one.folder.split("/"))
        or any(map(_OF_TESTS.fullmatch, one.all_of(paths)))
    ]
    return kept or marked


def _without_members(
    marked: Sequence[Component], read: Read, named: Collection[str]
) -> tuple[Component, ...]:
    kept: list[Component] = []
    declared: dict[Component, Declared] = {
        one: tries_nothing for one in marked if one.folder in named
    }
    languages = {component.folder: set[Language]() for component in marked}
    for component in marked:
        languages[component.folder].add(component.language)
    for component in marked:
        above = [one for one in kept if _is_below(component.folder, one.folder)]
        if component.language is Language.MAKE:
            # Beside another marker it only says how that one is built.
            if not above and languages[component.folder] == {Language.MAKE}:
                kept.append(component)
            continue
        same = [one for one in above if one.language is component.language]
        if not any(_belongs(component, one, read, declared) for one in same):
            kept.append(component)
    return tuple(kept)


def _only_joins(component: Component, others: Sequence[Component], paths: Sequence[str]) -> bool:
    """Whether it is a Makefile above components that all code is in: each of them is tried itself.

    It would run their tools in an image that has none of them.
    """
    inner = [one for one in others if _is_below(one.folder, component.folder)]
    if not inner or not {*MAKEFILES}.issuperset(component.markers):
        return False
    starts = tuple(one.path("") for one in inner)
    return all(
        path.startswith(starts) or not IGNORED.isdisjoint(path.split("/"))
        for path in component.all_of(paths)
        if path.endswith(CODE_SUFFIXES)
    )


def _is_below(folder: str, other: str) -> bool:
    return bool(folder) and (not other or folder.startswith(f"{other}/")) and folder != other


def _belongs(
    component: Component, upper: Component, read: Read, declared: dict[Component, Declared]
) -> bool:
    """Whether what runs at the component above it tries it, too; each says so once."""
    if WEAK.issuperset(component.markers):
        return True
    if upper not in declared:
        declared[upper] = declared_by(upper.language, declaring(upper, read))
    inner = component.folder.removeprefix(f"{upper.folder}/" if upper.folder else "")
    candidate = Candidate(inner, component.markers, lambda name: read(component.path(name)))
    return declared[upper](candidate)


def declaring(upper: Component, read: Read) -> Mapping[str, bytes]:
    """What can declare parts of a component, by name."""
    beside = (PNPM_WORKSPACE, ".npmrc") if upper.language is Language.NODE else ()
    names = (*upper.markers, *beside)
    contents = {name: _content(read, upper.path(name)) for name in names}
    if upper.language is Language.JAVA:
        folders = accumulate(upper.folder.split("/"), lambda one, step: f"{one}/{step}")
        places = {"", *(f"{folder}/" for folder in folders if folder)}
        configs = (read(f"{place}{MAVEN_CONFIG}") or b"" for place in sorted(places))
        contents[MAVEN_CONFIG] = b"\n".join(configs)[:MAX_MARKER_BYTES]
    return contents


def _content(read: Read, path: str) -> bytes:
    content = read(path)
    return content if content is not None and len(content) <= MAX_MARKER_BYTES else b""


def _by_words(paths: Sequence[str], words: str) -> tuple[Component, ...]:
    """The language that the plan speaks of most, if there is a file of it.

    Where it speaks of none, it is the one that all files of code are in.
    """
    there = [one for one in WORDS if any(path.endswith(SUFFIXES[one]) for path in paths)]
    said = {
        one: len(re.findall(rf"(?<!\w)(?:{pattern})(?!\w)", words, re.IGNORECASE))
        for one, pattern in WORDS.items()
    }
    is_told = any(said.values())
    known = [one for one in there if said[one] or not is_told]
    if not known or not (is_told or (len(known) == 1 and known[0] in _NEEDS_NO_MARKER)):
        return ()
    return (Component(shared_folder(paths), max(known, key=lambda one: said[one])),)
