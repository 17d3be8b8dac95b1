from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.engine.gating.components import MAX_COMPONENTS, components_of
from verification.engine.gating.members import is_member


def names(files: Mapping[str, str], words: str = "") -> list[str]:
    contents = {path: text.encode() for path, text in files.items()}
    return [one.name for one in components_of(contents, contents.get, words).found]


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, []),
        ({"main.py": ""}, []),
        ({"pyproject.toml": "", "requirements.txt": "", "Makefile": ""}, [". (python)"]),
        ({"package.json": "{}", "requirements.txt": ""}, [". (node)", ". (python)"]),
        ({"api/go.mod": "", "web/package.json": "{}"}, ["api (go)", "web (node)"]),
        ({"Makefile": "test:", "src/Makefile": ""}, [". (make)"]),
        ({"app/App.csproj": "", "App.sln": ""}, [". (dotnet)", "app (dotnet)"]),
        ({"pyproject.toml": "", "docs/requirements.txt": "", "tests/pytest.ini": ""},
         [". (python)"]),
        ({"docs/requirements.txt": ""}, ["docs (python)"]),
        ({"pyproject.toml": "", "plugin/pyproject.toml": ""}, [". (python)", "plugin (python)"]),
        ({"package.json": "{}", "node_modules/a/package.json": "{}"}, [". (node)"]),
        ({"go.mod": "", "vendor/x/go.mod": "", "testdata/bad/go.mod": ""}, [". (go)"]),
        ({"pom.xml": "", "Gemfile": "", "composer.json": "{}", "Cargo.toml": ""},
         [". (java)", ". (php)", ". (ruby)", ". (rust)"]),
    ],
)  # fmt: skip
def test_every_marker_is_a_component_of_its_folder(files: dict[str, str], found: list[str]) -> None:
    assert names(files) == found


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"package.json": '{"workspaces": ["packages/*"]}', "packages/a/package.json": "{}",
          "tool/package.json": "{}"}, [". (node)", "tool (node)"]),
        ({"package.json": '{"workspaces": {"packages": ["apps/**"]}}',
          "apps/web/ui/package.json": "{}"}, [". (node)"]),
        ({"package.json": "{}", "pnpm-workspace.yaml": "packages:\n  - 'libs/*'  # ours\n",
          "libs/a/package.json": "{}"}, [". (node)"]),
        ({"Cargo.toml": '[workspace]\nmembers = ["crates/*", "cli"]',
          "crates/core/Cargo.toml": "", "cli/Cargo.toml": "", "fuzz/Cargo.toml": ""},
         [". (rust)", "fuzz (rust)"]),
        ({"pom.xml": "<modules><module>core</module></modules>", "core/pom.xml": "",
          "other/pom.xml": ""}, [". (java)", "other (java)"]),
        ({"build.gradle": "", "settings.gradle": "include ':app', ':lib:core'",
          "app/build.gradle": "", "lib/core/build.gradle.kts": ""}, [". (java)"]),
        ({"go.mod": "", "go.work": "go 1.22\nuse (\n\t.\n\t./svc // mine\n)\n", "svc/go.mod": "",
          "alone/go.mod": ""}, [". (go)", "alone (go)"]),
        ({"a.sln": 'Project("{F-1}") = "A", "src\\A\\A.csproj", "{1}"\r\nEndProject\n'
                   'Project("{F-1}") = "B", "src/B/B.fsproj", "{2}"\nProject("x") = "y", "src", "{3}"\n',
          "src/A/A.csproj": "", "src/B/B.fsproj": "", "src/C/C.csproj": ""},
         [". (dotnet)", "src/C (dotnet)"]),
        ({"package.json": '{"workspaces": 7}', "a/package.json": "{}"}, [". (node)", "a (node)"]),
        ({"package.json": "[" * 100_000, "a/package.json": "{}"}, [". (node)", "a (node)"]),
    ],
)  # fmt: skip
def test_members_of_a_workspace_are_parts_of_it(files: dict[str, str], found: list[str]) -> None:
    assert names(files) == found


@pytest.mark.parametrize(
    ("paths", "words", "found"),
    [
        (["main.py"], "Write a Python script, tested by pytest.", [". (python)"]),
        (["main.py"], "Write it in Go: go build, go test, golang.", []),
        (["main.py", "main.go"], "A golang service; go test; a little python", [". (go)"]),
        (["a.js"], "", []),
        (["a.cs"], "A C# library on .NET", [". (dotnet)"]),
        (["a.rs"], "trust and frustration", []),
        (["calc/main.py", "calc/tests/test_it.py"], "pytest", ["calc (python)"]),
        (["calc/main.py", "README.md"], "pytest", [". (python)"]),
        (["calc/main.py", "other/main.py"], "pytest", [". (python)"]),
        (["src/calc/main.py", "src/test_it.py"], "pytest", [". (python)"]),
    ],
)
def test_without_a_marker_the_plans_words_tell(
    paths: list[str], words: str, found: list[str]
) -> None:
    assert names(dict.fromkeys(paths, ""), words) == found


def test_so_many_components_are_tried_and_the_others_told() -> None:
    files = {f"p{number:03}/go.mod": b"" for number in range(MAX_COMPONENTS + 7)}

    told = components_of(files, files.get)

    assert len(told.found) == MAX_COMPONENTS
    assert told.left_out == 7


def test_a_marker_that_is_gone_or_too_large_declares_nothing() -> None:
    paths = ["package.json", "a/package.json"]

    for content in (None, json.dumps({"workspaces": ["a"], "x": "y" * 2_000_000}).encode()):
        contents = dict.fromkeys(paths, content)
        assert len(components_of(paths, contents.get).found) == 2


@given(st.text(max_size=200), st.text(alphabet="ab*/.", max_size=40))
def test_nothing_that_is_declared_raises(text: str, folder: str) -> None:
    for name, content in {
        "package.json": json.dumps({"workspaces": [text, f"{text}/**"]}),
        "Cargo.toml": text, "pom.xml": f"<module>{text}</module>", "go.work": text,
        "a.sln": f'Project("x") = "y", "{text}x.csproj"',
    }.items():  # fmt: skip
        for language in ("node", "rust", "java", "go", "dotnet"):
            is_member(folder, language, {name: content.encode(errors="replace")})


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"workspaces": ["/".join(["**", "*a*b*c"] * 30)] * 1_000}).encode(),
        b"<module>" + b" " * 1_000_000,
        b"<module>x" * 100_000,
        b"a." * 200_000 + b"b = 1",
        b"x = " + b"9" * 5_000,
    ],
)
def test_a_hostile_declaration_is_read_in_linear_time(content: bytes) -> None:
    folder = "/".join(["aaaaaaab"] * 60)

    for language, name in (
        ("node", "package.json"),
        ("java", "pom.xml"),
        ("rust", "Cargo.toml"),
    ):
        assert not is_member(folder, language, {name: content})


def test_of_very_many_marked_folders_the_rest_are_left_out() -> None:
    paths = [f"p{number}/package.json" for number in range(3_000)]

    found = components_of(paths, lambda _path: None)

    assert (len(found.found), found.left_out) == (20, 2_980)
