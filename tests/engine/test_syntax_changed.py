"""Which files a certain syntax error is held against: changed ones, and what the base had already."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.engine.cases import case
from verification.engine.case import Ports
from verification.engine.checks import CHECKS
from verification.engine.evidence import NotInspected, SyntaxProblem, ToolCall
from verification.engine.fakes import FixedClock, InProcessProbe, MemoryWorkspace
from verification.engine.finding import Finding

BROKEN = '{"a": 1,\n "b": }\n'
FINE = '{"a": 1,\n "b": 2}\n'
TWICE = '{"a": ,\n "b": }\n'
"""Broken in the line of `BROKEN`, and in the line before."""


def findings(
    files: Mapping[str, str], base: Mapping[str, str] | None = None, **submitted: Any
) -> list[Finding]:
    before = None if base is None else MemoryWorkspace(base)
    ports = Ports(MemoryWorkspace(files), InProcessProbe(), FixedClock(), base=before)
    found = CHECKS["syntax"].look(case(files=files, **submitted), ports)
    return [one for one in found if isinstance(one, Finding)]


def counts(files: Mapping[str, str], **about: Any) -> list[str]:
    return [str(one.enforcement) for one in findings(files, **about)]


def call_of(*paths: str, success: bool | None = True) -> ToolCall:
    return ToolCall("write_file", success=success, files_changed=list(paths))


def diff_of(path: str, before: str, after: str, *, context: int = 3) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{path}" if before else "/dev/null",
        f"b/{path}",
        n=context,
    )
    return "".join(lines)


@pytest.mark.parametrize(
    "about",
    [
        {"tool_calls": (call_of("a.json"),)},
        {"tool_calls": (call_of("/srv/shop/a.json", success=None),)},
        {"diff": diff_of("a.json", "", BROKEN)},
        {"diff": diff_of("a.json", FINE, BROKEN)},
        {"diff": diff_of("a.json", FINE, BROKEN, context=0)},
        {"changed": frozenset({"a.json"})},
        {"base": {"a.json": FINE}},
        {"base": {"other.json": FINE}},
        {"deliverables": ["a.json"], "base": {"a.json": FINE}},
    ],
)
def test_a_certain_error_in_a_file_that_the_work_changed_is_hard(about: dict[str, Any]) -> None:
    assert counts({"a.json": BROKEN}, **about) == ["hard"]


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"tool_calls": (call_of("b.json"),)},
        {"tool_calls": (call_of("a.json", success=False),)},
        {"diff": diff_of("b.json", "", BROKEN)},
        {"diff": "no diff at all"},
    ],
)
def test_a_certain_error_in_a_file_that_nothing_names_is_advisory(about: dict[str, Any]) -> None:
    assert counts({"a.json": BROKEN}, **about) == ["advisory"]


@pytest.mark.parametrize(
    "about",
    [
        {"base": {"a.json": BROKEN}},
        {"base": {"old/name.json": BROKEN}},
        {"base": {"a.json": BROKEN.replace("1", "2")}},
        # The broken line was edited, and is broken in the same way.
        {"base": {"a.json": BROKEN.replace('"b"', '"c"')}},
        {"diff": diff_of("a.json", BROKEN.replace("1", "2"), BROKEN)},
        {"diff": diff_of("a.json", BROKEN.replace("1", "2"), BROKEN, context=0)},
        {"diff": "diff --git a/b.json b/a.json\nrename from b.json\nrename to a.json\n"},
        {"changed": frozenset()},
    ],
)
def test_an_error_that_the_base_had_already_is_advisory_and_says_so(about: dict[str, Any]) -> None:
    [found] = findings({"a.json": BROKEN}, deliverables=["a.json"], **about)

    assert found.enforcement == "advisory"
    assert found.message.startswith("The file had this problem before the work: ")


def test_a_call_that_names_a_file_as_the_base_has_it_changed_nothing() -> None:
    base = {"a.json": BROKEN}

    assert counts(base, base=base, tool_calls=(call_of("a.json"),)) == ["advisory"]


@pytest.mark.parametrize(
    "about", [{"base": {"a.json": BROKEN}}, {"diff": diff_of("a.json", BROKEN, TWICE)}]
)
def test_an_error_that_the_work_adds_before_an_old_one_is_hard(about: dict[str, Any]) -> None:
    assert counts({"a.json": TWICE}, **about) == ["hard"]


class TellingProbe(InProcessProbe):
    """Finds a problem in each line that says so, or is lost."""

    def syntax(
        self, sources: Sequence[tuple[str, bytes]]
    ) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
        return [_parse(content.decode()) for _, content in sources]


def _parse(text: str) -> Sequence[SyntaxProblem] | NotInspected:
    if "lost" in text:
        return NotInspected("It was lost.")
    lines = enumerate(text.splitlines(), start=1)
    return [SyntaxProblem(f"{line.split()[1]}.", number) for number, line in lines if "bad" in line]


def describe(now: str, before: str, **about: Any) -> list[tuple[int | None, str]]:
    files = {"a.py": now}
    ports = Ports(
        MemoryWorkspace(files), TellingProbe(), FixedClock(), base=MemoryWorkspace({"a.py": before})
    )
    found = CHECKS["syntax"].look(case(files=files, **about), ports)
    return [(one.line, str(one.enforcement)) for one in found if isinstance(one, Finding)]


def test_what_a_parser_says_behind_an_old_problem_is_not_held_against_the_work() -> None:
    before = "fine\nbad first\nfine\n"

    assert describe("bad new\nfine\nbad first\nbad other\n", before) == [
        (1, "hard"),
        (3, "advisory"),
        (4, "advisory"),
    ]


def test_a_file_whose_base_cannot_be_parsed_is_unknown_where_it_was_declared() -> None:
    assert describe("bad a\n", "lost\n", deliverables=["a.py"]) == [(None, "hard"), (1, "advisory")]
    assert describe("bad a\n", "lost\n") == [(None, "advisory"), (1, "advisory")]


@pytest.mark.parametrize(
    "path",
    ["tests/fixtures/a.json", "spec/Fixtures/deep/a.json", "pkg/testdata/a.json", "bad/a.json"],
)
@pytest.mark.parametrize("listed", [("bad",), ("bad/*.json", "other/**")])
def test_a_file_that_may_be_broken_on_purpose_is_never_held_against_the_work(
    path: str, listed: tuple[str, ...]
) -> None:
    files = {path: BROKEN, "src/main.json": FINE}
    calls = (call_of(path),)

    found = CHECKS["syntax"].look(
        case(files=files, deliverables=[path], tool_calls=calls, syntax_advisory_paths=listed),
        Ports(MemoryWorkspace(files), InProcessProbe(), FixedClock()),
    )

    assert [str(one.enforcement) for one in found if isinstance(one, Finding)] == ["advisory"]


def test_a_name_that_only_looks_like_a_folder_of_fixtures_excuses_nothing() -> None:
    files = {"fixtures.json": BROKEN, "my-fixtures/a.json": BROKEN}

    assert counts(files, deliverables=list(files)) == ["hard", "hard"]


@pytest.mark.parametrize(
    ("deliverables", "expected"), [(["a.json"], [("unknown", "hard")]), ([], [])]
)
def test_a_file_that_is_too_deep_is_unknown_only_where_it_was_declared(
    deliverables: list[str], expected: list[tuple[str, str]]
) -> None:
    deep = "[" * 100_000

    found = findings({"a.json": deep}, deliverables=deliverables, tool_calls=(call_of("a.json"),))

    assert [(str(one.verdict), str(one.enforcement)) for one in found] == expected


def test_a_file_that_is_too_large_is_told_only_where_it_was_declared() -> None:
    files = {"a.py": "1," * 2_600_000}

    assert findings(files, tool_calls=(call_of("a.py"),)) == []
    assert [str(one.verdict) for one in findings(files, deliverables=["a.py"])] == ["unknown"]


def test_syntax_that_the_project_says_it_needs_is_no_problem() -> None:
    problem = SyntaxProblem("It is new.", 1, certain=False, since="3.12")

    class NewProbe(InProcessProbe):
        def syntax(self, sources: Sequence[tuple[str, bytes]]) -> Sequence[Sequence[SyntaxProblem]]:
            return [[problem] if path.endswith(".py") else [] for path, _ in sources]

    files = {
        "new/pyproject.toml": 'requires-python = ">=3.12"\n',
        "new/a.py": "x",
        "old/a.py": "x",
    }

    found = CHECKS["syntax"].look(
        case(files=files), Ports(MemoryWorkspace(files), NewProbe(), FixedClock())
    )

    assert [one.path for one in found if isinstance(one, Finding)] == ["old/a.py"]
