from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.engine.gating.components import Component, Language
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import Part, Stage, deps_of
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

PIP = "python3 -m venv /deps/root.python && /deps/root.python/bin/python -m pip install --no-input"


def part_in(
    language: Language, files: Mapping[str, str | bytes], folder: str = "", *paths: str
) -> Part:
    contents = {
        path: text if isinstance(text, bytes) else text.encode(errors="replace")
        for path, text in files.items()
    }
    component = Component(folder, language, tuple(contents))
    inner = {component.path(name): content for name, content in contents.items()}
    return part_of(component, Files([*inner, *paths], inner.get))


def stages_of(part: Part) -> dict[str, Stage]:
    return {stage.gate: stage for stage in part.stages}


def node_script(script: str) -> Stage:
    package = {"scripts": {"test": script}}
    return stages_of(part_in(Language.NODE, {"package.json": json.dumps(package)}))["test"]


@pytest.mark.parametrize(
    ("language", "files", "commands"),
    [
        (Language.PYTHON, {"setup.py": ""}, {
            "build": "python3 -I -m compileall",
            "lint": "/opt/loomverify/bin/ruff check --no-cache",
            "security": "/opt/loomverify/bin/ruff check --isolated --no-respect-gitignore",
            "test": "python3 -P /opt/loomverify/run_pytest.py -p no:cacheprovider --junitxml",
        }),
        (Language.PYTHON, {"pyproject.toml": "[tool.mypy]"},
         {"types": "/opt/loomverify/bin/mypy --output json"}),
        (Language.PYTHON, {"mypy.ini": ""}, {"types": "/opt/loomverify/bin/mypy --output json"}),
        (Language.NODE, {"package.json": '{"scripts": {"build": "x", "test": "jest"}}'},
         {"build": "npm run --silent build", "test": "jest --json"}),
        (Language.NODE, {"package.json": '{"devDependencies": {"eslint": "9", "typescript": "5"}}',
                         "tsconfig.json": "{}"},
         {"lint": "eslint --format json", "types": "tsc --noEmit"}),
        (Language.GO, {"go.mod": "module x"}, {
            "build": "go build ./...", "lint": "go vet ./...", "test": "go test -json ./...",
        }),
    ],
)  # fmt: skip
def test_each_language_has_its_commands(
    language: Language, files: dict[str, str], commands: dict[str, str]
) -> None:
    stages = stages_of(part_in(language, files))

    for gate, command in commands.items():
        assert command in stages[gate].command


@pytest.mark.parametrize(
    ("language", "files", "gates"),
    [
        (Language.PYTHON, {"setup.py": ""}, {"types", "run"}),
        (Language.NODE, {"package.json": "{}"},
         {"build", "types", "lint", "security", "test", "run"}),
        (Language.NODE, {"package.json": '{"devDependencies": {"typescript": "5"}}'},
         {"build", "types", "lint", "security", "test", "run"}),
        (Language.GO, {"go.mod": ""}, {"types", "security", "run"}),
        (Language.RUST, {"Cargo.toml": ""},
         {"build", "types", "lint", "security", "test", "run"}),
        (Language.MAKE, {"Makefile": ""},
         {"build", "types", "lint", "security", "test", "run"}),
    ],
)  # fmt: skip
def test_a_gate_without_a_command_says_why(
    language: Language, files: dict[str, str], gates: set[str]
) -> None:
    stages = part_in(language, files).stages

    assert {one.gate for one in stages if not one.command} == gates
    assert all(bool(one.command) is not bool(one.skipped) for one in stages)
    assert len(stages) == 6


def test_a_language_without_a_recipe_is_named_and_nothing_is_installed_for_it() -> None:
    part = part_in(Language.RUST, {"Cargo.toml": ""})

    assert part.install.command == ""
    assert {one.skipped for one in part.stages} == {"There are no commands for rust."}


def test_what_only_looks_at_python_is_run_apart_from_its_code() -> None:
    stages = part_in(Language.PYTHON, {"setup.py": ""}).stages

    assert {one.gate for one in stages if one.is_apart} == {"lint", "security"}


# What an install reads.


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

    assert with_sums.command.endswith("go mod download")
    assert with_sums.inputs == ("go.mod", "go.sum")
    assert part_in(Language.GO, {"go.mod": ""}).install.command == ""


# How a package's tests are run.


@pytest.mark.parametrize(
    ("script", "command", "form"),
    [
        ("jest", "jest --json", TestFormat.JEST),
        ("NODE_ENV=test jest --coverage", "jest --json", TestFormat.JEST),
        ("npx vitest --watch", "vitest run --reporter json", TestFormat.JEST),
        ("mocha 'test/**'", "mocha --reporter json", TestFormat.MOCHA),
        ("node --test", "node --test --test-reporter=tap", TestFormat.TAP),
        ("node --import tsx --test tests/", "node --test --test-reporter=tap", TestFormat.TAP),
        ("node test.js", "npm test --silent", None),
        ("node --test-only", "npm test --silent", None),
        ("jest-lite", "npm test --silent", None),
        ("node ./scripts/jest", "npm test --silent", None),
        ("react-scripts test", "npm test --silent", None),
        ("jest && mocha", "npm test --silent", None),      # neither alone says how it went
        ("node --test && vitest run", "npm test --silent", None),
        ("jest " + "x" * 5_000, "npm test --silent", None),
        ("node " * 20_000, "npm test --silent", None),
        ("$(touch x); `y`\n", "npm test --silent", None),
    ],
)  # fmt: skip
def test_a_runner_is_asked_for_its_report_where_the_script_names_one(
    script: str, command: str, form: TestFormat | None
) -> None:
    stage = node_script(script)

    assert stage.command.startswith(command)
    assert (stage.expected.format if stage.expected else None) is form
    assert stage.is_given is (form is None)


@pytest.mark.parametrize(
    "script", ["", "  ", 'echo "Error: no test specified" && exit 1', "NO TEST SPECIFIED"]
)
def test_a_package_that_names_no_tests_has_none(script: str) -> None:
    assert node_script(script).skipped == "The package names no tests."


@pytest.mark.parametrize("package", [{}, {"scripts": []}, {"scripts": {"test": ["jest"]}}])
def test_a_script_that_is_none_is_not_run(package: object) -> None:
    part = part_in(Language.NODE, {"package.json": json.dumps(package)})

    assert stages_of(part)["test"].command == stages_of(part)["build"].command == ""


def test_every_report_that_is_expected_has_a_format_of_its_gates_kind() -> None:
    package = '{"scripts": {"test": "jest"}, "devDependencies": {"eslint": "9", "typescript": "5"}}'
    parts = (
        part_in(Language.PYTHON, {"pyproject.toml": "[tool.mypy]"}),
        part_in(Language.NODE, {"package.json": package, "tsconfig.json": ""}),
        part_in(Language.GO, {"go.mod": ""}),
    )

    kinds = {
        (stage.gate == "test", type(stage.expected.format))
        for part in parts
        for stage in part.stages
        if stage.expected
    }
    assert kinds == {(True, TestFormat), (False, ProblemFormat)}


# No submitted text reaches a shell as more than one word.

TEXT = st.text(max_size=30) | st.sampled_from(
    ["a b", "$(touch x)", "`x`", "a'b\"c", "a\nb", "; rm -rf .", "-r x", "~", "*", "a\\", "&& x"]
)
FOLDERS = st.lists(TEXT.filter(lambda one: "/" not in one and one), max_size=3).map("/".join)
JSON_TEXT = st.recursive(
    TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def commands_in(part: Part) -> set[str]:
    """All that a shell is given, with the folder of what is installed named `DEPS`."""
    texts = [part.install.command, part.install.prepare, *(one.command for one in part.stages)]
    texts += [*part.environment.values(), *part.linked.values()]
    return {one.replace(deps_of(part.component), "DEPS") for one in texts}


PLAIN = {
    Language.PYTHON: [{"pyproject.toml": "[tool.mypy]"}, {"requirements.txt": "", "setup.py": ""}],
    Language.NODE: [
        {"package.json": json.dumps(package), "tsconfig.json": "", **lock}
        for runner in ("", "x", "jest", "mocha", "vitest", "node --test")
        for package in (
            {"scripts": {"build": "x", "test": runner}},
            {"scripts": {"test": runner}, "devDependencies": {"eslint": "", "typescript": ""}},
        )
        for lock in ({}, {"package-lock.json": ""})
    ],
    Language.GO: [{"go.mod": ""}, {"go.mod": "", "go.sum": ""}],
}
KNOWN = {
    language: set().union(*(commands_in(part_in(language, one)) for one in files))
    for language, files in PLAIN.items()
}


@given(st.sampled_from(list(KNOWN)), FOLDERS, st.data())
def test_a_command_does_not_change_with_what_is_submitted(
    language: Language, folder: str, data: st.DataObject
) -> None:
    package = {
        "scripts": data.draw(st.dictionaries(st.sampled_from(["build", "test"]), JSON_TEXT)),
        "dependencies": data.draw(JSON_TEXT),
        "workspaces": data.draw(JSON_TEXT),
    }
    files = {
        Language.PYTHON: {"pyproject.toml": data.draw(TEXT), "requirements.txt": data.draw(TEXT)},
        Language.NODE: {"package.json": json.dumps(package), "package-lock.json": ""},
        Language.GO: {"go.mod": data.draw(TEXT), "go.sum": data.draw(TEXT)},
    }[language]

    part = part_in(language, files, folder)

    assert commands_in(part) <= KNOWN[language]
    assert re.fullmatch(r"/deps/[A-Za-z0-9._-]+\.(python|node|go)", part.deps)


@given(st.lists(TEXT, max_size=8))
def test_what_python_is_to_install_is_one_word_each_and_never_an_option(named: list[str]) -> None:
    project = f"[project]\ndependencies = {json.dumps(named)}".encode(errors="replace")

    command = part_in(Language.PYTHON, {"pyproject.toml": project}).install.command

    words = shlex.split(command.removeprefix(PIP))
    assert command in ("", f"{PIP} {shlex.join(words)}")
    assert all(word in named and word[0].isalnum() for word in words)
