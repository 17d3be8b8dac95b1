"""Cases replayed in this command's own processes: no database, no server and no past."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from loomverify.errors import InputError
from processes.definition.load import load
from processes.definition.model import Definition
from verification.adapters.probe import ChildProbe
from verification.engine.fakes import MemoryWorkspace
from verification.engine.golden.replay import CannotReplay, World
from verification.engine.golden.standing import Before, Change, Standing, change_of
from verification.engine.verifier import VerifierSpec
from verification.golden.documents.reading import ReadCase, read_case
from verification.golden.junit import TestCase, junit_xml
from verification.golden.local_files import CaseOfFile
from verification.golden.replaying import LEGACY, Judged, judge_case
from verification.golden.shipped import builtin_definitions
from verification.runs.worker import custom

MAX_PROCESSES = 2
CASES_AT_ONCE = 4
LOST = "The process that replayed it ended without a word."
PROMISED = Before(ever_held=True)
"""Without a past every case is one that must hold, as those are that come with the program."""


@dataclass(frozen=True, slots=True)
class Setting:
    """`processes` are texts of process files by the names they give themselves."""

    is_legacy: bool = False
    processes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replayed:
    """One case, as plain values that leave their process.

    `issues`: the case is no case, and nothing was replayed.
    """

    case: CaseOfFile
    change: Change = Change.NOT_JUDGED
    differences: Sequence[Mapping[str, Any]] = ()
    observed: Mapping[str, Any] = field(default_factory=dict)
    legacy: Mapping[str, Any] = field(default_factory=dict)
    missing: Sequence[str] = ()
    questions: int = 0
    stale: int = 0
    error: str = ""
    issues: Sequence[str] = ()


def replay_all(
    cases: Sequence[CaseOfFile],
    setting: Setting,
    *,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[Replayed]:
    """Replay all, in their order. What a lost process leaves behind could not be judged."""
    found: list[Replayed] = []
    with ProcessPoolExecutor(_processes(), initializer=_begin) as pool:
        settings = [setting] * len(cases)
        try:
            for one in pool.map(replay_one, cases, settings, chunksize=CASES_AT_ONCE):
                found.append(one)
                on_progress(len(found), len(cases))
        except BrokenProcessPool:
            pass
    return found + [Replayed(one, error=LOST) for one in cases[len(found) :]]


def _processes() -> int:
    return max(1, min(MAX_PROCESSES, os.cpu_count() or 1))


def _begin() -> None:
    import django

    django.setup()


def replay_one(case: CaseOfFile, setting: Setting) -> Replayed:
    try:
        read = read_case(case.document, loc=())
    except InputError as error:
        return Replayed(case, issues=[_issue(one.loc, one.msg) for one in error.issues])
    try:
        return _told(case, _judged(read, setting))
    except CannotReplay as error:
        return Replayed(case, error=str(error))
    except Exception as error:  # a case that breaks the engine is a case to look at, not the end
        return Replayed(case, error=f"The engine broke on it: {error!r}")


def _judged(read: ReadCase, setting: Setting) -> Judged:
    definition = read.definition or _definition(read.document.process, setting)
    verifier = LEGACY if setting.is_legacy else VerifierSpec()
    world = World(MemoryWorkspace(read.files), _probe(), custom())
    return judge_case(read.given, read.expected, definition, verifier, world, legacy=LEGACY)


@cache
def _probe() -> ChildProbe:
    return ChildProbe()


def _definition(name: str, setting: Setting) -> Definition:
    if text := setting.processes.get(name):
        return _loaded(text)
    found = builtin_definitions().get(name)
    if found is None:
        raise CannotReplay(f"No process {name!r} is here; --process-file names its file.")
    return found


@cache
def _loaded(text: str) -> Definition:
    definition = load(text).definition
    if definition is None:
        raise CannotReplay("The process file does not load.")
    return definition


def _told(case: CaseOfFile, judged: Judged) -> Replayed:
    played = judged.replayed.played
    old = judged.legacy.observed if judged.legacy and not judged.legacy.missing else {}
    return Replayed(
        case,
        change=change_of(Standing(judged.standing), PROMISED),
        differences=[one.to_json() for one in judged.differences],
        observed=judged.observed,
        legacy={name: old[name] for name in ("outcome", "verdict", "reason_code") if old},
        missing=[f"{one.tier}.{one.ask}.{one.number}" for one in played if one.is_missing],
        questions=len(played),
        stale=sum(one.is_stale for one in played),
    )


def _issue(loc: Sequence[str | int], message: str) -> str:
    place = ".".join(str(part) for part in loc)
    return f"{place}: {message}" if place else message


def report_of(found: Sequence[Replayed]) -> dict[str, Any]:
    """The report that a server writes of a replay (docs/golden.md), as far as it is known here."""
    counts = Counter(one.change for one in found)
    questions = sum(one.questions for one in found)
    stale = sum(one.stale for one in found)
    return {
        "state": "finished",
        "total": len(found),
        "counts": {change.value: counts[change] for change in Change},
        "stale_share": stale / questions if questions else None,
        "results": [_result(one) for one in sorted(found, key=_urgency)],
    }


def _urgency(one: Replayed) -> tuple[int, str]:
    return (list(Change).index(one.change), one.case.name)


def _result(one: Replayed) -> dict[str, Any]:
    document, observed = one.case.document, one.observed
    return {
        "name": one.case.name,
        "guards": str(document.get("guards") or ""),
        "process": one.case.process,
        "phase": str(document.get("phase") or ""),
        "tags": one.case.tags,
        "change": one.change.value,
        **{name: observed.get(name) for name in ("outcome", "verdict", "reason_code")},
        "differences": list(one.differences),
        "legacy": dict(one.legacy),
        "questions": one.questions,
        "stale": one.stale,
        "missing": len(one.missing),
        "error": one.error,
    }


def junit_of(found: Sequence[Replayed]) -> bytes:
    return junit_xml("golden corpus", [_test_case(one) for one in sorted(found, key=_urgency)])


def _test_case(one: Replayed) -> TestCase:
    why = one.error or f"No answer was recorded to: {', '.join(one.missing)}"
    phase = str(one.case.document.get("phase") or "")
    return TestCase(one.case.name, one.case.process, phase, one.change, one.differences, why)
