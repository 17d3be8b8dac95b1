"""Tool calls: which failures the work can be blamed for, errors in results, and odd shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from processes.definition.model import Enforcement, Target, ToolSuccessPolicy
from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.registry import Observation, check
from verification.engine.checks.tools.failures import is_weather, speaks_of_safety
from verification.engine.checks.tools.names import runs_programs
from verification.engine.checks.tools.program_runs import ProgramRuns
from verification.engine.checks.tools.result_errors import READ_CHARS, error_in_result
from verification.engine.evidence import ToolCall

ID = "tool-calls"


@check(ID)
def tool_calls(case: Case, _ports: Ports) -> Iterator[Observation]:
    history = History.of(case.submission.tool_calls)
    policy = case.definition.policy.tool_success_policy
    programs = ProgramRuns()
    if policy is ToolSuccessPolicy.LAST_RUN_DECIDES:
        programs = ProgramRuns.of(case.submission.tool_calls)
    for number, call in enumerate(case.submission.tool_calls):
        oddities = [*call.oddities]
        if isinstance(call.args, bool | int | float):
            oddities.append("args is a bare value, not an object")
        if oddities:
            yield violated(
                ID,
                "odd_payload",
                f"{call.tool}: {'; '.join(oddities)}.",
                target=Target.EVIDENCE,
                place={"tool_call": number},
            )
        if error := reported_error(call):
            yield violated(
                ID,
                "tool_result_error",
                f"{call.tool} reports an error: {error}",
                target=Target.EVIDENCE,
                place={"tool_call": number},
            )
        if call.success is False:
            later = history.after(number, call.tool)
            later = replace(later, is_no_fault=programs.is_no_fault(number))
            yield violated(
                ID,
                "tool_failed",
                f"{call.tool}: {call.error.strip() or 'failed without saying why'}",
                enforcement=failure_enforcement(call, policy, later),
                target=Target.EVIDENCE,
                place={"tool_call": number},
            )


def reported_error(call: ToolCall) -> str:
    """The error that a call reports without counting as failed, '' for any other call."""
    if call.success is False:
        return ""
    stated = call.error.strip()[:READ_CHARS] if call.success is None else ""
    return stated or error_in_result(call.result)


@dataclass(frozen=True, slots=True)
class Later:
    """What later calls say of a failure."""

    same_tool: bool = False
    any_tool: bool = False
    is_no_fault: bool = False
    """The program only answered a question, or succeeded in a later call."""


@dataclass(frozen=True, slots=True)
class History:
    """The number of the last call that succeeded: of all, and by tool."""

    last: int
    by_tool: dict[str, int]

    @classmethod
    def of(cls, calls: Sequence[ToolCall]) -> History:
        by_tool = {call.tool: number for number, call in enumerate(calls) if call.success}
        return cls(max(by_tool.values(), default=-1), by_tool)

    def after(self, number: int, tool: str) -> Later:
        return Later(self.by_tool.get(tool, -1) > number, self.last > number)


def failure_enforcement(call: ToolCall, policy: ToolSuccessPolicy, later: Later) -> Enforcement:
    """How the failure of one call counts. Source: docs/engine.md, "Tool calls"."""
    if speaks_of_safety(call.error):
        return Enforcement.HARD
    if is_weather(call):
        return Enforcement.ADVISORY
    forgiven = {
        ToolSuccessPolicy.ALL_TOOLS_HARD: False,
        ToolSuccessPolicy.LAST_RUN_DECIDES: later.is_no_fault,
        ToolSuccessPolicy.DEVELOPMENT_BALANCED: runs_programs(call.tool) or later.same_tool,
        ToolSuccessPolicy.METHOD_RESILIENT: later.any_tool,
        ToolSuccessPolicy.SAFETY_INTEGRITY_ONLY: True,
    }
    return Enforcement.ADVISORY if forgiven[policy] else Enforcement.HARD
