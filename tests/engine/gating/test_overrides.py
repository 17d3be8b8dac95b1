from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import check_rows
from verification.engine.gating.components import Component, Language
from verification.engine.gating.given import REPORTS
from verification.engine.gating.overrides import MAX_BYTES, Placed, placed, read_overrides
from verification.engine.gating.planning import parts_of
from verification.engine.gating.recipes import Files
from verification.engine.gating.stages import SECONDS, Part, Ready, Stage, Start

PYTHON, NODE = Component("", Language.PYTHON), Component("", Language.NODE)
BACKEND = Component("backend", Language.PYTHON)
PATHS = ("a.py", "backend/b.py", "backend/inner/c.py", "web/d.js")
WHOLE = b"""\
components:
  - path: ./backend/
    language: Python
    commands: {install: pip install -e ., test: [pytest tests/unit], types: mypy .}
    seconds: {test: 60, run: 9}
    run:
      - {command: python main.py, input: "3\\n", expected_output: 4, expected_exit_code: 2}
      - command: python -m app
        ready: {port: 8000, path: /healthz, seconds: 30}
run: python main.py
"""


def own(content: bytes, *components: Component) -> Placed:
    return placed(read_overrides(content), components or (PYTHON,), PATHS)


def entries(text: str) -> bytes:
    return f"components:\n  - {text}\n".encode()


def problems(content: bytes, *components: Component) -> list[tuple[int, str]]:
    return [(one.line, one.message) for one in own(content, *components).problems]


def parts(content: bytes, *components: Component) -> list[Part]:
    return parts_of(Files(PATHS, dict[str, bytes]().get), own(content, *components), {})


def stage_of(part: Part, gate: str) -> Stage:
    [stage] = [one for one in part.stages if one.gate == gate]
    return stage


def test_the_work_names_commands_limits_and_what_a_start_is_to_do() -> None:
    found = own(WHOLE, PYTHON, BACKEND)

    assert found.problems == ()
    assert found.owns[PYTHON].starts == (Start("python main.py", line=10),)
    backend = found.owns[BACKEND]
    assert backend.commands == {
        "install": ("pip install -e .",),
        "test": ("pytest tests/unit",),
        "types": ("mypy .",),
    }
    assert backend.seconds == {"test": 60, "run": 9}
    assert backend.starts == (
        Start("python main.py", "3\n", "4", 2, line=7),
        Start("python -m app", ready=Ready(8000, "/healthz", 30), line=8),
    )


def test_its_commands_stand_in_for_the_tables_and_say_whose_they_are() -> None:
    root, backend = parts(WHOLE, PYTHON, BACKEND)

    test, types, run = (stage_of(backend, gate) for gate in ("test", "types", "run"))
    assert "run_pytest.py tests/unit" in test.command
    assert test.expected
    assert "/run_mypy.py --output json" in types.command
    assert types.expected
    assert (run.command, run.seconds) == ("python main.py\npython -m app", 9)
    assert all(one.is_own for one in (test, types, run))
    assert backend.install.is_given
    assert not stage_of(backend, "build").is_own
    assert stage_of(root, "run").starts == (Start("python main.py", line=10),)


@check_rows(
    ("content", "found"),
    [
        (b"", (1, "The file is empty.")),
        (b"- a\n", (1, "The file must be a mapping, not a list.")),
        (b"a: [\n", (2, "Not YAML: while parsing a flow node, did not find expected node content.")),
        (b"\xff", (1, "The file is not UTF-8 text.")),
        (b"a: 1\n---\nb: 2\n", (2, "It holds more than one document.")),
        (b"x" * (MAX_BYTES + 1), (1, f"It holds more than {MAX_BYTES} bytes.")),
        (b"a: &a [*a]\n", (1, "*a holds itself.")),
        (b"images: mine\n", (1, "images is not a known key: nothing reads it.")),
        (b"components: backend\n", (1, "components must be a list of components, not text.")),
        (b"components: []\nnetwork: host\n", (2, "network is not a known key: nothing reads it.")),
        (entries("{path: x, language: cobol}"),
         (2, "components[0].language must be one of python, node, go, rust, java, ruby, php,"
             " dotnet, make, not 'cobol'.")),
        (entries("{language: go}"), (2, "components[0].path is required.")),
        (entries("{path: ../x, language: go}"),
         (2, "components[0].path must be a folder of the work.")),
        (entries("{path: /etc, language: go}"),
         (2, "components[0].path must be a folder of the work.")),
        (entries("{path: ., ignore: true}"),
         (2, "components[0].ignore is not a known key: nothing reads it.")),
        (entries("{path: ., commands: {security: 'true'}}"),
         (2, "components[0].commands.security is not a known key: nothing reads it.")),
        (entries("{path: ., commands: {test: []}}"),
         (2, "components[0].commands.test holds no commands that can be run.")),
        (entries('{path: ., commands: {test: "a\\x01b"}}'),
         (2, "components[0].commands.test holds no commands that can be run.")),
        (entries("{path: ., seconds: {test: 121}}"),
         (2, "components[0].seconds.test must be from 1 to 120.")),
        (entries("{path: ., seconds: {install: 1}}"),
         (2, "components[0].seconds.install is not a known key: nothing reads it.")),
        (entries("{path: ., commands: {run: a}, run: b}"),
         (2, "commands.run has no effect beside run.")),
        (entries("{path: web}"), (2, "No component was found in web: name its language.")),
        (entries("{path: nowhere, language: go}"), (2, "The work has no file in nowhere.")),
        (entries("{path: .}\n  - {path: ., language: python}"), (3, ". (python) is there twice.")),
        (b"run: {comand: x}\n", (1, "run.command is required.")),
        (b"run: {command: x, expected_exit_code: 127}\n",
         (1, "run.expected_exit_code must be from 0 to 123.")),
        (b"run: {command: x, ready: {port: 1, seconds: 56}}\n",
         (1, "run.ready.seconds must be from 1 to 55.")),
        (b"run: {command: x, ready: {port: 1, path: 'a b'}}\n",
         (1, "run.ready.path must begin with / and hold no blanks.")),
        (b"run: {command: x, ready: {port: 1}, input: y}\n",
         (1, "A service answers: nothing else counts.")),
        (b"run: []\n", (1, "run names nothing to start.")),
    ],
)  # fmt: skip
def test_what_is_odd_is_told_with_its_line(content: bytes, found: tuple[int, str]) -> None:
    assert found in problems(content)


def test_what_is_odd_leaves_the_rest_as_it_is() -> None:
    text = "{path: ., commands: {types: 7, build: make, lint: x}, seconds: {test: many, run: 5}}"

    [part] = parts(entries(text) + b"run: [{command: a}, {command: b, input: []}, {}]\n")

    assert stage_of(part, "build").command == "make"
    assert stage_of(part, "types").command == "7"
    assert [stage_of(part, gate).seconds for gate in ("test", "run")] == [0, 5]
    assert stage_of(part, "run").starts == (Start("a", line=3),)
    assert not stage_of(part, "lint").is_given


def test_a_component_that_nothing_marks_is_added_with_its_language() -> None:
    found = own(entries("{path: web, language: node}"), PYTHON, BACKEND)

    assert found.components == (PYTHON, BACKEND, Component("web", Language.NODE))
    assert found.problems == ()


def test_of_two_languages_in_a_folder_one_is_to_be_named() -> None:
    [(_, said)] = problems(entries("{path: ., commands: {test: x}}"), PYTHON, NODE)
    named = own(entries("{path: ., language: node, commands: {test: x}}"), PYTHON, NODE)

    assert said == "Several components are in .: name its language."
    assert [*named.owns] == [NODE]


@pytest.mark.extended
@pytest.mark.parametrize(
    "content",
    [
        b"a: " + b"[" * 40_000,
        b"&a " * 20_000,
        b"run: " + b"- " * 30_000,
        b"components:\n" + b"- {path: x, path: x}\n" * 3_000,
        b"a: &a [1,1,1,1,1,1,1,1]\n" + b"".join(
            b"%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n" % (n + 1, n + 1, *[n] * 8)
            for n in range(97, 110)
        ),
        b"k%s: 1\n" * 8_000,
    ],
)  # fmt: skip
def test_a_bomb_is_a_problem_like_any_other(content: bytes) -> None:
    found = own(content)

    assert found.problems
    assert found.components == (PYTHON,)


VALUES = st.recursive(
    st.sampled_from(["x", "'", '"', "$(id)", ".", "..", "7", "0", "-1", "true", "python", "\\n", "*a"])
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3).map(lambda some: f"[{', '.join(some)}]")
    | st.dictionaries(
        st.sampled_from(
            ["path", "language", "commands", "seconds", "run", "test", "build", "security", "lint",
             "command", "input", "expected_output", "ready", "port", "install", "<<", "&a x"]
        ), inner, max_size=4,
    ).map(lambda some: "{" + ", ".join(f"{key}: {value}" for key, value in some.items()) + "}"),
    max_leaves=8,
)  # fmt: skip


@given(VALUES, VALUES)
def test_no_file_raises_loosens_a_limit_or_takes_a_component_away(first: str, second: str) -> None:
    content = f"components: [{first}, {{path: ., commands: {second}, seconds: {second}}}]\nrun: {second}\n"

    found = parts(content.encode(errors="replace"), PYTHON, BACKEND)

    table = parts(b"{}", PYTHON, BACKEND)
    assert [one.component for one in found[:2]] == [PYTHON, BACKEND]
    for part, own_part in zip(found, table, strict=False):
        assert part.seconds == SECONDS
        assert part.environment == own_part.environment
        for stage, other in zip(part.stages, own_part.stages, strict=True):
            assert (stage.seconds or SECONDS[stage.gate]) <= SECONDS[stage.gate]
            if stage.gate in ("lint", "security"):
                assert stage == other
            if stage.expected:
                assert (stage.expected, stage.trailer) == (other.expected, other.trailer)


@given(st.integers(1, SECONDS["test"]))
def test_a_limit_is_the_lower_of_two(seconds: int) -> None:
    [part] = parts(entries(f"{{path: ., seconds: {{test: {seconds}}}}}"))

    assert (stage_of(part, "test").seconds or SECONDS["test"]) == seconds


def test_a_command_that_reports_nothing_does_not_take_the_place_of_one_that_does() -> None:
    own = b"components:\n  - {path: ., commands: {test: echo 3 passed, build: make}}\n"

    [part] = parts(own, PYTHON)

    test, build = stage_of(part, "test"), stage_of(part, "build")
    assert ("run_pytest.py" in test.command, test.is_own) == (True, False)
    assert test.note == REPORTS
    assert (build.command, build.is_own) == ("make", True)
