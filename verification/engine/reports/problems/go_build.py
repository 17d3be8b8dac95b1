"""What `go build` prints: nothing when it builds, else why it does not."""

from __future__ import annotations

from verification.engine.reports.model import ProblemReport
from verification.engine.reports.problems.go_text import problems_of
from verification.engine.reports.problems.parsing import collected, lines_of


def read(content: bytes, folder: str = "") -> ProblemReport:
    return collected(problems_of(lines_of(content), folder))
