from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.errors import InputError, NotFound
from tests.builders import make_project, make_run
from tests.golden.builders import make_case, make_result
from tests.tables import check_rows
from tests.trials.builders import (
    generate_comparisons,
    make_acknowledgement,
    make_compared_run,
    make_comparison,
    make_comparisons,
    make_cutover_replay,
    make_judgement,
    make_queued,
    make_trial,
    make_trial_replay,
)
from tests.trials.replaying import corpus_criterion
from verification.engine.cutover import CriterionState, Flips
from verification.engine.golden.standing import Change, Standing
from verification.golden.models import ReplayPurpose, ReplayResult, ReplayState
from verification.golden.replays.selectors import corpus_sha256
from verification.trials import selectors
from verification.trials.differences import differences_by_kind, differences_by_rule
from verification.trials.figures import figures_of
from verification.trials.filters import ComparisonFilters
from verification.trials.models import Origin

pytestmark = pytest.mark.django_db


def titles(trial: Any, **filters: str) -> list[str]:
    return [one.title for one in selectors.comparisons(trial, ComparisonFilters(**filters))]


def test_a_trial_is_found_in_its_own_project_alone(project: Project) -> None:
    trial = make_trial(project)

    assert selectors.trial_of(project, trial.uuid) == trial
    for there, uuid in ((make_project(), trial.uuid), (project, uuid4())):
        with pytest.raises(NotFound) as refusal:
            selectors.trial_of(there, uuid)
        assert refusal.value.code == "trial.unknown"


def test_trials_come_newest_first(project: Project) -> None:
    now = timezone.now()
    made = [make_trial(project, created_at=now - timedelta(days=age)) for age in (2, 0, 1)]
    make_trial(make_project())

    assert list(selectors.trials(project)) == [made[1], made[2], made[0]]


def test_the_matrix_counts_old_against_new(project: Project) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("pass", "pass"): 3, ("fail", "pass_with_warnings"): 2})
    make_comparisons(trial, {("fail", "pass"): 1}, origin=Origin.PAST)
    make_comparisons(trial, {("pass", "fail"): 5}, origin=Origin.CORPUS)
    make_comparisons(make_trial(project), {("pass", "pass"): 7})
    make_queued(trial)
    make_queued(trial, compared_at=timezone.now(), error_text="A side was lost.")

    assert figures_of(trial).matrix == {
        "pass": {"pass": 3},
        "fail": {"pass_with_warnings": 2, "pass": 1},
    }
    assert figures_of(trial, [Origin.CORPUS]).matrix == {"pass": {"fail": 5}}


def test_every_class_is_told_even_where_nothing_fell_in_it(project: Project) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("fail", "pass"): 2, ("pass", "undecided"): 1})
    make_comparison(trial, "fail", "fail", new_reason="tests_failed")

    assert figures_of(trial).classes == {
        "no_diff": 0,
        "old_fail_new_pass": 2,
        "old_pass_new_fail": 0,
        "both_fail_reason_diff": 1,
        "warnings_diff": 0,
        "new_undecided": 1,
        "old_undecided": 0,
    }


def test_doubt_on_a_side_is_apart_from_what_was_decided(project: Project) -> None:
    trial = make_trial(project)
    make_comparisons(
        trial,
        {
            ("pass", "partial_verified"): 3,
            ("fail", "fail"): 4,
            ("fail", "pass"): 5,
            ("pass", "fail"): 6,
            ("undecided", "pass"): 7,
            ("undecided", "fail"): 1,
            ("fail", "undecided"): 2,
            ("undecided", "undecided"): 8,
        },
    )

    pairs = figures_of(trial).pairs

    assert (pairs.both_accept, pairs.both_reject, pairs.laxer, pairs.stricter) == (3, 4, 5, 6)
    assert (pairs.old_undecided, pairs.new_undecided, pairs.both_undecided) == (8, 2, 8)
    assert (pairs.decided, pairs.discordant, pairs.all) == (18, 11, 36)


@check_rows(
    ("pair", "said", "counted"),
    [
        (("fail", "pass"), "new", {"laxer_judged": 1, "false_fails_fixed": 1}),
        (("fail", "pass"), "both", {"laxer_judged": 1}),
        (("fail", "pass"), "old", {"laxer_judged": 1, "laxer_unsafe": 1}),
        (("fail", "pass"), "neither", {"laxer_judged": 1, "laxer_unsafe": 1}),
        # Nobody knows yet, and doubt is never accepted.
        (("fail", "pass"), "disputed", {"laxer_judged": 1, "laxer_unsafe": 1}),
        (("pass", "fail"), "new", {"stricter_judged": 1, "stricter_right": 1}),
        (("pass", "fail"), "old", {"stricter_judged": 1, "stricter_wrong": 1,
                                   "false_fails_added": 1}),
        (("fail", "fail"), "neither", {"false_fails_kept": 1, "both_reject_judged": 1}),
        (("fail", "fail"), "both", {"both_reject_judged": 1}),
        (("undecided", "pass"), "neither", {"doubt_judged": 1, "doubt_unsafe": 1}),
        (("pass", "undecided"), "old", {}),
    ],
    rollback=True,
)  # fmt: skip
def test_what_people_said_counts_for_the_side_it_speaks_of(
    project: Project, pair: tuple[str, str], said: str, counted: Mapping[str, int]
) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {pair: 2})
    make_comparison(trial, *pair, judged=said)

    people = figures_of(trial).people

    names = type(people).__dataclass_fields__
    assert {name: getattr(people, name) for name in names if getattr(people, name)} == counted


def test_two_who_differ_are_a_dispute_and_it_counts_against_the_new_side(
    project: Project,
) -> None:
    trial = make_trial(project)
    comparison = make_comparison(trial, "fail", "pass")
    make_judgement(comparison, "new", "ann")
    make_judgement(comparison, "old", "ben")

    assert figures_of(trial).words["disputed"] == 1
    assert figures_of(trial).people.laxer_unsafe == 1


def test_a_flip_is_a_second_answer_that_decides_otherwise(project: Project) -> None:
    trial = make_trial(project)
    for old, old_again in (
        ("pass", "pass_with_warnings"),  # both accept
        ("pass", "fail"),
        ("fail", "pass"),
        ("fail", "undecided"),  # doubt is apart
        ("undecided", "pass"),
        ("pass", ""),
    ):
        make_comparison(trial, old, "pass", old_again=old_again, new_again="pass", is_aa=True)

    figures = figures_of(trial)

    assert figures.old_flips == Flips(flips=2, n=3)
    assert figures.new_flips == Flips(flips=0, n=6)


def test_costs_are_added_and_the_slowest_twentieth_is_told(project: Project) -> None:
    trial = make_trial(project)
    for number in range(1, 102):
        make_comparison(
            trial, old_ms=number, new_ms=2 * number,
            old_cost_usd=Decimal("0.01"), new_cost_usd=Decimal("0.015"),
        )  # fmt: skip

    figures = figures_of(trial)

    assert (figures.old_cost, figures.new_cost) == (Decimal("1.01"), Decimal("1.515"))
    assert (figures.old_p95_ms, figures.new_p95_ms) == (96.0, 192.0)


def test_a_trial_without_comparisons_has_figures_too(project: Project) -> None:
    figures = figures_of(make_trial(project))

    assert (figures.pairs.all, figures.old_p95_ms, figures.new_p95_ms) == (0, 0.0, 0.0)


def test_the_corpus_counts_as_the_candidate_was_replayed_over_it(project: Project) -> None:
    trial = make_trial(project)
    held, lost = make_case(project, "held"), make_case(project, "lost")
    earlier = make_cutover_replay(
        trial, is_live_line=True, created_at=timezone.now() - timedelta(1)
    )
    for case in (held, lost):
        make_result(earlier, case, standing=Standing.HELD)
    replay = make_cutover_replay(trial, total=2, counts={Change.REGRESSED: 1, Change.NOT_JUDGED: 1})
    version = project.processes.get().published
    worse = make_result(
        replay, held, standing=Standing.FAILING, change=Change.REGRESSED, process_version=version
    )
    make_result(replay, lost, standing=Standing.NOT_JUDGED, process_version=version)

    found = corpus_criterion(trial)
    assert (found.state, found.n, found.value) == (CriterionState.FAILS, 2, 1)

    ReplayResult.objects.filter(pk=worse.pk).update(standing=Standing.HELD, change=Change.HELD)
    found = corpus_criterion(trial)
    assert (found.state, found.missing) == (CriterionState.WAITING, "1 case could not be judged")


def test_a_case_that_could_never_be_judged_keeps_no_cutover_waiting(project: Project) -> None:
    trial = make_trial(project)
    replay = make_cutover_replay(trial, total=1, counts={Change.NOT_JUDGED: 1})
    version = project.processes.get().published
    make_result(replay, make_case(project), standing=Standing.NOT_JUDGED, process_version=version)
    replay.corpus_sha256 = corpus_sha256(project, with_canary=True)
    replay.save()

    found = corpus_criterion(trial)
    assert (found.state, found.n, found.value) == (CriterionState.HOLDS, 1, 0)


@pytest.mark.parametrize(
    "changed",
    [
        {"purpose": ReplayPurpose.MANUAL},
        {"state": ReplayState.RUNNING},
        {"state": ReplayState.CANCELLED},
        {"tags": ["injection"]},
        {"corpus_sha256": "1" * 64},
    ],
)
def test_another_replay_of_the_corpus_does_not_count(
    project: Project, changed: Mapping[str, Any]
) -> None:
    trial = make_trial(project)
    make_cutover_replay(trial, **changed)

    assert selectors.cutover_replay(trial) is None


def test_a_replay_counts_while_the_corpus_is_as_it_was(project: Project) -> None:
    trial = make_trial(project)
    replay = make_cutover_replay(trial)
    before = selectors.cutover_replay(trial)

    make_case(project)

    assert (before, selectors.cutover_replay(trial)) == (replay, None)


@check_rows(
    ("filters", "found"),
    [
        ({}, ["doubt", "fixed", "broken", "same"]),
        ({"diff_class": "old_fail_new_pass"}, ["fixed"]),
        ({"old": "pass", "new": "pass"}, ["same"]),
        ({"move": "laxer"}, ["fixed"]),
        ({"move": "stricter"}, ["broken"]),
        ({"move": "sideways"}, []),
        ({"origin": "runs"}, ["doubt", "fixed", "broken"]),
        ({"origin": "past"}, ["broken"]),
        ({"origin": "corpus"}, ["same"]),
        ({"process": "small-work", "phase": "write"}, ["broken"]),
        ({"rule": "sources"}, ["broken"]),
        ({"finer": "severity"}, ["broken"]),
        ({"kind": "fail-pass"}, ["fixed"]),
        ({"judged": "yes"}, ["fixed"]),
        ({"judged": "no"}, ["doubt", "broken", "same"]),
        ({"judged": "new"}, ["fixed"]),
        ({"judged": "old"}, []),
        ({"acknowledged": "yes"}, ["broken"]),
        ({"acknowledged": "no"}, ["doubt", "fixed", "same"]),
        ({"failed": "yes"}, ["doubt"]),
        ({"look": "yes"}, ["doubt"]),
        ({"q": "ROKE"}, ["broken"]),
        ({"replay": "nonsense"}, []),
        ({"replay": str(uuid4())}, []),
    ],
    rollback=True,
)
def test_comparisons_are_found_by_each_filter(
    project: Project, filters: dict[str, str], found: list[str]
) -> None:
    trial = make_trial(project)
    make_comparison(trial, title="same", origin=Origin.CORPUS)
    broken = make_comparison(
        trial, "pass", "fail", title="broken", origin=Origin.PAST, phase="write",
        rules=["sources"], finer=["severity"],
    )  # fmt: skip
    make_comparison(trial, "fail", "pass", title="fixed", judged="new")
    make_comparison(trial, "fail", "undecided", title="doubt", has_failed=True)
    make_acknowledgement(broken)
    make_queued(trial)
    make_comparison(make_trial(project), title="another")

    assert titles(trial, **filters) == found


def test_a_replays_own_comparisons_are_found(project: Project) -> None:
    trial = make_trial(project)
    replay = make_trial_replay(trial)
    make_comparison(trial, title="own", replay=replay)
    make_comparison(trial, title="other")

    assert titles(trial, replay=str(replay.uuid)) == ["own"]


@pytest.mark.parametrize(
    "changed", [{"until": timezone.now() - timedelta(1)}, {"withdrawn_at": timezone.now()}]
)
def test_an_acknowledgement_that_ran_out_hides_nothing(
    project: Project, changed: Mapping[str, Any]
) -> None:
    trial = make_trial(project)
    make_acknowledgement(make_comparison(trial, "pass", "fail", title="known"), **changed)

    assert titles(trial, look="yes") == ["known"]
    assert list(selectors.acknowledgements(trial)) == []


def test_pages_follow_each_other_without_gap_or_repeat(project: Project) -> None:
    trial = make_trial(project)
    made = [make_comparison(trial, "fail", "pass").pk for _ in range(7)]
    make_comparisons(trial, {("pass", "pass"): 3})
    filters, cursor, seen = ComparisonFilters(move="laxer"), "", []
    while True:
        page, following = selectors.comparisons_page(trial, filters, cursor=cursor, limit=3)
        seen += [one.pk for one in page]
        if following is None:
            break
        cursor = following

    assert seen == made[::-1]


@pytest.mark.parametrize("cursor", ["x", "-1", "1" * 19, "\u0661"])
def test_a_cursor_that_is_not_ours_is_refused(project: Project, cursor: str) -> None:
    with pytest.raises(InputError) as refusal:
        selectors.comparisons_page(make_trial(project), cursor=cursor, limit=3)

    assert (refusal.value.code, refusal.value.status) == ("cursor.invalid", 400)


def test_what_stands_in_an_address_is_read_as_far_as_it_is_known() -> None:
    found = ComparisonFilters.of({"rule": " a\0b ", "unknown": "x", "q": "y" * 500})

    assert found.given() == {"rule": "ab", "q": "y" * 200}


def test_a_comparison_is_found_in_its_own_trial_alone(project: Project) -> None:
    trial = make_trial(project)
    comparison = make_compared_run(trial)

    assert selectors.comparison_of(trial, comparison.uuid) == comparison
    with pytest.raises(NotFound) as refusal:
        selectors.comparison_of(make_trial(project), comparison.uuid)
    assert refusal.value.code == "comparison.unknown"


def test_rules_on_which_the_sides_differ_are_counted(project: Project) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("fail", "pass"): 2}, rules=["sources", "figures"])
    make_comparison(trial, "pass", "fail", rules=["sources"], judged="old")
    make_comparison(trial, "pass", "fail", rules=["sources"], origin=Origin.CORPUS)

    found = [
        (one.rule, one.count, one.laxer, one.stricter, one.judged)
        for one in differences_by_rule(trial)
    ]

    assert found == [("sources", 3, 2, 1, 1), ("figures", 2, 2, 0, 0)]


def test_kinds_of_difference_are_counted_and_know_who_knows_them(project: Project) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("fail", "pass"): 2, ("pass", "pass"): 9})
    known = make_acknowledgement(make_comparison(trial, "pass", "fail"))

    found = [(one.summary, one.count, one.until) for one in differences_by_kind(trial)]

    assert found == [
        ("no-placeholders: fail → pass", 2, None),
        ("no-placeholders: pass → fail", 1, known.until),
    ]


def test_however_many_were_compared_it_takes_as_many_queries(project: Project) -> None:
    def queries(trial: Any) -> int:
        with CaptureQueriesContext(connection) as captured:
            selectors.gate_of(trial)
            selectors.comparisons_page(trial, limit=50)
            differences_by_rule(trial)
            differences_by_kind(trial)
        return len(captured)

    few, many = make_trial(project), make_trial(project)
    make_comparison(few, run=make_run(project))
    generate_comparisons(many, 300, pattern=100)
    for _ in range(20):
        make_compared_run(many)

    assert queries(few) == queries(many)
    assert figures_of(many).count == 320


def test_the_gates_of_many_trials_take_two_statements_for_their_figures(
    project: Project, django_assert_num_queries: Any
) -> None:
    trials = [make_trial(project) for _ in range(3)]
    for trial in trials:
        make_comparison(trial, "fail", "pass")
    with django_assert_num_queries(2 + 1):  # which candidates were replayed over the corpus
        found = selectors.gates_of(trials)

    assert [figures.count for figures, _ in found.values()] == [1, 1, 1]
