from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.tables import check_rows
from verification.engine.gating.components import MAX_COMPONENTS, components_of

RUN_IN_ALL = {"scripts": {"test": "npm test -ws", "build": "npm run build -ws --if-present"}}


def names(files: Mapping[str, str], words: str = "") -> list[str]:
    contents = {path: text.encode() for path, text in files.items()}
    return [one.name for one in components_of(contents, contents.get, words).found]


@check_rows(
    ("files", "found"),
    [
        ({}, []),
        ({"main.js": ""}, []),
        ({"pyproject.toml": "", "requirements.txt": "", "Makefile": ""}, [". (python)"]),
        ({"package.json": "{}", "requirements.txt": ""}, [". (node)", ". (python)"]),
        ({"api/go.mod": "", "web/package.json": "{}"}, ["api (go)", "web (node)"]),
        ({"Makefile": "test:", "src/Makefile": ""}, [". (make)"]),
        ({"makefile": "test:", "a/GNUmakefile": ""}, [". (make)"]),
        ({"a/GNUmakefile": "test:", "b/makefile": ""}, ["a (make)", "b (make)"]),
        ({"go.mod": "", "makefile": ""}, [". (go)"]),
        ({"package.json": "", "docs/requirements.txt": "", "docs/conf.py": ""}, [". (node)"]),
        ({"package.json": "", "docs/requirements.txt": "", "docs/test_a.py": ""},
         [". (node)", "docs (python)"]),
        ({"package.json": "", "docs/requirements.txt": "", "docs/setup.py": ""},
         [". (node)", "docs (python)"]),
        ({"docs/requirements.txt": "", "docs/conf.py": ""}, ["docs (python)"]),
        ({"app/App.csproj": "", "App.sln": ""}, [". (dotnet)", "app (dotnet)"]),
        ({"pyproject.toml": "", "docs/requirements.txt": "", "tests/pytest.ini": ""},
         [". (python)"]),
        ({"docs/requirements.txt": ""}, ["docs (python)"]),
        ({"pyproject.toml": "", "plugin/pyproject.toml": ""}, [". (python)", "plugin (python)"]),
        ({"package.json": "{}", "node_modules/a/package.json": "{}"}, [". (node)"]),
        ({"go.mod": "", "vendor/x/go.mod": "", "testdata/bad/go.mod": ""}, [". (go)"]),
        ({"Cargo.toml": "", "src/main.rs": ""}, [". (rust)"]),
        ({"pom.xml": "", "src/main/java/App.java": ""}, [". (java)"]),
        ({"my-app/Cargo.toml": "", "my-app/src/main.rs": ""}, ["my-app (rust)"]),
        ({"my-app/package.json": "{}", "my-app/src/main.js": ""}, ["my-app (node)"]),
        ({"pom.xml": "", "Gemfile": "", "composer.json": "{}", "Cargo.toml": ""},
         [". (java)", ". (php)", ". (ruby)", ". (rust)"]),
    ],
)  # fmt: skip
def test_every_marker_is_a_component_of_its_folder(files: dict[str, str], found: list[str]) -> None:
    assert names(files) == found


TOGETHER = {
    "Makefile": "test:\n\tcd api && pytest",
    "api/pytest.ini": "",
    "api/a.py": "",
    "web/go.mod": "",
}


@pytest.mark.parametrize(
    ("more", "words", "is_left"),
    [
        ({}, "", False),
        ({}, "Make it fast.", False),
        ({"node_modules/x/a.js": ""}, "", False),
        ({"tools/a.py": ""}, "", True),
        ({"tests/all.sh": ""}, "", True),
        ({}, "Test commands:\n- make test", True),
        ({}, "Run `make check` before.", True),
        ({"CMakeLists.txt": ""}, "", True),
    ],
)
def test_a_makefile_that_only_joins_components_is_none(
    more: dict[str, str], words: str, *, is_left: bool
) -> None:
    found = names({**TOGETHER, **more}, words)

    assert found == [*([". (make)"] if is_left else []), "api (python)", "web (go)"]


@pytest.mark.parametrize("name", ["makefile", "GNUmakefile"])
def test_however_a_makefile_is_spelt_it_may_only_join_components(name: str) -> None:
    files = {name if one == "Makefile" else one: text for one, text in TOGETHER.items()}

    assert names(files) == ["api (python)", "web (go)"]


@check_rows(
    ("paths", "words", "found"),
    [
        (["main.py"], "Write a Python script, tested by pytest.", [". (python)"]),
        (["main.py"], "Write it in Go: go build, go test, golang.", []),
        (["main.py", "main.go"], "A golang service; go test; a little python", [". (go)"]),
        (["main.py", "README.md"], "Write it well.", [". (python)"]),
        (["cart/main.go"], "", ["cart (go)"]),
        (["main.py", "main.go"], "Write it well.", []),
        (["a.js"], "", []),
        (["a.rs"], "", []),
        (["a.cs"], "A C# library on .NET", [". (dotnet)"]),
        (["a.rs"], "trust and frustration", []),
        (["src/main.rs"], "Write a Rust program; cargo test.", [". (rust)"]),
        (["src/main/java/App.java"], "A Java service, built by Maven.", [". (java)"]),
        (["tool.js"], "A tool for Node.js, tested by npm test.", [". (node)"]),
        (["calc/main.py", "calc/tests/test_it.py"], "pytest", ["calc (python)"]),
        (["calc/main.py", "README.md"], "pytest", [". (python)"]),
        (["calc/main.py", "other/main.py"], "pytest", [". (python)"]),
        (["src/calc/main.py", "src/test_it.py"], "pytest", [". (python)"]),
        (["home/calc/main.py", "home/calc/io/a.py"], "pytest", ["home/calc (python)"]),
        (["home/calc/tests/a.py", "home/calc/tests/b.py"], "pytest", ["home/calc (python)"]),
        (["home/calc/__init__.py", "home/calc/a.py"], "pytest", ["home (python)"]),
        (["calc/__init__.py", "calc/test_it.py"], "pytest", [". (python)"]),
    ],
)
def test_without_a_marker_the_plans_words_tell_and_else_the_only_language(
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

    for content in (
        None,
        json.dumps({**RUN_IN_ALL, "workspaces": ["a"], "x": "y" * 2_000_000}).encode(),
    ):
        contents = dict.fromkeys(paths, content)
        assert len(components_of(paths, contents.get).found) == 2


@pytest.mark.extended
def test_of_very_many_marked_folders_the_rest_are_left_out() -> None:
    paths = [f"p{number}/package.json" for number in range(3_000)]

    found = components_of(paths, lambda _path: None)

    assert (len(found.found), found.left_out) == (20, 2_980)
