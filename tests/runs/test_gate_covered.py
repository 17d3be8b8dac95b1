from __future__ import annotations

import re

import pytest
from django.urls import reverse

from tests.builders import make_project, make_run, make_user, signed_in
from tests.gates import TESTS, make_gate
from tests.judged import live_of
from verification.engine.reports.model import Coverage, FileCoverage
from verification.runs.models import GateResult, Run

pytestmark = pytest.mark.django_db
CODE = b"".join(b"line_%d = %d\n" % (n, n) for n in range(1, 41))


@pytest.fixture
def run() -> Run:
    return make_run(make_project(), files={"a.py": CODE, "b.py": CODE, "c.py": CODE})


def covered(row: GateResult) -> str:
    run = row.evaluation.run
    url = reverse("run_gate", args=[run.project.slug, run.uuid, row.evaluation.uuid, row.position])
    html = signed_in(make_user(run.project)).get(url).content.decode()
    return html.partition('class="covered"')[2].partition("</section>")[0]


def lines(*numbers: int) -> frozenset[int]:
    return frozenset(numbers)


def test_new_lines_that_no_test_ran_stand_with_their_code(run: Run) -> None:
    files = {"b.py": FileCoverage(lines(1, 2), lines(5, 20, 21))}
    unrun = (("b.py", 5, 5), ("b.py", 20, 21))
    row = make_gate(live_of(run), tests=TESTS, coverage=Coverage(files), unrun=unrun)

    html = covered(row)

    assert re.findall(r'class="l( hit-advisory)?" data-n="(\d+)"', html) == [
        ("", "3"), ("", "4"), (" hit-advisory", "5"), ("", "6"), ("", "7"),
        ("", "18"), ("", "19"), (" hit-advisory", "20"), (" hit-advisory", "21"), ("", "22"),
        ("", "23"),
    ]  # fmt: skip
    assert html.count('<pre class="lines"') == 2  # what stands far from each other is apart
    assert re.findall(r'b\.py\?places=([^"]+)">([\d-]+)</a>', html) == [
        ("5.advisory,20.advisory,21.advisory#L5", "5"),
        ("5.advisory,20.advisory,21.advisory#L20", "20-21"),
    ]
    assert "2 of 5 lines run" in html


def test_files_that_were_run_least_come_first_and_what_was_run_whole_last(run: Run) -> None:
    files = {
        "a.py": FileCoverage(lines(1, 2)),
        "b.py": FileCoverage(lines(1), lines(2, 3, 4)),
        "c.py": FileCoverage(lines(1), lines(2)),
        "gone.py": FileCoverage(lines(), lines(1)),
        "empty.py": FileCoverage(),
    }
    row = make_gate(live_of(run), tests=TESTS, coverage=Coverage(files))

    html = covered(row)

    assert re.findall(r"([a-z]+\.py)<", html) == ["gone.py", "b.py", "c.py", "a.py"]
    assert re.findall(r"(\d of \d), (\d+)", html) == [
        ("0 of 1", "0"),
        ("1 of 4", "25"),
        ("1 of 2", "50"),
        ("2 of 2", "100"),
    ]
    assert "/files/a.py" in html
    assert "/files/gone.py" not in html  # the run does not hold this file


@pytest.mark.parametrize("unrun", [(("gone.py", 1, 3),), (("a.py", 900, 2_000_000_000),)])
def test_new_lines_that_are_not_there_are_told_without_code(
    run: Run, unrun: tuple[tuple[str, int, int], ...]
) -> None:
    html = covered(make_gate(live_of(run), tests=TESTS, unrun=unrun))

    assert f"{unrun[0][1]}-{unrun[0][2]}" in html
    assert "Its lines are not shown here." in html


def test_without_coverage_there_is_no_list_of_files(run: Run) -> None:
    assert covered(make_gate(live_of(run), tests=TESTS)) == ""
