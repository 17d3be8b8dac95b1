from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.tables import check_rows
from verification.engine.gating.components import Component, Language
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import Part, Stage
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

JUDGED = "PATH=/opt/loomverify/npm/node_modules/.bin:/usr/local/bin:/usr/bin:/bin"
PIP = "python3 -m venv /deps/root.python && /deps/root.python/bin/python -m pip install --no-input"


def part_in(language: Language, files: Mapping[str, str | bytes], folder: str = "") -> Part:
    contents = {
        path: text if isinstance(text, bytes) else text.encode(errors="replace")
        for path, text in files.items()
    }
    component = Component(folder, language, tuple(contents))
    inner = {component.path(name): content for name, content in contents.items()}
    return part_of(component, Files(list(inner), inner.get))


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
            "security": "/opt/loomverify/look.py /workspace",
            "test": "python3 -P /opt/loomverify/run_pytest.py -o cache_dir=/tmp/loomverify.pytest --maxfail=0 --junitxml",
        }),
        (Language.PYTHON, {"pyproject.toml": "[tool.mypy]"},
         {"types": "/opt/loomverify/run_mypy.py --output json"}),
        (Language.PYTHON, {"mypy.ini": ""}, {"types": "/opt/loomverify/run_mypy.py --output json"}),
        (Language.NODE, {"package.json": '{"scripts": {"build": "x", "test": "jest"}}'},
         {"build": "npm run --silent build", "test": "jest --bail=0 --json"}),
        (Language.NODE, {"package.json": '{"devDependencies": {"eslint": "9", "typescript": "5"}}',
                         "tsconfig.json": "{}", "eslint.config.js": ""},
         {"lint": f"{JUDGED} eslint --format json", "types": f"{JUDGED} tsc --noEmit"}),
        (Language.GO, {"go.mod": "module x"}, {
            "build": "go build ./...", "lint": "go vet ./...", "test": "go test -json ./...",
        }),
        (Language.RUST, {"Cargo.toml": ""}, {
            "build": "cargo build", "lint": "cargo-clippy clippy", "test": "cargo test",
        }),
        (Language.JAVA, {"pom.xml": ""}, {"build": "test-compile", "test": "test"}),
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
         {"build", "types", "lint", "test", "run"}),
        (Language.NODE, {"package.json": '{"devDependencies": {"typescript": "5"}}'},
         {"build", "types", "lint", "test", "run"}),
        (Language.GO, {"go.mod": ""}, {"types", "run"}),
        (Language.MAKE, {"Makefile": ""},
         {"build", "types", "lint", "test", "run"}),
    ],
)  # fmt: skip
def test_a_gate_without_a_command_says_why(
    language: Language, files: dict[str, str], gates: set[str]
) -> None:
    stages = part_in(language, files).stages

    assert {one.gate for one in stages if not one.command} == gates
    assert all(bool(one.command) is not bool(one.skipped) for one in stages)
    assert len(stages) == 6


@pytest.mark.parametrize(
    ("makefile", "build", "test"),
    [
        (".PHONY: all test\nall: prog\n\ttrue\ntest: all\n\t./prog\n", " all", " test"),
        ("build tests: x\n", " build", " tests"),
        ("check:: \ntest:\n", "", " check"),
        ("all := 1\ntest ::= 2\n\tcheck:\n# build:\n", "", ""),
        ("x" * 2_000_000 + "\nall:\n", "", ""),
    ],
)
def test_make_is_asked_for_the_targets_that_it_has(makefile: str, build: str, test: str) -> None:
    part = part_in(Language.MAKE, {"Makefile": makefile})

    stages = stages_of(part)
    assert part.install.command == ""
    for gate, command in (("build", build), ("test", test)):
        assert bool(stages[gate].command) is bool(command)
        assert not command or f'make -B "$@"{command} >' in stages[gate].command


@pytest.mark.parametrize(
    ("files", "target"),
    [
        ({"makefile": "test:\n"}, "test"),
        ({"GNUmakefile": "test:\n"}, "test"),
        ({"Makefile": "test:\n", "makefile": "check:\n"}, "check"),
        ({"makefile": "test:\n", "GNUmakefile": "check:\n"}, "check"),
    ],
)
def test_a_makefile_is_the_one_that_make_takes(files: dict[str, str], target: str) -> None:
    test = stages_of(part_in(Language.MAKE, files))["test"]

    assert f'make -B "$@" {target} >' in test.command


def test_what_only_looks_at_python_is_run_apart_from_its_code() -> None:
    stages = part_in(Language.PYTHON, {"setup.py": ""}).stages

    assert {one.gate for one in stages if one.is_apart} == {"lint", "security"}


@check_rows(
    ("script", "command", "form"),
    [
        ("jest", "jest --bail=0 --json", TestFormat.JEST),
        ("NODE_ENV=test jest --coverage", "NODE_ENV=test jest --coverage --bail=0 --json", TestFormat.JEST),
        ("cross-env NODE_ENV=test jest", "cross-env NODE_ENV=test jest --bail=0 --json", TestFormat.JEST),
        ("cross-env CI=1 A=b npx mocha", "cross-env CI=1 A=b mocha --no-bail", TestFormat.MOCHA),
        ("cross-env CI=1 node --test", "npm test --silent", None),
        ("jest --watchAll", "jest --bail=0 --json", TestFormat.JEST),
        ("jest --watch --watchAll=true src", "jest src --bail=0 --json", TestFormat.JEST),
        ("jest --watchAll false --watchman", "jest --watchman --bail=0 --json", TestFormat.JEST),
        ("mocha -w it.js", "mocha it.js --no-bail", TestFormat.MOCHA),
        ("mocha --watch --watch-files src", "mocha --watch-files src --no-bail", TestFormat.MOCHA),
        ("node --test --test-reporter=spec a.js", "node --test --test-reporter=/opt/loomverify/node_tap.mjs", TestFormat.TAP),
        ("node --test-reporter spec --test", "node --test --test-reporter=/opt/loomverify/node_tap.mjs", TestFormat.TAP),
        ("node --watch --test", "node --test --test-reporter=/opt/loomverify/node_tap.mjs", TestFormat.TAP),
        ("npx vitest --watch", "vitest --run --bail=0 --reporter json", TestFormat.JEST),
        ("mocha 'test/**'", "mocha 'test/**' --no-bail --no-dry-run --reporter json", TestFormat.MOCHA),
        ("node --test", "node --test --test-reporter=/opt/loomverify/node_tap.mjs", TestFormat.TAP),
        ("node --import tsx --test tests/", "node --import tsx --test --test-reporter=/opt/loomverify/node_tap.mjs", TestFormat.TAP),
        ("node --test-only --test", "node --test-only --test --test-reporter=/opt/loomverify/node_tap.mjs", TestFormat.TAP),
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


@check_rows(
    ("said", "lock", "judges"),
    [
        ("^5.4.0", None, ("typescript@^5.4.0",)),
        ("", None, ("typescript@latest",)),
        (">=5 <6 || 7.x", None, ("typescript@>=5 <6 || 7.x",)),
        ("^5.4.0", {"packages": {"node_modules/typescript": {"version": "5.4.5"}}},
         ("typescript@5.4.5",)),
        ("^5.4.0", {"dependencies": {"typescript": {"version": "5.4.5"}}}, ("typescript@5.4.5",)),
        ("^5.4.0", {"packages": {"node_modules/typescript": 5}}, ("typescript@^5.4.0",)),
        ("^5.4.0", {"packages": {"node_modules/x/node_modules/typescript": {"version": "1.0.0"}}},
         ("typescript@^5.4.0",)),
        ("^5.4.0", {"packages": {"node_modules/typescript": {"version": "file:fake"}}}, ()),
        *((odd, None, ()) for odd in (
            "file:fake", "npm:fake@5.4.5", "./fake", "github:a/b", "https://a.example/x.tgz",
            "5 --registry=x", "5\n6", "workspace:*", "5; true", "$(true)",
        )),
        ("file:fake", {"packages": {"node_modules/typescript": {"version": "5.4.5"}}}, ()),
    ],
)  # fmt: skip
def test_what_judges_is_taken_from_the_registry_in_the_works_version_or_not_at_all(
    said: str, lock: object, judges: tuple[str, ...]
) -> None:
    files = {
        "package.json": json.dumps({"devDependencies": {"typescript": said}}),
        "tsconfig.json": "",
    }
    if lock:
        files["package-lock.json"] = json.dumps(lock)

    part = part_in(Language.NODE, files)

    types = stages_of(part)["types"]
    assert part.judges == judges
    assert bool(types.command) is bool(judges)
    assert ("nobody knows how it judges" in types.unreadable) is not bool(judges)


@pytest.mark.parametrize("package", [{}, {"scripts": []}, {"scripts": {"test": ["jest"]}}])
def test_a_script_that_is_none_is_not_run(package: object) -> None:
    part = part_in(Language.NODE, {"package.json": json.dumps(package)})

    assert stages_of(part)["test"].command == stages_of(part)["build"].command == ""


def test_every_report_that_is_expected_has_a_format_of_its_gates_kind() -> None:
    package = '{"scripts": {"test": "jest"}, "devDependencies": {"eslint": "9", "typescript": "5"}}'
    parts = (
        part_in(Language.PYTHON, {"pyproject.toml": "[tool.mypy]"}),
        part_in(Language.NODE, {"package.json": package, "tsconfig.json": "", ".eslintrc": ""}),
        part_in(Language.GO, {"go.mod": ""}),
    )

    kinds = {
        (stage.gate == "test", type(stage.expected.format))
        for part in parts
        for stage in part.stages
        if stage.expected
    }
    assert kinds == {(True, TestFormat), (False, ProblemFormat)}


def test_a_module_that_is_replaced_by_one_of_the_work_is_read_for_an_install() -> None:
    replaced = b"module a\n\nreplace example.com/shared => ../shared\n"
    component = Component("a", Language.GO, ("go.mod",))
    own, others = {"a/go.mod", "a/go.sum"}, {"shared/go.mod", "shared/go.sum"}

    def inputs(manifest: bytes) -> set[str]:
        contents = {**dict.fromkeys((*own, *others, "shared/a.go"), b""), "a/go.mod": manifest}
        return set(part_of(component, Files(list(contents), contents.get)).install.inputs)

    assert inputs(replaced) == own | others
    assert inputs(b"module a\n") == own


@pytest.mark.parametrize(("files", "is_made"), [({"go.mod": ""}, False), ({"a.go": ""}, True)])
def test_files_of_go_without_a_module_are_made_one(files: dict[str, str], is_made: bool) -> None:
    stages = stages_of(part_in(Language.GO, files))

    assert all(("go mod init" in stages[gate].command) is is_made for gate in ("build", "test"))


@pytest.mark.parametrize(
    ("path", "package", "is_linted", "is_old"),
    [
        ("web/eslint.config.mjs", {}, True, False),
        ("web/.eslintrc.json", {}, True, True),
        ("web/src/.eslintrc", {}, True, True),
        ("eslint.config.ts", {}, True, False),
        ("web/a.js", {"eslintConfig": {"root": True}}, True, True),
        ("web/a.js", {}, False, False),
        ("api/eslint.config.js", {}, False, False),
        ("web/my.eslint.config.js", {}, False, False),
    ],
)
def test_eslint_is_asked_where_it_has_settings_and_told_that_they_are_old(
    path: str, package: dict[str, object], is_linted: bool, is_old: bool
) -> None:
    known = {**package, "devDependencies": {"eslint": "9.17.0"}}
    files = {"web/package.json": json.dumps(known), path: ""}
    component = Component("web", Language.NODE, ("package.json",))

    stage = stages_of(
        part_of(component, Files(list(files), lambda one: files.get(one, "").encode()))
    )["lint"]

    assert bool(stage.command) is is_linted
    assert stage.command.startswith("ESLINT_USE_FLAT_CONFIG=false ") is is_old
    assert (stage.skipped, stage.unreadable) == (
        "" if is_linted else "No linter is configured.",
        "",
    )
