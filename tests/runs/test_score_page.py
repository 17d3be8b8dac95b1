from __future__ import annotations

import re
from dataclasses import asdict, replace
from html import unescape
from typing import Any

import pytest
from django.urls import reverse

from tests.builders import evaluate, make_project, make_run, make_user, signed_in
from verification.engine.gates import GateReport
from verification.engine.gating.measuring import measured
from verification.engine.outcome import Status
from verification.engine.rating import Rating
from verification.engine.reports.model import TestCounts
from verification.engine.scoring import Loop, LoopDecision, resolved, semantic_parts
from verification.runs.ending import score_json
from verification.runs.models import Run

pytestmark = pytest.mark.django_db

BUILD = GateReport("build", Status.PASSED, exit_code=0)
TEST = GateReport("test", Status.FAILED, exit_code=1, tests=TestCounts(passed=3, failed=1))
LINT = GateReport("lint", Status.TIMED_OUT)
LOOP = asdict(Loop(LoopDecision.ITERATE, "7 of 8, round 1 of 10."))
HOSTILE = "<script>alert(1)</script>"


def scored(*reports: GateReport, ratings: tuple[Rating, ...] = ()) -> dict[str, Any]:
    totals = [one.total for one in ratings if one.total is not None]
    told = score_json(resolved(totals, measured(reports)))
    return {**told, "semantic": [asdict(part) for part in semantic_parts(ratings)]}


def shown(run: Run, query: str = "") -> str:
    """The score of a run's page."""
    url = reverse("run_detail", args=[run.project.slug, run.uuid])
    answer = signed_in(make_user(run.project)).get(f"{url}{query}")
    assert answer.status_code == 200
    found = re.search(r'<section[^>]* id="score".*?</section>', answer.content.decode(), re.DOTALL)
    return found[0] if found else ""


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def bars(html: str) -> list[tuple[str, str, str]]:
    return re.findall(r'<progress class="(p-\w+)" max="(\S+)" value="(\S+)"', html)


def test_each_part_of_a_score_is_a_bar_and_what_was_not_measured_says_why() -> None:
    run = make_run(make_project(), evaluation={"score": scored(BUILD, TEST, LINT), "loop": LOOP})

    html = shown(run)

    assert words(html).startswith(
        "Score 7 of 10 by what the gates told To be mended once more. 7 of 8, round 1 of 10. Gates"
    )
    assert "Tests 3 of 4 3 of 4" in words(html)
    assert "Lint not measured timed out: lint" in words(html)
    assert bars(html) == [
        ("p-pass", "3", "3"),
        ("p-warn", "4", "3"),
        ("p-open", "2", "0"),
        ("p-pass", "1", "1"),
    ]


def test_what_a_judge_gave_stands_first_where_it_counts() -> None:
    told = scored(BUILD, ratings=(Rating(2.5, 2, 1, 2, 0.5),))
    run = make_run(make_project(), evaluation={"score": told})

    html = words(shown(run))

    assert html.startswith("Score 8 of 10 by what a judge gave Judge Correctness 2.5 of 3 given")
    assert html.index("Judge") < html.index("Gates")


def test_a_part_that_no_judge_gave_is_told_below_the_gates() -> None:
    told = scored(BUILD, TEST, ratings=(Rating(correctness=3),))
    run = make_run(make_project(), evaluation={"score": told})

    html = words(shown(run))

    assert html.index("Gates") < html.index("Judge")
    assert "Practice not measured not given" in html


def test_a_score_that_nothing_stands_behind_says_so() -> None:
    run = make_run(make_project(), evaluation={"score": scored(replace(LINT, is_lost=True))})

    assert words(shown(run)).startswith("Score 5 of 10 nothing stands behind it")


def test_a_score_of_an_earlier_build_is_shown_as_it_was_kept() -> None:
    told = scored(BUILD, TEST)
    del told["semantic"]
    for part in told["parts"]:
        del part["is_optional"]
    run = make_run(make_project(), evaluation={"score": told})

    assert words(shown(run)).startswith("Score 7 of 10")


def test_a_run_without_a_score_has_no_section_of_it() -> None:
    assert shown(make_run(make_project())) == ""


def test_nothing_that_was_submitted_is_taken_for_html() -> None:
    lost = GateReport("test", Status.ERROR, HOSTILE, is_lost=True)
    run = make_run(make_project(), evaluation={"score": scored(BUILD, lost)})

    html = shown(run)

    assert "lost: test of &lt;script&gt;" in html
    assert "<script" not in html


def test_an_evaluation_beside_the_one_that_counts_shows_its_own_score() -> None:
    run = make_run(make_project(), evaluation={"score": scored(BUILD, TEST)})
    other = evaluate(run, purpose="shadow", score=scored(BUILD))

    assert words(shown(run, f"?evaluation={other.uuid}")).startswith("Score 4 of 10")


def test_a_part_of_the_points_is_told_as_people_read_it() -> None:
    tests = GateReport("test", Status.FAILED, tests=TestCounts(passed=12, failed=1), exit_code=1)
    run = make_run(make_project(), evaluation={"score": scored(BUILD, tests), "loop": LOOP})

    assert "Tests 3.69 of 4 12 of 13" in words(shown(run))
