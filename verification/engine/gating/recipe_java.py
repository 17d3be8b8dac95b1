"""Java: Maven with Surefire's reports, else Gradle."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from itertools import islice

from verification.engine.gating.afresh import afresh
from verification.engine.gating.components import Component, Read
from verification.engine.gating.jacoco import MAVEN_REPORTS, is_there, join_jacoco_reports
from verification.engine.gating.recipe_gradle import MARKERS, NEWER, gradle
from verification.engine.gating.stages import (
    BUILD,
    NO_ENTRY_POINT,
    NO_LINTER,
    REPORT,
    TEST,
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

MAX_MANIFESTS = 500
_AFRESH = afresh("pom.xml", "target")
# What runs for seconds is not compiled for hours: it starts in half the time.
_MAVEN = 'MAVEN_OPTS="-XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}" mvn -B -Dmaven.repo.local="$LV_REPOSITORY"'
# What the install could not foresee is missing for no fault of the work.
_UNFORESEEN = "in offline mode and the artifact|required artifacts? (is|are) missing"
_BUILD = f"""{_AFRESH}
{unless_said(f"{_UNFORESEEN}|{NEWER}", f"{_MAVEN} -o -q test-compile")}
exit $code"""
_DEPENDENCY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
_POM = "<modelVersion>4.0.0</modelVersion><groupId>more</groupId><version>1</version><packaging>pom</packaging>"
# The first knows which versions the work chooses, and fails where its modules need each other;
# the second knows of modules and plugins. Surefire chooses what runs the tests as it runs them, in
# the version of its booter, of JUnit's interface or of its platform: a module for each, since
# not each was published in every version.
_INSTALL = f"""{_MAVEN} -q -fae {_DEPENDENCY}:resolve || echo 'Not all of it was found so.'
{_MAVEN} -q {_DEPENDENCY}:go-offline
more=$(mktemp -d)
want() {{
  for found in "$LV_REPOSITORY/$1"/*/; do
    [ -d "$found" ] || continue
    version=$(basename "$found")
    for one in $3; do
      mkdir -p "$more/$one-$version"
      echo "<project>{_POM}<artifactId>$one-$version</artifactId><dependencies><dependency>
        <groupId>$2</groupId><artifactId>$one</artifactId><version>$version</version>
        </dependency></dependencies></project>" > "$more/$one-$version/pom.xml"
    done
  done
}}
get() {{
  [ -n "$(ls "$more")" ] || return 0
  cd "$more"
  modules=$(for one in */; do [ ! -d "$one" ] || echo "<module>${{one%/}}</module>"; done)
  echo "<project>{_POM}<artifactId>more</artifactId><modules>$modules</modules></project>" > pom.xml
  {_MAVEN} -q -fae {_DEPENDENCY}:resolve || echo 'Not all that could run tests was found.'
}}
want org/apache/maven/surefire/surefire-booter org.apache.maven.surefire \
  'surefire-junit-platform surefire-junit47 surefire-junit4 surefire-junit3 surefire-testng'
want org/junit/jupiter/junit-jupiter-api org.junit.jupiter junit-jupiter-engine
[ ! -d "$LV_REPOSITORY/junit/junit" ] ||
  want org/junit/jupiter/junit-jupiter-api org.junit.vintage junit-vintage-engine
get
rm -rf "$more"/*
want org/junit/platform/junit-platform-commons org.junit.platform junit-platform-launcher
get
rm -rf "$more"
"""
_IS_TOLD = (
    f"""grep -Eqs '<(failure|error)[ />]' "{REPORT}" || grep -q 'VM terminated' "{REPORT}.log\""""
)
# Reports have the name of this run in theirs: one that lies in the work has not. Where others
# were written instead, or none and it failed, nothing is known. Surefire adds it to each class, too.
_TEST = f"""{_AFRESH}
run=$(basename "{REPORT}")
{kept(f'{_MAVEN} -o -fae -Dsurefire.skipAfterFailureCount=0 -Dsurefire.reportNameSuffix="$run" test')}
if [ -n "$(find . -name "TEST-*-$run.xml" -type f | head -n 1)" ] || {{ [ $code = 0 ] &&
  [ -z "$(find . -path '*/surefire-reports/TEST-*.xml' | head -n 1)" ]; }}; then
  {{ echo '<testsuites>'
  find . -name "TEST-*-$run.xml" -type f -exec sed "1s/^<?xml[^>]*?>//; s/($run)//g" {{}} \\;
  echo '</testsuites>'; }} > "{REPORT}"
fi
{or_said(f"{_UNFORESEEN}|{NEWER}", unless=_IS_TOLD)}
exit $code"""

_JACOCO = b"jacoco-maven-plugin"
# The work's own JaCoCo writes no report before a later phase, or none at all: it is asked for one
# where it noted what ran. Each module has a report of its own, and they are put into one.
_LINES = Cover(
    "",
    "",
    CoverageFormat.JACOCO,
    first=f"""gathered() {{
{is_there(MAVEN_REPORTS)} || ! {is_there("-path '*/target/*' -name 'jacoco*.exec'")} ||
  {_MAVEN} -o -q -fae org.jacoco:jacoco-maven-plugin:report > /dev/null 2>&1 || :
{join_jacoco_reports(MAVEN_REPORTS)}
}}
trap gathered EXIT""",
)


def java(component: Component, paths: Sequence[str], read: Read) -> Part:
    folder = deps_of(component)
    is_maven = component.path("pom.xml") in paths
    if not is_maven and any(component.path(one) in paths for one in MARKERS):
        return gradle(component, paths, read)
    why = "There are no commands for Java without Maven or Gradle."
    stages = (
        Stage(BUILD, _BUILD, Expected(ProblemFormat.JAVAC, Stream.OUT))
        if is_maven
        else Stage(BUILD, skipped=why),
        TYPES_BY_BUILD,
        NO_LINTER,
        Stage(TEST, _TEST, Expected(TestFormat.JUNIT), cover=_cover(paths, read))
        if is_maven
        else Stage(TEST, skipped=why),
        NO_ENTRY_POINT,
    )
    return Part(
        component,
        _install(paths) if is_maven else Install(),
        stages,
        environment={
            "LV_REPOSITORY": f"{folder}/m2",
            "LC_ALL": "C.UTF-8",
            # Images that set it mean a folder; Maven's wrapper takes it for arguments.
            "MAVEN_CONFIG": "",
        },
    )


def _install(paths: Sequence[str]) -> Install:
    """By the manifests alone; those beside the component may be its parents."""
    inputs = (path for path in paths if _is_manifest(path))
    return Install(_INSTALL, tuple(islice(inputs, MAX_MANIFESTS)))


def _cover(paths: Sequence[str], read: Read) -> Cover | None:
    """Whether a manifest names JaCoCo; those beside the component may be its parents."""
    poms = (path for path in paths if posixpath.basename(path) == "pom.xml")
    has_jacoco = any(_JACOCO in (read(path) or b"") for path in islice(poms, MAX_MANIFESTS))
    return _LINES if has_jacoco else None


def _is_manifest(path: str) -> bool:
    folder, name = posixpath.split(path)
    return name == "pom.xml" or posixpath.basename(folder) == ".mvn"
