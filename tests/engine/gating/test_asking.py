from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.engine.gating.asking import asked
from verification.engine.gating.components import Component, Language
from verification.engine.gating.given import REPLACED, Named, with_named
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import TRAILER, Expected, Stage, Stream
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

PACKAGE = b"""{"scripts": {"test": "%s"}, "devDependencies": {"eslint": "9", "typescript": "5"}}"""
FILES = {
    Language.PYTHON: {"a.py": b""},
    Language.NODE: {
        "package.json": PACKAGE % b"jest --ci",
        "tsconfig.json": b"",
        "eslint.config.js": b"",
    },
    Language.GO: {"go.mod": b"module x"},
    Language.RUST: {"Cargo.toml": b""},
    Language.JAVA: {"pom.xml": b""},
    Language.DOTNET: {"x.csproj": b"Microsoft.NET.Test.Sdk"},
    Language.MAKE: {"Makefile": b"check:"},
}
TAP = Expected(TestFormat.TAP, Stream.OUT)


def stage_of(
    language: Language, gate: str, command: str = "", *, script: bytes = b"", is_own: bool = False
) -> Stage:
    files = FILES[language]
    if script:
        files = {"package.json": PACKAGE % script}
    component = Component("", language, tuple(files))
    part = part_of(component, Files(list(files), files.get))
    named = Named({gate: (command,)} if command else {})
    part = with_named(part, named, list(files), is_own=is_own, replaced=REPLACED | {"lint"})
    [stage] = [one for one in part.stages if one.gate == gate]
    return stage


@check_rows(
    ("language", "gate", "command", "told", "form"),
    [
        (Language.PYTHON, "lint", "flake8 --max-line-length=100 src",
         'flake8 --format default --output-file "$LV_REPORT" --max-line-length=100 src',
         ProblemFormat.FLAKE8),
        (Language.PYTHON, "lint", "python -m flake8 -- src",
         'python -m flake8 --format default --output-file "$LV_REPORT" src',
         ProblemFormat.FLAKE8),
        (Language.PYTHON, "lint", "bandit -r src -ll -q",
         'bandit --format json --output "$LV_REPORT" -r src -ll -q', ProblemFormat.BANDIT),
        (Language.PYTHON, "lint", "ruff check --select E,F src",
         '/opt/loomverify/bin/ruff check --no-cache --output-format json -o "$LV_REPORT" '
         "--select E,F src", ProblemFormat.RUFF),
        (Language.PYTHON, "types", "mypy --strict 'my src'",
         "--cache-dir /dev/null --strict 'my src' > \"$LV_REPORT\"", ProblemFormat.MYPY),
        (Language.PYTHON, "test", "python -m unittest discover -s tests -p 'test_*.py'",
         "run_unittest.py -m unittest discover -s tests -p 'test_*.py'", TestFormat.JUNIT),
        (Language.PYTHON, "test", "./manage.py test --parallel=2 shop",
         "run_unittest.py manage.py test --parallel=2 shop", TestFormat.JUNIT),
        (Language.GO, "lint", "golangci-lint run --timeout 3m ./...",
         'golangci-lint run --output.json.path "$LV_REPORT" --timeout 3m ./... ;; esac',
         ProblemFormat.GOLANGCI),
        (Language.GO, "lint", "go vet ./cmd", "go vet ./cmd > ", ProblemFormat.GO_VET),
        (Language.GO, "build", "go build -o bin/x ./cmd", "go build -o bin/x ./cmd > ",
         ProblemFormat.GO_BUILD),
        (Language.RUST, "lint", "cargo clippy -- -D warnings",
         '--workspace --message-format json -- -D warnings > "$LV_REPORT"', ProblemFormat.CLIPPY),
        (Language.RUST, "build", "cargo build --release",
         'cargo build --release --offline --message-format json > "$LV_REPORT"',
         ProblemFormat.CLIPPY),
        (Language.RUST, "test", "cargo test --lib -- --test-threads=1 sums",
         "cargo test --lib --offline --no-fail-fast -- --test-threads=1 sums > ", TestFormat.CARGO),
        (Language.NODE, "lint", "npx eslint --ext .js,.ts 'src/**'",
         'eslint --format json --output-file "$LV_REPORT" --ext .js,.ts \'src/**\'',
         ProblemFormat.ESLINT),
        (Language.NODE, "types", "npx tsc -p tsconfig.json --noEmit",
         "tsc --noEmit --pretty false -p tsconfig.json", ProblemFormat.TSC),
        (Language.NODE, "test", "npx jest -- a.test.js",
         'jest --bail=0 --json --outputFile "$LV_REPORT" -- a.test.js', TestFormat.JEST),
        (Language.NODE, "test", "npm test -- --runInBand",
         'jest --ci --runInBand --bail=0 --json --outputFile "$LV_REPORT"', TestFormat.JEST),
        (Language.NODE, "test", "npx ava --serial", "ava --serial --tap", TestFormat.TAP),
        (Language.NODE, "test", "tape 'test/*.js'", "tape 'test/*.js'", TestFormat.TAP),
        (Language.JAVA, "build", "./mvnw -B clean package -DskipTests",
         " -o -q test-compile package -DskipTests", ProblemFormat.JAVAC),
        (Language.DOTNET, "build", "dotnet build -c Release", "dotnet build -c Release -clp",
         ProblemFormat.MSBUILD),
        (Language.DOTNET, "test", "dotnet test --filter Kind!=Slow",
         "dotnet test --filter 'Kind!=Slow' -p:", TestFormat.TRX),
        (Language.MAKE, "test", "bats -r test", "bats --tap -r test", TestFormat.TAP),
    ],
)  # fmt: skip
def test_a_known_tool_is_asked_for_what_a_machine_can_read(
    language: Language, gate: str, command: str, told: str, form: TestFormat | ProblemFormat
) -> None:
    stage = stage_of(language, gate, command)

    assert told in stage.command
    assert stage.expected
    assert (stage.expected.format, stage.expected.is_word) == (form, False)
    assert stage.is_given


@check_rows(
    ("language", "gate", "command"),
    [
        *((Language.PYTHON, "lint", f"flake8 {one}") for one in (
            "-q", "--quiet", "--format=pylint", "--output-file=x", "--tee", "--count", "--show-source",
            "--statistics", "--benchmark", "--version", "--bug-report", "-vv", "-- --version",
            "src | tee x", "src || true", "$SRC", "'unclosed",
        )),
        *((Language.PYTHON, "lint", f"bandit {one}") for one in (
            "-f txt", "--format=txt", "-o x", "--output x", "-b base.json", "--baseline=b", "-h", "@x",
            "--ignore-nosec-file", "--msg-template x", "-v",
        )),
        *((Language.PYTHON, "lint", f"ruff check {one}") for one in (
            "--fix", "--output-format=text", "-o x", "--output-file=x", "--statistics", "--watch",
            "--diff", "--show-files", "@x", "--add-noqa",
        )),
        *((Language.PYTHON, "types", f"mypy {one}") for one in (
            "--output=x", "--junit-xml x", "--pretty", "-c x", "--install-types", "--version", "@x",
            "--python-executable=x", "--cache-dir=x", "--html-report x", "--shadow-file a b", "-V",
        )),
        *((Language.PYTHON, "test", f"python -m unittest {one}") for one in (
            "-h", "--help", "--locals", "@x",
        )),
        *((Language.PYTHON, "test", f"python manage.py test {one}") for one in (
            "--testrunner=x", "--pdb", "--debug-sql", "--timing", "--help", "--version",
        )),
        *((Language.GO, "lint", f"golangci-lint run {one}") for one in (
            "--fix", "--out-format=tab", "--output.text.path=x", "--new", "--new-from-rev=x",
            "--issues-exit-code=0", "--help", "--show-stats",
        )),
        *((Language.GO, "lint", f"go vet {one}") for one in ("-json", "-vettool=x", "-n", "-x")),
        *((Language.GO, "build", f"go build {one}") for one in ("-n", "-x", "-v", "-toolexec=x")),
        *((Language.RUST, "lint", f"cargo clippy {one}") for one in (
            "--fix", "--message-format=short", "-q", "--config x", "-- --version",
        )),
        *((Language.RUST, "test", f"cargo test -- {one}") for one in (
            "--list", "--format=json", "-q", "--quiet", "--skip x", "--logfile=x", "--help",
        )),
        *((Language.NODE, "lint", f"eslint {one}") for one in (
            "--fix", "-f unix", "--format=unix", "-o x", "--output-file=x", "--stdin", "--init",
            "--print-config a", "--resolve-plugins-relative-to x", "--version", "src/*.js",
        )),
        *((Language.NODE, "types", f"tsc {one}") for one in (
            "-b", "--build", "--watch", "-w", "--listFiles", "--pretty", "a.ts", "--init", "--version",
        )),
        (Language.JAVA, "build", "mvn -Dmaven.test.failure.ignore package"),
        (Language.DOTNET, "build", "dotnet build other.csproj"),
        (Language.DOTNET, "test", "dotnet test --logger trx"),
        (Language.DOTNET, "test", "dotnet test --list-tests"),
        (Language.MAKE, "test", "bats --formatter pretty x"),
        (Language.MAKE, "test", "flake8 src"),
    ],
)  # fmt: skip
def test_what_may_move_or_change_a_report_makes_it_a_command_like_any_other(
    language: Language, gate: str, command: str
) -> None:
    assert stage_of(language, gate, command) == Stage(gate, command, is_given=True)


def test_unittest_reports_by_a_runner_of_ours_to_its_end() -> None:
    stage = stage_of(Language.PYTHON, "test", "python3 -m unittest -v", is_own=True)

    assert stage.command == "python3 -P /opt/loomverify/run_unittest.py -m unittest -v"
    assert (stage.trailer, stage.is_own) == (TRAILER, True)


def test_a_script_that_prints_tap_is_read_as_it_is() -> None:
    tape = stage_of(Language.NODE, "test", script=b"tape test/*.js")
    more = stage_of(Language.NODE, "test", "npm test -- --strict", script=b"tape test/*.js")
    ava = stage_of(Language.NODE, "test", script=b"NODE_ENV=test ava")

    assert (tape.command, tape.expected) == ("tape test/*.js", TAP)
    assert (more.command, more.expected) == ("tape test/*.js --strict", TAP)
    assert (ava.command, ava.expected) == ("NODE_ENV=test ava --tap", TAP)


def test_ruff_stays_apart_from_the_work_whoever_names_it() -> None:
    assert stage_of(Language.PYTHON, "lint", "ruff check src").is_apart
    assert not stage_of(Language.PYTHON, "lint", "flake8").is_apart


def test_a_tool_that_the_table_runs_so_changes_nothing() -> None:
    for language, gate, command in (
        (Language.PYTHON, "lint", "ruff check ."),
        (Language.NODE, "types", "npx tsc --noEmit"),
        (Language.GO, "build", "go build ./..."),
        (Language.RUST, "lint", "cargo clippy --all-targets"),
    ):
        assert stage_of(language, gate, command) == stage_of(language, gate)


@given(
    st.sampled_from(["flake8 ", "bandit ", "python -m unittest ", "mypy "]),
    st.text(alphabet="-pcoxk=@'\"\\ *[(~$;|\n./a", max_size=20),
)
def test_whatever_somebody_says_no_word_of_it_reaches_a_shell_but_as_a_word(
    tool: str, arguments: str
) -> None:
    for gate in ("lint", "types", "test"):
        stage = asked(Stage(gate), Language.PYTHON, tool + arguments)
        if stage is None:
            continue
        words = [one for one in shlex.split(arguments) if one != "--"]
        told = shlex.split(stage.command.replace("$(", "").replace(' > "$LV_REPORT"', ""))
        assert told[len(told) - len(words) :] == words


REACHED = {
    Language.PYTHON: {"mypy.ini": b"", "a.py": b""},
    Language.NODE: {
        "package.json": PACKAGE % b"mocha",
        "tsconfig.json": b"",
        "eslint.config.js": b"",
    },
    Language.GO: {"go.mod": b""},
    Language.RUST: {"Cargo.toml": b""},
    Language.RUBY: {"spec/a_spec.rb": b""},
    Language.PHP: {"a.php": b"", "phpunit.xml": b""},
    Language.JAVA: {"pom.xml": b""},
    Language.DOTNET: {"x.csproj": b"Microsoft.NET.Test.Sdk"},
}
NAMED = (
    (Language.PYTHON, "lint", "flake8"), (Language.PYTHON, "lint", "bandit -r ."),
    (Language.GO, "lint", "golangci-lint run"), (Language.NODE, "test", "jest"),
    (Language.NODE, "test", "node --test"),
)  # fmt: skip
TEXT = {TestFormat.TEXT, TestFormat.PYTEST_TEXT, TestFormat.UNITTEST}
"""What is read where a command owes no report."""
BY_WORD = {
    *(TestFormat.ANY, TestFormat.NUNIT2, TestFormat.NUNIT3, TestFormat.XUNIT, TestFormat.DART),
    *(ProblemFormat.ANY, ProblemFormat.NPM_AUDIT, ProblemFormat.PIP_AUDIT),
}


def test_every_format_is_told_by_some_command() -> None:
    stages = [stage_of(*named) for named in NAMED]
    for language, files in REACHED.items():
        component = Component("", language, tuple(files))
        stages += part_of(component, Files(list(files), files.get)).stages
    told = {stage.expected.format for stage in stages if stage.expected}

    assert {*TestFormat, *ProblemFormat} - told == TEXT | BY_WORD
