"""Make, where nothing else says what a folder is: the targets that everybody knows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verification.engine.gating.components import MAKEFILES, Component, Read
from verification.engine.gating.manifests import MAX_MANIFEST_BYTES
from verification.engine.gating.recipe_cmake import SETTINGS, cmake
from verification.engine.gating.stages import (
    BUILD,
    NO_ENTRY_POINT,
    NO_LINTER,
    NO_TYPE_CHECKER,
    REPORT,
    TEST,
    Install,
    Part,
    Stage,
)
from verification.engine.gating.unforeseen import COULD_NOT_RUN_EXIT_CODE, unless_said

TARGETS = {BUILD: (b"all", b"build"), TEST: (b"check", b"test", b"tests")}
_TARGET = re.compile(rb"^([\w.-]+(?:[ \t]+[\w.-]+)*)[ \t]*::?(?![:=])", re.MULTILINE)
_NO_SUCH_TOOL = r"^make(\[[0-9]+\])?: \*\*\* .*Error 12[67]( \(|$)"
"""A program that the image has not."""
MAX_MADE = 5_000
# All that was submitted is as old: nothing of it would be made anew. So every rule counts as out of
# date, but those whose target was made in this container: some can be run only once (`mkdir out`).
_MADE = f"""touch -t 202001020000 "{REPORT}.begun"
find . ! -name . ! -path './GOAL' -newer "{REPORT}.begun" | sed 's|^[.]/||' | head -n {MAX_MADE} > "{REPORT}.made"
set --
while IFS= read -r one; do set -- "$@" -o "$one"; done < "{REPORT}.made"
"""
# What fails only where it is made anew may lie in a rule that cannot be run twice.
_DOUBTED = f"""if [ $code != 0 ] && [ ! -e "GOAL" ] && make GOAL > "{REPORT}.again" 2>&1; then
  echo 'It is made by what was submitted, and cannot be made anew from the rest.'
  exit {COULD_NOT_RUN_EXIT_CODE}
fi"""


def make(component: Component, paths: Sequence[str], read: Read) -> Part:
    """Without a Makefile CMake makes one; without both it runs what somebody else names."""
    known = frozenset(paths)
    makefile = next((one for one in map(component.path, MAKEFILES) if one in known), "")
    if not makefile and component.path(SETTINGS) in known:
        return cmake(component, paths, read)
    content = (read(makefile) or b"")[:MAX_MANIFEST_BYTES] if makefile else b""
    targets = {one for match in _TARGET.finditer(content) for one in match[1].split()}
    stages = (
        _stage(BUILD, targets),
        NO_TYPE_CHECKER,
        NO_LINTER,
        _stage(TEST, targets),
        NO_ENTRY_POINT,
    )
    return Part(component, Install(), stages)


def _stage(gate: str, targets: set[bytes]) -> Stage:
    known = [one.decode() for one in TARGETS[gate] if one in targets]
    if not known:
        names = " or ".join(one.decode() for one in TARGETS[gate])
        return Stage(gate, skipped=f"No Makefile has a target {names}.")
    return Stage(gate, made_anew(known[0]))


def made_anew(goal: str = "") -> str:
    """A shell's text that makes a goal, by default the first of all; its name needs no quotes."""
    command = unless_said(_NO_SUCH_TOOL, f'make -B "$@" {goal}'.rstrip())
    made, doubted = (text.replace("GOAL", goal) for text in (_MADE, _DOUBTED))
    return f"{made}{command}\n{doubted}\nexit $code"
