"""What the submitter is told: the same words for the same findings, and every text escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from processes.definition.model import Enforcement
from verification.engine.case import Case
from verification.engine.climb import Conclusion
from verification.engine.finding import Finding, cleaned
from verification.engine.outcome import FindingVerdict, Outcome, Verdict
from verification.engine.reasons import reason

MAX_LINES = 40
MAX_LINE_CHARS = 500
_SPEAKS = (Enforcement.HARD, Enforcement.ADVISORY)


@dataclass(frozen=True, slots=True)
class FeedbackItem:
    """One thing to put right. `message` is never shortened."""

    rule: str
    enforcement: Enforcement
    reason_code: str
    message: str
    path: str = ""
    line: int | None = None
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """`text` is '' where there is nothing to say."""

    text: str = ""
    items: tuple[FeedbackItem, ...] = field(default=())


def feedback_of(case: Case, conclusion: Conclusion) -> Feedback:
    """Write the feedback on a run whose task has it counted."""
    accounted = conclusion.accounted
    return feedback(
        conclusion,
        attempt=accounted.attempt,
        max_attempts=accounted.history.max_attempts,
        acceptance_criteria=case.submission.task.acceptance_criteria,
        instructions=case.definition.remediation_instructions,
        terminal=accounted.terminal,
        repeats=accounted.history.repeats,
    )


def feedback(
    conclusion: Conclusion,
    *,
    attempt: int | None,
    max_attempts: int,
    acceptance_criteria: str = "",
    instructions: Mapping[str, str] | None = None,
    terminal: str = "",
    repeats: int = 0,
) -> Feedback:
    """Tell the submitter what to do. Source: docs/engine.md, "Feedback".

    `instructions` are the process's own words by reason code, `default` for every other;
    `repeats` is how often the same work came again in a row.
    """
    told = [one for one in conclusion.findings if one.enforcement in _SPEAKS]
    if not told and conclusion.verdict is Verdict.ACCEPT:
        return Feedback()
    lines = [_open_tag(conclusion, attempt, max_attempts), f"Summary: {_summary(conclusion, told)}"]
    lines += [_line(finding) for finding in told[:MAX_LINES]]
    if len(told) > MAX_LINES:
        lines.append(f"- {len(told) - MAX_LINES} more, listed with the run.")
    lines += _advice(conclusion, told, acceptance_criteria, instructions or {}, terminal)
    if repeats and not terminal and conclusion.verdict is Verdict.REJECT:
        lines.append("The same work was rejected before: it is not counted again.")
        lines.append("Sent once more without a change, it closes the task.")
    lines.append(f"</{_tag(conclusion)}>")
    return Feedback("\n".join(lines), tuple(_item(finding) for finding in told))


def _tag(conclusion: Conclusion) -> str:
    return {
        Verdict.REJECT: "verification_rejected",
        Verdict.UNDECIDED: "verification_undecided",
        Verdict.ACCEPT: "verification_passed",
    }[conclusion.verdict]


def _open_tag(conclusion: Conclusion, attempt: int | None, max_attempts: int) -> str:
    attributes = [f"code={quoteattr(conclusion.reason_code)}"] if conclusion.reason_code else []
    if conclusion.verdict is Verdict.REJECT and attempt is not None:
        attributes += [f'attempt="{attempt}"', f'of="{max_attempts}"']
    return f"<{' '.join([_tag(conclusion), *attributes])}>"


def _summary(conclusion: Conclusion, told: Sequence[Finding]) -> str:
    hard = sum(finding.enforcement is Enforcement.HARD for finding in told)
    advisory = len(told) - hard
    if conclusion.verdict is Verdict.UNDECIDED:
        why = reason(conclusion.reason_code).title
        return f"Nothing is decided. {why} The work is not blamed; do not run it again."
    if conclusion.verdict is Verdict.ACCEPT:
        partly = conclusion.outcome is Outcome.PARTIAL_VERIFIED
        return f"Accepted{' in part' if partly else ''}, with {_counted(len(told), 'remark')}."
    also = f", {_counted(advisory, 'remark')} beside" if advisory else ""
    return f"{_counted(hard, 'problem')} must be solved{also}."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _line(finding: Finding) -> str:
    where = f"{finding.path}:{finding.line}" if finding.path and finding.line else finding.path
    if finding.line and not finding.path:
        where = f"line {finding.line}"
    mark = "" if finding.enforcement is Enforcement.HARD else " (advisory)"
    if finding.verdict is FindingVerdict.UNKNOWN:
        mark = " (unknown)"
    message = " ".join(finding.message.split())
    if len(message) > MAX_LINE_CHARS:
        message = f"{message[:MAX_LINE_CHARS]}…"
    parts = [f"- [{finding.rule}]{mark}", where, message]
    if finding.suggestion:
        parts.append(f"→ {' '.join(finding.suggestion.split())}")
    return escape(" ".join(part for part in parts if part))


def _advice(
    conclusion: Conclusion,
    told: Sequence[Finding],
    acceptance_criteria: str,
    instructions: Mapping[str, str],
    terminal: str,
) -> list[str]:
    if conclusion.verdict is not Verdict.REJECT:
        return []
    advice = []
    own = instructions.get(conclusion.reason_code) or instructions.get("default", "")
    if own:
        advice.append(f"Instructions: {_one_line(own)}")
    if not told and acceptance_criteria:
        advice.append(f"Criteria not met: {_one_line(acceptance_criteria)}")
    if terminal:
        advice.append(f"{reason(terminal).title} Do not submit it again: a person looks at it.")
    return advice


def _one_line(text: str) -> str:
    return escape(cleaned(" ".join(text.split())))


def _item(finding: Finding) -> FeedbackItem:
    return FeedbackItem(
        rule=finding.rule,
        enforcement=finding.enforcement,
        reason_code=finding.reason_code,
        message=finding.message,
        path=finding.path,
        line=finding.line,
        suggestion=finding.suggestion,
    )
