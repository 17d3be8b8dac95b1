"""Modules of Maven, tried for real with what Debian carries: JUnit 4 in one, JUnit 5 in the other."""

from __future__ import annotations

import pytest
from docker import APIClient

from tests.sandbox.engine import tried
from tests.sandbox.test_more_languages import ROOMY
from verification.engine.gating.components import Component, Language
from verification.engine.gating.locating import located
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

pytestmark = pytest.mark.docker

_PROJECT = (
    '<project xmlns="http://maven.apache.org/POM/4.0.0">\n<modelVersion>4.0.0</modelVersion>\n'
)
_ALL = "<groupId>calc</groupId><artifactId>all</artifactId><version>1</version>"
_NEEDS = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
)


def module(name: str, *needs: tuple[str, str, str]) -> str:
    said = "".join(_NEEDS.format(*one) for one in needs)
    return (
        f"{_PROJECT}<parent>{_ALL}</parent><artifactId>{name}</artifactId>\n"
        f"<dependencies>{said}</dependencies></project>\n"
    )


MAVEN = {
    "pom.xml": f"{_PROJECT}{_ALL}<packaging>pom</packaging>\n"
    "<modules><module>core</module><module>app</module></modules>\n"
    "<properties><maven.compiler.release>17</maven.compiler.release></properties></project>\n",
    "core/pom.xml": module("core", ("junit", "junit", "4.13.2")),
    "core/src/main/java/a/Calc.java": "package a;\n\npublic class Calc {\n"
    "  public static int add(int x, int y) { return x + y; }\n}\n",
    "core/src/test/java/a/CalcTest.java": "package a;\n\nimport org.junit.*;\n\npublic class CalcTest {\n"
    "  @Test public void adds() { Assert.assertEquals(3, Calc.add(1, 2)); }\n}\n",
    "app/pom.xml": module(
        "app", ("calc", "core", "1"), ("org.junit.jupiter", "junit-jupiter-engine", "5.9.2")
    ),
    "app/src/main/java/b/App.java": "package b;\n\npublic class App {\n"
    "  public static int twice(int x) { return a.Calc.add(x, x); }\n}\n",
    "app/src/test/java/b/AppTest.java": "package b;\n\nimport static org.junit.jupiter.api.Assertions.*;\n"
    "import org.junit.jupiter.api.Test;\n\nclass AppTest {\n"
    "  @Test void doubles() { assertEquals(4, App.twice(2)); }\n"
    "  @Test void doublesMore() { assertEquals(6, App.twice(3)); }\n}\n",
    "core/target/surefire-reports/TEST-forged.xml": "<testsuite><testcase name='forged'/></testsuite>",
}


def test_modules_are_installed_built_and_their_tests_are_counted(engine: APIClient) -> None:
    found = tried(engine, MAVEN, "install", "build", "test", settings=ROOMY).reports

    assert [found[gate].status for gate in ("install", "build", "test")] == [Status.PASSED] * 3
    assert found["test"].tests == TestCounts(passed=3)


def test_a_failed_test_is_told_at_its_place_in_its_module(engine: APIClient) -> None:
    path = "app/src/main/java/b/App.java"
    wrong = {**MAVEN, path: MAVEN[path].replace("add(x, x)", "add(x, 2)")}

    found = tried(engine, wrong, "install", "test", settings=ROOMY)

    assert found.reports["test"].tests == TestCounts(passed=2, failed=1)
    told = located(found.judged["test"], Component("", Language.JAVA), list(wrong))
    [failure] = told.report.failures
    assert failure.name.startswith("doublesMore")
    assert (failure.path, failure.line) == ("app/src/test/java/b/AppTest.java", 8)


def test_what_a_failed_test_has_written_does_not_excuse_it(engine: APIClient) -> None:
    path = "app/src/main/java/b/App.java"
    says = 'System.out.println("in offline mode and the artifact"); return 1'
    wrong = {**MAVEN, path: MAVEN[path].replace("return a.Calc.add(x, x)", says)}

    report = tried(engine, wrong, "install", "test", settings=ROOMY).reports["test"]

    assert (report.status, report.tests) == (Status.FAILED, TestCounts(passed=1, failed=2)), report


def test_tests_that_were_ended_are_no_tests_that_passed(engine: APIClient) -> None:
    path = "core/src/test/java/a/EndTest.java"
    ends = MAVEN["core/src/test/java/a/CalcTest.java"].replace("CalcTest", "EndTest")
    work = {**MAVEN, path: ends.replace("Assert.", "System.exit(0); Assert.")}

    report = tried(engine, work, "install", "test", settings=ROOMY).reports["test"]

    assert report.status is Status.FAILED
    assert report.contradiction


def test_what_does_not_compile_is_told_at_its_place_and_not_tried(engine: APIClient) -> None:
    path = "app/src/main/java/b/App.java"
    broken = {**MAVEN, path: MAVEN[path].replace("return", "return null +")}

    found = tried(engine, broken, "install", "build", "test", settings=ROOMY).reports

    assert [(one.path, one.line) for one in found["build"].problems] == [(path, 4)]
    assert [found[gate].status for gate in ("build", "test")] == [Status.FAILED, Status.SKIPPED]


def alone(version: str, more: str = "") -> dict[str, str]:
    needs = _NEEDS.format("junit", "junit", version)
    pom = f"{_PROJECT}{_ALL}<dependencies>{needs}</dependencies>{more}</project>\n"
    return {"pom.xml": pom, "src/main/java/a/Calc.java": MAVEN["core/src/main/java/a/Calc.java"]}


def test_a_version_that_nobody_published_fails_the_install_and_is_named(engine: APIClient) -> None:
    report = tried(engine, alone("4.99"), "install", settings=ROOMY).reports["install"]

    assert (report.status, report.is_lost) == (Status.FAILED, False)
    assert "junit:junit:jar:4.99" in report.detail


def test_what_the_install_did_not_foresee_blames_nobody(engine: APIClient) -> None:
    needs = _NEEDS.format("org.ow2.asm", "asm", "9.4")
    profile = f"<profile><id>more</id><dependencies>{needs}</dependencies></profile>"
    files = alone("4.13.2", f"<profiles>{profile}</profiles>")
    plan = "Test commands:\n\n    mvn test -Pmore\n"

    report = tried(engine, files, "install", "test", plan=plan, settings=ROOMY).reports["test"]

    assert (report.status, report.tests) == (Status.ERROR, None), report
    assert "org.ow2.asm" in report.detail
