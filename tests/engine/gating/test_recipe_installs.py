from __future__ import annotations

import json
import shlex

import pytest

from tests.engine.gating.test_recipes import PIP, part_in
from verification.engine.gating.components import Component, Language
from verification.engine.gating.recipes import Files, part_of


@pytest.mark.parametrize(
    ("files", "read"),
    [
        ({"requirements.txt": "requests"}, ["requirements.txt"]),
        ({"requirements.txt": "-r base.txt\n  -c limits/all.txt  # why", "base.txt": "",
          "limits/all.txt": "", "other.txt": ""},
         ["base.txt", "limits/all.txt", "requirements.txt"]),
        ({"requirements.txt": "--requirement=a/b.txt", "a/b.txt": "--constraint ../c.txt",
          "c.txt": ""}, ["a/b.txt", "c.txt", "requirements.txt"]),
        ({"requirements.txt": "-ra.txt", "a.txt": "-r requirements.txt\n-r a.txt"},
         ["a.txt", "requirements.txt"]),
        ({"requirements.txt": "# -r a.txt\nx -r a.txt", "a.txt": ""}, ["requirements.txt"]),
        ({"requirements.txt": "-r /etc/passwd\n-r ../../x.txt\n-r a\0b\n-r https://x/y.txt"},
         ["requirements.txt"]),
        ({"requirements.txt": b"\xff\xfe-r a.txt", "a.txt": ""}, ["requirements.txt"]),
    ],
)  # fmt: skip
def test_an_install_reads_its_requirements_and_what_they_include(
    files: dict[str, str], read: list[str]
) -> None:
    for folder in ("", "api"):
        install = part_in(Language.PYTHON, files, folder).install

        assert install.command.endswith(" -r requirements.txt")
        assert list(install.inputs) == [f"{folder}/{one}".strip("/") for one in read]


def test_requirements_may_lie_beside_the_component() -> None:
    component = Component("api", Language.PYTHON, ("requirements.txt",))
    files = {"api/requirements.txt": b"-r ../shared.txt", "shared.txt": b"x"}

    part = part_of(component, Files(list(files), files.get))

    assert part.install.inputs == ("api/requirements.txt", "shared.txt")


def test_so_many_requirements_files_are_read() -> None:
    files = {f"{n}.txt": f"-r {n + 1}.txt\n" * 1_000 for n in range(500)}

    part = part_in(Language.PYTHON, {"requirements.txt": "-r 0.txt", **files})

    assert len(part.install.inputs) == 50


@pytest.mark.parametrize(
    ("project", "named"),
    [
        ("", []),
        ('[project]\ndependencies = ["requests>=2", "a[b]; python_version < \'4\'"]',
         ["requests>=2", "a[b]; python_version < '4'"]),
        ('[project]\ndependencies = ["a"]\n[project.optional-dependencies]\n'
         'test = ["t"]\ndev = ["d"]\ndocs = ["no"]\n[dependency-groups]\n'
         'tests = ["g", {include-group = "docs"}]\ndocs = ["no"]', ["a", "t", "d", "g"]),
        ('[project]\ndependencies = ["-r /etc/passwd", "--index-url x", "./here", "/there", "",'
         ' "a\\nb", "a\\u0000", 7, ["x"], {a = "b"}, " x", "${X}"]', []),
        ('[project]\ndependencies = "requests"', []),
        ("project = 7\ndependency-groups = [1]", []),
        ("[project]\noptional-dependencies = 1", []),
        ("[project", []),
        (b"\xff\xfe", []),
        ("x = " + "[" * 100_000, []),
        ("x = " + "9" * 5_000, []),
        ("a." * 200_000 + "b = 1", []),
        ('"a" . ' * 100_000 + "b = 1", []),
        ("[" + "a." * 200_000 + "b]", []),
    ],
)  # fmt: skip
def test_python_is_installed_as_its_project_names_it(
    project: str | bytes, named: list[str]
) -> None:
    install = part_in(Language.PYTHON, {"pyproject.toml": project}).install

    assert install.command == (f"{PIP} {shlex.join(named)}" if named else "")
    assert install.inputs == ()
    assert install.prepare == "python3 -m venv /deps/root.python"


def test_so_many_requirements_are_named_and_never_more_than_a_command_may_hold() -> None:
    many = json.dumps([f"p{number}" for number in range(10_000)])
    long = json.dumps(["a" + "'" * 300] * 300)

    commands = [
        part_in(Language.PYTHON, {"pyproject.toml": f"[project]\ndependencies = {one}"})
        .install.command
        for one in (many, long)
    ]  # fmt: skip

    assert commands[0].endswith(" p298 p299")
    assert max(map(len, commands)) < 100_000


@pytest.mark.parametrize(
    ("files", "verb", "inputs"),
    [
        ({"package.json": '{"dependencies": {"a": "1"}}'}, "npm install", ["package.json"]),
        ({"package.json": '{"devDependencies": {"a": "1"}}', "package-lock.json": "{}"},
         "npm ci", ["package.json", "package-lock.json"]),
        ({"package.json": '{"workspaces": ["a"]}', "npm-shrinkwrap.json": "{}"},
         "npm ci", ["package.json", "npm-shrinkwrap.json"]),
        ({"package.json": "{}", "package-lock.json": "{}"}, "", []),
        ({"package.json": '{"dependencies": ["a"]}'}, "", []),
        ({"package.json": "[" * 100_000}, "", []),
        ({"package.json": "{" + '"a":{' * 100_000}, "", []),
        ({"package.json": '{"dependencies": {"a": 1' + "9" * 5_000 + "}}"}, "", []),
        ({"package.json": "[1]"}, "", []),
        ({"package.json": b"\xff"}, "", []),
    ],
)  # fmt: skip
def test_node_is_installed_from_its_manifests_alone(
    files: dict[str, str], verb: str, inputs: list[str]
) -> None:
    part = part_in(Language.NODE, files)

    assert bool(part.install.command) is bool(verb)
    assert verb in part.install.command
    assert list(part.install.inputs) == inputs
    assert bool(part.linked) is bool(verb)


def test_go_is_installed_where_it_names_sums() -> None:
    with_sums = part_in(Language.GO, {"go.mod": "", "go.sum": ""}).install

    assert "GOPROXY= GOFLAGS= go mod download" in with_sums.command
    assert with_sums.inputs == ("go.mod", "go.sum")
    assert part_in(Language.GO, {"go.mod": ""}).install.command == ""
