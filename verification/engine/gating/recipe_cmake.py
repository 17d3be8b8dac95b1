"""CMake, where no Makefile is beside its settings: built in `build`, as people do it, and CTest."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verification.engine.gating.components import Component, Read
from verification.engine.gating.manifests import MAX_MANIFEST_BYTES
from verification.engine.gating.stages import (
    BUILD,
    NO_ENTRY_POINT,
    NO_LINTER,
    REPORT,
    TEST,
    TYPES_BY_BUILD,
    Expected,
    Install,
    Part,
    Stage,
)
from verification.engine.gating.unforeseen import COULD_NOT_RUN_EXIT_CODE, unless_said
from verification.engine.reports.testing import TestFormat

SETTINGS = "CMakeLists.txt"
MAX_SETTINGS = 200
_TESTED = re.compile(
    rb"^\s*(?:enable_testing|add_test|\w+_discover_tests|\w+_add_tests|include\s*\(\s*CTest)\b",
    re.MULTILINE | re.IGNORECASE,
)
# The image has another CMake, or lacks a compiler or a package.
_UNFIT = (
    "or higher is required.  You are running|No CMAKE_[A-Z]+_COMPILER could be found"
    "|Could not find a package configuration file|Could NOT find |None of the required .* found"
)
_OFFLINE = "Failed to clone repository|ould not resolve host"
# What was built elsewhere says where it was.
_AFRESH = """[ -e /tmp/afresh ] || [ ! -f build/CMakeCache.txt ] || rm -rf build
: > /tmp/afresh"""
_BUILD = f"""{_AFRESH}
{unless_said(f"{_UNFIT}|{_OFFLINE}", "cmake -S . -B build")}
[ $code = 0 ] || exit $code
{unless_said(_OFFLINE, "cmake --build build")}"""
_TEST = f"""{_BUILD}
[ $code = 0 ] || exit $code
ctest --help | grep -q -e --output-junit || exit {COULD_NOT_RUN_EXIT_CODE}
ctest --test-dir build --output-on-failure --output-junit "{REPORT}\""""


def cmake(component: Component, paths: Sequence[str], read: Read) -> Part:
    settings = [one for one in component.all_of(paths) if one.rpartition("/")[2] == SETTINGS]
    contents = ((read(one) or b"")[:MAX_MANIFEST_BYTES] for one in settings[:MAX_SETTINGS])
    stages = (
        Stage(BUILD, f"{_BUILD}\nexit $code"),
        TYPES_BY_BUILD,
        NO_LINTER,
        Stage(TEST, _TEST, Expected(TestFormat.JUNIT))
        if any(map(_TESTED.search, contents))
        else Stage(TEST, skipped="No CMakeLists.txt names tests."),
        NO_ENTRY_POINT,
    )
    return Part(component, Install(), stages)
