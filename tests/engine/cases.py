"""Short ways to say what a test is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from processes.definition.model import (
    Definition,
    Deliverable,
    Enforcement,
    Expect,
    Phase,
    ProcessPolicy,
    Rule,
    RuleType,
    Target,
    ToolSuccessPolicy,
)
from verification.engine.climb import Case, Conclusion, Ports, climb, conclude
from verification.engine.evidence import Probe, Submission, TaskSpec, ToolCall
from verification.engine.fakes import (
    FixedClock,
    InProcessProbe,
    MemoryWorkspace,
    ScriptedJudge,
)
from verification.engine.finding import Finding
from verification.engine.judges.asking import Answer, Judge, Question
from verification.engine.tiers import TierReport
from verification.engine.verifier import Flags, JudgeModels, Limits, VerifierSpec

PHASE, OTHER_PHASE = "write", "plan"
OUTPUT = "It is done."
"""Of work whose output plays no part."""
Files = Mapping[str, str | bytes]


def regex(
    name: str, pattern: str, *, target: str = "output", expect: str = "no_match", **fields: Any
) -> Rule:
    fields.setdefault("applies_to_phases", ("*",))
    return Rule(
        name=name,
        check=pattern,
        type=RuleType.REGEX,
        target=Target(target),
        expect=Expect(expect),
        **fields,
    )


def llm(name: str, **fields: Any) -> Rule:
    fields.setdefault("applies_to_phases", ("*",))
    return Rule(name=name, check="Is it so?", **fields)


def case(
    *,
    rules: Sequence[Rule] = (),
    deliverables: Sequence[str] = (),
    others_deliverables: Sequence[str] = (),
    expected_outputs: Sequence[str] = (),
    files: Files | None = None,
    tool_policy: ToolSuccessPolicy = ToolSuccessPolicy.ALL_TOOLS_HARD,
    syntax_advisory_paths: Sequence[str] = (),
    flags: Flags = Flags(),  # noqa: B008 - frozen
    tier: int = 1,
    gates: Sequence[str] = (),
    custom_verifier: str = "",
    of_phase: Mapping[str, Any] | None = None,
    of_task: Mapping[str, Any] | None = None,
    remediation: Mapping[str, Any] | None = None,
    models: JudgeModels = JudgeModels(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
    of_case: Mapping[str, Any] | None = None,
    **submitted: Any,
) -> Case:
    phase = Phase(
        PHASE,
        deliverables=tuple(map(Deliverable, deliverables)),
        gates=tuple(gates),
        custom_verifier=custom_verifier,
        **(of_phase or {}),
    )
    other = Phase(OTHER_PHASE, deliverables=tuple(map(Deliverable, others_deliverables)))
    definition = Definition(
        name="process",
        phases=(other, phase),
        rules=tuple(rules),
        policy=ProcessPolicy(
            tool_success_policy=tool_policy, syntax_advisory_paths=tuple(syntax_advisory_paths)
        ),
        remediation=remediation or {},
    )
    submitted.setdefault("output", OUTPUT)
    task = TaskSpec("t", "Do it.", expected_outputs=tuple(expected_outputs), **(of_task or {}))
    submission = Submission(task=task, files=MemoryWorkspace(files).files, **submitted)
    verifier = VerifierSpec(flags=flags, models=models, limits=limits)
    return Case(definition, phase, submission, verifier, tier, **(of_case or {}))


MODELS = JudgeModels("primary", "alternate")
PASSING = '{"passed": true, "confidence": 0.9}'
FAILING = '{"passed": false, "issues": ["It is not so."], "confidence": 0.9}'


def judged_case(**about: Any) -> Case:
    """A case of tier 2, unless another is asked for, with a primary and an alternate judge."""
    return case(**{"tier": 2, "models": MODELS, **about})


def judge_of(*script: str | Answer | Callable[[Question], str | Answer]) -> ScriptedJudge:
    return ScriptedJudge(list(script))


def ports(
    files: Files | None = None, probe: Probe | None = None, judge: Judge | None = None
) -> Ports:
    return Ports(MemoryWorkspace(files), probe or InProcessProbe(), FixedClock(), judge)


def evaluate(*, files: Files | None = None, probe: Probe | None = None, **about: Any) -> Conclusion:
    """Climb and conclude over a case in the words of `case`."""
    asked = case(files=files, **about)
    return conclude(asked, list(climb(asked, ports(files, probe))))


def failed_call(tool: str, error: str = "", **fields: Any) -> ToolCall:
    return ToolCall(tool, success=False, error=error, **fields)


def finding(**fields: Any) -> Finding:
    usual: dict[str, Any] = {
        "rule": "rule",
        "reason_code": "rule_violated",
        "message": "It is so.",
        "enforcement": Enforcement.HARD,
    }
    return Finding(**{**usual, **fields})


def with_findings(report: TierReport, *findings: Finding) -> TierReport:
    return replace(report, findings=findings)


def told(conclusion: Conclusion) -> list[tuple[str, str, str]]:
    """Rule, enforcement and reason of each finding."""
    return [(one.rule, str(one.enforcement), one.reason_code) for one in conclusion.findings]
