"""What the submitter is told: the same words for the same findings, and every text escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from processes.definition.model import Enforcement
from verification.engine.case import Case
from verification.engine.climb import Conclusion
from verification.engine.custom import CODE, METADATA
from verification.engine.feedback_text import (
    attribute,
    fields_of,
    lines_of,
    on_one_line,
    quoted,
)
from verification.engine.finding import Finding
from verification.engine.outcome import FindingVerdict, Outcome, Verdict
from verification.engine.progress import (
    COUNTED,
    EarlierFindings,
    Progress,
    SinceLast,
    compare,
    summarize,
)
from verification.engine.reasons import reason

MAX_LINES = 40
MAX_ADVICE_CHARS = 20_000
MAX_SUGGESTION_CHARS = 4_000
CUSTOM_REJECTED = "custom_rejected"
MAX_EARLIER_LINES = 10
NO_PROGRESS = Progress()


@dataclass(frozen=True, slots=True)
class FeedbackItem:
    """One thing to put right. `message` is never shortened.

    `code` and `metadata` are those of a custom verifier. `since_last` is None if the task has no
    earlier attempt.
    """

    rule: str
    enforcement: Enforcement
    reason_code: str
    message: str
    path: str = ""
    line: int | None = None
    suggestion: str = ""
    code: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    fingerprint: str = ""
    since_last: SinceLast | None = None


@dataclass(frozen=True, slots=True)
class Feedback:
    """`text` is '' where there is nothing to say.

    `resolved` and `not_checked` are problems of earlier attempts.
    """

    text: str = ""
    items: tuple[FeedbackItem, ...] = field(default=())
    resolved: tuple[FeedbackItem, ...] = field(default=())
    not_checked: tuple[FeedbackItem, ...] = field(default=())


def feedback_of(
    case: Case, conclusion: Conclusion, earlier: EarlierFindings | None = None
) -> Feedback:
    """Write the feedback on a run. `earlier` are the problems of the task's earlier attempts."""
    accounted = conclusion.accounted
    return feedback(
        conclusion,
        attempt=accounted.attempt,
        max_attempts=accounted.history.max_attempts,
        acceptance_criteria=case.submission.task.acceptance_criteria,
        instructions=case.definition.remediation_instructions,
        terminal=accounted.terminal,
        repeats=accounted.history.repeats,
        was_counted=accounted.was_counted,
        progress=compare(conclusion, earlier),
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
    was_counted: bool = False,
    progress: Progress = NO_PROGRESS,
) -> Feedback:
    """Tell the submitter what to do. Source: docs/engine.md, "Feedback".

    `instructions` are the process's own words by reason code, `default` for every other;
    `repeats` is how often the same work came again in a row; `was_counted`: it used up an attempt
    before. `progress` compares the findings with those of the task's earlier attempts.
    """
    told = [one for one in conclusion.findings if one.enforcement in COUNTED]
    earlier = Feedback(
        resolved=tuple(_item(finding, NO_PROGRESS) for finding in progress.resolved),
        not_checked=tuple(_item(finding, NO_PROGRESS) for finding in progress.not_checked),
    )
    if not told and conclusion.verdict is Verdict.ACCEPT:
        return earlier
    custom = _custom_rejection(conclusion)
    changes = summarize(progress)
    since = f"Since the last attempt: {changes}." if changes else ""
    lines = [_open_tag(conclusion, attempt, max_attempts, custom)]
    if custom:
        lines += [*_custom_summary(custom), *([since] if since else [])]
    else:
        lines.append(f"Summary: {_summary(conclusion, told)} {since}".rstrip())
    listed = [one for one in told if one is not custom]
    lines += [_line(finding, progress) for finding in listed[:MAX_LINES]]
    if len(listed) > MAX_LINES:
        lines.append(f"- {len(listed) - MAX_LINES} more, listed with the run.")
    lines += _earlier_lines("Resolved since the last attempt", progress.resolved)
    lines += _earlier_lines("Not checked again", progress.not_checked)
    lines += _advice(conclusion, told, acceptance_criteria, instructions or {}, terminal)
    if not terminal and conclusion.verdict is Verdict.REJECT:
        if repeats or was_counted:
            lines.append("The same work was rejected before: it is not counted again.")
        if repeats:
            lines.append("Sent once more without a change, it closes the task.")
    lines.append(f"</{_tag(conclusion)}>")
    items = tuple(_item(finding, progress) for finding in told)
    return replace(earlier, text="\n".join(lines), items=items)


def _tag(conclusion: Conclusion) -> str:
    return {
        Verdict.REJECT: "verification_rejected",
        Verdict.UNDECIDED: "verification_undecided",
        Verdict.ACCEPT: "verification_passed",
    }[conclusion.verdict]


def _custom_rejection(conclusion: Conclusion) -> Finding | None:
    """The rejection by a custom verifier that the run is rejected for."""
    leading = conclusion.leading
    is_deciding = leading is not None and leading.reason_code == conclusion.reason_code
    return leading if is_deciding and conclusion.reason_code == CUSTOM_REJECTED else None


def _open_tag(
    conclusion: Conclusion, attempt: int | None, max_attempts: int, custom: Finding | None
) -> str:
    """A task that a verifier has ended has no attempts left to count."""
    code = (custom and custom.place.get(CODE)) or conclusion.reason_code
    attributes = [attribute("code", str(code))] if code else []
    if conclusion.verdict is Verdict.REJECT and attempt is not None and not conclusion.is_final:
        attributes += [f'attempt="{attempt}"', f'of="{max_attempts}"']
    return f"<{' '.join([_tag(conclusion), *attributes])}>"


def _custom_summary(finding: Finding) -> list[str]:
    """The verifier's message, the fields of its metadata, and the place that it names."""
    first, *further = lines_of(finding.message) or [""]
    lines = [f"Summary: {first.strip()}", *quoted(further)]
    lines += fields_of(finding.place.get(METADATA, {}))
    if finding.path or finding.line or finding.suggestion:
        lines.append(_line(finding, with_message=False))
    return lines


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


def _earlier_lines(heading: str, problems: Sequence[Finding]) -> list[str]:
    """List problems of earlier attempts, the first of them."""
    if not problems:
        return []
    lines = [f"{heading}:", *(_line(problem) for problem in problems[:MAX_EARLIER_LINES])]
    if len(problems) > MAX_EARLIER_LINES:
        lines.append(f"- {len(problems) - MAX_EARLIER_LINES} more, listed with the run.")
    return lines


def _line(finding: Finding, progress: Progress = NO_PROGRESS, *, with_message: bool = True) -> str:
    """One list item: rule, place and message; further lines of the message follow as a quote."""
    where = f"{finding.path}:{finding.line}" if finding.path and finding.line else finding.path
    if finding.line and not finding.path:
        where = f"line {finding.line}"
    mark = "" if finding.enforcement is Enforcement.HARD else " (advisory)"
    if finding.verdict is FindingVerdict.UNKNOWN:
        mark = " (unknown)"
    if since_last := progress.since_last.get(finding.fingerprint):
        mark += f" ({since_last})"
    first, *further = (lines_of(finding.message) if with_message else []) or [""]
    suggestion = (
        f"→ {on_one_line(finding.suggestion, MAX_SUGGESTION_CHARS)}" if finding.suggestion else ""
    )
    head = [
        f"- [{on_one_line(finding.rule)}]{mark}",
        on_one_line(where),
        " ".join(first.split()),
        "" if further else suggestion,
    ]
    lines = [" ".join(part for part in head if part), *quoted(further)]
    if further and suggestion:
        lines.append(f"  {suggestion}")
    if with_message:
        lines += fields_of(finding.place.get(METADATA, {}))
    return "\n".join(lines)


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
        advice.append(f"Instructions: {on_one_line(own, MAX_ADVICE_CHARS)}")
    if not told and acceptance_criteria:
        advice.append(f"Criteria not met: {on_one_line(acceptance_criteria, MAX_ADVICE_CHARS)}")
    if conclusion.is_final:
        advice.append("The task has ended. Do not submit it again: a person looks at it.")
    elif terminal:
        advice.append(f"{reason(terminal).title} Do not submit it again: a person looks at it.")
    return advice


def _item(finding: Finding, progress: Progress) -> FeedbackItem:
    return FeedbackItem(
        rule=finding.rule,
        enforcement=finding.enforcement,
        reason_code=finding.reason_code,
        message=finding.message,
        path=finding.path,
        line=finding.line,
        suggestion=finding.suggestion,
        code=str(finding.place.get(CODE, "")),
        metadata=finding.place.get(METADATA, {}),
        fingerprint=finding.fingerprint,
        since_last=progress.since_last.get(finding.fingerprint),
    )
