"""Runners are asked which lines they ran, each in its own way; here with tools of straw."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.engine.gating.test_recipes import part_in, stages_of
from verification.engine.gating.changing import covering
from verification.engine.gating.components import Language
from verification.engine.gating.stages import Stage
from verification.engine.reports.coverage import CoverageFormat, read_coverage
from verification.engine.reports.model import FileCoverage

COVERLET = Path(__file__).parents[1] / "reports/written/cobertura/coverlet.xml"
NET = "Microsoft.NET.Test.Sdk"
# Each of its projects writes reports of its own.
DOTNET = """#!/bin/sh
while [ $# -gt 0 ]; do
  [ "$1" != --results-directory ] || folder=$2
  [ "$1 $2" != "--collect XPlat Code Coverage" ] || asked=yes
  shift
done
for one in Shop Till; do
  mkdir -p "$folder/$one"
  echo '<TestRun/>' > "$folder/$one/it.trx"
  [ -z "$asked" ] || sed "s/Shop/$one/" "$COVERLET" > "$folder/$one/coverage.cobertura.xml"
done
exit 1
"""
PHP = """#!/bin/sh
[ "$1" != -m ] || printf '[PHP Modules]\\n%s\\n' "$DRIVER"
"""
SAYS_HOW = """#!/bin/sh
printf '%s\\n' "$@" > "$LV_REPORT.said"
"""


def stage_of(language: Language, files: dict[str, str], *, is_wanted: bool = True) -> Stage:
    return stages_of(covering(part_in(language, files), is_wanted=is_wanted))["test"]


def code_of(stage: Stage, folder: Path, *, driver: str = "", **tools: str) -> int:
    """How it ends among these tools."""
    for name, text in tools.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    environment = {
        "LV_COMMAND": stage.command.replace("/tmp/afresh", f"{folder}/afresh"),  # noqa: S108
        "LV_REPORT": f"{folder}/report",
        "PATH": f"{folder}:/usr/bin:/bin",
        "COVERLET": str(COVERLET),
        "DRIVER": driver,
    }
    ended = subprocess.run(
        ["/bin/sh", "-c", '(set -e; eval "$LV_COMMAND")'], cwd=folder, env=environment, check=False
    )
    return ended.returncode


def test_dotnet_counts_lines_where_a_project_has_what_collects_them(tmp_path: Path) -> None:
    (tmp_path / "a.csproj").touch()
    stage = stage_of(Language.DOTNET, {"a.csproj": f"{NET} coverlet.collector"})
    assert stage.cover

    code = code_of(stage, tmp_path, dotnet=DOTNET)

    coverage = read_coverage(stage.cover.format, (tmp_path / "report.coverage").read_bytes())
    lines = FileCoverage(frozenset({6, 7, 9}), frozenset({8, 13}))
    assert coverage.files == {"src/Shop/Calc.cs": lines, "src/Till/Calc.cs": lines}
    assert code == 1
    assert (tmp_path / "report").read_text().count("<TestRun/>") == 2


@pytest.mark.parametrize(
    ("project", "is_wanted"), [(NET, True), (f"{NET} coverlet.collector", False)]
)
def test_dotnet_counts_no_lines_where_nothing_collects_them_or_nobody_asks(
    tmp_path: Path, project: str, is_wanted: bool
) -> None:
    (tmp_path / "a.csproj").touch()
    stage = stage_of(Language.DOTNET, {"a.csproj": project}, is_wanted=is_wanted)

    code = code_of(stage, tmp_path, dotnet=DOTNET)

    assert stage.cover is None
    assert (code, (tmp_path / "report.coverage").exists()) == (1, False)


@pytest.mark.parametrize(
    ("driver", "said"),
    [
        ("pcov", ["--coverage-filter", "lib", "--coverage-filter", "src"]),
        ("Xdebug", ["--coverage-filter", "lib", "--coverage-filter", "src"]),
        ("xdebug_helper", None),
        ("", None),
    ],
)
def test_phpunit_counts_lines_where_php_can(
    tmp_path: Path, driver: str, said: list[str] | None
) -> None:
    files = dict.fromkeys(("src/a.php", "lib/b/c.php", "odd; name/a.php", "tests/ATest.php"), "")
    stage = stage_of(Language.PHP, files)

    code = code_of(stage, tmp_path, driver=driver, php=PHP, phpunit=SAYS_HOW)

    report = f"{tmp_path}/report"
    asked = ["--coverage-cobertura", f"{report}.coverage", *said] if said else []
    assert code == 0
    assert Path(f"{report}.said").read_text().split() == [*asked, "--log-junit", report, "tests"]


@pytest.mark.parametrize(
    ("has", "provider"), [("coverage-v8", "v8"), ("coverage-istanbul", "istanbul"), ("ui", "")]
)
def test_vitest_counts_lines_by_what_the_work_has(tmp_path: Path, has: str, provider: str) -> None:
    (tmp_path / "node_modules/@vitest" / has).mkdir(parents=True)
    stage = stage_of(Language.NODE, {"package.json": '{"scripts": {"test": "vitest"}}'})

    code = code_of(stage, tmp_path, vitest=SAYS_HOW)

    said = (tmp_path / "report.said").read_text().split()
    assert code == 0
    assert ("--coverage.enabled" in said) is bool(provider)
    assert (f"--coverage.provider={provider}" in said) is bool(provider)


def test_mocha_counts_lines_by_the_works_own_c8(tmp_path: Path) -> None:
    (tmp_path / "node_modules/.bin").mkdir(parents=True)
    stage = stage_of(Language.NODE, {"package.json": '{"scripts": {"test": "mocha"}}'})
    failing = '#!/bin/sh\necho "$NODE_V8_COVERAGE" > ran\nexit 3\n'
    c8 = '#!/bin/sh\necho "$NODE_V8_COVERAGE $*" > told\nexit 1\n'

    code = code_of(stage, tmp_path, mocha=failing, **{"node_modules/.bin/c8": c8})

    assert code == 3
    assert (tmp_path / "ran").read_text() == f"{tmp_path}/report.v8\n"
    assert (
        (tmp_path / "told").read_text().startswith(f" report --temp-directory {tmp_path}/report.v8")
    )


def test_mocha_without_c8_is_run_as_it_is(tmp_path: Path) -> None:
    stage = stage_of(Language.NODE, {"package.json": '{"scripts": {"test": "mocha"}}'})

    code = code_of(stage, tmp_path, mocha='#!/bin/sh\necho "$NODE_V8_COVERAGE" > ran\n')

    assert (code, (tmp_path / "ran").read_text()) == (0, "\n")


def test_each_report_is_of_the_format_that_its_runner_writes() -> None:
    found = {
        language: stage_of(language, files).cover
        for language, files in (
            (Language.PHP, {"src/a.php": "", "tests/ATest.php": ""}),
            (Language.DOTNET, {"a.csproj": f"{NET} coverlet.collector"}),
            (Language.GO, {"go.mod": "module a.b/c\n"}),
            (Language.PYTHON, {"setup.py": ""}),
        )
    }

    assert {language: cover and cover.format for language, cover in found.items()} == {
        Language.PHP: CoverageFormat.COBERTURA,
        Language.DOTNET: CoverageFormat.COBERTURA,
        Language.GO: CoverageFormat.GO_COVER,
        Language.PYTHON: CoverageFormat.COVERAGE_PY,
    }


JACOCO = Path(__file__).parents[1] / "reports/recorded/jacoco/shop.xml"
POM = "<project><artifactId>jacoco-maven-plugin</artifactId></project>"
# Its modules note what ran, and report it where they are asked.
MAVEN = f"""#!/bin/sh
case "$*" in
  *jacoco-maven-plugin:report*) file=site/jacoco/jacoco.xml ;;
  *) file=jacoco.exec ;;
esac
for one in a b; do
  mkdir -p "$one/target/site/jacoco"
  cp {JACOCO} "$one/target/$file"
done
[ $file = jacoco.exec ] || exit 1
"""


def test_each_module_of_maven_tells_which_lines_ran_by_its_own_jacoco(tmp_path: Path) -> None:
    stage = stage_of(Language.JAVA, {"pom.xml": POM})
    assert stage.cover

    assert code_of(stage, tmp_path, mvn=MAVEN) == 0

    content = (tmp_path / "report.coverage").read_bytes()
    known = {f"a/src/main/java/shop/{file}" for file in ("Price.java", "store/Store.java")}
    coverage = read_coverage(stage.cover.format, content, known=known)
    assert content.count(b"<report name=") == 2
    assert {*coverage.files} == known
    assert coverage.lines == (2, 8)


GRADLE = f"""#!/bin/sh
case "$*" in
  *jacocoTestReport*) file=reports/jacoco/test/jacocoTestReport.xml ;;
  *) file=jacoco/test.exec; mkdir -p "$LV_REPORT.d"; echo '<testsuite/>' > "$LV_REPORT.d/a.xml" ;;
esac
mkdir -p "lib/build/$(dirname $file)"
cp {JACOCO} "lib/build/$file"
"""


def test_a_project_of_gradle_tells_which_lines_ran_by_its_own_jacoco(tmp_path: Path) -> None:
    stage = stage_of(Language.JAVA, {"build.gradle": "plugins { id 'java'; id 'jacoco' }"})
    assert stage.cover

    assert code_of(stage, tmp_path, gradle=GRADLE) == 0

    content = (tmp_path / "report.coverage").read_bytes()
    assert read_coverage(stage.cover.format, content).lines == (2, 8)
    assert (tmp_path / "report").read_text() == "<testsuites>\n<testsuite/>\n</testsuites>\n"


def test_a_jacoco_that_noted_nothing_tells_no_lines(tmp_path: Path) -> None:
    stage = stage_of(Language.JAVA, {"pom.xml": POM})

    assert code_of(stage, tmp_path, mvn="#!/bin/sh\nexit 3\n") == 3
    assert not (tmp_path / "report.coverage").exists()


def test_java_without_jacoco_is_not_asked_for_lines() -> None:
    for files in ({"pom.xml": "<project/>"}, {"build.gradle": "plugins { id 'java' }"}):
        assert stage_of(Language.JAVA, files).cover is None
