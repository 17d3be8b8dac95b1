"""What an image cannot run blames nobody, whatever a test that ran has written."""

from __future__ import annotations

import pytest
from docker import APIClient

from tests.sandbox.engine import tried
from tests.sandbox.test_maven import MAVEN
from tests.sandbox.test_more_languages import GRADLE, ROOMY
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

pytestmark = pytest.mark.docker

GO = {
    "go.mod": "module x\n\ngo 1.21\n",
    "a_test.go": 'package x\n\nimport "testing"\n\nfunc TestIt(t *testing.T) {}\n',
}
CARGO = '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n'
RUST = {"Cargo.toml": f'{CARGO}rust-version = "1.99"\n', "src/lib.rs": "#[test]\nfn a() {}\n"}
SAYS = (
    "use std::io::Write;\n\n#[test]\nfn a() {\n"
    '    writeln!(std::io::stderr(), "it requires rustc 1.99").unwrap();\n    panic!();\n}\n'
)
IN_C = {**GO, "a.go": 'package x\n\n// int one(void) { return 1; }\nimport "C"\n'}
EXTENSION = '{"repositories": [{"packagist.org": false}], "require": {"ext-gd": "*"}}'
NEWER_GRADLE = (
    f"{GRADLE['lib/build.gradle']}compileJava.options.compilerArgs += ['--release', '99']\n"
)


@pytest.mark.parametrize(
    ("work", "gates", "plan"),
    [
        (RUST, ("test",), ""),
        ({**GO, "go.mod": "module x\n\ngo 1.99\n"}, ("test",), ""),
        (GO, ("test",), "Test commands: `go test -race ./...`"),
        (GO, ("test",), "Test commands: `go test -v --race ./... && true`"),
        (GO, ("build",), "Build commands: `go build -race ./...`"),
        ({path: text.replace(">17<", ">99<") for path, text in MAVEN.items()},
         ("install", "test"), ""),
        ({**GRADLE, "lib/build.gradle": NEWER_GRADLE}, ("build",), ""),
        ({**GRADLE, "lib/build.gradle": NEWER_GRADLE}, ("test",), ""),
        (IN_C, ("build",), ""),
        (IN_C, ("test",), ""),
        ({"composer.json": EXTENSION}, ("install",), ""),
        ({"CMakeLists.txt": "project(x C)\n", "a.c": "int main(void) { return 0; }\n"},
         ("build",), ""),
        ({"a.go": "package main\n\nfunc main() {}\n", "b.go": "package main\n\nfunc main() {}\n"},
         ("build",), "Write it in golang."),
    ],
    ids=["rust", "go", "race", "race-given", "race-build", "maven", "gradle", "gradle-test", "c",
         "c-test", "extension", "cmake", "mains"],
)  # fmt: skip
def test_what_the_image_cannot_run_is_undecided(
    engine: APIClient, work: dict[str, str], gates: tuple[str, ...], plan: str
) -> None:
    report = tried(engine, work, *gates, plan=plan, settings=ROOMY).reports[gates[-1]]

    assert report.status is Status.ERROR, report


def test_what_a_test_has_written_excuses_nothing(engine: APIClient) -> None:
    rust = {"Cargo.toml": CARGO, "src/lib.rs": SAYS}
    says = 'println("gcc not found, -race requires cgo"); t.Fatal(1) }'
    go = {**GO, "a_test.go": GO["a_test.go"].replace("}", says)}

    found = [tried(engine, work, "test").reports["test"] for work in (rust, go)]

    assert [one.tests for one in found] == [TestCounts(failed=1)] * 2
    assert [one.status for one in found] == [Status.FAILED] * 2


def test_a_module_is_found_where_it_replaces_another_one(engine: APIClient) -> None:
    manifest = (
        "module example.com/a\n\ngo 1.21\n\nrequire example.com/shared v0.0.0\n\n"
        "replace example.com/shared => ../shared\n"
    )
    work = {
        "a/go.mod": manifest,
        "a/go.sum": "",
        "a/a.go": 'package x\n\nimport "example.com/shared"\n\nvar X = shared.Y\n',
        "a/a_test.go": GO["a_test.go"],
        "shared/go.mod": "module example.com/shared\n\ngo 1.21\n",
        "shared/shared.go": "package shared\n\nvar Y = 1\n",
    }

    found = tried(engine, work, "install", "build", "test")

    assert found.told["a"] == dict.fromkeys(("install", "build", "test"), "passed")


def test_files_of_go_without_a_module_are_built_and_tried(engine: APIClient) -> None:
    work = {
        "hello.go": 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(one()) }\n\n'
        "func one() int { return 1 }\n",
        "hello_test.go": 'package main\n\nimport "testing"\n\n'
        "func TestOne(t *testing.T) {\n\tif one() != 1 {\n\t\tt.Fatal(1)\n\t}\n}\n",
    }
    broken = {**work, "hello.go": "package main\n\nfunc main() { x }\n"}
    plan = "Write it in golang."

    found, wrong = (
        tried(engine, one, "build", "test", "lint", plan=plan).reports for one in (work, broken)
    )

    assert {gate: one.status for gate, one in found.items()} == dict.fromkeys(
        ("build", "lint", "test"), Status.PASSED
    )
    assert found["test"].tests == TestCounts(passed=1)
    assert wrong["build"].status is Status.FAILED


def test_what_the_work_needs_and_names_nowhere_is_in_doubt_and_its_own_is_not(
    engine: APIClient,
) -> None:
    test = "import calc\n\ndef test_it():\n    assert calc.one() == 1\n"
    work = {"calc.py": "import numpy\n\ndef one():\n    return 1\n", "test_calc.py": test}
    own = {**work, "calc.py": "import helpers\n\ndef one():\n    return 1\n"}
    named = {**work, "requirements.txt": ""}

    found, wrong, blamed = (
        tried(engine, one, "test").reports["test"] for one in (work, own, named)
    )
    started = tried(engine, work, "run", plan="## Run commands\n\n- `python calc.py`\n").reports[
        "run"
    ]

    assert (found.status, started.status) == (Status.ERROR, Status.ERROR), (found, started)
    assert "needs numpy" in found.detail
    assert (wrong.status, blamed.status) == (Status.FAILED, Status.FAILED)
