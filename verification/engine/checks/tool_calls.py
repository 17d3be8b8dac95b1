"""Failed tool calls, and which of them the work can be blamed for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from processes.definition.model import Enforcement, Target, ToolSuccessPolicy
from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.registry import Observation, check
from verification.engine.evidence import ToolCall

ID = "tool-calls"

_ADVISORY_TOOL = re.compile(
    r"(web|http|url|internet|page|site|browser|google|bing).*(fetch|search|get|read|open|brows)"
    r"|(fetch|search).*(web|http|url|internet|page|site)|^(fetch|search|browse|google|bing)$",
    re.IGNORECASE,
)
_OF_THE_NETWORK = re.compile(
    r"\b[45]\d\d\b|\b[45]xx\b|time[d]?[ -]?out|not found|no results?|rate.?limit|too many requests"
    r"|too large|exceeds|unavailable|unreachable|refused|reset by peer|dns|getaddrinfo|ssl"
    r"|certificate|bad gateway|forbidden|unauthorized|no such host|name resolution",
    re.IGNORECASE,
)
_OF_SAFETY = re.compile(
    r"outside (of )?(the )?(workspace|sandbox|allowed)|sandbox (escape|violation)|path traversal"
    r"|forbidden path|ssrf|(internal|private|loopback|link-local) (host|address|network|ip)"
    r"|blocked by (security )?policy|policy violation|without (the )?(required )?approval"
    r"|approval (is )?required|checksum|digest mismatch|hash mismatch|integrity|tamper|sealed",
    re.IGNORECASE,
)
_EXECUTES = re.compile(
    r"bash|shell|exec|terminal|command|\brun|_run|test|lint|build|compile|python|node|npm|make",
    re.IGNORECASE,
)


@check(ID)
def tool_calls(case: Case, _ports: Ports) -> Iterator[Observation]:
    calls = case.submission.tool_calls
    policy = case.definition.policy.tool_success_policy
    for number, call in enumerate(calls):
        if isinstance(call.args, bool | int | float):
            yield violated(
                ID,
                "odd_payload",
                f"{call.tool}: args is a bare value, not an object.",
                target=Target.EVIDENCE,
                place={"tool_call": number},
            )
        if not call.success:
            yield violated(
                ID,
                "tool_failed",
                f"{call.tool}: {call.error.strip() or 'failed without saying why'}",
                enforcement=failure_enforcement(calls, number, policy),
                target=Target.EVIDENCE,
                place={"tool_call": number},
            )


def failure_enforcement(
    calls: Sequence[ToolCall], number: int, policy: ToolSuccessPolicy
) -> Enforcement:
    """How the failure of one call counts. Source: docs/engine.md, "Tool calls"."""
    call, later = calls[number], calls[number + 1 :]
    if _OF_SAFETY.search(call.error):
        return Enforcement.HARD
    if is_advisory_tool(call.tool) and _OF_THE_NETWORK.search(call.error):
        return Enforcement.ADVISORY
    forgiven = {
        ToolSuccessPolicy.ALL_TOOLS_HARD: False,
        ToolSuccessPolicy.DEVELOPMENT_BALANCED: _is_step_of_development(call, later),
        ToolSuccessPolicy.METHOD_RESILIENT: any(one.success for one in later),
        ToolSuccessPolicy.SAFETY_INTEGRITY_ONLY: True,
    }
    return Enforcement.ADVISORY if forgiven[policy] else Enforcement.HARD


def is_advisory_tool(tool: str) -> bool:
    """Whether a tool reaches into the web, where failures are the weather's."""
    return bool(_ADVISORY_TOOL.search(tool))


def _is_step_of_development(call: ToolCall, later: Sequence[ToolCall]) -> bool:
    """A red test on the way to a green one, or a call that succeeded when tried again."""
    return bool(_EXECUTES.search(call.tool)) or any(
        one.success and one.tool == call.tool for one in later
    )
