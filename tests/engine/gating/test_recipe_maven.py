"""What Maven is asked for before it is offline, and what it could not have known then."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.gating.test_recipes import part_in, stages_of
from verification.engine.gating.components import Language

# It keeps what it is asked to resolve beside the work.
ASKED = """#!/bin/sh
case "$PWD" in "$TMPDIR"/*) cp -r . "$ASKED/$$" ;; esac
"""


def asked(tmp_path: Path, *there: str) -> list[str]:
    """What else the install resolves where these folders are in the repository afterwards."""
    work, kept, repository = (tmp_path / one for one in ("work", "kept", "m2"))
    for folder in (work, kept, tmp_path / "more", *(repository / one for one in there)):
        folder.mkdir(parents=True)
    (tmp_path / "mvn").write_text(ASKED)
    (tmp_path / "mvn").chmod(0o755)

    subprocess.run(
        ["/bin/sh", "-c", '(set -e; eval "$LV_COMMAND")'], cwd=work, check=True,
        env={"LV_COMMAND": part_in(Language.JAVA, {"pom.xml": ""}).install.command,
             "LV_REPOSITORY": str(repository), "ASKED": str(kept),
             "TMPDIR": str(tmp_path / "more"), "PATH": f"{tmp_path}:{os.defpath}"},
    )  # fmt: skip

    assert not list((tmp_path / "more").iterdir())
    return sorted(one for made in kept.iterdir() for one in resolved(made))


def resolved(made: Path) -> Iterator[str]:
    for module in re.findall("<module>(.+)</module>", (made / "pom.xml").read_text()):
        pom = (made / module / "pom.xml").read_text()
        need = pom.partition("<dependency>")[2].partition("</dependency>")[0]
        yield ":".join(re.findall(">([^<>\\s]+)<", need))


def test_what_runs_tests_is_resolved_in_the_version_of_the_booter(tmp_path: Path) -> None:
    found = asked(tmp_path, "org/apache/maven/surefire/surefire-booter/3.2.5")

    assert found == [
        f"org.apache.maven.surefire:surefire-{one}:3.2.5"
        for one in ("junit-platform", "junit3", "junit47", "junit4", "testng")
    ]


def test_engines_and_launchers_of_junit_5_follow_what_the_work_needs(tmp_path: Path) -> None:
    found = asked(
        tmp_path,
        "org/apache/maven/surefire/surefire-booter/3.2.5",
        "org/junit/jupiter/junit-jupiter-api/5.10.2",
        "org/junit/platform/junit-platform-commons/1.10.2",
        "junit/junit/4.13.2",
    )

    assert [one for one in found if "surefire" not in one] == [
        "org.junit.jupiter:junit-jupiter-engine:5.10.2",
        "org.junit.platform:junit-platform-launcher:1.10.2",
        "org.junit.vintage:junit-vintage-engine:5.10.2",
    ]


def test_work_without_tests_needs_nothing_more(tmp_path: Path) -> None:
    assert asked(tmp_path) == []


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Cannot access central (https://x) in offline mode and the artifact a:b:jar:1 has not", 126),
        ("[ERROR] 1 required artifact is missing.", 126),
        ("[ERROR] 2 required artifacts are missing.", 126),
        ("[ERROR] There are test failures.", 1),
    ],
)  # fmt: skip
def test_what_an_offline_maven_lacks_is_told_from_what_fails(
    tmp_path: Path, said: str, code: int
) -> None:
    (tmp_path / "mvn").write_text(f"#!/bin/sh\necho '{said}'\nexit 1\n")
    (tmp_path / "mvn").chmod(0o755)
    for stage in ("build", "test"):
        command = stages_of(part_in(Language.JAVA, {"pom.xml": ""}))[stage].command

        ended = subprocess.run(
            ["/bin/sh", "-c", '(set -e; eval "$LV_COMMAND")'], cwd=tmp_path, check=False,
            env={"LV_COMMAND": command.replace("/tmp/afresh", f"{tmp_path}/afresh"),  # noqa: S108
                 "LV_REPORT": f"{tmp_path}/report", "LV_REPOSITORY": "m2",
                 "PATH": f"{tmp_path}:{os.defpath}"},
        )  # fmt: skip

        assert ended.returncode == code


def test_settings_of_the_image_for_its_java_are_kept() -> None:
    command = part_in(Language.JAVA, {"pom.xml": ""}).install.command

    assert 'MAVEN_OPTS="-XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}" mvn ' in command
