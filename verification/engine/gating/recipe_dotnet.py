""".NET: its own command, over the solution of a folder, else over its projects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from verification.engine.gating.afresh import afresh
from verification.engine.gating.components import PROJECTS, Component, Read
from verification.engine.gating.stages import (
    BUILD,
    COVERAGE,
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
from verification.engine.gating.unforeseen import unless_said
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

MAX_MANIFESTS = 500
MANIFESTS = (
    *PROJECTS, ".sln", ".props", ".targets", "nuget.config", "packages.lock.json", "global.json",
)  # fmt: skip
_TESTED = (b"Microsoft.NET.Test.Sdk", b"MSTest.Sdk", b"<IsTestProject>true")
_AFRESH = afresh("*.??proj", "bin", "obj")
_OFFLINE = '-p:RestoreSources="$NUGET_PACKAGES" -p:NuGetAudit=false'
_ANOTHER = "compatible .NET SDK was not found"
# What the install could not foresee is missing for no fault of the work.
_UNFORESEEN = f"{_ANOTHER}|error NU1(10[123]|301)"


def _is_there(name: str) -> str:
    return f"""[ -n "$(find "{REPORT}.d" -name '{name}' -type f | head -n 1)" ]"""


def _joined(name: str, root: str, file: str) -> str:
    """Each project writes a report of its own: they are put into one."""
    return f"""{{ echo '<{root}>'
find "{REPORT}.d" -name '{name}' -type f -exec sed '1s/^[^<]*<?xml[^>]*?>//' {{}} \\;
echo '</{root}>'; }} > "{file}\""""


_TRX, _COBERTURA = "*.trx", "coverage.cobertura.xml"
_IS_TOLD = _is_there(_TRX)
# Where it failed before any project wrote a report, no test says why.
_GATHERED = f"""[ $code = 0 ] || {_IS_TOLD} || exit $code
{_joined(_TRX, "TestRuns", REPORT)}
exit $code"""
_COLLECTOR = (b"coverlet.collector",)
_LINES = Cover(
    "--logger trx",
    '--collect "XPlat Code Coverage"',
    CoverageFormat.COBERTURA,
    # Where no project wrote one, none is there.
    first=f"""gathered() {{
{_is_there(_COBERTURA)} || return 0
{_joined(_COBERTURA, "coverage", COVERAGE)}
}}
trap gathered EXIT""",
)


def dotnet(component: Component, paths: Sequence[str], read: Read) -> Part:
    is_marked = bool(component.markers)
    stages = (
        _build(component),
        TYPES_BY_BUILD,
        NO_LINTER,
        _test(component, paths, read),
        NO_ENTRY_POINT,
    )
    return Part(
        component,
        _install(component, paths) if is_marked else Install(),
        stages,
        environment={
            "NUGET_PACKAGES": f"{deps_of(component)}/packages",
            "DOTNET_CLI_HOME": "/tmp",  # noqa: S108 - of the container
            "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
            "DOTNET_GENERATE_ASPNET_CERTIFICATE": "false",
            "DOTNET_NOLOGO": "1",
            "MSBUILDDISABLENODEREUSE": "1",
        },
    )


def _over(component: Component, command: str, said: str, *, unless: str = "") -> str:
    return unless_said(said, _each(component, command), unless=unless)


def _each(component: Component, command: str) -> str:
    """A command over each project, named by the shell itself, up to the first that fails."""
    pattern = "*.sln" if any(one.endswith(".sln") for one in component.markers) else "*.??proj"
    return f'(for project in ./{pattern}; do {command} "$project" || exit; done)'


def _install(component: Component, paths: Sequence[str]) -> Install:
    """By project files and what they include; those beside the component may be named by its own."""
    inputs = (path for path in paths if path.lower().endswith(MANIFESTS))
    return Install(
        f'mkdir -p "$NUGET_PACKAGES"\n{_each(component, "dotnet restore")}',
        tuple(islice(inputs, MAX_MANIFESTS)),
        excuses=_ANOTHER,
    )


def _build(component: Component) -> Stage:
    if not component.markers:
        return Stage(BUILD, skipped="There is no project file.")
    command = _over(component, f"dotnet build -clp:NoSummary {_OFFLINE}", _UNFORESEEN)
    return Stage(
        BUILD, f"{_AFRESH}\n{command}\nexit $code", Expected(ProblemFormat.MSBUILD, Stream.OUT)
    )


def _test(component: Component, paths: Sequence[str], read: Read) -> Stage:
    if not _names(component, paths, read, _TESTED):
        return Stage(TEST, skipped="No project names a test runner.")
    test = f'dotnet test {_OFFLINE} --logger trx --results-directory "{REPORT}.d"'
    command = f'mkdir -p "{REPORT}.d"\n{_over(component, test, _UNFORESEEN, unless=_IS_TOLD)}'
    cover = _LINES if _names(component, paths, read, _COLLECTOR) else None
    said = f"{_AFRESH}\n{command}\n{_GATHERED}"
    return Stage(TEST, said, Expected(TestFormat.TRX), cover=cover)


def _names(component: Component, paths: Iterable[str], read: Read, words: Sequence[bytes]) -> bool:
    """Whether a project below it, or what all projects include, names one of these."""
    prefix = component.path("")
    inner = (
        path
        for path in paths
        if path.endswith(".props") or (path.startswith(prefix) and path.endswith(PROJECTS))
    )
    contents = (read(path) or b"" for path in islice(inner, MAX_MANIFESTS))
    return any(said in content for content in contents for said in words)
