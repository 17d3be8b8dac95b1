"""Read a process file whole: every error, warning and note with its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from processes.definition.model import (
    AutoCommit,
    Definition,
    GatesWithoutSandbox,
    Level,
    LintCommands,
    Problem,
    ProcessPolicy,
    Rule,
    ToolSuccessPolicy,
)
from processes.definition.phases import PlacedPhase, read_gate_seconds, read_phases
from processes.definition.plain import plain
from processes.definition.reading import Fields, Log, Value, listed
from processes.definition.review import read_review_policy
from processes.definition.rules import read_phase_rules, read_rules, read_semantic_checks
from processes.definition.stream import Unreadable, compose

NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
MAX_NAME = 80
MAX_TITLE = 200
MAX_ATTEMPTS = 100
MAX_PATHS = 50
MAX_PATH_CHARS = 500
RISK_LEVELS = {
    "low": "low",
    "high": "high",
    "critical": "critical",
    **dict.fromkeys(("medium", "normal", "med", "mid", "std", "standard"), "medium"),
}
PHASE_MODES = ("guided", "strict", "suggestive")
CRITICAL_PATH_BEHAVIORS = ("block", "confirm_or_prune_then_queue", "queue_follow_up")
KEPT_AT_TOP = (
    "validity_contract",
    "evidence",
    "memory",
    "workspace_analysis",
    "planner_examples",
    "replanning",
    "tests",
    "auth",
    "dependencies",
    "output_coordination",
)
ANY_REASON = "default"


@dataclass(frozen=True, slots=True)
class Loaded:
    """`definition` is None exactly when a problem is an error."""

    definition: Definition | None
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        return self._of(Level.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return self._of(Level.WARNING)

    @property
    def notes(self) -> tuple[Problem, ...]:
        return self._of(Level.NOTE)

    def _of(self, level: Level) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.level is level)


def load(source: str | bytes, *, is_stored: bool = False) -> Loaded:
    """Read a process file. Never raises; all complaints are in `problems`, in file order.

    `is_stored`: a version that was accepted by an earlier program, perhaps one that asked less.
    """
    log = Log(is_stored=is_stored)
    try:
        fields = Value(compose(source), "", log).mapping()
    except Unreadable as error:
        return Loaded(None, (error.problem,))
    definition = None if fields is None else _read(fields)
    problems = tuple(sorted(log.problems, key=lambda problem: (problem.line, problem.column)))
    return Loaded(None if log.has_errors else definition, problems)


def _read(fields: Fields) -> Definition:
    placed = read_phases(fields)
    rules, policy, remediation = _verification(fields.mapping("verification"), placed)
    contracts = fields.mapping("prompt_contracts")
    definition = Definition(
        name=fields.read("name", _name, "") or _missing_name(fields),
        title=fields.text("title", limit=MAX_TITLE),
        description=fields.text("description"),
        schema_version=fields.read("schema_version", _schema_version, 1),
        version=fields.text("version", "1.0"),
        author=fields.text("author"),
        persona=fields.text("persona"),
        tags=fields.texts("tags"),
        risk_level=RISK_LEVELS[fields.word("risk_level", tuple(RISK_LEVELS), "medium")],
        phase_mode=fields.word("phase_mode", PHASE_MODES, "guided"),
        phases=tuple(one.phase for one in placed),
        rules=rules,
        policy=policy,
        remediation=remediation,
        verifier_constraints="\n".join(contracts.texts("verifier_constraints")),
        remediation_instructions=contracts.read("remediation_instructions", _instructions, {}),
        places=fields.value.log.places,
    )
    _tools(fields)
    contracts.close(kept=tuple(contracts.values))
    fields.close(kept=KEPT_AT_TOP)
    return definition


def _name(value: Value) -> str | None:
    name = value.text(limit=MAX_NAME)
    if name is None or NAME.fullmatch(name):
        return name
    value.complain(
        "name.invalid", "name must be small letters, digits and hyphens, such as code-change."
    )
    return None


def _missing_name(fields: Fields) -> str:
    if not fields.has("name"):
        fields.complain("key.missing", "name is required.", "name")
    return ""


def _schema_version(value: Value) -> int | None:
    text = str(value.node.value).strip() if value.is_scalar else ""
    if text in ("1", "2"):
        return int(text)
    if value.kind in ("a list", "a mapping"):
        return value.integer(1, 2)
    value.complain(
        "schema_version.unknown", f"schema_version {text[:20]!r} is read as 1.", Level.WARNING
    )
    return 1


def _instructions(value: Value) -> Mapping[str, str] | None:
    if value.is_scalar:
        return {ANY_REASON: value.text() or ""}
    fields = value.mapping()
    if fields is None:
        return None
    return {code: "\n".join(entry.texts() or ()) for code, entry in fields.values.items()}


def _tools(fields: Fields) -> None:
    """Guidance to the executor: checked, since a contradiction is a mistake, and kept."""
    tools = fields.mapping("tools")
    tools.text("guidance")
    fields.text("tool_guidance")
    required = tools.texts("required")
    excluded = tools.texts("excluded")
    if both := sorted(set(required) & set(excluded)):
        tools.complain("tools.overlap", f"Both required and excluded: {listed(both)}.")
    tools.close()


def _verification(
    fields: Fields, phases: tuple[PlacedPhase, ...]
) -> tuple[tuple[Rule, ...], ProcessPolicy, dict[str, Any]]:
    phase_ids = {placed.phase.id for placed in phases}
    rules = read_rules(fields, phase_ids)
    rules += tuple(read_phase_rules(phases, phase_ids))
    policy_fields = fields.mapping("policy")
    rules += read_semantic_checks(policy_fields, phase_ids)
    _warn_of_twins(fields, rules)
    policy = _policy(policy_fields)
    remediation = _remediation(fields.mapping("remediation"))
    fields.close()
    return rules, policy, remediation


def _warn_of_twins(fields: Fields, rules: tuple[Rule, ...]) -> None:
    seen: set[str] = set()
    for rule in rules:
        if rule.name in seen:
            message = f"More than one rule is named {rule.name!r}; figures cannot tell them apart."
            line, column = fields.value.log.places[rule.path]
            fields.value.log.problems.append(
                Problem("rule.duplicate", message, rule.path, line, column, level=Level.WARNING)
            )
        seen.add(rule.name)


def _policy(fields: Fields) -> ProcessPolicy:
    static = fields.mapping("static_checks")
    tool_success_policy = static.word(
        "tool_success_policy", tuple(ToolSuccessPolicy), ToolSuccessPolicy.ALL_TOOLS_HARD
    )
    lint_commands = static.word("lint_commands", tuple(LintCommands), LintCommands.TABLE)
    gate_seconds = read_gate_seconds(static.mapping("gate_seconds"))
    gates_without_sandbox = static.word(
        "gates_without_sandbox", tuple(GatesWithoutSandbox), GatesWithoutSandbox.UNDECIDED
    )
    nowhere: tuple[str, ...] = ()
    syntax_advisory_paths = static.read("syntax_advisory_paths", _paths, nowhere)
    static.close(kept=tuple(static.values))
    outcome = fields.mapping("outcome_policy")
    infra_as_warning = outcome.flag("treat_verifier_infra_as_warning")
    outcome.close(kept=tuple(outcome.values))
    policy = ProcessPolicy(
        mode=fields.word("mode", ("llm_first", "static_first"), "llm_first"),
        tool_success_policy=ToolSuccessPolicy(tool_success_policy),
        lint_commands=LintCommands(lint_commands),
        gate_seconds=gate_seconds,
        gates_without_sandbox=GatesWithoutSandbox(gates_without_sandbox),
        syntax_advisory_paths=syntax_advisory_paths,
        max_attempts=fields.read(
            "max_attempts", lambda value: value.integer(1, MAX_ATTEMPTS), None
        ),
        auto_commit=AutoCommit(
            fields.word("auto_commit", tuple(AutoCommit), AutoCommit.BUILD_OR_TESTS)
        ),
        treat_verifier_infra_as_warning=infra_as_warning,
        review=read_review_policy(fields.mapping("review")),
    )
    fields.close(kept=("output_contract",))
    return policy


def _paths(value: Value) -> tuple[str, ...] | None:
    """Read paths inside of the workspace, with wildcards or without."""
    entries = [value] if value.is_scalar else value.entries("a list of paths")
    if entries is None:
        return None
    if len(entries) > MAX_PATHS:
        value.complain("value.too_many", f"{value.path} may hold at most {MAX_PATHS} paths.")
        return None
    texts = [entry.text(limit=MAX_PATH_CHARS) for entry in entries]
    for entry, text in zip(entries, texts, strict=True):
        pure = PurePosixPath(text or "")
        if text == "":
            entry.complain("value.empty", f"{entry.path} must not be empty.")
        elif text and (pure.is_absolute() or ".." in pure.parts):
            entry.complain("value.path", f"{text[:100]!r} lies outside the workspace.")
    return tuple(text for text in texts if text)


def _remediation(fields: Fields) -> dict[str, Any]:
    budget = fields.mapping("retry_budget")
    remediation: dict[str, Any] = {
        "critical_path_behavior": fields.word(
            "critical_path_behavior", CRITICAL_PATH_BEHAVIORS, "block"
        ),
        "max_attempts": budget.read(
            "max_attempts", lambda value: value.integer(0, MAX_ATTEMPTS), 2
        ),
    }
    budget.close()
    for key in ("strategies", "default_strategy", "transient_retry_policy"):
        value = fields.get(key)
        if value is None:
            continue
        if key == "strategies" and value.entries() is None:
            continue
        remediation[key] = plain(value.node)
    fields.close()
    return remediation
