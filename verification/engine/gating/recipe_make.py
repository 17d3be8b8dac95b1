"""Make, where nothing else says what a folder is: the targets that everybody knows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verification.engine.gating.components import Component, Read
from verification.engine.gating.manifests import MAX_MANIFEST_BYTES
from verification.engine.gating.stages import (
    BUILD,
    LINT,
    NO_ENTRY_POINT,
    TEST,
    TYPES,
    Install,
    Part,
    Stage,
)
from verification.engine.gating.unforeseen import unless_said

TARGETS = {BUILD: (b"all", b"build"), TEST: (b"check", b"test", b"tests")}
_TARGET = re.compile(rb"^([\w.-]+(?:[ \t]+[\w.-]+)*)[ \t]*::?(?![:=])", re.MULTILINE)
_NO_SUCH_TOOL = r"Error 12[67]( \(|$)"
"""A program that the image has not."""


def make(component: Component, paths: Sequence[str], read: Read) -> Part:
    """Without a Makefile it runs what somebody else names."""
    content = (read(component.path("Makefile")) or b"")[:MAX_MANIFEST_BYTES]
    targets = {one for match in _TARGET.finditer(content) for one in match[1].split()}
    stages = (
        _stage(BUILD, targets),
        Stage(TYPES, skipped="No type checker is configured."),
        Stage(LINT, skipped="No linter is configured."),
        _stage(TEST, targets),
        NO_ENTRY_POINT,
    )
    return Part(component, Install(), stages)


def _stage(gate: str, targets: set[bytes]) -> Stage:
    known = [one.decode() for one in TARGETS[gate] if one in targets]
    if not known:
        names = " or ".join(one.decode() for one in TARGETS[gate])
        return Stage(gate, skipped=f"No Makefile has a target {names}.")
    command = unless_said(_NO_SUCH_TOOL, f"make {known[0]}")
    return Stage(gate, f"{command}\nexit $code")
