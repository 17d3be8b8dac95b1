from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.engine.gating.test_recipes import part_in, stages_of
from verification.engine.gating.components import Language
from verification.engine.gating.given import Named, with_named
from verification.engine.gating.recipe_node_scripts import around
from verification.engine.gating.runners import with_report

NPM = """#!/bin/sh
echo "npm $*" >> {place}/said
case "$*" in
  *engine-strict*) echo "npm error code EBADENGINE"; exit {engines} ;;
  *{failing}) echo "{words}"; exit 3 ;;
esac
"""


def ran(
    place: Path, package: Mapping[str, object], tool: str = "true", *,
    failing: str = "nothing", words: str = "", name: str = "test", is_read: bool = True,
) -> tuple[int, list[str]]:  # fmt: skip
    """How it ended, and what npm was asked for; the tool says that it ran."""
    command = around(f"{{ echo tool >> {place}/said; {tool}; }}", package, name, is_read=is_read)
    return ran_alone(place, command, failing=failing, words=words, is_read=is_read)


def ran_alone(
    place: Path, command: str, *, failing: str, words: str = "", is_read: bool = True
) -> tuple[int, list[str]]:
    npm = place / "npm"
    npm.write_text(NPM.format(place=place, failing=failing, words=words, engines=1))
    npm.chmod(0o755)
    (place / "said").touch()
    command = command.replace("/tmp/prepared", f"{place}/prepared")  # noqa: S108
    command = command.replace("/tmp/unprepared", f"{place}/unprepared")  # noqa: S108
    ended = subprocess.run(
        ["/bin/sh", "-c", '(set -e; eval "$LV_COMMAND"); code=$?; exit $code'],
        env={"LV_COMMAND": command, "LV_REPORT": f"{place}/r", "PATH": f"{place}:/usr/bin:/bin"},
        capture_output=True, check=False,
    )  # fmt: skip
    assert (ended.stdout if is_read else ended.stderr) == b""
    said = (place / "said").read_text().splitlines()
    return ended.returncode, [one.split()[-1] for one in said]


HOOKS = {"scripts": {"pretest": "a", "test": "b", "posttest": "c"}}
PREPARED = {"scripts": {"prepare": "a", "postinstall": "b", "test": "c"}}
ASKS = {"engines": {"node": ">=99"}}


@pytest.mark.parametrize(
    ("package", "tool", "failing", "words", "code", "said"),
    [
        ({}, "true", "", "", 0, ["tool"]),
        (HOOKS, "true", "", "", 0, ["pretest", "tool", "posttest"]),
        (HOOKS, "false", "", "", 1, ["pretest", "tool"]),
        (HOOKS, "true", "pretest", "no", 3, ["pretest"]),
        (HOOKS, "true", "pretest", "getaddrinfo EAI_AGAIN", 126, ["pretest"]),
        (HOOKS, "true", "posttest", "no", 3, ["pretest", "tool", "posttest"]),
        (PREPARED, "true", "", "", 0, ["postinstall", "prepare", "tool"]),
        (PREPARED, "true", "postinstall", "no", 0, ["postinstall", "prepare", "tool"]),
        (PREPARED, "false", "postinstall", "no", 126, ["postinstall", "prepare", "tool"]),
        (PREPARED, "exit 7", "", "", 7, ["postinstall", "prepare", "tool"]),
        (ASKS, "true", "", "", 0, ["tool"]),
        (ASKS, "false", "", "", 126, ["tool", "--ignore-scripts"]),
        ({"engines": {"node": 99}}, "false", "", "", 1, ["tool"]),
    ],
)
def test_what_npm_has_around_a_script_is_run_around_its_tool(
    tmp_path: Path,
    package: dict[str, object], tool: str, failing: str, words: str, code: int, said: list[str],
) -> None:  # fmt: skip
    found = ran(tmp_path, package, tool, failing=failing or "nothing", words=words)

    assert found == (code, said)


def test_what_they_write_hides_nothing_that_the_tool_does(tmp_path: Path) -> None:
    for at, is_read in enumerate((True, False)):
        place = tmp_path / str(at)
        place.mkdir()
        package = {"scripts": {**HOOKS["scripts"], **PREPARED["scripts"]}}

        code, _ = ran(place, package, failing="prepare", words="no git", is_read=is_read)

        assert code == 0


def test_what_the_install_would_run_is_run_once_in_a_container(tmp_path: Path) -> None:
    ran(tmp_path, PREPARED, name="")
    _, said = ran(tmp_path, PREPARED)

    assert said == ["postinstall", "prepare", "tool", "tool"]


@pytest.mark.parametrize("tool", ["jest", "node --test", "tape"])
def test_more_arguments_reach_the_tool_and_not_what_is_around_it(tool: str) -> None:
    package = {"scripts": {"pretest": "a", "test": tool, "posttest": "b"}, **ASKS}
    stage = stages_of(part_in(Language.NODE, {"package.json": json.dumps(package)}))["test"]

    told = with_report(stage, Language.NODE, "npm test -- a.js")

    assert told
    [line] = set(told.command.splitlines()) - set(stage.command.splitlines())
    assert line.startswith(tool)
    assert " a.js" in line
    assert line.endswith(" || code=$?")


@pytest.mark.parametrize(
    ("package", "named", "failing", "code", "said"),
    [
        (PREPARED, ["vitest run"], "nothing", 0, ["postinstall", "prepare", "vitest"]),
        (PREPARED, ["false", "vitest run"], "nothing", 1, ["postinstall", "prepare"]),
        (PREPARED, ["vitest run; false"], "prepare", 126, ["postinstall", "prepare", "vitest"]),
        (ASKS, ["vitest run || exit 5"], "vitest", 126, ["vitest", "--ignore-scripts"]),
        ({}, ["false", "vitest run"], "nothing", 1, []),
    ],
)
def test_commands_that_somebody_names_stand_where_those_of_the_package_would(
    tmp_path: Path, package: dict[str, object], named: list[str], failing: str, code: int,
    said: list[str],
) -> None:  # fmt: skip
    part = part_in(Language.NODE, {"package.json": json.dumps(package)})
    command = stages_of(with_named(part, Named({"test": named}), ()))["test"].command
    tool = tmp_path / "vitest"
    tool.write_text(f"#!/bin/sh\necho vitest >> {tmp_path}/said\n[ {failing} != vitest ]\n")
    tool.chmod(0o755)

    assert ran_alone(tmp_path, command, failing=failing) == (code, said)
