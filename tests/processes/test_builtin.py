from __future__ import annotations

from pathlib import Path

import pytest

import processes
from processes.definition.lint import is_violated, lint
from processes.definition.load import load
from processes.definition.model import Definition, Enforcement, Rule, RuleType

FOLDER = Path(processes.__file__).parent / "builtin"
FILES = sorted(FOLDER.glob("*.yaml"), key=lambda path: path.name)


def definition_of(path: Path) -> Definition:
    definition = load(path.read_bytes()).definition
    assert definition is not None
    return definition


REGEX_RULES = [
    pytest.param(rule, id=f"{path.stem}:{rule.name}")
    for path in FILES
    for rule in definition_of(path).rules
    if rule.type is RuleType.REGEX
]


def test_three_processes_are_shipped() -> None:
    assert [path.stem for path in FILES] == ["code-change", "general", "market-research"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_process_has_nothing_to_complain_about(path: Path) -> None:
    loaded = load(path.read_bytes())

    assert loaded.problems == ()
    assert loaded.definition is not None
    assert lint(loaded.definition) == ()
    assert loaded.definition.name == path.stem


@pytest.mark.parametrize("rule", REGEX_RULES)
def test_a_shipped_pattern_passes_and_fails_its_examples(rule: Rule) -> None:
    assert rule.examples.passing
    assert rule.examples.failing

    assert not [text for text in rule.examples.passing if is_violated(rule, text)]
    assert all(is_violated(rule, text) for text in rule.examples.failing)


@pytest.mark.parametrize("rule", [case for case in REGEX_RULES if "placeholder" in str(case.id)])
def test_a_placeholder_alone_never_rejects(rule: Rule) -> None:
    assert rule.usual_enforcement is Enforcement.ADVISORY


def test_the_example_of_the_documentation_has_nothing_to_complain_about() -> None:
    page = Path(processes.__file__).parents[1] / "docs" / "process-format.md"
    _, _, rest = page.read_text().partition("```yaml\n")
    example, _, _ = rest.partition("```")

    loaded = load(example)

    assert loaded.problems == ()
    assert loaded.definition is not None
    assert lint(loaded.definition) == ()


def test_the_general_process_asks_no_judge() -> None:
    general = definition_of(FOLDER / "general.yaml")

    assert [phase.verification_tier for phase in general.phases] == [1]


@pytest.mark.parametrize("name", ["code-change", "market-research"])
def test_the_others_mix_tiers_kinds_and_enforcements(name: str) -> None:
    definition = definition_of(FOLDER / f"{name}.yaml")

    assert 4 <= len(definition.phases) <= 8
    assert {phase.verification_tier for phase in definition.phases} == {1, 2}
    assert {rule.type for rule in definition.rules} == set(RuleType)
    assert {rule.usual_enforcement for rule in definition.rules} == {
        Enforcement.HARD,
        Enforcement.ADVISORY,
    }
    assert all(rule.is_scoped for rule in definition.rules)
    assert all(phase.deliverables for phase in definition.phases if phase.id != "implement")
