"""New code that no report of coverage speaks of: no test loaded it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from verification.engine.evidence import CouldNotInspect
from verification.engine.gating.components import IGNORED, SUFFIXES, Component, Language
from verification.engine.reports.model import Coverage

MAX_READ_BYTES = 5_000_000
TESTS = frozenset({"test", "tests", "__tests__", "__mocks__", "spec", "e2e"})
"""Folders of what tries the code, or is tried with."""
_NOT_CODE = re.compile(
    r"test_.*\.py|.*_test\.(?:py|go)|tests\.py|conftest\.py|.*[._-](?:test|spec)\.\w+|"
    r"(?-i:.*Tests?)\.(?:php|cs)|"
    # Configuration, and types alone.
    r"\..*|setup\.py|noxfile\.py|(?:gulp|grunt)file\.\w+|.*\.(?:config|conf)\.\w+|.*\.d\.[cm]?ts",
    re.IGNORECASE,
)
# Go builds it elsewhere, or where it is asked to.
_GO_ELSEWHERE = re.compile(rb"^//go:build |^// \+build ", re.MULTILINE)
_GO_SYSTEM = re.compile(
    r".*_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|"
    r"windows|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm)\.go"
)

CodeLines = Callable[[Sequence[tuple[str, bytes]]], Sequence[frozenset[int] | None]]
"""Lines of code of files (path, content), in their order; None: they are not known.

Raises `CouldNotInspect`: none is.
"""
Silent = Mapping[str, frozenset[int] | None]
"""By path, the lines of code in files that no report speaks of; None: they are not known."""


def is_code(path: str) -> bool:
    """Whether tests are to run it: neither a test itself, nor configuration, nor of somebody else."""
    *folders, name = path.split("/")
    is_aside = any(one in TESTS or one in IGNORED or one.startswith(".") for one in folders)
    return not is_aside and not _NOT_CODE.fullmatch(name)


def unreported(
    told: Mapping[Component, Coverage],
    components: Iterable[Component],
    changed: Collection[str],
    paths: Collection[str],
) -> Mapping[Component, Sequence[str]]:
    """Of each component that told which lines ran, the changed files that nobody speaks of.

    `changed` and `paths`, those of the whole work, are code and all else.
    """
    known = {path for coverage in told.values() for path in coverage.files}
    found: dict[Component, list[str]] = {}
    nearest = sorted(components, key=lambda one: len(one.folder), reverse=True)
    for path in sorted({*changed}.intersection(paths) - known):
        owner = next((one for one in nearest if _is_of(path, one)), None)
        if owner is not None and owner in told and is_code(path):
            found.setdefault(owner, []).append(path)
    return found


def _is_of(path: str, component: Component) -> bool:
    suffixes = SUFFIXES.get(component.language, ())
    return path.startswith(component.path("")) and path.endswith(suffixes)


def silent(
    component: Component,
    coverage: Coverage,
    files: Sequence[str],
    paths: Collection[str],
    read: Callable[[str], bytes | None],
    code_lines: CodeLines,
) -> Silent:
    """Which lines of these files are code. What may have run under another name is not known."""
    found: dict[str, frozenset[int] | None] = dict.fromkeys(files)
    if component.language is Language.NODE and _is_built(coverage, paths):
        return found
    asked, left = [], MAX_READ_BYTES
    for path in files:
        content = read(path) or b""
        if len(content) <= left and not _is_elsewhere(path, content):
            asked.append((path, content))
            left -= len(content)
    try:
        lines = code_lines(asked)
    except CouldNotInspect:
        return found
    return {**found, **dict(zip((path for path, _ in asked), lines, strict=True))}


def _is_built(coverage: Coverage, paths: Collection[str]) -> bool:
    """Whether what ran was made of the work's files, whose own names it does not tell."""
    scripts = SUFFIXES[Language.NODE]
    return any(path.endswith(scripts) and path not in paths for path in coverage.files)


def _is_elsewhere(path: str, content: bytes) -> bool:
    if not path.endswith(".go"):
        return False
    return bool(_GO_SYSTEM.fullmatch(path) or _GO_ELSEWHERE.search(content))
