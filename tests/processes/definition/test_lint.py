from __future__ import annotations

from pathlib import Path

import pytest

from processes.definition.lint import lint
from processes.definition.load import load
from processes.lint_command import lint as lint_files
from tests.processes.files import SMALL, WITH_EVERYTHING, with_phase, with_rule

NEVER = ("rule.never_violated", "verification.rules[0].check")
ALWAYS = ("rule.always_violated", "verification.rules[0].check")
REGEX = {"type": "regex", "applies_to_phases": "build"}


def warnings_of(source: str) -> list[tuple[str, str]]:
    definition = load(source).definition
    assert definition is not None
    return [(problem.code, problem.path) for problem in lint(definition)]


def test_a_process_without_mistakes_has_no_warnings() -> None:
    assert warnings_of(SMALL) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (with_phase(""), ("phase.no_criteria", "phases[0]")),
        (with_rule(type="regex"), ("rule.unscoped", "verification.rules[0]")),
        (with_rule(applies_to_phases="build"), ("rule.unused", "verification.rules[0]")),
        (
            with_rule(**REGEX, check="a(?=b)"),
            ("rule.pattern.unsupported", "verification.rules[0].check"),
        ),
        (
            with_rule(**REGEX, examples="{pass: [fine, TODO], fail: [TODO]}"),
            ("rule.example", "verification.rules[0].examples.pass[1]"),
        ),
        (
            with_rule(**REGEX, examples="{fail: [fine]}"),
            ("rule.example", "verification.rules[0].examples.fail[0]"),
        ),
        (
            with_rule(**REGEX, requires_exact_cardinality="true"),
            ("rule.field_without_effect", "verification.rules[0]"),
        ),
        (with_rule(**REGEX, check="TODO^"), NEVER),
        (with_rule(**REGEX, check="'x*'", expect="match"), NEVER),
        (with_rule(**REGEX, check="'x*'", min_count=1), NEVER),
        (with_rule(**REGEX, min_count=0), NEVER),
        (with_rule(**REGEX, check="'x*'"), ALWAYS),
        (with_rule(**REGEX, check="TODO^", expect="match"), ALWAYS),
        (with_rule(**REGEX, check="TODO^", min_count=2), ALWAYS),
        (
            SMALL + "    - {name: twin, check: TODO, type: regex, applies_to_phases: '*'}\n",
            ("rule.overlap", "verification.rules[1]"),
        ),
        (
            SMALL + "    - {name: judged, check: c, min_count: 2, applies_to_phases: check}\n",
            ("rule.field_without_effect", "verification.rules[1].min_count"),
        ),
    ],
)
def test_a_probable_mistake_is_a_warning_with_its_place(
    source: str, expected: tuple[str, str]
) -> None:
    assert warnings_of(source) == [expected]


def test_a_count_that_some_text_satisfies_and_another_violates_is_no_warning() -> None:
    exactly_none = with_rule(**REGEX, min_count=0, requires_exact_cardinality="true")
    exactly_one = with_rule(**REGEX, check="'x*'", min_count=1, requires_exact_cardinality="true")

    assert warnings_of(exactly_none) == warnings_of(exactly_one) == []


def test_doubt_is_never_a_warning() -> None:
    found = [code for code, _ in warnings_of(WITH_EVERYTHING)]

    assert "policy.doubt_as_warning" in found


@pytest.mark.parametrize(
    ("fields", "violated"),
    [
        ({}, {"": False, "TODO": True, "TODO TODO": True}),
        ({"expect": "match"}, {"": True, "TODO": False}),
        ({"min_count": 2}, {"TODO": True, "TODO TODO": False, "TODO TODO TODO": False}),
        (
            {"min_count": 2, "requires_exact_cardinality": "true"},
            {"TODO": True, "TODO TODO": False, "TODO TODO TODO": True},
        ),
    ],
)
def test_examples_are_judged_as_runs_are(
    fields: dict[str, object], violated: dict[str, bool]
) -> None:
    passing = [text for text, is_violated in violated.items() if not is_violated]
    failing = [text for text, is_violated in violated.items() if is_violated]
    right = f"{{pass: {passing}, fail: {failing}}}"
    wrong = f"{{pass: {failing}, fail: {passing}}}"

    assert warnings_of(with_rule(**REGEX, **fields, examples=right)) == []
    assert len(warnings_of(with_rule(**REGEX, **fields, examples=wrong))) == len(violated)


def test_the_command_prints_places_and_fails_only_on_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, doubtful, bad = (tmp_path / name for name in ("good.yaml", "doubtful.yaml", "bad.yaml"))
    good.write_text(SMALL)
    doubtful.write_text(with_rule(type="regex"))
    bad.write_text("name: x\nphases: 7\n")

    assert lint_files([str(good), str(doubtful)]) == 0
    assert lint_files([str(good), str(bad), str(tmp_path / "missing.yaml")]) == 1

    printed = capsys.readouterr().out
    assert f"{doubtful}:7:7: warning: The rule 'r' names no phase" in printed
    assert f"{bad}:2:9: error: phases must be a list of phases, not text. [value.kind]" in printed
    assert "missing.yaml:1:1: error: " in printed
    assert "3 file(s), 2 error(s), 0 warning(s)" in printed


@pytest.mark.parametrize(
    ("added", "path", "column"),
    [
        ("riskLevel: low\n", "riskLevel", 12),
        ("tools: {allowed: [read]}\n", "tools.allowed", 18),
        ("remediation: {}\n", "remediation", 14),
        ("  polcy: {}\n", "verification.polcy", 10),
        ("  policy: {max_attemts: 2}\n", "verification.policy.max_attemts", 25),
        ("  policy: {review: {sample: 0}}\n", "verification.policy.review.sample", 29),
        ("  policy: {semantic_checks: [{id: c, check: c, odd: 1}]}\n",
         "verification.policy.semantic_checks[0].odd", 53),
        ("  remediation: {retry_budget: {max: 1}}\n",
         "verification.remediation.retry_budget.max", 37),
        ("      sevrity: error\n", "verification.rules[0].sevrity", 16),
        ("      examples: {passes: [a]}\n", "verification.rules[0].examples.passes", 26),
    ],
)  # fmt: skip
def test_a_field_that_nothing_reads_is_a_warning_at_its_place(
    added: str, path: str, column: int
) -> None:
    found = [(one.code, one.path, one.line, one.column) for one in load(SMALL + added).warnings]

    assert found == [("key.unknown", path, 18, column)]


def test_a_field_of_a_phase_that_nothing_reads_is_a_warning() -> None:
    (warning,) = load(with_phase("    verificaton_tier: 2")).warnings

    assert (warning.code, warning.path) == ("key.unknown", "phases[0].verificaton_tier")


def test_the_files_of_a_folder_are_linted_and_an_empty_one_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inner, empty = tmp_path / "all" / "inner", tmp_path / "empty"
    inner.mkdir(parents=True)
    empty.mkdir()
    (tmp_path / "all" / "b.yml").write_text(SMALL)
    (tmp_path / "all" / "notes.txt").write_text("no process")
    (inner / "a.yaml").write_text(f"{SMALL}odd: 1\n")

    assert lint_files([str(tmp_path / "all")]) == 0
    assert lint_files([str(empty)]) == 1

    printed = capsys.readouterr().out
    assert f"{inner / 'a.yaml'}:18:6: warning: odd is not a known key" in printed
    assert "2 file(s), 0 error(s), 1 warning(s)" in printed
    assert f"{empty}:1:1: error: No file in this folder ends with .yaml or .yml." in printed
