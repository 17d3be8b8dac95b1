from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_run, make_user, signed_in
from tests.tables import check_rows
from tests.trials.builders import (
    fill_open,
    make_acknowledgement,
    make_compared_run,
    make_comparison,
    make_comparisons,
    make_cutover_replay,
    make_judgement,
    make_legacy,
    make_queued,
    make_trial,
    make_trial_replay,
)
from tests.trials.paging import LIVE, links, list_url, page, queries, text_of, url
from tests.trials.scene import MARKUP, make_shadow_scene
from verification.trials.models import Comparison, Origin, StopReason, Trial, TrialState

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer(project: Project) -> Client:
    return signed_in(make_user(project, Role.VIEWER))


@pytest.fixture
def editor(project: Project) -> Client:
    return signed_in(make_user(project, Role.EDITOR))


# ---------------------------------------------------------------- the list


def test_without_a_trial_the_page_teaches_how_to_start_one(
    editor: Client, project: Project
) -> None:
    make_legacy(project)

    text = page(editor, list_url(project))

    assert "Nothing runs in shadow yet." in text
    assert "Compare the policy engine with the legacy engine over past runs" in text
    assert '{"baseline_verifier": 2, "candidate_verifier": 1}' in text


def test_who_may_not_start_a_trial_is_not_offered_to(viewer: Client, project: Project) -> None:
    make_legacy(project)

    text = page(viewer, list_url(project))

    assert "Editors start one" in text
    assert "Compare the policy engine" not in text
    assert "Start a trial" not in text


def test_a_trial_stands_with_its_sides_figures_and_gate(viewer: Client, project: Project) -> None:
    trial = make_trial(project, baseline=make_legacy(project), cost_usd=Decimal("1.28"))
    make_comparisons(trial, {("pass", "pass"): 7, ("pass", "fail"): 2})
    make_comparisons(trial, {("fail", "pass"): 3}, judged="new")

    answer = viewer.get(list_url(project))

    row = answer.context["listed"].rows[0]
    assert (row.pairs, row.laxer, row.stricter, row.judged) == (12, 3, 2, 3)
    text = text_of(answer.content)
    assert "policy v3 beside legacy v2" in text
    assert "too little data" in text
    assert "$1.28" in text


@pytest.mark.extended
def test_the_gate_of_a_trial_that_lacks_nothing_stands_open_in_the_list(
    viewer: Client, project: Project
) -> None:
    fill_open(make_trial(project))

    row = viewer.get(list_url(project)).context["listed"].rows[0]

    assert (row.gate.word, row.held) == ("open", row.criteria)


def test_trials_are_listed_by_state(viewer: Client, project: Project) -> None:
    make_trial(project, title="Goes on")
    make_trial(project, title="Is over", state=TrialState.ENDED, stop_reason=StopReason.TIME)

    assert "Is over" not in page(viewer, list_url(project, state="running"))
    assert "Goes on" not in page(viewer, list_url(project, state="ended"))
    assert "No trial fits." in page(viewer, list_url(project, state="promoted"))


def test_a_long_list_goes_on_on_the_next_page(viewer: Client, project: Project) -> None:
    now = timezone.now()
    for number in range(27):
        make_trial(project, title=f"Trial {number:02}", created_at=now - timedelta(hours=number))

    first = viewer.get(list_url(project)).context["listed"]
    second = viewer.get(list_url(project, cursor=first.next)).context["listed"]

    assert [len(first.rows), len(second.rows)] == [25, 2]
    assert second.rows[-1].trial.title == "Trial 26"
    assert second.next is None


def test_list_and_page_take_as_many_statements_for_twelve_trials_as_for_one(
    viewer: Client, project: Project
) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("fail", "pass"): 2})
    few = [queries(viewer, path) for path in (list_url(project), url(trial))]

    for _ in range(11):
        make_comparisons(make_trial(project), {("fail", "pass"): 2})

    assert [queries(viewer, path) for path in (list_url(project), url(trial))] == few


@pytest.mark.parametrize("cursor", ["x", "0", "MjAyNi0wMS0wMXwx"])
def test_a_cursor_of_somebody_elses_is_refused_in_the_list(
    viewer: Client, project: Project, cursor: str
) -> None:
    make_trial(project)

    answer = viewer.get(list_url(project, cursor=cursor))

    assert answer.status_code == 400
    assert "Show all trials" in text_of(answer.content)


def test_the_navigation_leads_to_the_trials(viewer: Client, project: Project) -> None:
    html = viewer.get(url(make_trial(project))).content.decode()

    here = list_url(project).rstrip("?")
    assert f'<a href="{here}" aria-current="page">Shadow</a>' in html


# ---------------------------------------------------------------- the page of one


def test_each_cell_of_the_matrix_leads_to_just_the_comparisons_it_counts(
    viewer: Client, project: Project
) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("fail", "pass"): 3, ("fail", "fail"): 5, ("undecided", "pass"): 1})
    make_comparisons(trial, {("fail", "pass"): 4}, origin=Origin.CORPUS)
    matrix = viewer.get(url(trial)).context["live"].matrix

    cells = [cell for row in matrix.rows for cell in row.cells if cell.n]
    found = [viewer.get(f"{url(trial)}?{cell.query}").context["listed"].count for cell in cells]

    assert found == [cell.n for cell in cells] == [3, 5, 1]
    assert [cell.n for cell in matrix.met] == [5, 3, 1]
    assert matrix.total == 9


def test_laxer_and_stricter_cells_say_so_in_words_too(viewer: Client, project: Project) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("fail", "pass"): 3, ("pass", "fail"): 2})

    html = viewer.get(url(trial)).content.decode()

    assert 'title="old fail, new pass: 3. Laxer: the new one accepts"' in html
    assert 'title="old pass, new fail: 2. Stricter: the new one rejects"' in html


def test_the_classes_stand_as_chips_that_narrow_the_list(viewer: Client, project: Project) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("pass", "pass"): 5, ("fail", "pass"): 2, ("pass", "undecided"): 1})

    answer = viewer.get(url(trial))

    chips = {chip.value: chip.n for chip in answer.context["chips"]}
    assert chips == {"old_fail_new_pass": 2, "new_undecided": 1, "no_diff": 5}
    for value, n in chips.items():
        assert viewer.get(url(trial, diff_class=value)).context["listed"].count == n


FILTERS = [
    ({"move": "both"}, 2),
    ({"aa": "yes"}, 1),
    ({"aa": "new"}, 1),
    ({"aa": "old"}, 0),
    ({"q": "\0"}, 5),
]


@pytest.mark.parametrize("query", [{"origin": "nowhere"}, {"old": "no outcome"}], ids=str)
def test_a_filter_of_the_list_with_another_value_is_refused(
    viewer: Client, project: Project, query: dict[str, str]
) -> None:
    answer = viewer.get(url(make_trial(project), **query))

    assert answer.status_code == 400
    assert f"{next(iter(query))} takes one of" in answer.content.decode()


@check_rows(("query", "count"), FILTERS, rollback=True)
def test_the_list_is_narrowed_by_what_stands_in_the_address(
    viewer: Client, project: Project, query: dict[str, str], count: int
) -> None:
    trial = make_trial(project)
    make_comparison(trial, "fail", "pass", judged="new", title="figures")
    make_comparison(trial, "pass", "fail")
    known = make_comparison(
        trial, "fail", "fail", diff_class="both_fail_reason_diff", finer=["reason"],
        rules=["tone"], kind="known",
    )  # fmt: skip
    make_acknowledgement(known)
    make_comparison(
        trial, "pass", "pass", origin=Origin.PAST, is_aa=True, old_again="pass", new_again="fail"
    )
    make_comparison(trial, "pass", "pass", has_failed=True)
    make_comparison(trial, "pass", "pass", origin=Origin.CORPUS)

    assert viewer.get(url(trial, **query)).context["listed"].count == count


def test_the_criteria_stand_with_their_figures_and_what_is_missing(
    viewer: Client, project: Project
) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("fail", "pass"): 4, ("pass", "pass"): 16})

    text = page(viewer, url(trial))

    assert "Enough discordant pairs 21 more discordant pairs 4 of 25" in text
    assert "too little data" in text
    assert "Golden corpus unharmed replay the golden corpus" in text


@pytest.mark.extended
def test_an_open_gate_says_so_with_every_criterion(viewer: Client, project: Project) -> None:
    trial = make_trial(project)
    fill_open(trial)

    answer = viewer.get(url(trial))

    panel = answer.context["live"].panel
    assert panel.is_open
    assert panel.held == len(panel.rows) == 10
    assert not panel.is_corpus_asked


@pytest.mark.extended
def test_every_figure_of_the_panel_leads_to_a_page(viewer: Client, project: Project) -> None:
    trial = make_trial(project)
    fill_open(trial)
    rows = viewer.get(url(trial)).context["live"].panel.rows

    leading = [one for one in rows if one.url]

    assert {one.name for one in leading} >= {"discordant_pairs", "difference", "corpus"}
    assert all(viewer.get(one.url).status_code == 200 for one in leading)


def test_a_criterion_opens_the_very_rows_that_it_counts(viewer: Client, project: Project) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("undecided", "pass"): 2, ("fail", "pass"): 1}, judged="old")
    make_comparisons(trial, {("fail", "pass_with_warnings"): 4, ("pass", "fail"): 5}, judged="new")
    make_comparisons(trial, {("fail", "fail"): 6, ("pass", "fail"): 1}, judged="neither")
    make_comparisons(trial, {("undecided", "undecided"): 3, ("pass", "undecided"): 1})
    panel = viewer.get(url(trial)).context["live"].panel
    rows = panel.rows

    shown = [viewer.get(where).context["listed"].count for _, _, where in panel.shown]
    assert shown == [1 + 4, 5 + 1, 2 + 3]
    counts = {one.name: viewer.get(one.url).context["listed"].count for one in rows if one.url}

    assert counts == {
        "discordant_pairs": 4 + 5 + 1 + 1,
        "difference": 4 + 5 + 1 + 1,
        "false_fails": 4 + 6 + 1,
        "unsafe_passes": 2 + 1 + 4,
        "old_flips": 0,
        "new_flips": 0,
        "undecided": 3 + 1,
    }


def test_golden_cases_stand_apart_and_change_no_criterion(viewer: Client, project: Project) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("pass", "pass"): 3})
    make_comparisons(trial, {("fail", "pass"): 5}, origin=Origin.CORPUS)
    make_queued(trial, origin=Origin.CORPUS, compared_at=timezone.now(), error_text="It is gone.")

    runs, corpus = (viewer.get(url(trial, origin=one)).context for one in ("runs", "corpus"))

    assert (runs["live"].not_compared, corpus["live"].not_compared) == (0, 1)
    assert corpus["live"].figures.count == 5
    assert corpus["live"].panel.rows[0].value == "0"
    assert "Golden corpus 5" in page(viewer, url(trial))


def test_rules_and_kinds_of_difference_lead_to_their_rows(viewer: Client, project: Project) -> None:
    trial = make_trial(project)
    make_comparison(trial, "fail", "pass", rules=["a b/ü"], kind="k1", summary="a b: gone")
    make_comparison(trial, "pass", "pass")

    html = viewer.get(url(trial)).content

    (rule,) = links(html, r"\?rule=")
    (kind,) = links(html, r"\?kind=")
    assert viewer.get(rule).context["listed"].count == 1
    assert viewer.get(kind).context["listed"].count == 1


def test_what_is_judged_acknowledged_broken_or_not_compared_is_told_in_its_row(
    viewer: Client, project: Project
) -> None:
    trial = make_trial(project)
    make_queued(trial, compared_at=timezone.now(), error_text="The run was deleted.")
    make_acknowledgement(make_comparison(trial, "fail", "pass", has_failed=True))
    disputed = make_compared_run(trial)
    make_judgement(disputed, "new")
    make_judgement(disputed, "old", "bo")

    text = page(viewer, url(trial))

    assert "not compared The run was deleted." in text
    assert "a side broke acknowledged" in text
    assert "people disagree" in text


def test_no_row_leads_to_judging_a_comparison_whose_sides_it_tells(project: Project) -> None:
    reviewer = signed_in(make_user(project, Role.REVIEWER))
    trial = make_trial(project)
    row = make_compared_run(trial)

    html = reviewer.get(url(trial, move="laxer")).content

    assert links(html, "/judge/") == {
        url(trial, "trial_judge", move="laxer"): "Judge these",
        url(trial, "trial_judge"): "Judge r",
    }
    assert str(row.uuid) not in "".join(links(html, "/judge/"))


def test_a_long_list_goes_on_where_it_ended(viewer: Client, project: Project) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("pass", "pass"): 52})

    first = viewer.get(url(trial)).context["listed"]
    second = viewer.get(url(trial, cursor=first.next)).context["listed"]

    assert [len(first.rows), len(second.rows), second.next] == [50, 2, None]
    assert first.count == second.count == 52
    assert {one.row.pk for one in first.rows}.isdisjoint(one.row.pk for one in second.rows)


@pytest.mark.parametrize("cursor", ["x", "-1", "9" * 30])
def test_a_cursor_of_somebody_elses_is_refused(
    viewer: Client, project: Project, cursor: str
) -> None:
    answer = viewer.get(url(make_trial(project), cursor=cursor))

    assert answer.status_code == 400
    assert "This cursor was not made by us." in text_of(answer.content)


def test_the_page_takes_as_many_statements_for_many_rows_as_for_one(
    viewer: Client, project: Project
) -> None:
    trial = make_trial(project)
    make_compared_run(trial)
    few = queries(viewer, url(trial))

    for _ in range(6):
        make_compared_run(trial)
    make_comparisons(trial, {("pass", "fail"): 30})

    assert queries(viewer, url(trial)) == few


def test_a_trial_of_another_project_is_not_found(viewer: Client, project: Project) -> None:
    foreign = make_trial(make_project())

    path = url(foreign).replace(foreign.project.slug, project.slug)

    assert viewer.get(path).status_code == 404


@pytest.mark.extended
def test_nothing_that_was_submitted_becomes_markup(viewer: Client, project: Project) -> None:
    scene = make_shadow_scene(project)

    for path in (url(scene.hostile), list_url(project)):
        html = viewer.get(path).content.decode()
        assert MARKUP not in html
        assert "<img src=x" not in html


@pytest.mark.extended
def test_a_trial_in_any_state_has_its_page(viewer: Client, project: Project) -> None:
    make_shadow_scene(project)

    trials = list(Trial.objects.filter(project=project))

    assert len({trial.state for trial in trials}) == 3
    for trial in trials:
        for name in ("trial", "trial_over_time"):
            assert viewer.get(url(trial, name)).status_code == 200


def test_why_a_trial_stopped_is_told(viewer: Client, project: Project) -> None:
    trial = make_trial(
        project,
        state=TrialState.STOPPED,
        stop_reason=StopReason.ERRORS,
        stop_text="12 of 20 broke.",
    )

    assert "Too many verifications broke: 12 of 20 broke." in page(viewer, url(trial))


# ---------------------------------------------------------------- while it runs


def test_a_running_trial_is_looked_at_again_and_one_that_is_over_is_not(
    viewer: Client, project: Project
) -> None:
    trial = make_trial(project)
    assert 'hx-trigger="every 15s"' in viewer.get(url(trial)).content.decode()

    make_queued(trial)
    assert 'hx-trigger="every 2s"' in viewer.get(url(trial)).content.decode()

    Comparison.objects.filter(trial=trial).delete()
    Trial.objects.filter(pk=trial.pk).update(state=TrialState.ENDED)
    assert 'id="trial-live" hx-get' not in viewer.get(url(trial)).content.decode()


def test_the_part_brings_figures_and_says_how_many_came_since(
    viewer: Client, project: Project
) -> None:
    trial = make_trial(project)
    first = make_comparison(trial, "pass", "pass")
    make_comparisons(trial, {("fail", "pass"): 3})

    html = viewer.get(url(trial, newest=first.pk), **LIVE).content.decode()

    assert "<html" not in html
    assert "3 new" in text_of(html)
    assert 'title="old fail, new pass: 3' in html


def test_the_first_results_bring_the_whole_page(viewer: Client, project: Project) -> None:
    trial = make_trial(project)
    assert viewer.get(url(trial, newest=0), **LIVE).headers.get("HX-Refresh") is None

    make_comparison(trial, "pass", "pass")

    assert viewer.get(url(trial, newest=0), **LIVE).headers["HX-Refresh"] == "true"


def test_the_whole_page_is_sent_when_history_is_gone_back_to(
    viewer: Client, project: Project
) -> None:
    headers = {**LIVE["headers"], "HX-History-Restore-Request": "true"}

    html = viewer.get(url(make_trial(project)), headers=headers).content.decode()

    assert "<html" in html


def test_a_replay_under_way_tells_how_far_it_is(editor: Client, project: Project) -> None:
    trial = make_trial(project)
    replay = make_trial_replay(trial, total=4)
    make_comparisons(trial, {("pass", "pass"): 1}, replay=replay, origin=Origin.PAST)
    make_queued(trial, replay=replay, origin=Origin.PAST)

    text = page(editor, url(trial), **LIVE)

    assert "Past runs 1 of 4 Cancel" in text
    assert "1 wait" in text


# ---------------------------------------------------------------- over time, exports


def test_pairs_stand_when_their_runs_finished_and_moves_add_up(
    viewer: Client, project: Project
) -> None:
    trial, now = make_trial(project), timezone.now()
    for days in (0, 3):
        make_comparisons(
            trial,
            {("fail", "pass"): 2, ("pass", "fail"): 1},
            compared_at=now - timedelta(days=days),
        )
    old = make_run(project, created_at=now - timedelta(days=9))
    make_comparison(trial, "pass", "pass", run=old)

    steps = viewer.get(url(trial, "trial_over_time")).context["chart"].steps

    assert [one.total for one in steps] == [1, 3, 3]
    assert [(one.laxer_sum, one.stricter_sum) for one in steps] == [(0, 0), (2, 1), (4, 2)]
    assert steps[0].p is None
    assert steps[-1].p == pytest.approx(0.6875)


def test_without_a_pair_there_is_nothing_to_draw(viewer: Client, project: Project) -> None:
    assert "Nothing to draw yet." in page(viewer, url(make_trial(project), "trial_over_time"))


def body_of(answer: Any) -> str:
    return b"".join(answer.streaming_content).decode()


def test_comparisons_are_saved_as_a_table_that_no_spreadsheet_runs(
    viewer: Client, project: Project
) -> None:
    trial = make_trial(project)
    make_comparison(trial, "fail", "pass", title="=1+1", judged="new", old_cost_usd=Decimal("0.01"))
    make_comparison(trial, "pass", "pass")

    answer = viewer.get(url(trial, "trial_export", "csv", move="laxer"))

    (row,) = csv.DictReader(io.StringIO(body_of(answer).removeprefix("\ufeff")))
    assert (row["old"], row["new"], row["judged"]) == ("fail", "pass", "new")
    assert not row["task"].startswith("=")
    assert row["old_cost_usd"] == "0.010000"
    assert "attachment" in answer["Content-Disposition"]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_comparisons_are_saved_as_json(viewer: Client, project: Project, count: int) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("fail", "pass"): count})

    rows = json.loads(body_of(viewer.get(url(trial, "trial_export", "json"))))

    assert [row["diff_class"] for row in rows] == ["old_fail_new_pass"] * count


def test_a_long_export_is_read_page_by_page(
    viewer: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verification.trials.pages.exports.PAGE_ROWS", 2)
    trial = make_trial(project)
    made = make_comparisons(trial, {("fail", "pass"): 5})

    rows = json.loads(body_of(viewer.get(url(trial, "trial_export", "json"))))

    assert [row["id"] for row in rows] == [str(one.uuid) for one in reversed(made)]


def test_there_is_no_export_of_another_kind(viewer: Client, project: Project) -> None:
    assert viewer.get(url(make_trial(project), "trial_export", "xml")).status_code == 404


def test_a_replay_of_the_corpus_that_the_gate_read_is_linked(
    viewer: Client, project: Project
) -> None:
    trial = make_trial(project)
    replay = make_cutover_replay(trial)

    assert links(viewer.get(url(trial)).content, str(replay.uuid))
