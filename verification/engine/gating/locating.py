"""Where a test failed, of reports that name a file without its folder: one of the work's own."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

import re2

from verification.engine.gating.components import Component, Language
from verification.engine.gating.judging import Judged
from verification.engine.reports.model import TestCase

MAX_FRAMES = 100
_JAVA = re2.compile(
    r"\bat (?:[\w.@-]*/)*((?:[\w$]+\.)*)[\w$]+\.[\w$<>]+"
    r"\(([\w$-]+\.(?:java|kt|groovy|scala)):(\d{1,9})\)"
)
_GO = re2.compile(r"(?m)^\s*([\w.-]+\.go):(\d{1,9}):")

Frame = tuple[str, str, int]
"""What names the folder's end, a file's name, a line."""


def located(told: Judged, component: Component, paths: Collection[str]) -> Judged:
    """Give failed tests of Java and Go their path, where only one of `paths` can be meant."""
    reader = _READERS.get(component.language)
    if reader is None or told.tests is None:
        return told
    prefix = component.path("")
    index: dict[str, list[str]] = {}
    for path in component.inner_of(paths):
        index.setdefault(posixpath.basename(path), []).append(path)

    def placed(cases: Iterable[TestCase]) -> tuple[TestCase, ...]:
        return tuple(
            one if one.path or not one.status.is_bad else _placed(one, reader(one), index, prefix)
            for one in cases
        )

    report = replace(told.report, failures=placed(told.report.failures))
    return replace(told, report=report, tests=replace(told.tests, cases=placed(told.tests.cases)))


def _placed(
    case: TestCase, frames: Iterator[Frame], index: Mapping[str, Collection[str]], prefix: str
) -> TestCase:
    """The first that is the work's own: those before it are the runner's."""
    for package, name, line in islice(frames, MAX_FRAMES):
        found = [path for path in index.get(name, ()) if _fits(posixpath.dirname(path), package)]
        if len(found) == 1:
            return replace(case, path=f"{prefix}{found[0]}", line=line)
    return case


def _fits(folder: str, package: str) -> bool:
    """Either may say more than the other: a source folder, or a module's name."""
    ends = [f"/{one}/" if one else "/" for one in (folder, package)]
    return ends[0].endswith(ends[1]) or ends[1].endswith(ends[0])


def _java(case: TestCase) -> Iterator[Frame]:
    for found in _JAVA.finditer(case.message):
        yield found[1].replace(".", "/").strip("/"), found[2], int(found[3])


def _go(case: TestCase) -> Iterator[Frame]:
    for found in _GO.finditer(case.message):
        yield case.suite, found[1], int(found[2])


_READERS: Mapping[Language, Callable[[TestCase], Iterator[Frame]]] = {
    Language.JAVA: _java,
    Language.GO: _go,
}
