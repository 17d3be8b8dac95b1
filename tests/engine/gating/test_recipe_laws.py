from __future__ import annotations

import json
import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.gating.test_recipes import PIP, part_in
from verification.engine.gating.components import Language
from verification.engine.gating.stages import Part, deps_of

# No submitted text reaches a shell as more than one word, but for a test script of one command.

TEXT = st.text(max_size=30) | st.sampled_from(
    ["a b", "$(touch x)", "`x`", "a'b\"c", "a\nb", "; rm -rf .", "-r x", "~", "*", "a\\", "&& x"]
)
FOLDERS = st.lists(TEXT.filter(lambda one: "/" not in one and one), max_size=3).map("/".join)
JSON_TEXT = st.recursive(
    TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def commands_in(part: Part) -> set[str]:
    """All that a shell is given, with the folder of what is installed named `DEPS`."""
    texts = [part.install.command, part.install.prepare, *(one.command for one in part.stages)]
    texts += [*part.environment.values(), *part.linked.values()]
    return {one.replace(deps_of(part.component), "DEPS") for one in texts}


PLAIN = {
    Language.PYTHON: [{"pyproject.toml": "[tool.mypy]"}, {"requirements.txt": "", "setup.py": ""}],
    Language.NODE: [
        {"package.json": json.dumps(package), "tsconfig.json": "", **lock}
        for runner in ("", "x", "jest", "mocha", "vitest", "node --test")
        for package in (
            {"workspaces": [], "scripts": {"build": "x", "test": runner}},
            {"scripts": {"build": "x", "test": runner}},
            {"scripts": {"test": runner}, "devDependencies": {"eslint": "", "typescript": ""}},
        )
        for lock in ({}, {"package-lock.json": ""})
    ],
    Language.GO: [{"go.mod": ""}, {"go.mod": "", "go.sum": ""}],
    Language.RUST: [
        {"Cargo.toml": manifest, **lock}
        for manifest in ("", "dependencies")
        for lock in ({}, {"Cargo.lock": ""})
    ],
    Language.RUBY: [
        {"Gemfile": named, path: "", "Gemfile.lock": ""}
        for named in ("", "gem 'x'")
        for path in ("a.rb", "spec/a_spec.rb", "test/a_test.rb")
    ],
    Language.PHP: [
        {"composer.json": composer, **configured}
        for composer in ("{}", '{"require-dev": {"pestphp/pest": ""}}')
        for configured in ({"phpunit.xml": ""}, {"tests/ATest.php": ""}, {"a.php": ""})
    ],
    Language.JAVA: [{"pom.xml": ""}, {"build.gradle": ""}],
    Language.MAKE: [
        {"Makefile": f"{target}:\n"} for target in ("", "all", "build", "check", "test", "tests")
    ],
    Language.DOTNET: [
        {f"x.{kind}": "", "y.csproj": used}
        for kind in ("sln", "csproj")
        for used in ("", "MSTest.Sdk")
    ],
}
KNOWN = {
    language: set().union(*(commands_in(part_in(language, one)) for one in files))
    for language, files in PLAIN.items()
}


@pytest.mark.extended
@given(st.sampled_from(list(KNOWN)), FOLDERS, st.data())
def test_a_command_does_not_change_with_what_is_submitted(
    language: Language, folder: str, data: st.DataObject
) -> None:
    package = {
        "scripts": data.draw(st.dictionaries(st.sampled_from(["build", "test"]), JSON_TEXT)),
        "dependencies": data.draw(JSON_TEXT),
        "workspaces": data.draw(JSON_TEXT),
    }
    files = {
        Language.PYTHON: {"pyproject.toml": data.draw(TEXT), "requirements.txt": data.draw(TEXT)},
        Language.NODE: {"package.json": json.dumps(package), "package-lock.json": ""},
        Language.GO: {"go.mod": data.draw(TEXT), "go.sum": data.draw(TEXT)},
        Language.RUST: {"Cargo.toml": data.draw(TEXT), "Cargo.lock": data.draw(TEXT)},
        Language.RUBY: {"Gemfile": data.draw(TEXT), f"spec/{data.draw(TEXT)}_spec.rb": "",
                        "Gemfile.lock": ""},
        Language.PHP: {"composer.json": json.dumps({
            key: data.draw(JSON_TEXT)
            for key in ("repositories", "require-dev", "autoload", "autoload-dev")
        }), f"tests/{data.draw(TEXT)}Test.php": ""},
        Language.JAVA: {
            data.draw(st.sampled_from(["pom.xml", "build.gradle"])): data.draw(TEXT),
            f".mvn/{data.draw(TEXT)}": data.draw(TEXT),
        },
        Language.MAKE: {"Makefile": data.draw(TEXT | st.sampled_from(["test: x", "all tests:"]))},
        Language.DOTNET: {f"{data.draw(TEXT)}.csproj": data.draw(TEXT | st.just("MSTest.Sdk"))},
    }[language]  # fmt: skip

    part = part_in(language, files, folder)

    assert commands_in(part) <= KNOWN[language]
    assert re.fullmatch(rf"/deps/[A-Za-z0-9._-]+\.{language}", part.deps)


@given(TEXT | st.from_regex(r"\A[\^~]?[0-9]+(\.[0-9x*]+)* ?\Z"), TEXT)
def test_what_judges_is_one_package_of_the_registry_and_never_an_option(
    said: str, locked: str
) -> None:
    files = {
        "package.json": json.dumps({"devDependencies": {"typescript": said}}),
        "package-lock.json": json.dumps(
            {"packages": {"node_modules/typescript": {"version": locked}}}
        ),
        "tsconfig.json": "",
    }

    judges = part_in(Language.NODE, files).judges

    assert judges in ((), (f"typescript@{locked or 'latest'}",))
    assert not re.search(
        r"[\s;&$`'\"\\(){}/:@%]", "".join(judges).replace("typescript@", "").replace(" ", "")
    )


@given(st.lists(TEXT, max_size=8))
def test_what_python_is_to_install_is_one_word_each_and_never_an_option(named: list[str]) -> None:
    project = f"[project]\ndependencies = {json.dumps(named)}".encode(errors="replace")

    command = part_in(Language.PYTHON, {"pyproject.toml": project}).install.command

    words = shlex.split(command.removeprefix(PIP))
    assert command in ("", f"{PIP} {shlex.join(words)}")
    assert all(word in named and word[0].isalnum() for word in words)
