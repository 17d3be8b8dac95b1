from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.gating.fakes import part_with
from tests.tables import check_rows
from verification.engine.gating.components import Component, Language
from verification.engine.gating.given import WITH_PYTEST, Named, with_named
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import ORDER, Expected, Part, Stage
from verification.engine.reports.testing import TestFormat

PATHS = ("api/a.py", "api/requirements.txt", "apix/b.py", "c.py")
PACKAGE = b'{"scripts": {"test": "jest"}, "dependencies": {"a": "1"}}'
MARKED = {
    Language.NODE: {"package.json": PACKAGE},
    Language.RUST: {"Cargo.toml": b""},
    Language.RUBY: {"Gemfile": b"gem 'x'", "spec/a_spec.rb": b""},
    Language.PHP: {"phpunit.xml": b""},
    Language.JAVA: {"pom.xml": b""},
}


def recipe(language: Language, folder: str = "", marked: Mapping[str, bytes] | None = None) -> Part:
    files = MARKED.get(language, {}) if marked is None else marked
    component = Component(folder, language, tuple(files))
    inner = {component.path(name): content for name, content in files.items()}
    return part_of(component, Files(list(inner), inner.get))


def stage_of(part: Part, gate: str) -> Stage:
    [stage] = [one for one in part.stages if one.gate == gate]
    return stage


def planned(language: Language, gate: str, *commands: str) -> Stage:
    return stage_of(with_named(recipe(language), Named({gate: commands}), PATHS), gate)


def by_shell(command: str) -> Stage:
    """A test command of Python that nothing is asked of: all that it may need is pytest."""
    first = f"{WITH_PYTEST}\n" if "pytest" in command else ""
    return Stage("test", f"{first}{command}", is_given=True)


@check_rows("gate", ["build", "types", "test", "run"])
@check_rows("language", [Language.PYTHON, Language.NODE, Language.GO, Language.RUST])
def test_a_plans_commands_stand_in_for_the_tables(language: Language, gate: str) -> None:
    stage = planned(language, gate, "make this", "make that")

    assert stage == Stage(gate, "make this\nmake that", is_given=True)


@pytest.mark.parametrize("gate", ["lint", "security"])
@pytest.mark.parametrize("language", [Language.PYTHON, Language.NODE, Language.GO])
def test_who_looks_at_the_work_is_nobodys_to_name(language: Language, gate: str) -> None:
    assert planned(language, gate, "true") == stage_of(recipe(language), gate)


def test_without_a_plans_commands_nothing_changes() -> None:
    part = recipe(Language.PYTHON)

    assert with_named(part, Named(), PATHS) == part
    assert with_named(part, Named({"test": []}), PATHS) == part


@check_rows(
    ("language", "command", "arguments"),
    [
        (Language.PYTHON, "pytest -x", "run_pytest.py -x -o cache_dir=/tmp/loomverify.pytest --maxfail=0 --junitxml"),
        (Language.PYTHON, "python -m pytest tests/unit", "run_pytest.py tests/unit -o cache"),
        (Language.PYTHON, " python3 -m pytest -q ", "run_pytest.py -q -o cache"),
        (Language.PYTHON, 'pytest -k "not slow" -m \'a or b\'',
         "run_pytest.py -k 'not slow' -m 'a or b' -o cache"),
        (Language.PYTHON, "pytest tests  # all of them", "run_pytest.py tests -o cache"),
        (Language.PYTHON, "pytest --cov=src --color=yes --tb=short",
         "run_pytest.py --cov=src --color=yes --tb=short -o cache"),
        (Language.PYTHON, "pytest -k '(a)' t.py::test_it", "run_pytest.py -k '(a)' t.py::test_it"),
        (Language.GO, "go test -v ./pkg", 'go test -json -v ./pkg > "$LV_REPORT"'),
        (Language.GO, "go test -count=1 -cover -parallel 2 ./...",
         'go test -json -count=1 -cover -parallel 2 ./... > "$LV_REPORT"'),
        (Language.GO, "go test -run 'TestA' ./... # quick", 'go test -json -run TestA ./... > "'),
        (Language.RUST, "cargo test -p core --lib --no-fail-fast",
         'cargo test -p core --lib --offline --no-fail-fast > "'),
        (Language.RUST, "cargo test parsing::tests", "cargo test parsing::tests --offline"),
        (Language.RUBY, "bundle exec rspec spec/a_spec.rb:3 --tag slow",
         "bundle exec rspec spec/a_spec.rb:3 --tag slow --require"),
        (Language.PHP, "./vendor/bin/phpunit --colors=never",
         'phpunit --log-junit "$LV_REPORT" --colors=never'),
        (Language.JAVA, "./mvnw -B test -Dtest=ATest -pl core",
         '="$run" -Dtest=ATest -pl core test'),
        (Language.JAVA, "mvn -B clean verify", '="$run" verify test'),
    ],
)  # fmt: skip
def test_the_tables_runner_with_a_plans_arguments_keeps_its_report(
    language: Language, command: str, arguments: str
) -> None:
    stage, own = planned(language, "test", command), stage_of(recipe(language), "test")

    assert arguments in stage.command
    assert (stage.expected, stage.trailer, stage.is_given) == (own.expected, own.trailer, True)


@pytest.mark.parametrize(
    ("language", "command"),
    [
        (Language.PYTHON, "pytest"),
        (Language.PYTHON, "python -m pytest   "),
        (Language.PYTHON, "pytest  # all"),
        (Language.GO, "go test"),
        (Language.RUST, "cargo test --workspace --no-fail-fast"),
        (Language.RUBY, "rspec"),
        (Language.PHP, "vendor/bin/phpunit"),
        (Language.JAVA, "mvn -q test"),
        (Language.NODE, "npm test"),
        (Language.NODE, "npm run test --silent"),
        (Language.NODE, "yarn test"),
    ],
)
def test_a_plan_that_names_what_the_table_does_changes_nothing(
    language: Language, command: str
) -> None:
    assert planned(language, "test", command) == stage_of(recipe(language), "test")


@check_rows(
    "option",
    [
        "--junitxml=x", "--junit-xml x", "--junit-prefix=x", "-p evil", "-pevil", "-xp evil",
        "-o addopts=", "-qo addopts=", "-c evil.ini", "-xcevil.ini", "--config-file=x",
        "--rootdir=/", "--rootdir /", "--override-ini=x=y", "--co", "--collect-only",
        "--confcutdir=x", "--setup-only", "--setup-plan", "@options.txt", "-- tests",
        "--cache-clear", "--lf", "--stepwise-skip", "'--co'", "\\-\\-co",
    ],
)  # fmt: skip
def test_an_option_that_would_move_the_report_of_pytest_makes_it_a_command_like_any_other(
    option: str,
) -> None:
    command = f"pytest {option}"

    assert planned(Language.PYTHON, "test", command) == by_shell(command)


@pytest.mark.parametrize(
    "option",
    ["-c", "--c", "-o x", "-o=x", "-exec true", "-toolexec=x", "-json=false", "-list .", "-n",
     "-C /tmp"],
)  # fmt: skip
def test_an_option_that_would_move_the_report_of_go_makes_it_a_command_like_any_other(
    option: str,
) -> None:
    command = f"go test {option} ./..."

    assert planned(Language.GO, "test", command) == Stage("test", command, is_given=True)


@check_rows(
    ("language", "command"),
    [
        *((Language.RUST, f"cargo test {one}") for one in (
            "--no-run", "--message-format=json", "--config x", "--target-dir=x", "-- --list",
            "--manifest-path=x", "-Zunstable-options", "--quiet", "--help", "--package=`x`",
        )),
        *((Language.RUBY, f"rspec {one}") for one in (
            "-f json", "--format=x", "-o x", "--out x", "-r ./x", "--require=x", "--dry-run",
            "-O x", "--options x", "--init", "--failure-exit-code=0", "-I lib",
        )),
        *((Language.PHP, f"vendor/bin/phpunit {one}") for one in (
            "-c x.xml", "--log-junit x", "--list-tests", "--bootstrap x.php", "--version",
            "--no-configuration", "tests",
        )),
        *((Language.JAVA, f"mvn test {one}") for one in (
            "-DskipTests", "-Dmaven.test.skip=true", "-Dsurefire.reportNameSuffix=x", "-f x.xml",
            "-Dmaven.test.failure.ignore", "-s x.xml", "-fn", "--version", "-Dx=y",
        )),
        (Language.JAVA, "mvn site"), (Language.JAVA, "gradle test"),
        *((Language.NODE, one) for one in (
            "mocha --dry-run", "mocha --dryRun", "npx mocha -R spec", "mocha -O output=x", "mocha -n x",
            "jest --listTests", "jest --json --outputFile=x", "jest --passWithNoTests", "jest -o",
            "jest --reporters=default", "vitest --outputFile.json=x", "vitest list --json", "jest --",
            "vitest '--changed'", "node --test-reporter spec --test", "node --check --test a.js",
            "PATH=. mocha", "mocha 'a",
        )),
        (Language.NODE, "npm run check"), (Language.NODE, "npm test --bail"),
        (Language.NODE, "npm test -- --listTests"), (Language.NODE, "jest -- --listTests"),
    ],
)  # fmt: skip
def test_what_may_move_a_report_or_leave_out_the_tests_is_a_command_like_any_other(
    language: Language, command: str
) -> None:
    assert planned(language, "test", command) == Stage("test", command, is_given=True)


@pytest.mark.parametrize(
    "command",
    ["mocha --require tsx -g sums", "node --import tsx --test tests/", "jest src -t sums --ci",
     "NODE_OPTIONS=--experimental-vm-modules npx jest --config jest.ci.js", "mocha 'test/**'"],
)  # fmt: skip
def test_other_arguments_of_a_runner_of_node_keep_its_report(command: str) -> None:
    assert planned(Language.NODE, "test", command).expected is not None


@pytest.mark.parametrize("tests", [PACKAGE, b"{}", b'{"scripts": {"test": "eslint . && jest"}}'])
def test_a_runner_of_node_reports_whoever_names_it(tests: bytes) -> None:
    part = recipe(Language.NODE, marked={"package.json": tests})

    stage = stage_of(with_named(part, Named({"test": ["npx vitest run src"]}), PATHS), "test")

    assert stage.command.startswith("vitest run src --run --bail=0 --reporter json")
    assert stage.expected == Expected(TestFormat.JEST)


@pytest.mark.parametrize(
    ("gate", "command", "told"),
    [
        ("test", "./gradlew test --tests a.BTest", "--continue test --tests a.BTest >"),
        ("test", "./gradlew clean check", "--continue test check >"),
        ("test", "gradle :app:test", "--continue test :app:test >"),
        ("build", "./gradlew build -x test", "--offline testClasses build -x test >"),
    ],
)
def test_what_a_plan_names_of_gradle_keeps_its_report(gate: str, command: str, told: str) -> None:
    part = recipe(Language.JAVA, marked={"build.gradle": b""})

    stage = stage_of(with_named(part, Named({gate: [command]}), PATHS), gate)

    assert told in stage.command
    assert stage.expected == stage_of(part, gate).expected


@check_rows(
    "command",
    [
        "pytest; true", "pytest || true", "pytest & ", "pytest | tee x", "pytest > x",
        "pytest < x", "pytest `x`", "pytest $(x)", "pytest $X", "pytest\ntrue",
        "pytest tests/test_*.py", "pytest tests/test_?.py", "pytest tests/[ab].py", "pytest ~/x",
        "pytest 'unclosed", "pytest \\'a\\'", "cd api && pytest", "PYTHONPATH=$X pytest",
        "PYTEST_ADDOPTS=--co pytest", "PATH=. pytest", "LD_PRELOAD=a.so pytest", "LV_REPORT=x pytest",
        "PYTHONHOME=. pytest", "A=1 && pytest", "A=`x` pytest", "A=1; pytest",
        "pytest-3 x", "./pytest", "python -m pytests", "go test", "tox",
    ],
)  # fmt: skip
def test_what_a_shell_would_make_more_of_is_left_to_a_shell(command: str) -> None:
    assert planned(Language.PYTHON, "test", command) == by_shell(command)


def test_another_languages_runner_is_a_command_like_any_other() -> None:
    for language in (Language.GO, Language.NODE):
        assert planned(language, "test", "pytest -x") == Stage("test", "pytest -x", is_given=True)


@pytest.mark.parametrize(
    ("commands", "said", "command"),
    [
        (["PYTHONPATH=src pytest -x"], "PYTHONPATH=src", "pytest -x"),
        (["A=1 B='two words' pytest"], "A=1 B='two words'", "pytest"),
        (["export A=1 B=2", "export PYTHONPATH=.:$PYTHONPATH", "C= pytest -q"],
         "A=1 B=2 PYTHONPATH=.:$PYTHONPATH C=", "pytest -q"),
        (["cd . && export A=1", "python -m pytest"], "A=1", "pytest"),
        (["PYTHONUNBUFFERED=1 PYTHONWARNINGS=error python -m unittest"],
         "PYTHONUNBUFFERED=1 PYTHONWARNINGS=error", "python -m unittest"),
    ],
)  # fmt: skip
def test_what_is_set_for_a_tool_that_is_known_keeps_its_report(
    commands: list[str], said: str, command: str
) -> None:
    plain, told = (
        planned(Language.PYTHON, "test", command),
        planned(Language.PYTHON, "test", *commands),
    )

    assert told == replace(plain, command=f"export {said}\n{plain.command}", is_given=True)
    assert told.expected


def test_so_it_does_in_other_languages() -> None:
    assert planned(Language.GO, "test", "CGO_ENABLED=0 go test ./...").expected
    assert planned(Language.NODE, "test", "NODE_ENV=test npx jest --ci").expected
    assert not planned(Language.GO, "test", "GOFLAGS=-exec=x go test ./...").expected


@pytest.mark.parametrize(
    "commands",
    [
        ["set -euo pipefail", "./check.sh"],
        ["source env.sh", "./check.sh"],
        ["if [[ -f it ]]; then ./check.sh; fi"],
        ["diff <(./a.sh) b.txt"],
        ["./check.sh &> /dev/null"],
    ],
)
def test_what_only_bash_understands_is_left_to_bash(commands: list[str]) -> None:
    """A plain shell takes `&>` for a command in the background, which always ends well."""
    told = planned(Language.GO, "test", *commands)

    text = shlex.quote("\n".join(commands))
    assert told == Stage("test", f"bash -ec {text}", is_given=True)


def test_two_commands_are_never_taken_for_the_tables_runner() -> None:
    stage = planned(Language.PYTHON, "test", "pytest", "pytest -x")

    assert stage == by_shell("pytest\npytest -x")


def test_an_install_of_the_plans_may_read_all_of_its_component() -> None:
    part = recipe(Language.PYTHON, "api")

    changed = with_named(part, Named({"install": ["pip install -e .", "pip install x"]}), PATHS)

    assert changed.install.command == (
        "python3 -m venv /deps/api.python\npip install -e .\npip install x"
    )
    assert changed.install.inputs == ("api/a.py", "api/requirements.txt")
    assert changed.install.is_given
    assert changed.stages == part.stages


def test_at_the_root_an_install_may_read_all_there_is() -> None:
    part = with_named(recipe(Language.GO), Named({"install": ["go mod download"]}), PATHS)

    assert part.install.command == "go mod download"
    assert part.install.inputs == PATHS


def test_modules_that_a_plan_installs_into_the_work_are_kept_where_they_are_linked_from() -> None:
    part = with_named(recipe(Language.NODE, "a 'b"), Named({"install": ["npm ci"]}), PATHS)

    first, last = part.install.command.splitlines()
    assert first == "npm ci"
    source, place = shlex.quote("/workspace/a 'b/node_modules"), part.linked["node_modules"]
    assert f"mv {source} {place};" in last


ARGUMENTS = st.text(alphabet="-pcoxk=@'\"\\ #*[(~$;|\n./a", max_size=20)


@given(st.sampled_from(["pytest ", "python -m pytest ", "go test "]), ARGUMENTS)
def test_whatever_a_plan_says_the_judge_writes_the_report_or_none_is_expected(
    runner: str, arguments: str
) -> None:
    command = runner + arguments

    for language in (Language.PYTHON, Language.GO):
        own, stage = stage_of(recipe(language), "test"), planned(language, "test", command)
        if stage.expected is None:
            by_itself = Stage("test", command, is_given=True)
            assert stage == (by_shell(command) if language is Language.PYTHON else by_itself)
            continue
        kept = own.command.partition("./..." if language is Language.GO else "run_pytest.py")[2]
        assert "$LV_REPORT" in kept
        assert stage.command.endswith(kept)
        assert (stage.expected, stage.trailer) == (own.expected, own.trailer)


@given(st.dictionaries(st.sampled_from(ORDER), st.lists(st.text(max_size=9), max_size=3)))
def test_no_plan_raises_or_adds_a_gate(commands: dict[str, list[str]]) -> None:
    part = part_with(*(Stage(gate, "x") for gate in ORDER if gate != "install"), install="y")

    changed = with_named(part, Named(commands), PATHS)

    assert [one.gate for one in changed.stages] == [one.gate for one in part.stages]


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("make", 'make -B "$@" >'),
        ("make dist", 'make -B "$@" dist >'),
        ("make -n dist", ""),
        ("make A=1", ""),
    ],
)
def test_make_makes_anew_what_somebody_names(command: str, made: str) -> None:
    stage = planned(Language.MAKE, "build", command)

    assert made in stage.command
    assert made or stage.command == command
    assert stage.is_given
    assert not stage.skipped


def test_a_step_into_the_same_folder_hides_no_tool() -> None:
    stage = planned(Language.PYTHON, "test", "cd . && python -m pytest -x")

    assert stage == planned(Language.PYTHON, "test", "python -m pytest -x")
    assert stage.expected
    assert not planned(Language.PYTHON, "test", "cd a && python -m pytest").expected
