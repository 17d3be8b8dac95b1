"""A folder is left out only where it is certain that what runs above it tries it, too."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.engine.gating.components import components_of
from verification.engine.gating.members import Candidate, declared_by


def folders(files: Mapping[str, str]) -> list[str]:
    contents = {path: text.encode() for path, text in files.items()}
    return [one.folder or "." for one in components_of(contents, contents.get).found]


def manifest(test: str, workspaces: Any = ("a",), **scripts: str) -> str:
    return json.dumps({"workspaces": workspaces, "scripts": {"test": test, **scripts}})


TESTED = json.dumps({"scripts": {"test": "node --test"}})
BUILT = json.dumps({"scripts": {"test": "node --test", "build": "tsc"}})


@check_rows(
    ("test", "is_part"),
    [
        ("npm test --workspaces", True),
        ("npm run test -ws --if-present", True),
        ("npm --workspaces run test", True),
        ("npm run build && npm test --ws && echo done", True),
        ("yarn workspaces run test", True),
        ("node --test", False),
        ("turbo run test", False),
        ("npm test", False),
        ("npm run lint --workspaces", False),
        ("npm test --workspaces || true", False),
        ("npm test --workspaces; true", False),
        ("true || npm test --workspaces", False),
        ("true # npm test --workspaces", False),
        ("exit 0 && npm test --workspaces", False),
        ("npm test --workspace b", False),
        ("pnpm -r test", False),
    ],
)
def test_a_package_of_npm_is_a_part_where_the_script_runs_it(test: str, is_part: bool) -> None:
    found = folders({"package.json": manifest(test), "a/package.json": TESTED})

    assert (found == ["."]) is is_part


@check_rows(
    ("workspaces", "folder", "is_part"),
    [
        (["a", "!b"], "a", True),
        ({"packages": ["./a/"]}, "a", True),
        (["packages/*"], "packages/a", True),
        (["**"], "packages/a", True),
        (["packages/*"], "packages/a/inner", False),
        (["packages/*"], "packages/.a", False),
        (["packages/*", "!packages/a"], "packages/a", False),
        (["**", "!{a,b}"], "a", False),
        (["[ab]"], "a", False),
        ([""], "a", False),
        (7, "a", False),
        (["a"] * 1_000, "a", False),
    ],
)
def test_a_package_of_npm_is_listed_by_a_path_or_a_glob(
    workspaces: Any, folder: str, is_part: bool
) -> None:
    above = manifest("npm test -ws", workspaces)

    found = folders({"package.json": above, f"{folder}/package.json": TESTED})

    assert (found == ["."]) is is_part


@pytest.mark.parametrize(
    ("above", "more", "is_part"),
    [
        (manifest("npm test -ws"), {"a/package.json": BUILT}, False),
        (manifest("npm test -ws", build="npm run build -ws"), {"a/package.json": BUILT}, True),
        (manifest("jest"), {"a/package.json": "{}"}, True),
        (manifest("jest"), {"a/package.json": '{"devDependencies": {"eslint": "9"}}'}, False),
        (manifest("npm test -ws"), {
            "a/package.json": '{"devDependencies": {"typescript": "5"}}', "a/tsconfig.json": "{}",
        }, False),
        (manifest("npm test -ws"), {"a/package.json": TESTED, ".npmrc": "workspace[]=b"}, False),
        (manifest("npm test -ws"), {"a/package.json": TESTED, ".npmrc": "fund=false"}, True),
        (manifest("pnpm -r test", []), {
            "a/package.json": TESTED, "pnpm-workspace.yaml": "packages: ['a', '!b']",
        }, True),
        (manifest("pnpm -r test", []), {
            "a/package.json": TESTED, "pnpm-workspace.yaml": "onlyBuilt:\n  - a\n",
        }, False),
        (manifest("pnpm -r test", []), {
            "a/package.json": TESTED, "pnpm-workspace.yaml": "packages: [a",
        }, False),
    ],
)  # fmt: skip
def test_all_that_a_package_has_to_try_is_run_above_it(
    above: str, more: dict[str, str], is_part: bool
) -> None:
    assert (folders({"package.json": above, **more}) == ["."]) is is_part


@pytest.mark.parametrize(
    ("manifest", "parts"),
    [
        ('members = ["crates/*", "cli"]', {"crates/core", "cli"}),
        ('members = ["crates/*", "cli"]\nexclude = ["crates/core"]', {"cli"}),
        ('members = ["crates/*", "cli"]\nexclude = ["./crates/"]', {"cli"}),
        ('members = ["crates/*", "cli"]\nexclude = ["x/../cli"]', set()),
        ('members = ["crates/*", "cli"]\nexclude = ["crate"]', {"crates/core", "cli"}),
        ('# members = ["cli"]', set()),
        ('members = ["c[lk]i"]', set()),
    ],
)
def test_a_crate_is_a_part_unless_it_is_excluded(manifest: str, parts: set[str]) -> None:
    crates = {"crates/core", "cli", "fuzz"}
    files = {"Cargo.toml": f"[workspace]\n{manifest}"}

    found = folders({**files, **{f"{crate}/Cargo.toml": "" for crate in crates}})

    assert set(found) == {".", *(crates - parts)}


@pytest.mark.parametrize("work", ["go 1.22\nuse (\n\t.\n\t./a // mine\n)\n", "use ./a\n", ""])
def test_a_module_of_go_is_never_a_part_whatever_a_workspace_says(work: str) -> None:
    assert folders({"go.mod": "", "go.work": work, "a/go.mod": ""}) == [".", "a"]


@check_rows(
    ("project", "more", "is_part"),
    [
        ("<modules><module>a</module></modules>", {}, True),
        ("<modules><module> ./a/pom.xml </module></modules>", {}, True),
        ("<modules><module>a</module></modules>", {".mvn/maven.config": "-B -T 1C -Dx=y"}, True),
        ("<modules><module>a</module></modules>", {".mvn/maven.config": "-B\n-N"}, False),
        ("<modules><module>a</module></modules>", {".mvn/maven.config": "-pl !a"}, False),
        ("<!-- <modules><module>a</module></modules> -->", {}, False),
        ("<profiles><profile><modules><module>a</module></modules></profile></profiles>",
         {}, False),
        ("<build><modules><module>a</module></modules></build>", {}, False),
        ("<description>&lt;module>a&lt;/module></description>", {}, False),
        ("<modules><module>*</module></modules>", {}, False),
        ("<modules><module>a</module></modules><", {}, False),
        ("<modules><module>b</module></modules>", {"settings.gradle": "include 'a'"}, False),
    ],
)  # fmt: skip
def test_a_module_of_maven_is_a_part_where_the_project_itself_names_it(
    project: str, more: dict[str, str], is_part: bool
) -> None:
    pom = f'<?xml version="1.0"?>\n<project xmlns="http://maven.apache.org/POM/4.0.0">{project}</project>'

    found = folders({"pom.xml": pom, "a/pom.xml": "", **more})

    assert (found == ["."]) is is_part


def test_a_module_of_maven_without_its_file_and_one_by_an_entity_are_no_parts() -> None:
    entity = '<!DOCTYPE project [<!ENTITY x "a">]><project><modules><module>a</module></modules></project>'
    plain = entity.partition("]>")[2]

    assert folders({"pom.xml": entity, "a/pom.xml": ""}) == [".", "a"]
    assert folders({"pom.xml": plain, "a/build.gradle": ""}) == [".", "a"]


@check_rows(
    ("said", "parts"),
    [
        ("rootProject.name = 'app'\ninclude ':lib', ':app:web'\n", {"lib", "app/web"}),
        ('include("lib")\ninclude(\n  "app:web",\n)', {"lib", "app/web"}),
        ("include 'lib',\n    'app:web' // both\n", {"lib", "app/web"}),
        ('pluginManagement {\n  repositories { maven { url = uri("https://x.org/m2") } }\n'
         '  plugins { id("org.gradle.toolchains.foojay-resolver-convention") version "0.8.0" }\n}\n'
         'includeBuild("build-logic")\ninclude(":lib")', {"lib"}),
        ("rootProject.name = 'lib'", set()),
        ("// include 'lib'\n/* include 'lib'\ninclude 'app:web' */", set()),
        ("if (false)\n  include 'lib'", set()),
        ("if (false) {\n  include 'lib'\n}", set()),
        ("include 'lib'\nproject(':lib').projectDir = file('other')", set()),
        ("def x = \"\"\"\ninclude 'lib'\n\"\"\"", set()),
        ("def include(x) {}\ninclude 'lib'", set()),
        ("plugins {\n  settings.metaClass.include = {}\n}\ninclude 'lib'", set()),
        ("include \"lib$x\"", set()),
        ("includeFlat 'lib'", set()),
        ("include 'lib' /* open", {"lib"}),
    ],
)  # fmt: skip
def test_a_project_of_gradle_is_a_part_where_plain_settings_include_it(
    said: str, parts: set[str]
) -> None:
    projects = {"lib", "app/web"}
    files = {f"{one}/build.gradle.kts": "" for one in projects}

    found = folders({"settings.gradle": said, **files})

    assert set(found) == {".", *(projects - parts)}


def test_a_project_of_gradle_that_has_no_build_of_its_own_or_settings_is_no_part() -> None:
    for marker in ("pom.xml", "settings.gradle"):
        assert folders({"settings.gradle": "include 'a'", f"a/{marker}": ""}) == [".", "a"]
    both = {"settings.gradle": "", "settings.gradle.kts": 'include("a")', "a/build.gradle": ""}
    assert folders(both) == [".", "a"]


SOLUTION = (
    'Project("{{F-1}}") = "A", "src\\A\\A.csproj", "{{A-1}}"\r\nEndProject\r\nGlobal\r\n'
    "\tGlobalSection(SolutionConfigurationPlatforms) = preSolution\r\n"
    "\t\tDebug|Any CPU = Debug|Any CPU\r\n\t\tRelease|Any CPU = Release|Any CPU\r\n"
    "\tEndGlobalSection\r\n\tGlobalSection(ProjectConfigurationPlatforms) = postSolution\r\n"
    "{built}\tEndGlobalSection\r\nEndGlobal\r\n"
)
IN_EACH = (
    "\t\t{a-1}.Debug|Any CPU.Build.0 = Debug|Any CPU\r\n\t\t{A-1}.Release|Any CPU.Build.0 = x\r\n"
)


@pytest.mark.parametrize(
    ("solution", "more", "is_part"),
    [
        (SOLUTION.format(built=IN_EACH), (), True),
        (SOLUTION.format(built=IN_EACH), ("src/A/B.csproj",), False),
        (SOLUTION.format(built=IN_EACH.replace("Release", "Other")), (), False),
        (SOLUTION.format(built=""), (), False),
        (SOLUTION.format(built="") + IN_EACH, (), False),
        ("# " + SOLUTION.format(built=IN_EACH), (), False),
        ('Project("{F-1}") = "A", "src/A/A.csproj", "{A-1}"\nEndProject\n', (), False),
    ],
)
def test_a_project_of_dotnet_is_a_part_where_each_configuration_builds_it(
    solution: str, more: tuple[str, ...], is_part: bool
) -> None:
    found = folders({"a.sln": solution, "src/A/A.csproj": "", **dict.fromkeys(more, "")})

    assert (found == ["."]) is is_part


def declares(language: str, contents: Mapping[str, bytes], folder: str, marker: str) -> bool:
    read: Callable[[str], bytes | None] = {"package.json": b"{}"}.get
    return declared_by(language, contents)(Candidate(folder, (marker,), read))


PATHS = st.text(alphabet="ab*/.", max_size=40)


@given(st.text(max_size=200) | PATHS, PATHS)
def test_any_declaration_is_read_and_makes_parts_of_listed_folders_alone(
    text: str, folder: str
) -> None:
    toml = f"[workspace]\nmembers = [{json.dumps(text)}]"
    declarations = (
        ("node", "package.json", json.dumps({"workspaces": [text, f"{text}/**"]})),
        ("node", "pnpm-workspace.yaml", f"packages: [{text}]"),
        ("rust", "Cargo.toml", toml),
        ("java", "pom.xml", f"<project><modules><module>{text}</module></modules></project>"),
        ("java", "settings.gradle", f"include '{text}'"),
        ("dotnet", "a.sln", f'Project("x") = "y", "{text}x.csproj", "{{}}"'),
        ("go", "go.work", f"use {text}"),
    )

    languages = {
        language
        for language, name, content in declarations
        if declares(language, {name: content.encode(errors="replace")}, folder, "x")
    }

    steps, listed = steps_of(folder), steps_of(text)
    if "*" in text or steps == listed:
        assert languages <= {"node", "rust"}
    else:  # the workspaces of the package hold all folders below the text
        assert languages <= ({"node"} if steps[: len(listed)] == listed else set())


def steps_of(path: str) -> list[str]:
    return [step for step in path.strip().split("/") if step not in ("", ".")]


@pytest.mark.parametrize(
    ("language", "name", "content"),
    [
        ("node", "package.json",
         json.dumps({"workspaces": ["/".join(["**", "*a*b*c"] * 30)] * 1_000}).encode()),
        ("node", "package.json",
         json.dumps({"workspaces": ["/".join(["**", "*a*b*c"] * 30)] * 200}).encode()),
        ("node", "package.json",
         json.dumps({"workspaces": ["a"], "scripts": {"test": "npm a && " * 190}}).encode()),
        ("java", "pom.xml", b"<project>" * 100_000),
        ("java", "pom.xml", b"<module>x" * 100_000),
        ("java", "settings.gradle", b"'a' /* " * 7_000),
        ("java", "settings.gradle", b"include 'a'" + b" \n" * 20_000),
        ("java", "settings.gradle", b"plugins {" * 5_000),
        ("java", "settings.gradle", b"include 'a'," * 4_000),
        ("dotnet", "a.sln", b'Project("' * 100_000),
        ("rust", "Cargo.toml", b"a." * 200_000 + b"b = 1"),
        ("rust", "Cargo.toml", b"x = " + b"9" * 5_000),
    ],
)  # fmt: skip
def test_a_hostile_declaration_is_read_in_linear_time(
    language: str, name: str, content: bytes
) -> None:
    folder = "/".join(["aaaaaaab"] * 60)

    assert not declares(language, {name: content}, folder, "build.gradle")
