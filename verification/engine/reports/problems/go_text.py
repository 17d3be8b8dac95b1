"""What go prints of packages, in text: `# package`, then `file:line:column: message`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from verification.engine.reports.model import Problem, ProblemSeverity
from verification.engine.reports.problems.grouping import Entry, entries
from verification.engine.reports.problems.parsing import problem

_HEAD = re.compile(
    r"(?P<vet>vet: )?(?P<path>(?:[A-Za-z]:)?[^:#\s][^:]{0,499}\.[A-Za-z]{1,9})"
    r":(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?: (?P<message>.*)"
)
_NO_PROBLEM = re.compile(
    r"#|go: (?:downloading|finding|extracting|found|upgraded|added) |exit status \d"
    r"|too many errors|note: module requires Go "
)


def problems_of(
    lines: Iterable[str], folder: str, usual: ProblemSeverity = ProblemSeverity.HIGH
) -> Iterator[Problem]:
    """`usual` is how bad one with a place is. One without says that go could not do its work."""
    for one in entries(lines, _HEAD):
        if isinstance(one, str):
            if not _NO_PROBLEM.match(one):
                yield problem(one, ProblemSeverity.HIGH)
        elif not _NO_PROBLEM.match(one["message"]):
            yield _problem(one, folder, usual)


def _problem(one: Entry, folder: str, usual: ProblemSeverity) -> Problem:
    return problem(
        "\n".join((one["message"], *one.following)),
        ProblemSeverity.HIGH if one["vet"] else usual,
        path=one["path"],
        folder=folder,
        line=one["line"],
        column=one["column"],
    )
