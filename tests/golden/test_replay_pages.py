from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from processes.models import ProcessVersion
from tests.builders import SOURCE_TEXT, make_process, make_project, make_user, signed_in
from tests.golden.builders import make_case, make_replay, make_result
from tests.tables import check_rows
from verification.engine.golden.standing import Change, Standing
from verification.engine.verifier import VerifierSpec
from verification.golden.models import (
    GoldenCase,
    GoldenNotice,
    GoldenSchedule,
    Replay,
    ReplayResult,
    ReplayState,
)
from verification.golden.replays.grid import PER_PAGE
from verification.verifiers.models import Budget, Spending, VerifierVersion

pytestmark = pytest.mark.django_db

OTHER = SOURCE_TEXT.replace("small-work", "other")
PROGRESS: dict[str, Any] = {"headers": {"HX-Request": "true", "HX-Target": "replay-progress"}}
FINDING = {
    "rule": "no-placeholders",
    "reason_code": "rule_violated",
    "enforcement": "hard",
    "verdict": "violated",
    "path": "report.md",
    "line": 3,
    "message": "TODO is left.",
    "quote": "TODO",
}


@pytest.fixture
def viewer(project: Project) -> Client:
    return signed_in(make_user(project, Role.VIEWER))


@pytest.fixture
def editor(project: Project) -> Client:
    return signed_in(make_user(project, Role.EDITOR))


def address(project: Project, name: str = "golden_replays", *ids: object, **query: str) -> str:
    found = reverse(name, args=[project.slug, *ids])
    return f"{found}?{urlencode(query)}" if query else found


def text_of(html: bytes | str) -> str:
    html = html.decode() if isinstance(html, bytes) else html
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


STANDING_OF = {Change.HELD: Standing.HELD, Change.FIXED: Standing.HELD}


def replayed(project: Project, changes: dict[GoldenCase, Change], **columns: Any) -> Replay:
    """A finished replay with these changes and its counts."""
    counts: dict[str, int] = {}
    for change in changes.values():
        counts[change.value] = counts.get(change.value, 0) + 1
    replay = make_replay(project, total=len(changes), counts=counts, **columns)
    for case, change in changes.items():
        not_judged = Standing.NOT_JUDGED if change is Change.NOT_JUDGED else Standing.FAILING
        make_result(replay, case, standing=STANDING_OF.get(change, not_judged), change=change)
    return replay


def make_verifier(project: Project, number: int) -> VerifierVersion:
    spec = VerifierSpec()
    return VerifierVersion.objects.create(
        project=project,
        number=number,
        engine=spec.engine.value,
        spec=spec.to_json(),
        spec_sha256=spec.sha256,
        engine_build=spec.engine_build,
    )


def many_results(project: Project, *, cases: int, columns: int) -> None:
    """The first case over and over, in as many replays by verifiers of their own."""
    first = make_case(project, "first")
    rows = GoldenCase.objects.bulk_create(
        GoldenCase(
            project=project, name=f"case-{number:05}", process="small-work", phase="build",
            current=first.current, created_by="ed",
        )
        for number in range(cases)
    )  # fmt: skip
    changes = [change.value for change in Change]
    for number in range(columns):
        verifier = make_verifier(project, number + 2)
        replay = make_replay(project, total=cases, verifier_version=verifier)
        ReplayResult.objects.bulk_create(
            ReplayResult(
                replay=replay, case=case, case_version=first.current,
                standing="held", change=changes[(place + number) % 6], outcome="pass",
                verdict="accept", replayed_at=replay.finished_at,
            )
            for place, case in enumerate(rows)
        )  # fmt: skip


def names(answer: Any) -> list[str]:
    return [row.case.name for row in answer.context["grid"].rows]


# ---------------------------------------------------------------- the grid


def test_without_a_replay_the_page_says_how_to_start_one(viewer: Client, project: Project) -> None:
    text = text_of(viewer.get(address(project)).content)

    assert "Nothing was replayed yet." in text
    assert "/api/v1/golden/replays" in text


def test_cases_stand_most_urgent_first_and_what_holds_is_folded_away(
    viewer: Client, project: Project
) -> None:
    order = [
        Change.HELD, Change.NOT_JUDGED, Change.NEW, Change.STILL_FAILING, Change.FIXED,
        Change.REGRESSED,
    ]  # fmt: skip
    replayed(project, {make_case(project, one.value.replace("_", "-")): one for one in order})

    answer = viewer.get(address(project))

    assert names(answer) == ["regressed", "fixed", "still-failing", "new", "not-judged"]
    assert "1 more case holds everywhere: show it" in text_of(answer.content)
    assert names(viewer.get(address(project, held="1")))[-1] == "held"


def test_every_page_of_replays_is_there_for_a_viewer(viewer: Client, project: Project) -> None:
    case = make_case(project)
    replay = replayed(project, {case: Change.REGRESSED})

    for path in (
        address(project),
        address(project, "golden_trend"),
        address(project, "golden_replay", replay.uuid),
        address(project, "golden_result", replay.uuid, case.uuid),
        address(project, "golden_schedule"),
        address(project, "golden_scores"),
        address(project, "golden_coverage"),
    ):
        assert viewer.get(path).status_code == 200, path


def test_a_column_stands_for_a_verifier_over_a_state_of_the_processes(
    viewer: Client, project: Project
) -> None:
    case, now = make_case(project), timezone.now()
    other = make_verifier(project, 2)
    replayed(project, {case: Change.HELD}, created_at=now - timedelta(hours=5))
    ProcessVersion.objects.update(published_at=now - timedelta(hours=4))
    replayed(project, {case: Change.NEW}, created_at=now - timedelta(hours=3))
    newer = replayed(project, {case: Change.REGRESSED}, created_at=now - timedelta(hours=2))
    tried = replayed(project, {case: Change.FIXED}, verifier_version=other)

    columns = viewer.get(address(project)).context["grid"].columns

    assert [one.replay for one in columns[:2]] == [tried, newer]
    assert len(columns) == 3, "before the publication, after it, and the other verifier"


def test_eight_columns_are_enough(viewer: Client, project: Project) -> None:
    case = make_case(project)
    for number in range(2, 13):
        replayed(project, {case: Change.HELD}, verifier_version=make_verifier(project, number))

    columns = viewer.get(address(project)).context["grid"].columns

    assert [one.replay.verifier_version.number for one in columns] == list(range(12, 4, -1))


def test_a_case_that_one_column_is_worried_about_is_not_folded_away(
    viewer: Client, project: Project
) -> None:
    worried, calm = make_case(project, "worried"), make_case(project, "calm")
    replayed(project, {worried: Change.REGRESSED, calm: Change.HELD})
    replayed(
        project,
        {worried: Change.HELD, calm: Change.HELD},
        verifier_version=make_verifier(project, 2),
    )

    answer = viewer.get(address(project))

    assert names(answer) == ["worried"]
    assert answer.context["grid"].folded == 1


@check_rows(
    ("query", "shown"),
    [
        ({"process": "other"}, ["c-other"]),
        ({"process": "nowhere"}, []),
        ({"tag": "slow"}, ["b-slow"]),
        ({"change": "regressed"}, ["a-plain", "b-slow"]),
        ({"change": "fixed"}, ["c-other"]),
        ({"change": "held"}, ["d-held"]),
        ({"change": "held", "tag": "slow"}, []),
        ({"page": "99"}, ["a-plain", "b-slow", "c-other"]),
        ({"page": "-1"}, ["a-plain", "b-slow", "c-other"]),
    ],
    ids=lambda value: "-".join(value.values()).replace(" ", "-") if isinstance(value, dict) else "",
    rollback=True,
)
def test_the_grid_is_narrowed_by_its_address(
    viewer: Client, project: Project, query: dict[str, str], shown: list[str]
) -> None:
    other = make_process(project, slug="other", source_text=OTHER)
    replayed(
        project,
        {
            make_case(project, "a-plain"): Change.REGRESSED,
            make_case(project, "b-slow", tags=["slow"]): Change.REGRESSED,
            make_case(project, "c-other", process=other.slug): Change.FIXED,
            make_case(project, "d-held"): Change.HELD,
        },
    )

    assert names(viewer.get(address(project, **query))) == shown


def test_a_case_that_a_replay_left_out_has_no_word_there(viewer: Client, project: Project) -> None:
    old, new = make_case(project, "old"), make_case(project, "new")
    replayed(project, {old: Change.NEW}, created_at=timezone.now() - timedelta(hours=1))
    replayed(
        project, {old: Change.NEW, new: Change.NEW}, verifier_version=make_verifier(project, 2)
    )

    rows = viewer.get(address(project)).context["grid"].rows

    assert [[cell is None for cell in row.cells] for row in rows] == [[False, False], [False, True]]


def test_a_retired_case_worries_nobody(viewer: Client, project: Project) -> None:
    case = make_case(project)
    replayed(project, {case: Change.REGRESSED})
    GoldenCase.objects.filter(pk=case.pk).update(retired_at=timezone.now())

    assert names(viewer.get(address(project))) == []


def test_only_finished_replays_are_columns_and_all_are_told_above(
    viewer: Client, project: Project
) -> None:
    make_case(project)
    for state in (ReplayState.RUNNING, ReplayState.CANCELLED, ReplayState.ERRORED):
        make_replay(project, state=state, total=1)

    answer = viewer.get(address(project))

    assert answer.context["grid"].columns == ()
    told = [one.badge.word for one in answer.context["recent"]]
    assert told == ["errored", "cancelled", "running"]
    assert "No replay has finished yet." in text_of(answer.content)


def test_many_cases_are_shown_in_pages(viewer: Client, project: Project) -> None:
    cases = [make_case(project) for _ in range(PER_PAGE + 1)]
    replayed(project, dict.fromkeys(cases, Change.NEW))

    first, second = viewer.get(address(project)), viewer.get(address(project, page="2"))

    assert (len(names(first)), len(names(second))) == (PER_PAGE, 1)
    assert set(names(first)).isdisjoint(names(second))
    assert "page 1 of 2" in text_of(first.content)


def queries(client: Client, path: str) -> int:
    client.get(path)  # the session is written once
    with CaptureQueriesContext(connection) as seen:
        assert client.get(path).status_code == 200
    return len(seen)


@pytest.mark.parametrize(
    "name", ["golden_replays", "golden_trend", "golden_scores", "golden_coverage"]
)
def test_pages_take_as_many_queries_however_much_there_is(
    viewer: Client, project: Project, name: str
) -> None:
    first = make_case(project)
    replayed(project, {first: Change.REGRESSED})
    few = queries(viewer, address(project, name))
    cases = [first, *(make_case(project) for _ in range(6))]
    for number in range(2, 6):
        changes = dict.fromkeys(cases, Change.NEW)
        replayed(project, changes, verifier_version=make_verifier(project, number))

    assert queries(viewer, address(project, name)) == few


def test_a_replay_and_a_result_take_as_many_queries_however_much_there_is(
    viewer: Client, project: Project
) -> None:
    first = make_case(project)
    small = replayed(project, {first: Change.NEW})
    few = queries(viewer, address(project, "golden_replay", small.uuid))
    one = queries(viewer, address(project, "golden_result", small.uuid, first.uuid))
    cases = [first, *(make_case(project) for _ in range(8))]
    large = replayed(project, dict.fromkeys(cases, Change.NEW))

    assert queries(viewer, address(project, "golden_replay", large.uuid)) == few
    assert queries(viewer, address(project, "golden_result", large.uuid, first.uuid)) == one


@pytest.mark.extended
def test_of_two_thousand_cases_in_eight_columns_a_page_is_read(
    viewer: Client, project: Project
) -> None:
    many_results(project, cases=2000, columns=8)

    answer = viewer.get(address(project))

    assert len(answer.context["grid"].columns) == 8
    assert len(names(answer)) == 50


# ---------------------------------------------------------------- one replay


def test_while_it_runs_the_page_asks_for_its_progress(viewer: Client, project: Project) -> None:
    replay = make_replay(project, state=ReplayState.RUNNING, total=2)
    make_result(replay, make_case(project))
    make_result(replay, make_case(project), standing=None)
    path = address(project, "golden_replay", replay.uuid)

    whole = viewer.get(path).content.decode()
    part = viewer.get(path, **PROGRESS).content.decode()

    assert 'hx-trigger="every 1s"' in whole
    assert "<html" not in part
    assert 'id="replay-progress"' in part
    assert "1 of 2 cases" in text_of(part)
    assert "1 held" in text_of(part)


def test_the_first_answer_after_the_end_is_the_whole_of_it(
    viewer: Client, project: Project
) -> None:
    replay = replayed(project, {make_case(project, "one"): Change.REGRESSED})

    answer = viewer.get(address(project, "golden_replay", replay.uuid), **PROGRESS)

    assert answer.headers["HX-Retarget"] == "#replay-body"
    assert answer.headers["HX-Reswap"] == "outerHTML"
    html = answer.content.decode()
    assert html.lstrip().startswith('<div id="replay-body">')
    assert "every 1s" not in html
    assert "regressed" in text_of(html)


def test_going_back_in_the_browser_shows_the_whole_page(viewer: Client, project: Project) -> None:
    replay = make_replay(project, state=ReplayState.RUNNING, total=4)
    restored = {
        **PROGRESS,
        "headers": {**PROGRESS["headers"], "HX-History-Restore-Request": "true"},
    }

    html = viewer.get(address(project, "golden_replay", replay.uuid), **restored).content.decode()

    assert "<html" in html


def test_results_stand_most_urgent_first_and_each_count_is_a_filter(
    viewer: Client, project: Project
) -> None:
    order = list(Change)
    cases = {make_case(project, one.value.replace("_", "-")): one for one in reversed(order)}
    replay = replayed(project, cases)

    whole = viewer.get(address(project, "golden_replay", replay.uuid))
    shown = [row.result.change for row in whole.context["page"].rows]

    assert shown == [one.value for one in order]
    for value, _, count in whole.context["page"].counts:
        narrowed = viewer.get(address(project, "golden_replay", replay.uuid, change=value))
        assert len(narrowed.context["page"].rows) == count == 1


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"stale_share": 0.2}, ""),
        ({"stale_share": 0.21}, "21.0 % of the questions have changed since"),
        ({"counts": {"not_judged": 1}}, "1 case could not be judged. They are no pass."),
        ({"counts": {"not_judged": 1200}}, "1,200 cases could not be judged."),
        ({"state": ReplayState.ERRORED, "error_text": "The disk is full."}, "The disk is full."),
    ],
    ids=["few-stale", "many-stale", "one-not-judged", "many-not-judged", "errored"],
)
def test_what_makes_a_replay_say_less_is_told(
    viewer: Client, project: Project, columns: dict[str, Any], told: str
) -> None:
    replay = make_replay(project, **{"total": 2, **columns})

    answer = viewer.get(address(project, "golden_replay", replay.uuid))

    assert bool(answer.context["page"].warnings) is bool(told)
    assert told in text_of(answer.content)


def test_nothing_to_replay_is_said_clearly(viewer: Client, project: Project) -> None:
    replay = make_replay(project, total=0, error_text="No case fits what was asked for.")

    text = text_of(viewer.get(address(project, "golden_replay", replay.uuid)).content)

    assert "No case was replayed. No case fits what was asked for." in text


@pytest.mark.parametrize(
    ("role", "status"), [(Role.VIEWER, 403), (Role.REVIEWER, 403), (Role.EDITOR, 302)]
)
def test_editors_cancel(project: Project, role: Role, status: int) -> None:
    replay = make_replay(project, state=ReplayState.RUNNING, total=4)
    client = signed_in(make_user(project, role))

    answer = client.post(address(project, "golden_replay_cancel", replay.uuid))

    replay.refresh_from_db()
    assert answer.status_code == status
    assert (replay.state == ReplayState.CANCELLED) is (status == 302)
    path = address(project, "golden_replay", replay.uuid)
    assert ("Cancel" in text_of(client.get(path).content)) is False


def test_what_is_over_is_not_cancelled(editor: Client, project: Project) -> None:
    replay = replayed(project, {make_case(project): Change.HELD})

    answer = editor.post(address(project, "golden_replay_cancel", replay.uuid), follow=True)

    assert "It was over already." in text_of(answer.content)


@pytest.mark.parametrize(
    ("name", "begins"), [("junit.xml", b"<?xml"), ("report.json", b"{")], ids=["junit", "json"]
)
def test_a_replay_is_saved_for_other_programs(
    viewer: Client, project: Project, name: str, begins: bytes
) -> None:
    replay = replayed(project, {make_case(project, "one"): Change.REGRESSED})

    answer = viewer.get(address(project, "golden_replay_export", replay.uuid, name))

    assert answer.content.startswith(begins)
    assert b"one" in answer.content
    assert answer.headers["Content-Disposition"].endswith(f'{name}"')
    gone = viewer.get(address(project, "golden_replay_export", replay.uuid, "report.exe"))
    assert gone.status_code == 404


@pytest.mark.parametrize("name", ["golden_replay", "golden_replay_cancel"])
def test_another_project_s_replay_is_not_there(editor: Client, name: str, project: Project) -> None:
    theirs = make_replay(make_project())
    method = editor.post if name.endswith("cancel") else editor.get

    assert method(address(project, name, theirs.uuid)).status_code == 404


# ---------------------------------------------------------------- one result


def failing(project: Project, **columns: Any) -> ReplayResult:
    """A case that expects a pass, and came to a rejection."""
    replay = make_replay(project, total=1, counts={"regressed": 1})
    return make_result(
        replay,
        columns.pop("case", None) or make_case(project, "plain-work"),
        standing=Standing.FAILING,
        change=Change.REGRESSED,
        observed={
            "outcome": "fail",
            "verdict": "reject",
            "reason_code": "rule_violated",
            "findings": [FINDING],
        },
        differences=[
            {"place": "outcome", "expected": "pass", "observed": "fail"},
            {"place": "verdict", "expected": "accept", "observed": "reject"},
        ],
        legacy={"outcome": "pass", "verdict": "accept", "reason_code": "", "missing": 0},
        **columns,
    )


def result_path(result: ReplayResult, name: str = "golden_result") -> str:
    return address(result.replay.project, name, result.replay.uuid, result.case.uuid)


def test_what_differs_stands_first_and_says_so_in_words(viewer: Client, project: Project) -> None:
    answer = viewer.get(result_path(failing(project)))

    lines = answer.context["page"].lines
    assert [(one.label, one.differs, one.legacy) for one in lines] == [
        ("Outcome", True, "pass"),
        ("Verdict", True, "accept"),
        ("Why", False, "no reason"),
    ]
    text = text_of(answer.content)
    assert "Outcome differs expected pass observed fail the old engine pass" in text
    assert "not looked at" in text
    assert "report.md:3" in text


def test_an_editor_accepts_what_was_observed_with_a_reason(
    editor: Client, project: Project
) -> None:
    result = failing(project)

    answer = editor.post(
        result_path(result, "golden_accept"), {"reason": "The rule is right."}, follow=True
    )

    case = GoldenCase.objects.select_related("current").get(pk=result.case_id)
    assert case.current is not None
    assert case.current.number == 2
    assert case.current.spec["expected"]["verdict"] == "reject"
    assert case.current.reason == "The rule is right."
    text = text_of(answer.content)
    assert "Accepted: the case expects this from v2 on." in text
    assert f"v2 {case.current.created_by} ," in text
    assert "The rule is right." in text
    assert "v2 counts now" in text
    assert "Accept what was observed" not in text


def test_nothing_is_accepted_without_a_reason(editor: Client, project: Project) -> None:
    result = failing(project)

    answer = editor.post(result_path(result, "golden_accept"), {"reason": "  "})

    assert answer.status_code == 422
    assert "Say why" in text_of(answer.content)
    assert result.case.versions.count() == 1


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_below_an_editor_nobody_accepts(project: Project, role: Role) -> None:
    result, client = failing(project), signed_in(make_user(project, role))

    answer = client.post(result_path(result, "golden_accept"), {"reason": "I want it."})

    assert answer.status_code == 403
    assert "Accept what was observed" not in text_of(client.get(result_path(result)).content)


def test_what_two_editors_accept_at_once_is_refused_to_the_second(
    editor: Client, project: Project
) -> None:
    result = failing(project)
    editor.post(result_path(result, "golden_accept"), {"reason": "First."})

    answer = editor.post(result_path(result, "golden_accept"), {"reason": "Second."})

    assert answer.status_code == 422
    assert result.case.versions.count() == 2


def test_a_question_without_an_answer_and_a_changed_one_are_told_apart(
    viewer: Client, project: Project
) -> None:
    replies = [{"text": "ALL <b>FINE</b>", "prompt": "0" * 16}]
    case = make_case(project, phase="write", tier=2, replies=replies)
    asked = {"tier": 2, "ask": "assess", "judge": "primary", "prompt": "1" * 16, "recovery": ""}
    replay = make_replay(project, total=1)
    result = make_result(
        replay,
        case,
        standing=Standing.NOT_JUDGED,
        played=[
            {**asked, "number": 1, "is_stale": True, "is_missing": False},
            {**asked, "number": 2, "is_stale": False, "is_missing": True},
        ],
        questions=2,
        stale=1,
        missing=1,
    )

    html = viewer.get(result_path(result)).content.decode()

    text = text_of(html)
    assert "1 of 2 questions has no recorded answer, so this could not be judged." in text
    assert "the question has changed" in text
    assert "no answer recorded" in text
    assert "ALL &lt;b&gt;FINE" in html
    assert "0000000000000000" in text
    assert "1111111111111111" in text


def test_only_a_live_replay_s_answers_can_be_recorded(editor: Client, project: Project) -> None:
    result = failing(project)

    shown = text_of(editor.get(result_path(result)).content)
    answer = editor.post(
        result_path(result, "golden_record_anew"), {"reason": "Why not."}, follow=True
    )

    assert "Record anew" not in shown
    assert "Only answers that a live replay got whole can be recorded." in text_of(answer.content)
    assert result.case.versions.count() == 1


def test_an_editor_records_what_live_judges_answered(editor: Client, project: Project) -> None:
    case = make_case(project, phase="write", tier=2, replies=[{"text": "old"}])
    replay = make_replay(project, total=1, is_live=True, is_live_line=False)
    answered = {
        "tier": 2, "ask": "assess", "number": 1, "judge": "primary", "prompt": "1" * 16,
        "text": "said today", "lost": "", "is_cut": False, "fence": "f" * 16,
    }  # fmt: skip
    result = make_result(replay, case, played=[answered], questions=1)

    shown = text_of(editor.get(result_path(result)).content)
    answer = editor.post(
        result_path(result, "golden_record_anew"), {"reason": "The prompt changed."}, follow=True
    )

    assert "said today" in shown
    assert "Recorded: these answers are the case's from v2 on." in text_of(answer.content)
    case.refresh_from_db()
    assert case.current is not None
    assert [one["text"] for one in case.current.spec["replies"]] == ["said today"]


def test_a_case_whose_turn_has_not_come_says_so(viewer: Client, project: Project) -> None:
    replay = make_replay(project, state=ReplayState.RUNNING, total=1)
    result = make_result(replay, make_case(project), standing=None)

    assert "It was not this case's turn yet." in text_of(viewer.get(result_path(result)).content)


def test_hostile_text_is_shown_and_never_run(viewer: Client, project: Project) -> None:
    hostile = "<script>alert(1)</script>\u202e"
    case = make_case(project, guards=hostile)
    replay = make_replay(project, total=1, counts={"new": 1}, created_by=hostile)
    make_result(
        replay,
        case,
        standing=Standing.FAILING,
        observed={"findings": [dict.fromkeys(FINDING, hostile)]},
        differences=[{"place": hostile, "expected": hostile, "observed": {hostile: hostile}}],
        played=[{"tier": 2, "ask": hostile, "number": 1, "prompt": hostile}],
        error_text=hostile,
        legacy={"verdict": "accept", "outcome": "pass", "reason_code": hostile},
    )

    for path in (
        address(project),
        address(project, "golden_replay", replay.uuid, q=hostile, rule=hostile, stage=hostile),
        address(project, "golden_replay", replay.uuid),
        address(project, "golden_result", replay.uuid, case.uuid),
        address(project, "golden_trend", process=hostile),
        address(project, process=hostile, tag=hostile),
        address(project, change=hostile),
    ):
        answer = viewer.get(path)
        assert answer.status_code == (400 if "change=" in path else 200), path
        assert "<script>alert" not in answer.content.decode(), path


@pytest.mark.parametrize("name", ["q", "process", "rule", "code", "stage", "shadow"])
def test_a_nul_in_the_address_is_nobody_s_fault(
    viewer: Client, project: Project, name: str
) -> None:
    replay = replayed(project, {make_case(project): Change.NEW})

    for path in (
        address(project, "golden_replay", replay.uuid, **{name: "a\0b"}),
        address(project, **{name: "a\0b"}),
        address(project, "golden_trend", **{name: "a\0b"}),
    ):
        assert viewer.get(path).status_code == 200


# ---------------------------------------------------------------- starting one


def test_the_form_begins_with_what_judges_runs_now(editor: Client, project: Project) -> None:
    make_case(project)
    make_case(project, tags=["canary"])
    make_verifier(project, 2)

    answer = editor.get(address(project, "golden_replay_start"))

    assert answer.context["form"]["verifier"].value() == "1"
    assert "1 case , with the answers that were recorded. It costs nothing." in text_of(
        answer.content
    )


@pytest.mark.parametrize(("process", "over"), [("small-work", "small-work:"), ("its-own", "")])
def test_a_case_leads_to_a_form_that_is_filled_with_its_process(
    editor: Client, project: Project, process: str, over: str
) -> None:
    answer = editor.get(address(project, "golden_replay_start", process=process))

    assert answer.context["form"].is_valid()
    assert answer.context["form"].cleaned_data["over"] == over


def test_a_started_replay_runs_over_what_was_chosen(editor: Client, project: Project) -> None:
    make_case(project, "slow", tags=["slow"])
    make_case(project, "held-back", tags=["slow", "canary"])
    make_case(project, "quick")
    make_verifier(project, 2)
    chosen = {"verifier": "2", "over": "small-work:1", "tags": "slow, other", "canary": "on"}

    answer = editor.post(address(project, "golden_replay_start"), chosen)

    replay = Replay.objects.get()
    assert answer["Location"] == address(project, "golden_replay", replay.uuid)
    assert replay.verifier_version.number == 2
    assert (replay.process_version.number, replay.tags) == (1, ["slow", "other"])  # type: ignore[union-attr]
    assert {one.case.name for one in replay.results.all()} == {"slow", "held-back"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"verifier": "9"}, "9 is not one of the available choices"),
        ({"over": "nowhere:"}, "nowhere: is not one of the available choices"),
        ({"tags": "no tag!"}, "tag! is no tag: small letters, figures and hyphens."),
        ({"live": "on"}, "names no judge that could be asked"),
    ],
    ids=["verifier", "process", "tags", "live"],
)
def test_what_cannot_be_started_is_said_beside_the_form(
    editor: Client, project: Project, changed: dict[str, str], told: str
) -> None:
    make_case(project)

    answer = editor.post(address(project, "golden_replay_start"), {"verifier": "1", **changed})

    assert answer.status_code == 422
    assert told in text_of(answer.content)
    assert not Replay.objects.exists()


def test_the_price_is_told_as_a_part_while_choosing(editor: Client, project: Project) -> None:
    make_case(project, phase="write", tier=2, replies=[{"text": "{}"}, {"text": "{}"}])
    process = project.processes.get()
    Spending.objects.create(
        project=project, process=process, day=timezone.now().date(), calls=10, spent_usd="0.50"
    )
    Budget.objects.create(project=project, usd_per_day="0.55")

    html = editor.get(
        address(project, "golden_replay_start", verifier="1", live="on"),
        headers={"HX-Request": "true", "HX-Target": "price"},
    ).content.decode()

    assert "<html" not in html
    text = text_of(html)
    assert (
        "1 case , and about 2 questions to judges, by what calls cost lately about $0.1000" in text
    )
    assert "$0.0500 of today's budget is left: what it does not hold cannot be judged." in text


def test_the_same_is_started_again(editor: Client, project: Project) -> None:
    process = project.processes.get()
    replay = replayed(
        project,
        {make_case(project, tags=["slow", "canary"]): Change.HELD},
        process=process,
        process_version=process.published,
        tags=["slow"],
    )
    page = editor.get(address(project, "golden_replay", replay.uuid))

    form = editor.get(f"{address(project, 'golden_replay_start')}?{page.context['again']}")

    assert form.context["form"].is_valid()
    assert form.context["form"].cleaned_data == {
        "verifier": "1", "over": "small-work:1", "tags": ("slow",), "canary": True, "live": False,
    }  # fmt: skip


def test_a_text_that_was_no_version_cannot_be_started_again(
    editor: Client, project: Project
) -> None:
    replay = replayed(
        project,
        {make_case(project): Change.HELD},
        process=project.processes.get(),
        candidate_text=SOURCE_TEXT,
        candidate_sha256="c" * 64,
        is_live_line=False,
    )

    text = text_of(editor.get(address(project, "golden_replay", replay.uuid)).content)

    assert "Start the same again" not in text
    assert "small-work, an unpublished text" in text


def test_viewers_start_nothing(viewer: Client, project: Project) -> None:
    path = address(project, "golden_replay_start")

    assert viewer.get(path).status_code == viewer.post(path, {"verifier": "1"}).status_code == 403


# ---------------------------------------------------------------- trend


def test_a_line_for_each_verifier_holds_a_point_for_each_whole_replay(
    viewer: Client, project: Project
) -> None:
    cases = [make_case(project) for _ in range(4)]
    held = dict.fromkeys(cases, Change.HELD)
    now, other = timezone.now(), make_verifier(project, 2)
    replayed(project, {**held, cases[0]: Change.REGRESSED}, created_at=now - timedelta(days=2))
    replayed(project, {**held, cases[0]: Change.FIXED}, created_at=now - timedelta(days=1))
    replayed(project, {**held, cases[0]: Change.NOT_JUDGED}, verifier_version=other)
    replayed(project, held, tags=["slow"])
    replayed(project, held, is_live=True, is_live_line=False)
    replayed(project, held, process=project.processes.get())

    trend = viewer.get(address(project, "golden_trend")).context["trend"]

    assert [(line.number, [one.share for one in line.points]) for line in trend.lines] == [
        (1, [0.75, 1.0]),
        (2, [0.75]),
    ]
    assert [one.regressed for one in trend.points] == [0, 0, 1]


def test_a_point_leads_to_its_replay_in_the_drawing_and_in_the_table(
    viewer: Client, project: Project
) -> None:
    replay = replayed(project, {make_case(project): Change.REGRESSED})

    html = viewer.get(address(project, "golden_trend")).content.decode()

    path = address(project, "golden_replay", replay.uuid)
    assert f'<a href="{path}" tabindex="-1"><title>' in html
    assert f'href="{path}?change=regressed"' in html
    assert "0 of 1 held, 1 regressed" in html


def test_without_a_whole_replay_there_is_no_line(viewer: Client, project: Project) -> None:
    assert "No line to draw yet." in text_of(viewer.get(address(project, "golden_trend")).content)


# ---------------------------------------------------------------- the schedule


def test_an_admin_chooses_when_the_corpus_is_replayed(project: Project) -> None:
    admin = signed_in(make_user(project, Role.ADMIN))
    chosen = {"is_enabled": "on", "hour": "4", "tags": "slow"}

    answer = admin.post(address(project, "golden_schedule"), chosen, follow=True)

    row = GoldenSchedule.objects.get(project=project)
    assert (row.is_enabled, row.hour, row.tags) == (True, 4, ["slow"])
    assert "Saved." in text_of(answer.content)


@pytest.mark.parametrize(
    "wrong", [{"hour": "24"}, {"hour": "x"}, {"hour": "3", "tags": "A!"}], ids=str
)
def test_a_wrong_schedule_is_refused_beside_its_form(
    project: Project, wrong: dict[str, str]
) -> None:
    admin = signed_in(make_user(project, Role.ADMIN))

    assert admin.post(address(project, "golden_schedule"), wrong).status_code == 422
    assert not GoldenSchedule.objects.exists()


def test_others_read_the_schedule_and_change_nothing(editor: Client, project: Project) -> None:
    GoldenSchedule.objects.create(project=project, hour=5, tags=["slow"])

    text = text_of(editor.get(address(project, "golden_schedule")).content)

    assert "Every night from 05:00 UTC, the cases tagged slow." in text
    answer = editor.post(address(project, "golden_schedule"), {"hour": "6"})
    assert answer.status_code == 403
    assert GoldenSchedule.objects.get().hour == 5


def test_each_member_chooses_to_be_mailed(viewer: Client, project: Project) -> None:
    path = address(project, "golden_schedule_mail")

    viewer.post(path, {"wanted": "on"})
    assert GoldenNotice.objects.count() == 1
    viewer.post(path, {})

    assert not GoldenNotice.objects.exists()
