from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Project, Role
from tests.builders import make_process, make_user, signed_in
from tests.golden.builders import make_case, make_replay, make_result
from tests.golden.test_replay_pages import OTHER, queries
from verification.engine.golden.standing import Change, Standing
from verification.golden.models import GoldenCase, Replay, ReplayState
from verification.golden.replays import services
from verification.golden.replays.services import run_now
from verification.golden.scores.pairs import Behind, compared, results_behind

pytestmark = pytest.mark.django_db

ACTOR = Actor("ed")
OUTCOMES = {"accept": "pass", "reject": "fail", "undecided": "fail"}


@pytest.fixture
def viewer(project: Project) -> Client:
    return signed_in(make_user(project, Role.VIEWER))


@pytest.fixture
def replay(project: Project) -> Replay:
    return make_replay(project, total=1)


def page(client: Client, replay: Replay, name: str = "golden_scores") -> Any:
    answer = client.get(f"{reverse(name, args=[replay.project.slug])}?replay={replay.uuid}")
    assert answer.status_code == 200
    return answer


def text_of(html: bytes) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html.decode())).split())


def came(
    replay: Replay,
    expected: str,
    observed: str,
    *,
    old: str = "reject",
    count: int = 1,
    reason: str = "",
    **fields: Any,
) -> None:
    """So many results of one expectation, with what the two engines said."""
    told = {"verdict": expected, **({"reason_code": reason} if reason else {})}
    for _ in range(count):
        make_result(
            replay,
            make_case(replay.project, expected=told, **fields),
            standing=Standing.HELD if expected == observed else Standing.FAILING,
            observed={"verdict": observed, "outcome": OUTCOMES[observed]},
            legacy={"verdict": old, "outcome": OUTCOMES[old], "reason_code": "", "missing": 0},
        )


# ---------------------------------------------------------------- scores


def test_without_a_replay_there_is_no_score(viewer: Client, project: Project) -> None:
    for name in ("golden_scores", "golden_coverage"):
        answer = viewer.get(reverse(name, args=[project.slug]))
        assert "finished replay" in text_of(answer.content)


def test_the_verifier_and_the_old_engine_are_scored_side_by_side(
    viewer: Client, replay: Replay
) -> None:
    came(replay, "reject", "reject", count=18)
    came(replay, "reject", "undecided", count=2, old="accept")
    came(replay, "accept", "accept", count=15, old="accept")
    came(replay, "accept", "reject", count=2)
    came(replay, "accept", "undecided", count=3)

    shown = page(viewer, replay).context["page"]

    figures = {row.title: (row.new.shown.value, row.old.shown.value) for row in shown.figures}
    assert figures["Precision"] == ("90.0 %", "78.3 %"), "18 of 20, and 18 of 23"
    assert figures["Recall"] == ("90.0 %", "90.0 %"), "18 of 20 both"
    assert figures["Left undecided"] == ("15.0 %", "0 %"), "3 of 20, and none"
    assert (shown.n, shown.old_n) == (40, 40)


def test_a_few_cases_make_no_figure_and_say_how_many_are_missing(
    viewer: Client, replay: Replay
) -> None:
    came(replay, "reject", "reject", count=3)

    assert "3 cases : 17 more needed" in text_of(page(viewer, replay).content)


def test_what_could_not_be_judged_says_nothing_of_the_verifier(
    viewer: Client, replay: Replay
) -> None:
    came(replay, "accept", "accept")
    case = make_case(replay.project)
    make_result(replay, case, standing=Standing.NOT_JUDGED, missing=1, questions=1)
    silent = make_case(replay.project, expected={"claims": {"confirmed": 1}})
    make_result(replay, silent)
    Replay.objects.filter(pk=replay.pk).update(total=3)

    shown = page(viewer, replay).context["page"]

    assert (shown.n, shown.not_judged, shown.left_out) == (1, 1, 1)


def test_an_old_engine_that_was_not_heard_is_not_scored(replay: Replay) -> None:
    case = make_case(replay.project)
    make_result(replay, case, legacy={"verdict": "reject", "outcome": "fail", "missing": 1})

    assert [(one.new, one.old) for one in compared(replay)] == [("accept", None)]


def test_every_number_leads_to_the_cases_behind_it(viewer: Client, replay: Replay) -> None:
    make_process(replay.project, slug="other", source_text=OTHER)
    came(replay, "reject", "reject", count=21, reason="rule_violated")
    came(replay, "reject", "accept", old="accept", reason="tests_failed")
    came(replay, "accept", "accept", count=2, process="other")
    shown = page(viewer, replay).context["page"]
    here = reverse("golden_replay", args=[replay.project.slug, replay.uuid])

    def behind(query: str) -> int:
        found: int = viewer.get(f"{here}?{query}").context["page"].found
        return found

    cells = [cell for _, rows in shown.tables for row in rows for cell in row.cells]
    assert [behind(cell.query) for cell in cells] == [cell.n for cell in cells]
    parts = [one for of in (shown.processes, shown.reasons) for one in (*of.known, *of.few)]
    assert [(part.name, part.n) for part in parts] == [
        ("small-work", 22), ("other", 2), ("rule_violated", 21), ("tests_failed", 1),
    ]  # fmt: skip
    assert [behind(part.query) for part in parts] == [part.n for part in parts]
    counted = {row.title: (row.new, row.old) for row in shown.figures}
    for title in ("Precision", "Recall"):
        for side in counted[title]:
            assert behind(side.query) == side.shown.n, title


def test_cases_behind_a_figure_are_found_by_either_engine(replay: Replay) -> None:
    came(replay, "accept", "reject", old="accept", reason="")
    came(replay, "reject", "reject", old="reject", reason="rule_violated")

    assert len(results_behind(replay, Behind(came="reject"))) == 2
    assert len(results_behind(replay, Behind(came="reject", is_old=True))) == 1
    assert len(results_behind(replay, Behind(expected="accept", came="reject"))) == 1
    assert len(results_behind(replay, Behind(reason="rule_violated"))) == 1
    assert results_behind(replay, Behind(came="undecided")) == []


@pytest.mark.parametrize("name", ["golden_scores", "golden_coverage"])
@pytest.mark.parametrize(
    "named", ["nonsense", "00000000-0000-4000-8000-000000000000"], ids=["no-id", "unknown"]
)
def test_a_replay_that_is_not_there_is_not_scored(
    viewer: Client, project: Project, name: str, named: str
) -> None:
    assert viewer.get(f"{reverse(name, args=[project.slug])}?replay={named}").status_code == 404


def test_a_replay_under_way_is_not_scored(viewer: Client, project: Project) -> None:
    running = make_replay(project, state=ReplayState.RUNNING, total=1)

    answer = viewer.get(f"{reverse('golden_scores', args=[project.slug])}?replay={running.uuid}")

    assert answer.status_code == 404


def test_the_last_whole_replay_of_what_judges_runs_is_scored(
    viewer: Client, project: Project
) -> None:
    process = project.processes.get()
    whole = make_replay(project, total=1)
    make_replay(project, total=1, is_live_line=False)
    make_replay(project, total=1, process=process)
    make_replay(project, total=1, tags=["slow"])
    make_replay(project, state=ReplayState.CANCELLED, total=1)

    answer = viewer.get(reverse("golden_scores", args=[project.slug]))

    assert answer.context["replay"] == whole


# ---------------------------------------------------------------- coverage


def replayed(project: Project) -> Replay:
    """Two cases, replayed for real: one breaks the placeholder rule."""
    make_case(project, "plain", files={"report.json": "{}"})
    make_case(
        project,
        "placeholder",
        run={"output": "TODO: the figures."},
        expected={"findings": {"must": [{"rule": "no-placeholders"}]}},
    )
    replay = services.start(project=project, actor=ACTOR)
    run_now(replay)
    assert replay.counts == {**dict.fromkeys([one.value for one in Change], 0), "held": 2}
    return replay


def test_gaps_are_told_with_a_way_to_close_them(viewer: Client, project: Project) -> None:
    answer = page(viewer, replayed(project), "golden_coverage")

    shown, text = answer.context["page"], text_of(answer.content)
    assert [one.rule for one in shown.rule_gaps] == ["figures-have-sources"]
    assert [(one.rule, one.applied, one.violated, one.guarding) for one in shown.rules] == [
        ("no-placeholders", 2, 1, 1)
    ]
    assert "applied in no case A run of small-work in a phase that the rule is for (write)" in text
    sections = {one.id: one for one in shown.sections}
    assert [one.name for one in sections["phases"].gaps] == ["small-work / write"]
    assert "tests_failed" in [one.name for one in sections["reasons"].gaps]
    assert "strict_json" in [one.name for one in sections["stages"].gaps]


def test_what_is_covered_leads_to_its_cases(viewer: Client, project: Project) -> None:
    replay = replayed(project)
    shown = page(viewer, replay, "golden_coverage").context["page"]
    here = reverse("golden_replay", args=[project.slug, replay.uuid])

    def behind(query: str) -> int:
        found: int = viewer.get(f"{here}?{query}").context["page"].found
        return found

    for rule in shown.rules:
        assert (behind(rule.applied_query), behind(rule.violated_query)) == (2, 1)
    for section in shown.sections:
        for line in section.covered:
            assert behind(line.query) == line.cases, line.name
        for line in section.gaps[:3]:
            assert behind(line.query) == 0, line.name


def test_a_judged_case_covers_how_its_answer_was_read(viewer: Client, project: Project) -> None:
    reply = 'Here you are: {"token": "{{token}}", "passed": true, "issues": []}'
    make_case(
        project, phase="write", tier=2, replies=[{"text": reply}], expected={"tier_achieved": 2}
    )
    replay = services.start(project=project, actor=ACTOR)
    run_now(replay)

    shown = page(viewer, replay, "golden_coverage").context["page"]

    stages = next(one for one in shown.sections if one.id == "stages")
    assert [(one.name, one.cases) for one in stages.covered] == [("embedded_json", 1)]
    query = stages.covered[0].query
    here = reverse("golden_replay", args=[project.slug, replay.uuid])
    assert viewer.get(f"{here}?{query}").context["page"].found == 1


def test_coverage_takes_as_many_queries_for_many_cases(viewer: Client, project: Project) -> None:
    replay = replayed(project)
    path = f"{reverse('golden_coverage', args=[project.slug])}?replay={replay.uuid}"
    few = queries(viewer, path)
    observed = replay.results.filter(standing="held").values("observed")[0]["observed"]
    for _ in range(5):
        make_result(replay, make_case(project), observed=observed)

    assert queries(viewer, path) == few
    assert GoldenCase.objects.count() == 7
