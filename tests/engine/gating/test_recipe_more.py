from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.engine.gating.test_recipes import part_in, stages_of
from tests.tables import check_rows
from verification.engine.gating.components import Component, Language
from verification.engine.gating.judging import judged
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import Ended
from verification.engine.gating.unforeseen import unless_said
from verification.engine.outcome import Status
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat


@check_rows(
    ("language", "files", "commands"),
    [
        (Language.RUST, {"Cargo.toml": ""}, {
            "build": "cargo build --offline --workspace --message-format json",
            "lint": "cargo-clippy clippy --all-targets --offline --workspace --message-format json",
            "test": "cargo test --offline --workspace --no-fail-fast",
        }),
        (Language.RUBY, {"Gemfile": "", "spec/a_spec.rb": ""},
         {"build": "ruby /opt/loomverify/compile.rb", "test": "rspec --require"}),
        (Language.RUBY, {"test/a/b_test.rb": ""},
         {"build": "ruby /opt/loomverify/compile.rb",
          "test": "ruby -I lib -I test /opt/loomverify/run_minitest.rb"}),
        (Language.PHP, {"phpunit.xml": ""},
         {"build": '-l "$one"', "test": 'phpunit --log-junit "$LV_REPORT"'}),
        (Language.JAVA, {"pom.xml": ""},
         {"build": "-o -q test-compile", "test": '-Dsurefire.reportNameSuffix="$run" test'}),
        (Language.DOTNET, {"x.csproj": "Microsoft.NET.Test.Sdk"},
         {"build": "in ./*.??proj; do dotnet build", "test": "dotnet test -p:RestoreSources="}),
        (Language.DOTNET, {"x.csproj": "", "x.sln": ""},
         {"build": "in ./*.sln; do dotnet build"}),
        (Language.RUST, {"main.rs": ""}, {}),
        (Language.JAVA, {"A.java": ""}, {}),
        *((Language.JAVA, {marker: ""},
           {"build": "loomverify.gradle --offline testClasses",
            "test": "loomverify.gradle --offline --continue test"})
          for marker in ("build.gradle", "build.gradle.kts", "settings.gradle")),
    ],
)  # fmt: skip
def test_each_language_has_its_commands_and_says_why_where_it_has_none(
    language: Language, files: dict[str, str], commands: dict[str, str]
) -> None:
    stages = stages_of(part_in(language, files))
    stages.pop("security", None)

    assert {gate for gate, stage in stages.items() if stage.command} == {*commands}
    assert all(commands[gate] in stages[gate].command for gate in commands)
    assert all(bool(stage.command) is not bool(stage.skipped) for stage in stages.values())
    assert {type(stage.expected.format) for stage in stages.values() if stage.expected} <= {
        TestFormat if gate == "test" else ProblemFormat for gate in commands
    }


@check_rows(
    ("language", "files", "verb", "inputs"),
    [
        (Language.RUST, {"Cargo.toml": "[dependencies]\na = 1", "src/lib.rs": ""},
         "cargo fetch", ["Cargo.toml"]),
        (Language.RUST, {"Cargo.toml": "[workspace]", "a/Cargo.toml": "dependencies.b = 1",
                         "Cargo.lock": "", "build.rs": "", ".cargo/config.toml": ""},
         "cargo fetch --locked", ["Cargo.toml", "a/Cargo.toml", "Cargo.lock"]),
        (Language.RUST, {"Cargo.toml": "[package]", "Cargo.lock": ""}, "", []),
        (Language.RUBY, {"Gemfile": "source 'x'\ngem 'a'", "Gemfile.lock": "", "a.rb": ""},
         "bundle install", ["Gemfile", "Gemfile.lock"]),
        (Language.RUBY, {"Gemfile": "gemspec", "x.gemspec": "", "lib/x.rb": ""},
         "bundle install", ["Gemfile", "x.gemspec", "lib/x.rb"]),
        (Language.RUBY, {"Gemfile": "group(:test) { gem 'a', path: 'a' }", "a/a.gemspec": ""},
         "bundle install", ["Gemfile", "a/a.gemspec"]),
        (Language.RUBY, {"Gemfile": "# gem 'a'\n\nsource 'https://x'\nruby '3.3'\n"}, "", []),
        (Language.RUBY, {"a.rb": ""}, "", []),
        (Language.PHP, {"composer.json": "{}", "composer.lock": "", "src/A.php": ""},
         "composer install", ["composer.json", "composer.lock"]),
        (Language.PHP, {"composer.json": '{"repositories": [{"type": "path"}]}', "a/A.php": ""},
         "composer install", ["composer.json", "a/A.php"]),
        (Language.PHP, {"composer.json": '{"repositories": {"a": {"type": "path"}}}', "A.php": ""},
         "composer install", ["composer.json", "A.php"]),
        (Language.PHP, {"composer.json": '{"autoload": {"classmap": ["a"]}}', "a/A.php": ""},
         "composer install", ["composer.json", "a/A.php"]),
        (Language.PHP, {"composer.json": '{"repositories": [7, "x"], "autoload": [1]}', "A.php": ""},
         "composer install", ["composer.json"]),
        (Language.PHP, {"a.php": ""}, "", []),
        (Language.JAVA, {"pom.xml": "", "a/pom.xml": "", ".mvn/extensions.xml": "", "A.java": ""},
         ":go-offline", ["pom.xml", "a/pom.xml", ".mvn/extensions.xml"]),
        (Language.JAVA, {"settings.gradle": "", "app/build.gradle.kts": "", "A.java": "",
                         "gradle/libs.versions.toml": "", "buildSrc/src/main/java/B.java": "",
                         "gradle.properties": "", "app/gradle.lockfile": ""},
         " loomverifyResolve",
         ["settings.gradle", "app/build.gradle.kts", "gradle/libs.versions.toml",
          "buildSrc/src/main/java/B.java", "gradle.properties", "app/gradle.lockfile"]),
        (Language.JAVA, {"A.java": ""}, "", []),
        (Language.DOTNET, {"a.csproj": "", "NuGet.Config": "", "Directory.Build.props": "", "A.cs": ""},
         "dotnet restore", ["a.csproj", "NuGet.Config", "Directory.Build.props"]),
    ],
)  # fmt: skip
def test_an_install_reads_what_names_its_dependencies_and_no_more(
    language: Language, files: dict[str, str], verb: str, inputs: list[str]
) -> None:
    for folder in ("", "api"):
        install = part_in(language, files, folder).install

        assert bool(install.command) is bool(verb)
        assert verb in install.command
        assert list(install.inputs) == [f"{folder}/{one}".strip("/") for one in inputs]


@pytest.mark.parametrize(
    ("language", "marker", "beside"),
    [
        (Language.RUST, "Cargo.toml", "shared/Cargo.toml"),
        (Language.JAVA, "pom.xml", "parent/pom.xml"),
        (Language.JAVA, "build.gradle", "settings.gradle"),
        (Language.DOTNET, "a.csproj", "shared/b.csproj"),
    ],
)
def test_manifests_may_lie_beside_the_component(
    language: Language, marker: str, beside: str
) -> None:
    files = {f"api/{marker}": b"dependencies", beside: b""}

    part = part_of(Component("api", language, (marker,)), Files(list(files), files.get))

    assert part.install.inputs == tuple(files)


def test_so_many_manifests_are_read() -> None:
    files = {f"{number}/Cargo.toml": "dependencies" for number in range(2_000)}

    part = part_in(Language.RUST, {"Cargo.toml": "", **files})

    assert len(part.install.inputs) == 500


MANIFEST = """\
[package]
name = "x"
default-run = "y"
[lib]
name = "lib"
 [[bin]]
name = "y"
required-features = [
  "z",
]
[[ test ]]
name = "t"
[dependencies]
a = { version = "1", features = ["b"] }
[target.'cfg(unix)'.dependencies]
[libs]
"""


def test_a_manifest_of_rust_is_read_without_the_targets_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").write_text(MANIFEST)
    command = part_in(Language.RUST, {"Cargo.toml": "dependencies"}).install.command

    without_targets, fetch, _ = command.replace("/workspace", str(tmp_path)).partition(
        "cargo fetch"
    )
    subprocess.run(["/bin/sh", "-c", without_targets], check=True)

    assert fetch
    assert (tmp_path / "Cargo.toml").read_text().splitlines() == [
        "[package]",
        'name = "x"',
        "[dependencies]",
        'a = { version = "1", features = ["b"] }',
        "[target.'cfg(unix)'.dependencies]",
        "[libs]",
    ]
    assert (tmp_path / "src/lib.rs").read_bytes() == b""


@pytest.mark.parametrize(
    ("command", "code", "written"),
    [
        ("true", 0, ""),
        ("echo nothing is there", 0, "nothing is there\n"),     # it is said, and goes well
        ("(echo so; exit 3)", 3, "so\n"),
        ("(echo it\\'s nothing at all >&2; exit 3)", 126, "it's nothing at all\n"),
        ("no-such-command-$$$$", 127, None),
    ],
)  # fmt: skip
def test_what_failed_and_said_that_it_could_not_be_run_ends_so(
    tmp_path: Path, command: str, code: int, written: str | None
) -> None:
    text = f"{unless_said('it.s nothing|nothing is', command)}\nexit $code"

    ended = subprocess.run(
        ["/bin/sh", "-c", '(set -e; eval "$LV_COMMAND")'],
        env={"LV_COMMAND": text, "LV_REPORT": f"{tmp_path}/a b", "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ended.returncode == code
    assert written is None or ended.stdout == written


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize(
    ("language", "tool", "files", "empty"),
    [
        (Language.JAVA, "mvn", {"pom.xml": ""}, "<testsuites>"),
        (Language.JAVA, "gradle", {"build.gradle": ""}, "<testsuites>"),
        (Language.DOTNET, "dotnet", {"a.csproj": "Microsoft.NET.Test.Sdk"}, "<TestRuns>"),
    ],
)
def test_what_failed_before_any_test_told_of_itself_is_not_reported_as_no_tests(
    tmp_path: Path, language: Language, tool: str, files: dict[str, str], empty: str, code: int
) -> None:
    (tmp_path / tool).write_text(f"#!/bin/sh\nexit {code}\n")
    (tmp_path / tool).chmod(0o755)
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    report = tmp_path / "report of a run"
    command = stages_of(part_in(language, files))["test"].command

    ended = subprocess.run(
        ["/bin/sh", "-c", '(set -e; eval "$LV_COMMAND")'], cwd=tmp_path, check=False,
        env={"LV_COMMAND": command.replace("/tmp/afresh", f"{tmp_path}/afresh"),  # noqa: S108
             "LV_REPORT": str(report), "LV_REPOSITORY": "m2", "PATH": f"{tmp_path}:/usr/bin:/bin"},
    )  # fmt: skip

    assert ended.returncode == code
    assert report.exists() is (code == 0)
    assert code or report.read_text().split()[0] == empty


def test_a_toolchain_without_its_linter_says_nothing_of_the_work() -> None:
    part = part_in(Language.RUST, {"Cargo.toml": ""})
    ended = Ended(exit_code=101, out=b"error: no such command: `clippy`\n", report=b"")

    report = judged(part, stages_of(part)["lint"], ended).report

    assert (report.status, report.problem_count) == (Status.ERROR, None)


def test_gems_are_used_as_they_are_locked_and_settings_of_the_work_say_nothing() -> None:
    part = part_in(Language.RUBY, {"Gemfile": "gem 'a'", "Gemfile.lock": "", "spec/a_spec.rb": ""})

    assert stages_of(part)["test"].command.startswith("bundle exec rspec ")
    assert part.environment["BUNDLE_FROZEN"] == "true"
    assert part.environment["BUNDLE_APP_CONFIG"] == "/deps/root.ruby/config"


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"phpunit.xml.dist": ""}, 'phpunit --log-junit "$LV_REPORT"'),
        ({"tests/ATest.php": ""}, 'phpunit --log-junit "$LV_REPORT" tests'),
        ({"src/ATest.php": ""}, 'phpunit --log-junit "$LV_REPORT" .'),
        ({"test/ATest.php": "", "composer.json": "{}"},
         'phpunit --log-junit "$LV_REPORT" --bootstrap vendor/autoload.php test'),
        ({"composer.json": '{"require-dev": {"pestphp/pest": "^3"}}', "tests/a.php": ""},
         'pest --log-junit "$LV_REPORT"'),
        ({"composer.json": '{"require-dev": ["pestphp/pest"]}', "tests/a.php": ""}, ""),
    ],
)  # fmt: skip
def test_php_is_tested_by_what_it_is_written_for(files: dict[str, str], command: str) -> None:
    assert stages_of(part_in(Language.PHP, files))["test"].command == command


@pytest.mark.parametrize(
    ("files", "is_tested"),
    [
        ({"a.csproj": "Microsoft.NET.Test.Sdk"}, True),
        ({"a.sln": "", "tests/a.csproj": "<IsTestProject>true</IsTestProject>"}, True),
        ({"a.csproj": "", "Directory.Build.props": "MSTest.Sdk"}, True),
        ({"a.csproj": "xunit.core"}, False),
        ({"a.csproj": "", "notes.txt": "Microsoft.NET.Test.Sdk"}, False),
    ],
)
def test_dotnet_is_tested_where_a_project_names_what_runs_tests(
    files: dict[str, str], is_tested: bool
) -> None:
    assert bool(stages_of(part_in(Language.DOTNET, files))["test"].command) is is_tested


@pytest.mark.parametrize(
    ("language", "files", "command"),
    [
        (Language.RUBY, {"Gemfile": "", "Rakefile": "task default: :features\n"}, "rake"),
        (Language.RUBY, {"Gemfile": "gem 'a'", "Rakefile": "task :default => :x\n"},
         "bundle exec rake"),
        (Language.RUBY, {"Gemfile": "", "Rakefile": "task :x\n"}, ""),
        (Language.PHP, {"composer.json": '{"scripts": {"test": ["@unit"]}}'},
         "composer run-script --no-interaction test"),
        (Language.PHP, {"composer.json": '{"scripts": {"lint": "x"}}'}, ""),
    ],
)  # fmt: skip
def test_without_tests_of_a_known_runner_the_work_s_own_way_to_test_is_gone(
    language: Language, files: dict[str, str], command: str
) -> None:
    stage = stages_of(part_in(language, files))["test"]

    assert (stage.command, stage.is_given, bool(stage.skipped)) == (
        command, bool(command), not command,
    )  # fmt: skip
