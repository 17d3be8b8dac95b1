"""Submissions without any work."""

from __future__ import annotations

from collections.abc import Iterator

from processes.definition.model import Enforcement, Target
from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.registry import Observation, check
from verification.engine.emptiness import is_blank, is_empty_value, is_without_content
from verification.engine.evidence import Submission

ID = "submission-not-empty"
MAX_SHOWN_CHARS = 60
_NOTHING_ELSE = "no files, change, diff, alternatives or tool calls were submitted"
_SUGGESTION = "Submit the result: an output, files, a change or the tool calls."


@check(ID)
def submission_not_empty(case: Case, _ports: Ports) -> Iterator[Observation]:
    """A text without content is certainly no work; an empty value may be the right answer."""
    output = case.submission.output
    if _has_more_than_output(case.submission):
        return
    if is_without_content(output):
        lead = "The output is empty" if not output.strip() else "The output has no content"
        yield violated(
            ID,
            "output_empty",
            f"{lead}, and {_NOTHING_ELSE}.",
            target=Target.OUTPUT,
            suggestion=_SUGGESTION,
        )
    elif is_empty_value(output):
        value = " ".join(output.split())[:MAX_SHOWN_CHARS]
        yield violated(
            ID,
            "output_empty",
            f"The output is an empty value, {value}, and {_NOTHING_ELSE}.",
            enforcement=Enforcement.ADVISORY,
            target=Target.OUTPUT,
            place={"certain": False},
            suggestion="If nothing is the right answer, say so in a sentence.",
        )


def _has_more_than_output(submission: Submission) -> bool:
    """Files that a change leaves as they were are not work."""
    has_files = bool(submission.files if submission.changed is None else submission.changed)
    return (
        has_files
        or bool(submission.tool_calls)
        or not is_blank(submission.diff)
        or not all(map(is_without_content, submission.alternatives))
    )
