from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which

import pytest

from tests.engine.gating.fakes import part_with
from tests.engine.gating.test_recipes import part_in, stages_of
from verification.engine.gating.components import Language
from verification.engine.gating.judging import judged
from verification.engine.gating.stages import Ended, Stage
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


def ended(place: Path, command: str, tools: str = os.defpath) -> Ended:
    """How a command ends, with the tools of a place before all others."""
    (place / "work").mkdir()
    command = command.replace("/tmp/afresh", f"{place}/afresh")  # noqa: S108
    report = place / "r"
    run = subprocess.run(
        ["/bin/sh", "-c", '(set -e; eval "$LV_COMMAND"); code=$?; exit $code'],
        env={"LV_COMMAND": command, "LV_REPORT": str(report), "PATH": f"{place}:{tools}"},
        cwd=place / "work", capture_output=True, check=False,
    )  # fmt: skip
    content = report.read_bytes() if report.exists() else None
    return Ended(exit_code=run.returncode, report=content, out=run.stdout, err=run.stderr)


def put(place: Path, tool: str, script: str) -> None:
    program = place / tool
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


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
    put(tmp_path, tool, f"{reports if reported else ':'}\n{says}\nexit 1")

    # Only where there is a project does its tool run.
    command = f"touch {' '.join(files)}\n{stage.command}"
    report = judged(part_with(stage), stage, ended(tmp_path, command)).report

    assert report.status is (Status.FAILED if reported else Status.ERROR)


RUST = {"Cargo.toml": "[dependencies]"}
GEM = {"Gemfile": "gem 'bcrypt'"}
NO_LINKER = 'echo \'{"message": "linker `cc` not found"}\'; exit 101'
UNBUILT = "echo 'error: failed to run custom build command for `{0}`' >&2; exit 101"


@pytest.mark.parametrize(
    ("language", "files", "gate", "tool", "script", "status"),
    [
        (Language.RUST, RUST, "build", "cargo", UNBUILT.format("openssl-sys v0.9.60"),
         Status.ERROR),
        (Language.RUST, RUST, "build", "cargo", UNBUILT.format("a v1.0.0 (https://x.org/a#1)"),
         Status.ERROR),
        (Language.RUST, RUST, "build", "cargo", UNBUILT.format("x v0.1.0 (/workspace)"),
         Status.FAILED),
        (Language.RUST, RUST, "build", "cargo", NO_LINKER, Status.ERROR),
        (Language.RUST, RUST, "build", "cargo", "exit 101", Status.FAILED),
        (Language.RUBY, GEM, "install", "bundle",
         "echo 'ERROR: Failed to build gem native extension.'; exit 5", Status.ERROR),
        (Language.RUBY, GEM, "install", "bundle", "echo 'no such gem'; exit 5", Status.FAILED),
        (Language.NODE, {"package.json": '{"dependencies": {"x": "1"}}'}, "install", "npm",
         '[ "$1" = pkg ] || { echo "npm error gyp ERR! find Python"; exit 1; }', Status.ERROR),
        (Language.GO, {"go.mod": "module x"}, "build", "go",
         '[ "$1" = list ] && echo c || exit 1', Status.ERROR),
        (Language.GO, {"go.mod": "module x"}, "build", "go",
         '[ "$1" = list ] || exit 1', Status.FAILED),
        (Language.GO, {"go.mod": "module x"}, "build", "go",
         '[ "$1" != list ] || echo "$*" | grep -q deps || echo c', Status.ERROR),
        (Language.GO, {"go.mod": "module x"}, "build", "go", "exit 0", Status.PASSED),
    ],
)  # fmt: skip
def test_what_the_image_cannot_compile_blames_nobody(
    tmp_path: Path, language: Language, files: dict[str, str], gate: str, tool: str, script: str,
    status: Status,
) -> None:  # fmt: skip
    bare = tmp_path / "bare"
    bare.mkdir()
    for one in ("cat", "cp", "find", "grep", "mkdir", "rm", "awk", "mv"):
        (bare / one).symlink_to(which(one) or "")
    put(tmp_path, tool, script)
    part = part_in(language, files)
    stage = Stage(gate, part.install.command) if gate == "install" else stages_of(part)[gate]
    part = replace(part_with(stage), install=part.install)
    command = stage.command.replace("/deps/", f"{tmp_path}/deps/").replace("/workspace", ".")

    found = ended(tmp_path, f": > a.json\n{command}", str(bare))

    assert judged(part, stage, found).report.status is status, found


@pytest.mark.parametrize(
    ("more", "named"), [("", True), ("\necho '     Running x (/tmp/x-0)' >&2", False)]
)
def test_binaries_of_cargo_are_named_only_where_each_is(
    tmp_path: Path, more: str, *, named: bool
) -> None:
    put(
        tmp_path, "cargo",
        "echo '     Running unittests src/lib.rs (/tmp/target/debug/deps/x-1f)' >&2\n"
        "echo 'running 1 test\ntest a ... ok\n'\n"
        "echo 'test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'"
        f"{more}",
    )  # fmt: skip
    put(tmp_path, "rustc", "echo host: x")
    stage = stages_of(part_in(Language.RUST, RUST))["test"]

    found = judged(part_with(stage), stage, ended(tmp_path, stage.command)).tests

    assert found
    assert [one.suite for one in found.cases] == ["src/lib.rs (x)" if named else ""]
