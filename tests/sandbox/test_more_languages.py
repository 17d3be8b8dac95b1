"""Work in Rust, Ruby, PHP and by Make and Gradle that is tried for real, none of which needs what is not there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from docker import APIClient

from tests.sandbox.engine import MEGABYTE, SETTINGS, tried
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

pytestmark = pytest.mark.docker

RUST = {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
    '\n[workspace]\nmembers = ["tax"]\n\n[dependencies]\ntax = { path = "tax" }\n'
    "\n[lib]\ndoctest = false\n",
    "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    a + tax::none() + b\n}\n",
    "tests/adds.rs": "#[test]\nfn adds() {\n    assert_eq!(calc::add(1, 2), 3);\n}\n",
    "tax/Cargo.toml": '[package]\nname = "tax"\nversion = "0.1.0"\nedition = "2021"\n'
    "\n[lib]\ndoctest = false\n",
    "tax/src/lib.rs": "pub fn none() -> i32 {\n    0\n}\n"
    "\n#[test]\nfn there_is_none() {\n    assert_eq!(none(), 0);\n}\n",
}
RUBY = {
    "Gemfile": 'source "https://rubygems.org"\n',
    ".rspec": "--require spec_helper\n--format documentation\n",
    "lib/calc.rb": "module Calc\n  def self.add(a, b) = a + b\nend\n",
    "spec/spec_helper.rb": 'require "calc"\n',
    "spec/calc_spec.rb": "RSpec.describe Calc do\n  it('adds') { expect(Calc.add(1, 2)).to eq 3 }\n"
    "  xit('waits') { raise 'no' }\nend\n",
}
MINITEST = {
    "Gemfile": "# Nothing is needed.\n",
    "lib/calc.rb": RUBY["lib/calc.rb"],
    "test/calc_test.rb": 'require "minitest/autorun"\nrequire "calc"\n\nclass CalcTest < Minitest::Test\n'
    "  def test_adds\n    assert_equal 3, Calc.add(1, 2)\n  end\n\n  def test_waits\n    skip\n  end\nend\n",
}
PHP = {
    "composer.json": '{"require": {"php": ">=8.0"}, "autoload": {"psr-4": {"Calc\\\\": "src/"}}}',
    "src/Sum.php": "<?php\n\nnamespace Calc;\n\nfinal class Sum\n{\n    public static function of(int $a, int $b): int\n"
    "    {\n        return $a + $b;\n    }\n}\n",
    "tests/SumTest.php": "<?php\n\nuse PHPUnit\\Framework\\TestCase;\n\nfinal class SumTest extends TestCase\n{\n"
    "    public function testAdds(): void\n    {\n        self::assertSame(3, Calc\\Sum::of(1, 2));\n    }\n}\n",
}


@pytest.mark.parametrize(
    ("files", "tests", "others"),
    [
        pytest.param(RUST, TestCounts(passed=2), ("passed", "passed"), id="rust"),
        pytest.param(RUBY, TestCounts(passed=1, skipped=1), ("skipped", "skipped"), id="rspec"),
        pytest.param(
            MINITEST, TestCounts(passed=1, skipped=1), ("skipped", "skipped"), id="minitest"
        ),
        pytest.param(PHP, TestCounts(passed=1), ("passed", "skipped"), id="php"),
    ],
)
def test_work_that_is_right_is_built_and_its_tests_are_counted(
    engine: APIClient, files: dict[str, str], tests: TestCounts, others: tuple[str, str]
) -> None:
    found = tried(engine, files, "install", "build", "types", "lint", "test").reports

    assert {gate: str(report.status) for gate, report in found.items()} == {
        "install": others[0],
        "build": "passed",
        "types": "skipped",
        "lint": others[1],
        "test": "passed",
    }
    assert (found["test"].tests, found["test"].contradiction) == (tests, "")


@pytest.mark.parametrize(
    ("files", "wrong", "place"),
    [
        pytest.param(
            RUST, {"src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n"},
            ("adds", "tests/adds.rs", 3), id="rust",
        ),
        pytest.param(
            RUBY, {"lib/calc.rb": "module Calc\n  def self.add(a, b) = a - b\nend\n"},
            ("adds", "spec/calc_spec.rb", 2), id="rspec",
        ),
        pytest.param(
            MINITEST, {"lib/calc.rb": "module Calc\n  def self.add(a, b) = a - b\nend\n"},
            ("test_adds", "test/calc_test.rb", 6), id="minitest",
        ),
        pytest.param(
            PHP, {"src/Sum.php": PHP["src/Sum.php"].replace("+", "-")},
            ("testAdds", "tests/SumTest.php", 9), id="php",
        ),
    ],
)  # fmt: skip
def test_work_that_is_wrong_is_told_test_by_test_at_its_place(
    engine: APIClient, files: dict[str, str], wrong: dict[str, str], place: tuple[str, str, int]
) -> None:
    report = tried(engine, {**files, **wrong}, "test").reports["test"]

    assert report.status is Status.FAILED
    assert [(one.name, one.path, one.line) for one in report.failures] == [place], report


@pytest.mark.parametrize(
    ("files", "broken", "place"),
    [
        pytest.param(
            RUST, {"src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    c\n}\n"},
            ("src/lib.rs", 2), id="rust",
        ),
        pytest.param(
            RUBY, {"lib/calc.rb": "module Calc\n  def self.add(a, b) = )\nend\n"},
            ("lib/calc.rb", 2), id="ruby",
        ),
        pytest.param(
            PHP, {"src/Sum.php": "<?php\n\nfunction f() { return ]; }\n"}, ("src/Sum.php", 3), id="php",
        ),
    ],
)  # fmt: skip
def test_work_that_is_not_built_names_the_line_and_is_not_tried(
    engine: APIClient, files: dict[str, str], broken: dict[str, str], place: tuple[str, int]
) -> None:
    found = tried(engine, {**files, **broken}, "build", "test").reports

    assert found["build"].status is Status.FAILED
    assert place in [(one.path, one.line) for one in found["build"].problems], found["build"]
    assert (found["test"].status, found["test"].tests) == (Status.SKIPPED, None)


def test_tests_of_one_name_in_two_binaries_of_cargo_are_told_apart(engine: APIClient) -> None:
    same = "#[test]\nfn adds() {\n    assert_eq!(calc::add(0, 0), 0);\n}\n"

    told = tried(engine, {**RUST, "tests/more.rs": same}, "test").judged["test"]

    assert told.tests
    assert sorted((one.name, one.suite) for one in told.tests.cases) == [
        ("adds", "tests/adds.rs (adds)"),
        ("adds", "tests/more.rs (more)"),
        ("there_is_none", "src/lib.rs (tax)"),
    ]


def test_clippy_is_what_lints_whatever_the_works_settings_call_so(engine: APIClient) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n',
        ".cargo/config.toml": '[alias]\nclippy = "check"\n',
        "src/lib.rs": "pub fn one() -> i32 {\n    return 1;\n}\n",
    }

    report = tried(engine, files, "lint").reports["lint"]

    assert {one.rule for one in report.problems} == {"clippy::needless_return"}


@pytest.mark.parametrize(
    ("files", "trick"),
    [
        # Nothing is run, and all of it is said to have passed.
        pytest.param(RUBY, {".rspec": "--require spec_helper\n--dry-run\n"}, id="rspec-dry-run"),
        pytest.param(RUBY, {"spec/spec_helper.rb": "exit! 0\n"}, id="rspec-left"),
        pytest.param(
            PHP,
            {"phpunit.xml": '<phpunit bootstrap="leave.php"><testsuites/></phpunit>',
             "leave.php": "<?php exit(0);\n"},
            id="phpunit-left",
        ),
    ],
)  # fmt: skip
def test_a_runner_that_is_told_to_run_nothing_proves_nothing(
    engine: APIClient, files: dict[str, str], trick: dict[str, str]
) -> None:
    report = tried(engine, {**files, **trick}, "test").reports["test"]

    assert report.contradiction, report


MAKE = {
    "Makefile": "all: prog\n\nprog: prog.c\n\tcc -o prog prog.c\n\ncheck: all\n\t./prog\n",
    "prog.c": "int main(void) { return 3; }\n",
}


def test_make_builds_its_targets_and_ends_as_they_do(engine: APIClient) -> None:
    small = {one.lower(): content for one, content in MAKE.items()}
    wrong = {**MAKE, "prog.c": "int main(void) { return x; }\n"}

    found, unbuilt = tried(engine, small, "build", "test"), tried(engine, wrong, "build", "test")

    statuses = [one.reports[gate].status for one in (found, unbuilt) for gate in ("build", "test")]
    assert statuses == [Status.PASSED, Status.FAILED, Status.FAILED, Status.SKIPPED]


BATS = {
    "Makefile": "check:\n\tbats test\n",
    "sums.bash": "add() {\n  echo $(($1 + $2))\n}\n",
    "test/sums.bats": 'load ../sums\n\n@test "adds" {\n  [ "$(add 1 2)" = 3 ]\n}\n\n'
    '@test "adds # more" {\n  [ "$(add 2 2)" = 4 ]\n}\n\n@test "waits" {\n  skip later\n}\n',
}


def test_bats_tells_of_each_test_by_tap_where_the_plan_names_it(engine: APIClient) -> None:
    wrong = {**BATS, "sums.bash": "add() {\n  echo $(($1 * $2))\n}\n"}
    plan = {"test": ["bats --recursive test"]}

    found, failed = (tried(engine, one, "test", plan=plan).reports["test"] for one in (BATS, wrong))

    assert (found.status, found.tests, found.is_guess) == (
        Status.PASSED,
        TestCounts(passed=2, skipped=1),
        False,
    )
    [failure] = failed.failures
    assert (failure.name, failure.path, failure.line) == ("adds", "test/sums.bats", 4)
    assert "failed" in failure.message


ROOMY = replace(
    SETTINGS,
    bounds=replace(
        SETTINGS.bounds,
        memory_bytes=1_500 * MEGABYTE,
        temporary_bytes=400 * MEGABYTE,
        processes=256,
    ),
)
# As of old, for Debian's own Gradle: what is needed lies on the machine.
GRADLE = {
    "settings.gradle": "include 'lib'\n",
    "lib/build.gradle": "apply plugin: 'java'\ndependencies {\n"
    "  testCompile files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest-core.jar')\n}\n",
    "lib/src/main/java/a/Calc.java": "package a;\n\npublic class Calc {\n"
    "  public static int add(int x, int y) { return x + y; }\n}\n",
    "lib/src/test/java/a/CalcTest.java": "package a;\n\nimport org.junit.*;\n\npublic class CalcTest {\n"
    "  @Test public void adds() { Assert.assertEquals(3, Calc.add(1, 2)); }\n"
    "  @Test public void fails() { Assert.assertEquals(4, Calc.add(1, 2)); }\n}\n",
    "lib/build/test-results/test/TEST-forged.xml": "<testsuite><testcase name='forged'/></testsuite>",
}


def test_gradle_tells_of_its_tests_where_it_is_told_to(engine: APIClient) -> None:
    found = tried(engine, GRADLE, "install", "build", "test", settings=ROOMY).reports

    assert [found[gate].status for gate in ("install", "build")] == [Status.PASSED] * 2
    assert (found["test"].status, found["test"].tests) == (
        Status.FAILED,
        TestCounts(passed=1, failed=1),
    )
    assert [one.name for one in found["test"].failures] == ["fails"]


def test_tests_of_gradle_that_were_ended_prove_nothing(engine: APIClient) -> None:
    one = "package a;\n\npublic class {0} {{\n  @org.junit.Test public void is() {{ {1} }}\n}}\n"
    tests = {"CalcTest": "", "EndTest": "System.exit(0);", "OtherTest": "int x = 1 / 0;"}
    place = "lib/src/test/java/a/{}.java"
    work = {**GRADLE, **{place.format(name): one.format(name, say) for name, say in tests.items()}}

    report = tried(engine, work, "test", settings=ROOMY).reports["test"]

    assert report.contradiction == "ended well before its runner came to its end", report


def test_gradle_that_does_not_compile_names_the_line(engine: APIClient) -> None:
    wrong = {
        **GRADLE,
        "lib/src/main/java/a/Calc.java": "package a;\n\nclass Calc { int x = null; }\n",
    }

    found = tried(engine, wrong, "build", settings=ROOMY).reports["build"]

    [problem] = found.problems
    assert (problem.path, problem.line) == ("lib/src/main/java/a/Calc.java", 3)


@pytest.mark.parametrize(
    ("files", "command", "tests"),
    [
        (RUST, "cargo test -p tax --no-fail-fast", TestCounts(passed=1)),
        (RUST, "cargo test adds", TestCounts(passed=1)),
        (RUBY, "bundle exec rspec spec/calc_spec.rb:2", TestCounts(passed=1)),
        (PHP, "vendor/bin/phpunit", TestCounts(passed=1)),
    ],
)
def test_a_runner_that_the_plan_names_runs_what_it_names_and_reports(
    engine: APIClient, files: dict[str, str], command: str, tests: TestCounts
) -> None:
    found = tried(engine, files, "test", plan={"test": [command]}).reports["test"]

    assert (found.status, found.tests, found.is_guess) == (Status.PASSED, tests, False)
