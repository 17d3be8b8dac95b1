"""What go prints of packages, in text: `# package`, then `file:line:column: message`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from verification.engine.reports.model import Problem, ProblemSeverity, Unreadable
from verification.engine.reports.problems.grouping import Entry, entries
from verification.engine.reports.problems.parsing import problem

_HEAD = re.compile(
    r"(?P<vet>vet: )?(?P<path>(?:[A-Za-z]:)?[^:#\s][^:]{0,499}\.[A-Za-z]{1,9})"
    r":(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?: (?P<message>.*)"
)
_NO_PROBLEM = re.compile(
    r"go: (?:downloading|finding|extracting|found|upgraded|added) |exit status \d"
    r"|too many errors|note: module requires Go "
)
_PACKAGE = "#"


def problems_of(
    lines: Iterable[str], folder: str, usual: ProblemSeverity = ProblemSeverity.HIGH
) -> Iterator[Problem]:
    """`usual` is how bad one with a place is. One without says that go could not do its work.

    Raises:
        Unreadable: a package is named, as go does before its problems, and there are none.
    """
    packages = problems = 0
    for one in entries(lines, _HEAD):
        message = one["message"] if isinstance(one, Entry) else one
        if isinstance(one, str) and one.startswith(_PACKAGE):
            packages += 1
        elif not _NO_PROBLEM.match(message):
            problems += 1
            yield _problem(one, folder, usual)
    if packages and not problems:
        raise Unreadable("The report is cut short.")


def _problem(one: Entry | str, folder: str, usual: ProblemSeverity) -> Problem:
    if isinstance(one, str):
        return problem(one, ProblemSeverity.HIGH)
    # The C compiler warns through go.
    severity = ProblemSeverity.LOW if one["message"].startswith("warning:") else usual
    return problem(
        "\n".join((one["message"], *one.following)),
        ProblemSeverity.HIGH if one["vet"] else severity,
        path=one["path"],
        folder=folder,
        line=one["line"],
        column=one["column"],
    )
