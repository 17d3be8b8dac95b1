"""The corpus against one mutant, in a process of its own that never writes anything.

What the engine does not own is imported before: a fork, and the engine read anew with one
module changed, takes less than a new interpreter.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.abc
import importlib.util
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tests.mutants.mutant import Mutant

SECONDS = 60
ANEW = (
    "verification.engine",
    "verification.golden.documents",
    "verification.golden.replaying",
    "verification.runs.submission",
)
"""Read anew for each mutant: what holds the engine's classes."""
CRASHED, TIMED_OUT = "crashed", "took too long"

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Killed:
    """By which case, or how else; '' where the mutant survived."""

    by: str = ""


class ChangedModule(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module another text."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if fullname != self.mutant.module:
            return None
        is_package = self.mutant.path.name == "__init__.py"
        return importlib.util.spec_from_loader(fullname, self, is_package=is_package)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.mutant.source, str(self.mutant.path), "exec"), module.__dict__)  # noqa: S102


def try_out(mutant: Mutant | None, documents: Sequence[Document]) -> Killed:
    """Replay case after case until one does not hold. None: the engine as it is."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(pickle.dumps(_in_child(mutant, documents)))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if not said:
        return Killed(TIMED_OUT if status == signal.SIGALRM else CRASHED)
    return Killed(pickle.loads(said))  # noqa: S301 - our own child's


def _in_child(mutant: Mutant | None, documents: Sequence[Document]) -> str:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)
    faulthandler.disable()
    for name in [one for one in sys.modules if one.startswith(ANEW)]:
        del sys.modules[name]
    if mutant:
        sys.meta_path.insert(0, ChangedModule(mutant))
    try:
        return first_not_held(documents)
    except Exception:
        if mutant is None:
            raise
        return CRASHED


def first_not_held(documents: Sequence[Document]) -> str:
    """The first case that does not hold; '' where all of them do."""
    reading = importlib.import_module("verification.golden.documents.reading")
    replaying = importlib.import_module("verification.golden.replaying")
    fakes = importlib.import_module("verification.engine.fakes")
    replay = importlib.import_module("verification.engine.golden.replay")
    verifier = importlib.import_module("verification.engine.verifier").VerifierSpec()
    from verification.golden.shipped import builtin_definitions

    probe = fakes.InProcessProbe()
    for document in documents:
        try:
            case = reading.read_case(document)
            definition = case.definition or builtin_definitions()[case.document.process]
            world = replay.World(fakes.MemoryWorkspace(case.files), probe)
            legacy = replaying.LEGACY if "shadow" in case.expected else None
            judged = replaying.judge_case(
                case.given, case.expected, definition, verifier, world, legacy=legacy
            )
        except Exception:
            return str(document["id"])
        if judged.standing != "held":
            return str(document["id"])
    return ""
