from __future__ import annotations

import subprocess
import sys

from tests.benchmarks import report
from tests.builders import make_project
from verification.actions.report import gathering


def test_the_benchmarks_start_without_a_project_of_their_own() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import tests.benchmarks.__main__"], capture_output=True, env={}
    )

    assert (ended.returncode, ended.stderr) == (0, b"")


def test_the_night_of_the_report_is_filled_with_what_a_report_counts(db: None) -> None:
    project = make_project()

    report.fill(project, 20)

    night = gathering.report(project, report.night_of(project))
    assert (night.runs, night.changes) == (20, 20)
