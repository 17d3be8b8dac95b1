from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.load import Loaded, load
from processes.definition.model import (
    AutoCommit,
    Definition,
    Deliverable,
    Enforcement,
    Expect,
    GatesWithoutSandbox,
    Level,
    LintCommands,
    Phase,
    Rule,
    RuleType,
    ScoreLoop,
    Severity,
    Target,
    ToolSuccessPolicy,
)
from tests.processes.files import SMALL, WITH_EVERYTHING, with_phase, with_rule
from tests.tables import check_rows
from tests.tiers import long_search

OLD_FILE = """\
name: old-package
version: "1.0"
schema_version: 1
phase_mode: strict
tool_guidance: |
  Use tables.
phases:
  - id: gather
    description: >
      Gather the
      facts.
    depends_on: []
    model_tier: 2
    verification_tier: 2
    deliverables: "facts-2020-2024.md — what was found"
dependencies:
  - pyyaml
verification:
  rules:
    - name: no-placeholders
      description: "No placeholders"
      check: "\\\\[TBD\\\\]|N/A"
      severity: error
      type: regex
    - name: sourced
      check: >
        Every figure has a source.
      severity: error
      type: llm
      applies_to_phases: ["*"]
memory:
  extract_types:
    - {type: fact, description: d}
"""


def definition_of(source: str) -> Definition:
    loaded = load(source)
    assert loaded.errors == ()
    assert loaded.definition is not None
    return loaded.definition


def rule_of(**fields: object) -> Rule:
    return definition_of(with_rule(**fields)).rules[0]


def codes(loaded: Loaded, level: Level) -> list[tuple[str, str, int]]:
    return [(p.code, p.path, p.line) for p in loaded.problems if p.level is level]


def test_what_a_file_leaves_out_has_defaults() -> None:
    definition = definition_of(SMALL)

    phase = definition.phases[0]
    assert (definition.schema_version, definition.version) == (1, "1.0")
    assert (definition.risk_level, definition.phase_mode) == ("medium", "guided")
    assert definition.policy.tool_success_policy is ToolSuccessPolicy.ALL_TOOLS_HARD
    assert definition.policy.lint_commands is LintCommands.TABLE
    assert definition.policy.gates_without_sandbox is GatesWithoutSandbox.UNDECIDED
    assert (phase.gates_without_sandbox, phase.may_lower_tier) == (None, False)
    assert definition.policy.max_attempts is None
    assert definition.remediation == {"critical_path_behavior": "block", "max_attempts": 2}
    assert (phase.verification_tier, phase.confidence_floor, phase.advisory) == (1, 0.6, False)
    assert definition.shown_title == "Small"


def test_everything_a_file_can_say_is_read() -> None:
    definition = definition_of(WITH_EVERYTHING)

    phase, rule = definition.phases[0], definition.rules[0]
    assert (definition.schema_version, definition.version) == (2, "1.10")
    assert definition.risk_level == "medium"
    assert definition.verifier_constraints == "Judge mildly."
    assert definition.remediation_instructions["evidence_gap"] == "Find proof."
    assert definition.policy.max_attempts == 4
    assert definition.policy.lint_commands is LintCommands.PLAN
    assert definition.policy.auto_commit is AutoCommit.JUDGE_IS_ENOUGH
    assert definition.policy.gates_without_sandbox is GatesWithoutSandbox.MEDIUM
    assert (phase.gates_without_sandbox, phase.may_lower_tier) == (GatesWithoutSandbox.MEDIUM, True)
    assert definition.policy.gate_seconds == {"test": 600}
    assert definition.policy.syntax_advisory_paths == ("samples/*",)
    assert definition.policy.review.sample_rate == 0.1
    assert definition.remediation["strategies"] == [{"id": "s"}]
    assert phase.deliverables == (Deliverable("a-b.md", "first"), Deliverable("c.csv", ""))
    assert phase.score == ScoreLoop(7.5, 4)
    assert (phase.gates, phase.max_attempts, phase.model_tier) == (("install", "test"), 5, "2")
    assert rule.type is RuleType.REGEX
    assert rule.severity is Severity.ERROR
    assert rule.enforcement is Enforcement.OBSERVE
    assert rule.target is Target.EVIDENCE
    assert rule.expect is Expect.MATCH
    assert rule.applies_to_phases == ("a",)
    assert (rule.min_count, rule.requires_exact_cardinality) == (2, True)
    assert rule.examples.failing == ("b",)


@check_rows(
    ("gates", "of_phase", "of_process", "needs_sandbox"),
    [
        ("test", None, None, True),
        ("test", None, "medium", False),
        ("test", "medium", None, False),
        ("test", "medium", "undecided", False),
        ("test", "undecided", "medium", True),
        (None, None, None, False),
    ],
)
def test_a_phase_decides_before_its_process_what_gates_without_a_sandbox_mean(
    gates: str | None, of_phase: str | None, of_process: str | None, needs_sandbox: bool
) -> None:
    lines = ["name: small", "phases:", "  - id: build", "    description: Build it"]
    lines += [f"    gates: {gates}"] if gates else []
    lines += [f"    gates_without_sandbox: {of_phase}"] if of_phase else []
    setting = f"{{static_checks: {{gates_without_sandbox: {of_process}}}}}"
    lines += [f"verification: {{policy: {setting}}}"] if of_process else []

    definition = definition_of("\n".join(lines))

    assert definition.needs_sandbox(definition.phases[0]) is needs_sandbox


def test_a_file_of_the_first_system_loads_as_it_is() -> None:
    loaded = load(OLD_FILE)

    definition = loaded.definition
    assert definition is not None
    assert codes(loaded, Level.WARNING) == []
    assert definition.phases[0].deliverables == (
        Deliverable("facts-2020-2024.md", "what was found"),
    )
    assert not definition.rules[0].is_scoped
    assert definition.rules[0].usual_enforcement is Enforcement.ADVISORY
    assert definition.rules[0].check == r"\[TBD\]|N/A"
    assert definition.rules[1].usual_enforcement is Enforcement.HARD


def test_an_extra_instruction_to_the_judge_is_a_rule_of_every_phase() -> None:
    definition = definition_of(WITH_EVERYTHING)

    extra = definition.rules[1]
    assert (extra.name, extra.type, extra.check) == ("extra", RuleType.LLM, "Look twice.")
    assert extra.applies_to_phases == ("*",)
    assert extra.usual_enforcement is Enforcement.HARD
    assert len(definition.rules) == 2


@pytest.mark.parametrize(
    ("word", "level"),
    [("low", "low"), ("NORMAL", "medium"), ("std", "medium"), ("critical", "critical")],
)
def test_risk_levels_have_other_words(word: str, level: str) -> None:
    assert definition_of(f"{SMALL}risk_level: {word}\n").risk_level == level


@pytest.mark.parametrize(
    ("fields", "phases", "target"),
    [
        ({}, (), Target.OUTPUT),
        ({"scope": "phase"}, (), Target.OUTPUT),
        ({"scope": "global"}, ("*",), Target.OUTPUT),
        ({"scope": "deliverables"}, (), Target.DELIVERABLES),
        ({"scope": "phase", "applies_to_phases": "build"}, ("build",), Target.OUTPUT),
        ({"applies_to_phases": '"*"'}, ("*",), Target.OUTPUT),
        ({"applies_to_phases": "[build, '*']"}, ("*",), Target.OUTPUT),
    ],
)
def test_scope_says_where_a_rule_applies_or_where_it_looks(
    fields: dict[str, object], phases: tuple[str, ...], target: Target
) -> None:
    rule = rule_of(**fields)

    assert (rule.applies_to_phases, rule.target) == (phases, target)


UNDER_A_PHASE = """\
name: small
phases:
  - id: plan
    description: Plan it
  - id: build
    description: Build it
    {place}[{{name: r, check: TODO, type: regex{fields}}}]
"""


@pytest.mark.parametrize("place", ["rules: ", "verification: {rules: "])
@pytest.mark.parametrize(
    ("fields", "phases"),
    [
        ("", ("build",)),
        (", scope: phase", ("build",)),
        (", scope: evidence", ("build",)),
        (", scope: global", ("*",)),
        (", applies_to_phases: plan", ("plan",)),
        (", scope: phase, applies_to_phases: [plan, build]", ("plan", "build")),
    ],
)
def test_a_rule_under_a_phase_belongs_to_it(
    place: str, fields: str, phases: tuple[str, ...]
) -> None:
    source = UNDER_A_PHASE.format(place=place, fields=fields)
    loaded = load(source.replace("}]", "}]}") if "{" in place else source)

    assert loaded.problems == ()
    assert loaded.definition is not None
    [rule] = loaded.definition.rules
    assert rule.applies_to_phases == phases


def test_a_mistake_in_a_rule_under_a_phase_has_its_place() -> None:
    loaded = load(UNDER_A_PHASE.format(place="rules: ", fields=", applies_to_phases: sleep"))

    assert [(one.code, one.path, one.line) for one in loaded.errors] == [
        ("phase.unknown", "phases[1].rules[0].applies_to_phases", 7)
    ]


def test_the_rules_under_all_phases_are_bounded_together() -> None:
    rules = ", ".join(f"{{name: r{number}, check: c}}" for number in range(251))
    phases = "".join(
        f"  - {{id: p{number}, description: d, rules: [{rules}]}}\n" for number in range(2)
    )

    loaded = load(f"name: small\nphases:\n{phases}")

    assert [(one.code, one.path) for one in loaded.errors] == [
        ("rules.too_many", "phases[1].rules")
    ]


@pytest.mark.parametrize(
    ("scope", "phases"), [("", ("*",)), (", scope: phase", ()), (", scope: global", ("*",))]
)
def test_an_extra_instruction_to_the_judge_may_be_bound_to_a_phase(
    scope: str, phases: tuple[str, ...]
) -> None:
    definition = definition_of(
        f"{SMALL}  policy: {{semantic_checks: [{{id: extra, check: Look twice.{scope}}}]}}\n"
    )

    assert definition.rules[-1].applies_to_phases == phases


@pytest.mark.parametrize(
    ("applies", "ids", "expected"),
    [
        ((), ("plan",), ("plan",)),
        ((), ("plan", "build"), ()),
        (("*",), ("plan", "build"), ("plan", "build")),
        (("build",), ("plan", "build"), ("build",)),
    ],
)
def test_a_rule_without_a_phase_belongs_to_the_only_phase(
    applies: tuple[str, ...], ids: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    rule = Rule("r", "TODO", applies_to_phases=applies)
    definition = Definition("small", tuple(map(Phase, ids)), rules=(rule,))

    assert definition.phases_of(rule) == expected


@check_rows(
    ("source", "expected"),
    [
        ("phases: []\n", {("key.missing", "name", 1), ("phases.empty", "phases", 1)}),
        ("name: Bad Name\n", {("name.invalid", "name", 1), ("key.missing", "phases", 1)}),
        (f"{SMALL}risk_level: huge\n", {("value.choice", "risk_level", 18)}),
        (f"{SMALL}author:\n", {("value.kind", "author", 18)}),
        (f"{SMALL}tags: {{a: b}}\n", {("value.kind", "tags", 18)}),
        (
            f"{SMALL}tools: {{required: [a, b], excluded: [b]}}\n",
            {("tools.overlap", "tools", 18)},
        ),
        (
            with_phase("    verification_tier: 4"),
            {("value.range", "phases[0].verification_tier", 5)},
        ),
        (
            with_phase("    depends_on: [nobody]"),
            {("phase.unknown", "phases[0].depends_on", 5)},
        ),
        (with_phase("    depends_on: build"), {("phase.cycle", "phases[0].depends_on", 5)}),
        (
            with_phase("  - {id: build, description: d}"),
            {("phase.duplicate", "phases[1].id", 5)},
        ),
        (
            with_phase("    deliverables: a.md\n  - {id: b, description: d, deliverables: ./a.md}"),
            {("deliverable.duplicate", "phases[1].deliverables", 6)},
        ),
        (
            with_phase("    deliverables: ../a.md"),
            {("deliverable.path", "phases[0].deliverables", 5)},
        ),
        (with_phase("    gates: [fly]"), {("value.choice", "phases[0].gates[0]", 5)}),
        (
            with_rule(applies_to_phases="[build, sleep]"),
            {("phase.unknown", "verification.rules[0].applies_to_phases", 9)},
        ),
        (
            with_rule(scope="evidence", target="output"),
            {("rule.scope", "verification.rules[0].scope", 9)},
        ),
        (with_rule(type="magic"), {("value.choice", "verification.rules[0].type", 9)}),
        (
            f"{SMALL}" + "    - {name: r, check: c}\n" * 500,
            {("rules.too_many", "verification.rules", 14)},
        ),
        (
            with_phase("  - {id: p, description: d}\n" * 200),
            {("phases.too_many", "phases", 3)},
        ),
        (with_rule(check=""), {("value.kind", "verification.rules[0].check", 8)}),
        (
            with_rule(min_count="many", severity="7"),
            {
                ("value.kind", "verification.rules[0].min_count", 9),
                ("value.choice", "verification.rules[0].severity", 10),
            },
        ),
    ],
)
def test_every_error_is_told_with_its_place(
    source: str, expected: set[tuple[str, str, int]]
) -> None:
    loaded = load(source)

    assert loaded.definition is None
    assert set(codes(loaded, Level.ERROR)) == expected


def test_a_cycle_is_spelled_out() -> None:
    source = """\
name: ring
phases:
  - {id: a, description: d, depends_on: [c]}
  - {id: b, description: d, depends_on: [a]}
  - {id: c, description: d, depends_on: [b]}
"""

    assert "a → c → b → a" in load(source).errors[0].message


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"{SMALL}schema_version: junk\n", ("schema_version.unknown", "schema_version", 18)),
        (f"{SMALL}name: other\n", ("key.duplicate", "name", 18)),
        (
            f"{SMALL}    - {{name: no-todo, check: x}}\n",
            ("rule.duplicate", "verification.rules[1]", 18),
        ),
    ],
)
def test_what_an_old_file_may_hold_is_a_warning(
    source: str, expected: tuple[str, str, int]
) -> None:
    loaded = load(source)

    assert loaded.definition is not None
    assert codes(loaded, Level.WARNING) == [expected]


def test_keys_without_effect_and_unknown_ones_are_noted_never_refused() -> None:
    loaded = load(f"{SMALL}memory: [1]\nmy_key: {{deep: [er]}}\n")

    assert loaded.definition is not None
    assert codes(loaded, Level.NOTE) == [("key.kept", "memory", 18)]
    assert codes(loaded, Level.WARNING) == [("key.unknown", "my_key", 19)]


BILLION_LAUGHS = "a: &a [x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


@check_rows(
    ("source", "code", "line"),
    [
        ("", "yaml.empty", 1),
        ("# nothing\n", "yaml.empty", 1),
        ("a: [1", "yaml.syntax", 2),
        ("a: b\n\tc: d\n", "yaml.syntax", 2),
        ("a: 1\n--- \nb: 2\n", "yaml.documents", 2),
        ("a: 1\nb: \x07\n", "yaml.character", 2),
        ("a: 1\nb: \x00\n", "yaml.character", 2),
        ('a: 1\nb: "\\0"\n', "yaml.character", 2),
        (b"a: 1\nb: \xff\n", "file.encoding", 2),
        ("a: 1\nb: \ud800\n", "file.encoding", 2),
        ("a: 1\nb: !!python/object:os.system x\n", "yaml.tag", 2),
        ("a: 1\nb: !secret x\n", "yaml.tag", 2),
        ("a: &a\n  - *a\n", "yaml.recursive", 2),
        ("a: 1\nb: *nowhere\n", "yaml.alias_unknown", 2),
        ("a: &a 1\nb: &a 2\n", "yaml.syntax", 2),
        (f"a: {'[' * 200}\n", "yaml.depth", 1),
        ("a: " + "- " * 5 + "x", "yaml.syntax", 1),
        (f"a: [{'1, ' * 60_000}]\n", "yaml.nodes", 1),
        ("a: " + "x" * 1_100_000, "file.too_large", 1),
        ("a: &a x\nb: [" + "*a, " * 2_000 + "]", "yaml.aliases", 2),
        (BILLION_LAUGHS, "yaml.nodes", 6),
        (f"a: &a {'x' * 500_000}\nb:\n- *a\n- *a\n", "yaml.characters", 4),
    ],
)
def test_what_cannot_be_read_is_one_error_with_its_line(
    source: str | bytes, code: str, line: int
) -> None:
    loaded = load(source)

    assert loaded.definition is None
    assert [(problem.code, problem.line) for problem in loaded.problems] == [(code, line)]


def test_depth_is_counted_through_aliases() -> None:
    nested = "[" * 60 + "x" + "]" * 60
    source = f"a: &a {nested}\nb: {'[' * 60}*a{']' * 60}\n"

    assert load(source).errors[0].code == "yaml.depth"


def test_anchors_and_merge_keys_are_followed() -> None:
    source = """\
name: merged
phases:
  - &base {id: a, description: d, verification_tier: 2}
  - {<<: *base, id: b}
"""

    phases = definition_of(source).phases

    assert [(phase.id, phase.verification_tier) for phase in phases] == [("a", 2), ("b", 2)]


def test_a_byte_order_mark_and_windows_line_ends_are_no_obstacle() -> None:
    raw = ("\ufeff" + SMALL.replace("\n", "\r\n")).encode()

    assert load(raw).definition == definition_of(SMALL)


def test_spaces_in_a_pattern_count() -> None:
    assert rule_of(check="' TODO '").check == " TODO "


def test_a_rules_content_does_not_change_with_its_place_or_its_examples() -> None:
    first = rule_of()
    second = definition_of("# a line more\n" + with_rule(examples="{fail: [TODO]}")).rules[0]

    assert first.content_sha256 == second.content_sha256
    assert first.content_sha256 != rule_of(severity="error").content_sha256


NODES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("*"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    entries = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    return [path, *(place for key, child in entries for place in places(child, (*path, key)))]


DOCUMENT = yaml.safe_load(WITH_EVERYTHING)
PLACES = places(DOCUMENT)


def replaced(document: Any, place: tuple[Any, ...], node: Any) -> Any:
    if not place:
        return node
    changed = copy.deepcopy(document)
    parent = changed
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = node
    return changed


@pytest.mark.extended
@pytest.mark.parametrize("node", [None, [], {}, "", "x", 1, -1.5, True, [None], {"a": None}, [[]]])
def test_a_document_of_another_kind_is_an_error(node: Any) -> None:
    loaded = load(yaml.safe_dump(node))

    assert loaded.definition is None
    assert loaded.errors


@pytest.mark.extended
@long_search(150)
@given(place=st.sampled_from(PLACES), node=NODES)
def test_malformed_nodes_are_problems_with_places(place: tuple[Any, ...], node: Any) -> None:
    source = yaml.safe_dump(replaced(DOCUMENT, place, node), allow_unicode=True)

    loaded = load(source)

    assert (loaded.definition is None) == bool(loaded.errors)
    lines = source.count("\n") + 1
    assert all(1 <= p.line <= lines + 1 and p.column >= 1 for p in loaded.problems)


@long_search(200)
@given(source=st.binary(max_size=200) | st.text(alphabet="ab:-[]{}&*!|>'\"#%\n \t,?<", max_size=80))
def test_no_text_at_all_is_a_traceback(source: str | bytes) -> None:
    loaded = load(source)

    assert (loaded.definition is None) == bool(loaded.errors)
