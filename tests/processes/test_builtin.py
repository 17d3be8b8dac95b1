from __future__ import annotations

from pathlib import Path

import pytest

import processes
from loomverify.accounts.models import Project
from processes.definition.lint import lint
from processes.definition.load import load
from processes.definition.model import Enforcement, Rule, RuleType, Severity
from processes.models import ProcessVersion
from processes.services import ensure_builtin_processes
from tests.processes.builtin_cases import (
    FILES,
    FOLDER,
    NAMES,
    Work,
    definition_of,
    evaluate,
    judge_cases,
    phases_of,
    rules,
    verdict_on,
    with_each_phase,
    with_text,
)
from tests.tables import check_rows
from verification.engine.reasons import REASONS

OF_OUR_OWN = [name for name in NAMES if name != "general"]
KEPT_FOR_LATER = {"validity_contract"}

REGEX_RULES = [
    pytest.param(name, phase, rule, id=f"{name}:{phase}:{rule.name}")
    for name, phase, rule in with_each_phase(RuleType.REGEX)
]


def test_a_general_process_and_five_for_kinds_of_work_are_shipped() -> None:
    assert NAMES == [
        "code-change",
        "competitive-intelligence",
        "data-extract",
        "general",
        "market-research",
        "research-report",
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_process_has_nothing_to_complain_about(path: Path) -> None:
    loaded = load(path.read_bytes())

    assert loaded.errors == loaded.warnings == ()
    assert {note.path for note in loaded.notes} <= KEPT_FOR_LATER
    assert loaded.definition is not None
    assert lint(loaded.definition) == ()
    assert loaded.definition.name == path.stem


@pytest.mark.parametrize("name", OF_OUR_OWN)
def test_a_process_for_a_kind_of_work_is_whole(name: str) -> None:
    definition = definition_of(name)

    first, *later = definition.phases
    ids = [phase.id for phase in definition.phases]
    assert 4 <= len(definition.phases) <= 8
    assert 8 <= len(definition.rules) <= 15
    assert first.depends_on == ()
    assert all(phase.depends_on for phase in later)
    assert all(ids.index(one) < ids.index(phase.id) for phase in later for one in phase.depends_on)
    assert all(phase.acceptance_criteria for phase in definition.phases)
    assert all(phase.deliverables for phase in definition.phases if phase.id != "implement")
    assert any(phase.is_critical_path for phase in definition.phases)
    assert sum(phase.is_synthesis for phase in definition.phases) == 1
    assert definition.verifier_constraints
    assert definition.persona


@pytest.mark.parametrize("name", OF_OUR_OWN)
def test_the_mix_of_tiers_kinds_and_enforcements_is_a_good_one(name: str) -> None:
    definition = definition_of(name)

    regex = [rule for rule in definition.rules if rule.type is RuleType.REGEX]
    llm = [rule for rule in definition.rules if rule.type is RuleType.LLM]
    assert {phase.verification_tier for phase in definition.phases} == {1, 2}
    assert len(regex) >= 4
    assert len(llm) >= 4
    assert {rule.usual_enforcement for rule in definition.rules} == {
        Enforcement.HARD,
        Enforcement.ADVISORY,
    }
    assert any(rule.expect == "match" for rule in regex)


def test_matches_are_counted_where_one_is_too_few_or_two_too_many() -> None:
    counted = [rule for _, rule in rules(RuleType.REGEX) if rule.min_count]

    exact = [rule for rule in counted if rule.requires_exact_cardinality]
    assert {rule.min_count for rule in counted} == {1, 2, 3}
    assert len(exact) >= 4
    # A copy of a file among the changed ones must not reject the work.
    assert {rule.usual_enforcement for rule in exact} == {Enforcement.ADVISORY}


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_names_its_phases_and_says_what_to_do(name: str) -> None:
    for rule in definition_of(name).rules:
        assert rule.is_scoped, rule.name
        assert rule.description.endswith("."), rule.name
        assert rule.suggestion.endswith("."), rule.name
        assert "no-" not in rule.suggestion, rule.name


@pytest.mark.parametrize("name", NAMES)
def test_a_hard_rule_says_which_contract_is_broken(name: str) -> None:
    for rule in definition_of(name).rules:
        is_hard = rule.usual_enforcement is Enforcement.HARD
        assert ("Breaks the contract" in rule.description) is is_hard, rule.name
        assert rule.severity is Severity.ERROR or not is_hard, rule.name


@pytest.mark.parametrize("name", NAMES)
def test_instructions_for_the_next_attempt_have_reasons_that_exist(name: str) -> None:
    codes = set(definition_of(name).remediation_instructions)

    assert codes <= {*REASONS, "default"}
    assert "default" in codes or name == "general"


@check_rows("rule", [param.values[2] for param in REGEX_RULES if "placeholder" in str(param.id)])
def test_a_placeholder_alone_never_rejects(rule: Rule) -> None:
    assert rule.usual_enforcement is Enforcement.ADVISORY


@check_rows(("name", "phase", "rule"), REGEX_RULES)
def test_a_pattern_finds_fault_with_its_failing_examples_only(
    name: str, phase: str, rule: Rule
) -> None:
    examples = rule.examples

    told = {
        text: verdict_on(rule, evaluate(name, phase, with_text(Work(), text, rule.target)))
        for text in (*examples.passing, *examples.failing)
    }

    assert len(examples.passing) >= 2
    assert len(examples.failing) >= 2 or name == "general"
    assert told == {
        **dict.fromkeys(examples.passing, "satisfied"),
        **dict.fromkeys(examples.failing, "violated"),
    }


@check_rows(("name", "rule"), list(rules(RuleType.LLM)))
def test_examples_for_the_judge_differ(name: str, rule: Rule) -> None:
    assert rule.examples.passing
    assert rule.examples.failing
    assert not set(rule.examples.passing) & set(rule.examples.failing)


def test_examples_for_the_judge_are_ready_for_it() -> None:
    cases = list(judge_cases())

    asked = {(case.process, case.rule) for case in cases}
    assert asked == {(name, rule.name) for name, rule in rules(RuleType.LLM)}
    for case in cases:
        phase = definition_of(case.process).phase(case.phase)
        assert phase is not None
        assert phase.verification_tier > 1
    assert {case.passes for case in cases} == {True, False}


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_for_a_judge_names_no_phase_that_asks_none(name: str) -> None:
    definition = definition_of(name)

    for rule in definition.rules:
        if rule.type is RuleType.LLM:
            assert {phase.verification_tier for phase in phases_of(rule, definition)} <= {2, 3}


def test_the_example_of_the_documentation_has_nothing_to_complain_about() -> None:
    page = Path(processes.__file__).parents[1] / "docs" / "process-format.md"
    _, _, rest = page.read_text().partition("```yaml\n")
    example, _, _ = rest.partition("```")

    loaded = load(example)

    assert loaded.problems == ()
    assert loaded.definition is not None
    assert lint(loaded.definition) == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_page_about_the_processes_names_all_that_rejects_and_is_delivered(name: str) -> None:
    page = Path(processes.__file__).parents[1] / "docs" / "builtin-processes.md"
    _, _, rest = page.read_text(encoding="utf-8").partition(f"\n## {name}\n")
    section, _, _ = rest.partition("\n## ")

    definition = definition_of(name)
    hard = [rule for rule in definition.rules if rule.usual_enforcement is Enforcement.HARD]
    delivered = [one.path for phase in definition.phases for one in phase.deliverables]
    named = {f"`{one}`" for one in [*delivered, *(rule.name for rule in hard)]}
    assert {one for one in named if one not in section} == set()
    for phase in definition.phases:
        told = f"| `{phase.id}` | {phase.verification_tier}"
        assert told in section or len(definition.phases) == 1
    counted = f"| {len(definition.phases)} | {len(definition.rules)} |"
    line = next(one for one in page.read_text().splitlines() if one.startswith(f"| [`{name}`]"))
    assert line.endswith(counted)


def test_the_general_process_asks_no_judge() -> None:
    general = definition_of("general")

    assert [phase.verification_tier for phase in general.phases] == [1]


def test_the_shipped_files_are_text_that_any_editor_keeps() -> None:
    for path in FOLDER.iterdir():
        if path.suffix == ".yaml":
            data = path.read_bytes()
            assert data.decode("utf-8").encode() == data
            assert b"\r" not in data
            assert b"\t" not in data
            assert data.endswith(b"\n")


@pytest.mark.django_db
def test_a_project_holds_the_shipped_text_to_the_byte() -> None:
    project = Project.objects.create(slug="ours", name="Ours")

    ensure_builtin_processes(project=project)

    stored = ProcessVersion.objects.values_list("process__slug", "source_text")
    assert {slug: text.encode() for slug, text in stored} == {
        path.stem: path.read_bytes() for path in FILES
    }
