"""Gradle: dependencies read only once installed, tests told by a script of ours where to report."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from itertools import islice

from verification.engine.gating.afresh import afresh
from verification.engine.gating.components import Component, Read
from verification.engine.gating.jacoco import GRADLE_REPORTS, is_there, join_jacoco_reports
from verification.engine.gating.stages import (
    BUILD,
    NO_ENTRY_POINT,
    NO_LINTER,
    REPORT,
    TEST,
    TOOLS,
    TYPES_BY_BUILD,
    Cover,
    Expected,
    Install,
    Part,
    Stage,
    Stream,
    deps_of,
)
from verification.engine.gating.unforeseen import kept, or_said, unless_said
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

IMAGE = "gradle"
MARKERS = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
MAX_MANIFESTS = 500
_MANIFESTS = (".gradle", ".gradle.kts", ".versions.toml", ".lockfile", "gradle.properties")
_OWN_BUILDS = ("gradle", "buildSrc", "build-logic")
"""Folders of what the build itself is made of."""
_SCRIPT = f"{TOOLS}/loomverify.gradle"
_GRADLE = f"gradle --no-daemon --no-build-cache --console plain --max-workers 2 -q -I {_SCRIPT}"
# An image of another version, or an install that did not foresee it, is no fault of the work.
_UNFORESEEN = (
    "available for offline mode|Minimum supported Gradle version|SDK location not found"
    "|Cannot find a Java installation|languageVersion=|Unsupported class file major version"
    "|Task '[^']*' not found"
)
# Locks and marks of use are for caches that are written to.
_INSTALL = f"""export GRADLE_USER_HOME="$LV_REPOSITORY"
{unless_said(_UNFORESEEN, f"{_GRADLE} loomverifyResolve")}
find "$LV_REPOSITORY" \\( -name '*.lock' -o -name gc.properties \\) -delete
exit $code"""
_AFRESH = afresh("build.gradle*", "build", ".gradle")
NEWER = r"error: (release version [0-9]+ not supported|invalid (source|target) release)"
"""It asks for a newer Java than the image has."""
_BUILD = f"""{_AFRESH}
{unless_said(f"{_UNFORESEEN}|{NEWER}", f"{_GRADLE} --offline testClasses")}
exit $code"""
_TRAILER = "loomverify: all tests that began have ended"
# Where it failed, and nothing was written, no test says why.
_TEST = f"""{_AFRESH}
{kept(f"{_GRADLE} --offline --continue test")}
{or_said(f"{_UNFORESEEN}|{NEWER}", unless=f'[ -e "{REPORT}.began" ]')}
[ $code = 0 ] || [ -n "$(find "{REPORT}.d" -name '*.xml' -type f 2> /dev/null | head -n 1)" ] || exit $code
{{ echo '<testsuites>'
[ ! -d "{REPORT}.d" ] || find "{REPORT}.d" -name '*.xml' -type f -exec sed '1s/^<?xml[^>]*?>//' {{}} \\;
echo '</testsuites>'; }} > "{REPORT}"
[ -e "{REPORT}.open" ] || echo '{_TRAILER}'
exit $code"""

_JACOCO = b"jacoco"
# Beside the tests, and whatever comes of it: it is asked for where the work's own JaCoCo noted
# what ran. Each project has a report of its own, and they are put into one.
_LINES = Cover(
    "",
    "",
    CoverageFormat.JACOCO,
    first=f"""gathered() {{
! {is_there("-path '*/build/jacoco/*.exec'")} ||
  {_GRADLE} --offline --continue -x test jacocoTestReport > /dev/null 2>&1 || :
{join_jacoco_reports(GRADLE_REPORTS)}
}}
trap gathered EXIT""",
)


def gradle(component: Component, paths: Sequence[str], read: Read) -> Part:
    folder = f"{deps_of(component)}/gradle"
    stages = (
        Stage(BUILD, _BUILD, Expected(ProblemFormat.JAVAC, Stream.OUT)),
        TYPES_BY_BUILD,
        NO_LINTER,
        Stage(
            TEST,
            _TEST,
            Expected(TestFormat.JUNIT),
            trailer=_TRAILER,
            cover=_LINES if _names_jacoco(paths, read) else None,
        ),
        NO_ENTRY_POINT,
    )
    return Part(
        component,
        Install(_INSTALL, tuple(islice(_manifests(paths), MAX_MANIFESTS))),
        stages,
        environment={
            "LV_REPOSITORY": folder,
            "LC_ALL": "C.UTF-8",
            "GRADLE_USER_HOME": "/tmp/gradle",  # noqa: S108 - of the container
            "GRADLE_RO_DEP_CACHE": f"{folder}/caches",
        },
        built_by=IMAGE,
    )


def _names_jacoco(paths: Sequence[str], read: Read) -> bool:
    scripts = (path for path in paths if path.endswith((".gradle", ".gradle.kts")))
    return any(_JACOCO in (read(path) or b"") for path in islice(scripts, MAX_MANIFESTS))


def _manifests(paths: Sequence[str]) -> Iterator[str]:
    """Those beside the component may include it."""
    for path in paths:
        folder, name = posixpath.split(path)
        if name.endswith(_MANIFESTS) or any(one in _OWN_BUILDS for one in folder.split("/")):
            yield path
