"""Reports that the work names itself. They are its word: read only where a command wrote them anew."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace

from processes.definition.reading import Fields, Value
from verification.engine.gating.inner import read_inner
from verification.engine.gating.stages import (
    LINT,
    OWN_COVERAGE,
    REPORT,
    TEST,
    TYPES,
    Cover,
    Expected,
    Part,
    Stage,
)
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.model import MAX_REPORT_BYTES
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

GATES = (TYPES, LINT, TEST)
LINES = "coverage"
"""Which lines the tests ran, beside what they say of themselves."""
UNUSED = "The work names a report, which was not read: the command has one that is ours."
UNUSED_LINES = "The work names a report of the lines that ran, which was not read: the tests are asked themselves."
# Whatever lies there before is made older than the command's begin, and what is no newer then is
# not read: to remove it could hide a file of the work. A path that leads over a link is none.
_READ_ANEW = """touch -t 200001020000 {report}.begun
[ ! -f {path} ] || touch -c -t 200001010000 {path}
set +e
(set -e; eval {command})
code=$?
rm -f {report}
if [ -f {path} ] && [ ! -L {path} ] && [ {path} -nt {report}.begun ] &&
  [ "$(readlink -f {path})" = "$(pwd -P)"/{inner} ]; then head -c {most} {path} > {report}; fi
exit $code"""


def read_reports(fields: Fields) -> Mapping[str, str]:
    """Paths by gate, from the component's folder; of the lines that tests ran by `LINES`."""
    found = {key: fields.read(key, _path, "") for key in (*GATES, LINES)}
    fields.close()
    return {key: path for key, path in found.items() if path}


def _path(value: Value) -> str | None:
    return read_inner(value, "a file below the component's folder")


def with_reports(part: Part, reports: Mapping[str, str], module: str = "") -> Part:
    """Where a command owes no report of ours, the work may say which one it writes.

    `module` is what a profile of go calls the component's folder.
    """
    stages = (_told(stage, reports.get(stage.gate, "")) for stage in part.stages)
    lines = reports.get(LINES, "")
    return replace(part, stages=tuple(_covered(stage, lines, module) for stage in stages))


def _covered(stage: Stage, path: str, module: str) -> Stage:
    if not path or stage.gate != TEST or not stage.command:
        return stage
    if stage.cover:
        return replace(stage, note=stage.note or UNUSED_LINES)
    command = _read_anew(stage.command, path, OWN_COVERAGE)
    return replace(stage, cover=Cover("", "", CoverageFormat.ANY, module, instead=command))


def _told(stage: Stage, path: str) -> Stage:
    if not path or not stage.command:
        return stage
    if stage.expected:
        return replace(stage, note=stage.note or UNUSED)
    form = TestFormat.ANY if stage.gate == TEST else ProblemFormat.ANY
    return replace(
        stage,
        command=_read_anew(stage.command, path, f'"{REPORT}"'),
        expected=Expected(form, is_word=True),
    )


def _read_anew(command: str, path: str, report: str) -> str:
    return _READ_ANEW.format(
        command=shlex.quote(command),
        path=shlex.quote(f"./{path}"),
        inner=shlex.quote(path),
        report=report,
        most=MAX_REPORT_BYTES + 1,
    )
