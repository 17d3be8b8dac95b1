"""The shipped processes, their examples, and good work for each of their phases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import processes
from processes.definition.load import load
from processes.definition.model import Definition, Phase, Rule, RuleType, Target
from tests.engine.cases import ports
from verification.engine.climb import Case, Conclusion, climb, conclude
from verification.engine.evidence import Claim, EvidenceItem, Submission, TaskSpec, ToolCall
from verification.engine.fakes import MemoryWorkspace
from verification.engine.gates import GateReport
from verification.engine.golden.given import RecordedGates
from verification.engine.outcome import Status
from verification.engine.verifier import VerifierSpec

FOLDER = Path(processes.__file__).parent / "builtin"
FILES = sorted(FOLDER.glob("*.yaml"), key=lambda path: path.name)
NAMES = [path.stem for path in FILES]
WORK = Path(__file__).parent / "builtin_work"
RUN_FILE = "loomverify.run.json"
EXAMPLE_FILE = "example.txt"


@dataclass(frozen=True, slots=True)
class Work:
    """What an agent hands in: files by path, and the rest as a run file says it."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)

    def with_file(self, path: str, content: str | bytes) -> Work:
        data = content.encode() if isinstance(content, str) else content
        return replace(self, files={**self.files, path: data})

    def without_file(self, path: str) -> Work:
        return replace(
            self, files={name: data for name, data in self.files.items() if name != path}
        )

    def saying(self, **changes: Any) -> Work:
        return replace(self, run={**self.run, **changes})

    @property
    def submission(self) -> Submission:
        said = self.run
        task = said.get("task", {})
        return Submission(
            task=TaskSpec(
                id="t",
                description=task.get("description", "Do it."),
                expected_outputs=tuple(task.get("expected_outputs", ())),
            ),
            output=said.get("output", ""),
            tool_calls=tuple(ToolCall(**call) for call in said.get("tool_calls", ())),
            claims=tuple(
                Claim(**{**claim, "evidence": tuple(claim.get("evidence", ()))})
                for claim in said.get("claims", ())
            ),
            evidence=tuple(EvidenceItem(**item) for item in said.get("evidence", ())),
            return_code=said.get("return_code"),
            files=MemoryWorkspace(self.files).files,
        )


@dataclass(frozen=True, slots=True)
class JudgeCase:
    """A text that a judge should find a rule satisfied, or violated, by."""

    process: str
    phase: str
    rule: str
    text: str
    passes: bool


@cache
def definition_of(name: str) -> Definition:
    definition = load((FOLDER / f"{name}.yaml").read_bytes()).definition
    assert definition is not None
    return definition


def phases_of(rule: Rule, definition: Definition) -> list[Phase]:
    """The phases that a rule names."""
    everywhere = "*" in rule.applies_to_phases
    return [one for one in definition.phases if everywhere or one.id in rule.applies_to_phases]


def rules(kind: RuleType) -> Iterator[tuple[str, Rule]]:
    for name in NAMES:
        for rule in definition_of(name).rules:
            if rule.type is kind:
                yield name, rule


def judge_cases() -> Iterator[JudgeCase]:
    """Every example of every instruction, once for each phase in which a judge is asked."""
    for name, rule in rules(RuleType.LLM):
        both = [(rule.examples.passing, True), (rule.examples.failing, False)]
        for phase in phases_of(rule, definition_of(name)):
            if phase.verification_tier > 1:
                for texts, passes in both:
                    for text in texts:
                        yield JudgeCase(name, phase.id, rule.name, text, passes)


def works() -> Iterator[tuple[str, str]]:
    for name in NAMES:
        for phase in definition_of(name).phases:
            yield name, phase.id


@cache
def good_work(name: str, phase: str) -> Work:
    folder = WORK / name / phase
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != RUN_FILE
    }
    return Work(files, json.loads((folder / RUN_FILE).read_text(encoding="utf-8")))


def with_text(work: Work, text: str, target: Target) -> Work:
    """The work with one more text, where rules of this target look."""
    if target is Target.OUTPUT:
        return work.saying(output=text)
    if target is Target.EVIDENCE:
        return work.saying(evidence=[*work.run.get("evidence", ()), {"id": "added", "text": text}])
    call = {"tool": "write_file", "success": True, "files_changed": [EXAMPLE_FILE]}
    return work.with_file(EXAMPLE_FILE, text).saying(
        tool_calls=[*work.run.get("tool_calls", ()), call]
    )


def evaluate(name: str, phase_id: str, work: Work) -> Conclusion:
    """Climb tier 1 of a phase, and conclude. Its gates pass."""
    definition = definition_of(name)
    phase = definition.phase(phase_id)
    assert phase is not None
    case = Case(definition, phase, work.submission, VerifierSpec(), tier=1)
    gates = RecordedGates([GateReport(gate, Status.PASSED) for gate in phase.gates])
    return conclude(case, list(climb(case, replace(ports(work.files), gates=gates))))


def verdict_on(rule: Rule, conclusion: Conclusion) -> str:
    """What the trace says of a rule that was applied."""
    entry = next(entry for entry in conclusion.trace if entry.rule == rule.name)
    assert entry.applied, f"{rule.name} was not applied: {entry.reason}"
    return str(entry.verdict)


def with_each_phase(kind: RuleType) -> Iterator[tuple[str, str, Rule]]:
    for name, rule in rules(kind):
        for phase in phases_of(rule, definition_of(name)):
            yield name, phase.id, rule
