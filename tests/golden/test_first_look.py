"""What somebody sees who opens the corpus for the first time."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.builders import SOURCE_TEXT, make_project, make_user, signed_in
from tests.golden.builders import make_case, make_replay, make_result
from tests.golden.guarding import BREAKING, case_that_held, version_of
from tests.golden.replayed import replayed
from verification.engine.golden.standing import Change, Standing

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project("loom")


@pytest.fixture
def desk(project: Project) -> Client:
    return signed_in(make_user(project, Role.ADMIN))


def page(desk: Client, name: str, *ids: Any) -> str:
    return " ".join(desk.get(reverse(name, args=["loom", *ids])).content.decode().split())


def test_a_replay_can_be_started_where_the_cases_are_listed(project: Project, desk: Client) -> None:
    make_case(project)
    start = reverse("golden_replay_start", args=["loom"])
    viewer = signed_in(make_user(project, Role.VIEWER))

    assert f'data-key="r" href="{start}"' in page(desk, "golden_cases")
    assert start not in page(viewer, "golden_cases")


@pytest.mark.parametrize(
    ("fields", "query"),
    [
        ({}, "process=small-work"),
        ({"tags": ["canary"]}, "process=small-work&amp;canary=on"),
        ({"process_text": SOURCE_TEXT}, ""),
    ],
    ids=["published", "held back", "process of its own"],
)
def test_the_replay_that_a_case_offers_takes_that_case(
    project: Project, desk: Client, fields: dict[str, Any], query: str
) -> None:
    case = make_case(project, **fields)

    html = page(desk, "golden_case", case.uuid)

    assert f'href="{reverse("golden_replay_start", args=["loom"])}?{query}"' in html


@pytest.mark.parametrize(
    ("share", "words"),
    [
        ((1, 1), ["98.0 %", "98.5 %", "99.0 %", "99.5 %", "100.0 %"]),
        ((1, 2), ["48 %", "61 %", "74 %", "87 %", "100 %"]),
    ],
    ids=["all held", "half held"],
)
def test_no_two_lines_of_the_trend_are_named_alike(
    project: Project, desk: Client, share: tuple[int, int], words: list[str]
) -> None:
    held, total = share
    make_replay(project, total=total, counts={"held": held, "regressed": total - held})

    trend = desk.get(reverse("golden_trend", args=["loom"])).context["trend"]

    assert [tick.word for tick in trend.upward] == words


def test_a_replay_of_no_case_says_so_in_the_list(project: Project, desk: Client) -> None:
    make_replay(project, total=0, tags=["nosuch"])

    assert '<span class="soft">no case</span>' in page(desk, "golden_replays")


def test_results_say_what_stands_in_which_column(project: Project, desk: Client) -> None:
    replay = make_replay(project, total=1, counts={"held": 1})
    make_result(replay, make_case(project))

    heads = "<span>In this replay</span><span>Case</span><span></span><span>came to</span>"
    assert heads in page(desk, "golden_replay", replay.uuid)


def test_what_got_worse_is_told_in_words(project: Project, desk: Client) -> None:
    case_that_held(project)
    replayed(project, process_version=version_of(project, BREAKING))

    html = page(desk, "version_publish", "small-work", 2)

    assert "<dt>Outcome</dt>" in html
    assert "or could not be judged" not in html


def test_what_could_not_be_judged_is_not_said_to_fail(project: Project, desk: Client) -> None:
    case_that_held(project)
    replay = replayed(project, process_version=version_of(project, BREAKING))
    replay.results.update(standing=Standing.NOT_JUDGED, change=Change.NOT_JUDGED)
    type(replay).objects.filter(pk=replay.pk).update(counts={"not_judged": 1})

    html = page(desk, "version_publish", "small-work", 2)

    assert "does not hold with it, or could not be judged." in html


LEAST = "- {{id: one, guards: Fine., process: {process}, phase: {phase}, run: {{task: {{id: t, description: d}}, output: Done.}}, expected: {{{expected}}}}}\n"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, ""),
        ({"process": "nonesuch"}, "No process 'nonesuch' is published here"),
        ({"phase": "nowhere"}, "The process has no phase 'nowhere'"),
        (
            {"expected": "outcome: pass, verdict: reject"},
            "Outcome pass and verdict reject never come together: the case could not hold.",
        ),
    ],
    ids=["fit", "no process", "no phase", "a contradiction"],
)
def test_what_stands_in_the_way_of_a_case_is_told_before_it_is_imported(
    project: Project, desk: Client, fields: dict[str, str], told: str
) -> None:
    usual = {"process": "small-work", "phase": "build", "expected": "outcome: pass"}
    make_case(project)

    answer = desk.post(
        reverse("golden_import", args=["loom"]), {"source_text": LEAST.format(**usual | fields)}
    )

    assert answer.status_code == 200
    assert ("To look at" in answer.content.decode()) == bool(told)
    assert told in unescape(answer.content.decode())


def test_an_expectation_that_can_never_hold_is_told_while_it_is_written(
    project: Project, desk: Client
) -> None:
    make_case(project)
    usual = {
        "process": "small-work",
        "phase": "build",
        "expected": "outcome: fail, verdict: accept",
    }

    answer = desk.post(
        reverse("golden_case_check", args=["loom"]), {"source_text": LEAST.format(**usual)}
    )

    assert "Outcome fail and verdict accept never come together" in answer.content.decode()
