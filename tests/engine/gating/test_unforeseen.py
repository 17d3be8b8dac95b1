from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.engine.gating.fakes import part_with
from tests.engine.gating.test_recipes import part_in, stages_of
from verification.engine.gating.components import Language
from verification.engine.gating.judging import judged
from verification.engine.gating.stages import Ended
from verification.engine.outcome import Status

FAILED = '<testsuite><testcase name="a"><failure>no</failure></testcase></testsuite>'
OFFLINE = "echo 'Cannot access it in offline mode and the artifact x has not been downloaded'"
MAVEN = (
    Language.JAVA, {"pom.xml": "<project/>"}, "mvn", OFFLINE,
    f"echo '{FAILED}' > TEST-a-$(basename $LV_REPORT).xml",
)  # fmt: skip
GRADLE = (
    Language.JAVA, {"build.gradle": ""}, "gradle",
    "echo 'No cached version of x available for offline mode'",
    f"mkdir -p $LV_REPORT.d/x; : > $LV_REPORT.began; echo '{FAILED}' > $LV_REPORT.d/x/TEST-a.xml",
)  # fmt: skip
DOTNET = (
    Language.DOTNET, {"a.csproj": "<IsTestProject>true"}, "dotnet",
    "echo 'error NU1101: Unable to find package x'",
    "echo '<TestRun><Results><UnitTestResult testName=\"a\" outcome=\"Failed\"/></Results></TestRun>'"
    " > $LV_REPORT.d/a.trx",
)  # fmt: skip


def ended(place: Path, command: str) -> Ended:
    """How a test command ends, with the tools of a place before all others."""
    (place / "work").mkdir()
    command = command.replace("/tmp/afresh", f"{place}/afresh")  # noqa: S108
    report = place / "r"
    run = subprocess.run(
        ["/bin/sh", "-c", '(set -e; eval "$LV_COMMAND"); code=$?; exit $code'],
        env={"LV_COMMAND": command, "LV_REPORT": str(report), "PATH": f"{place}:{os.defpath}"},
        cwd=place / "work", capture_output=True, check=False,
    )  # fmt: skip
    content = report.read_bytes() if report.exists() else None
    return Ended(exit_code=run.returncode, report=content, out=run.stdout)


@pytest.mark.parametrize("reported", [False, True])
@pytest.mark.parametrize(
    ("language", "files", "tool", "says", "reports"),
    [MAVEN, GRADLE, DOTNET],
    ids=["maven", "gradle", "dotnet"],
)
def test_what_was_not_foreseen_excuses_no_test_that_is_reported_as_failed(
    tmp_path: Path, language: Language, files: dict[str, str], tool: str, says: str, reports: str,
    *, reported: bool,
) -> None:  # fmt: skip
    stage = stages_of(part_in(language, files))["test"]
    program = tmp_path / tool
    program.write_text(f"#!/bin/sh\n{reports if reported else ':'}\n{says}\nexit 1\n")
    program.chmod(0o755)

    # Only where there is a project does its tool run.
    command = f"touch {' '.join(files)}\n{stage.command}"
    report = judged(part_with(stage), stage, ended(tmp_path, command)).report

    assert report.status is (Status.FAILED if reported else Status.ERROR)
