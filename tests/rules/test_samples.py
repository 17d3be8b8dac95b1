"""A judge's rule on some past runs, asked of a judge over real HTTP."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict
from tests.builders import generate_runs
from tests.model_server import ModelServer, model_server, together
from tests.rules.sampled import (
    asked,
    blames_bad,
    decided,
    editor,
    past,
    start,
    wish,
)
from tests.runs.conftest import Caller
from tests.runs.judged import AWAY, NOISE, judged_by, submit, work_on
from tests.verifiers.racing import at_once
from verification.engine.outcome import Outcome
from verification.rules.backtest.running import Progress
from verification.rules.models import (
    Backtest,
    Drawn,
    Sample,
    SampledAnswer,
    SampledRun,
    SampleState,
    SampleStop,
)
from verification.rules.samples import claiming, drawing, services, waking, working
from verification.rules.samples.drawing import draw
from verification.rules.samples.price import price
from verification.rules.samples.results import progress_of
from verification.verifiers.models import Budget, Spending

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("nobody_waits_long"),
]

USD_A_CALL = Decimal(100 * 10 + 20 * 100) / 1_000_000
"""What the scripted judge's answer costs."""


def buckets(progress: Progress) -> dict[str, int]:
    return {bucket.value: count for bucket, count in progress.buckets.items() if count}


def test_the_judge_is_asked_and_its_word_weighed_by_what_people_said(
    project: Project, server: ModelServer
) -> None:
    decided(project, "fail", "BAD work")
    decided(project, "pass", "BAD, but right")
    caught = past(project, "first line\nBAD again")
    past(project, "fine")
    past(project, "BAD in a phase where the rule is silent", phase="build")
    past(project, "BAD, never judged", tier_achieved=1)
    past(project, "BAD", outcome=Outcome.FAIL, findings=[{"rule": "other", "tier": 2}])

    sample = asked(project, wish(project))

    progress = progress_of(sample)
    assert (sample.state, sample.stopped) == (SampleState.FINISHED, "")
    assert (progress.evaluated, progress.matched, progress.is_over) == (5, 4, True)
    assert buckets(progress) == {"good_catch": 1, "false_alarm": 1, "unlabelled": 1}
    found = next(one for one in progress.changed if one.bucket == "unlabelled")
    assert found.run.uuid == caught.uuid
    assert found.place is not None
    assert (found.place["line"], found.place["quote"], found.said) == (2, "BAD", "It is rude.")
    assert Backtest.objects.get().figures["matched"] == 4


def test_only_the_rules_of_the_phase_are_asked_about(project: Project, server: ModelServer) -> None:
    past(project, "fine")

    asked(project, wish(project))

    [prompt] = server.prompts()
    assert '"tone"' in prompt
    assert '"figures-have-sources"' in prompt
    assert "no-placeholders" not in prompt


def test_an_observed_rule_is_tried_as_a_hard_one(project: Project, server: ModelServer) -> None:
    past(project, "BAD")

    sample = asked(project, wish(project, enforcement="observe"))

    assert buckets(progress_of(sample)) == {"unlabelled": 1}
    assert progress_of(sample).counted_as == "hard"


def test_what_a_laxer_rule_lets_go_is_told(project: Project, server: ModelServer) -> None:
    """The published rule rejected it; asked in its new words, the judge does not."""
    spoke = [{"rule": "figures-have-sources", "enforcement": "hard", "tier": 2}]
    past(project, "fine", outcome=Outcome.FAIL, findings=spoke)

    sample = asked(project, wish(project, name="figures-have-sources", severity="error"))

    assert buckets(progress_of(sample)) == {"unsafe_pass": 1}


def test_what_was_answered_before_is_neither_asked_nor_paid_again(
    project: Project, server: ModelServer
) -> None:
    past(project, "fine")
    past(project, "BAD")
    asked(project, wish(project))
    past(project, "new")

    priced = price(wish(project), Drawn.BY_LOT, 20)
    sample = asked(project, wish(project))

    assert (priced.runs, priced.asked, priced.answered) == (3, 1, 2)
    assert len(server.asked) == 3
    assert sample.cost_usd == USD_A_CALL
    assert progress_of(sample).evaluated == 3


def test_the_answer_to_a_run_itself_is_heard_again(project: Project, server: ModelServer) -> None:
    """The rule as it is published was asked about when the run was verified."""
    published = {"name": "figures-have-sources", "severity": "error"}
    check = "Every figure names its source"
    run = work_on(submit(Caller(project, Role.AGENT), process="small-work", phase="write"))
    assert run.tier_achieved == 2
    before = len(server.asked)

    priced = price(wish(project, check, **published), Drawn.BY_LOT, 20)
    sample = asked(project, wish(project, check, **published))

    assert priced.asked == 0
    assert len(server.asked) == before
    assert (sample.cost_usd, progress_of(sample).evaluated) == (Decimal(0), 1)


def test_the_price_is_told_first_and_a_higher_one_is_refused(
    project: Project, server: ModelServer
) -> None:
    past(project, "fine")
    priced = price(wish(project), Drawn.BY_LOT, 20)
    assert priced.max_usd > USD_A_CALL

    with pytest.raises(Conflict, match="agreed to"):
        start(project, wish(project), usd=str(priced.max_usd - Decimal("0.01")))

    assert server.asked == []
    assert not Sample.objects.exists()


def test_it_never_spends_more_than_was_agreed_to(
    project: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    past(project, "fine")
    past(project, "fine too")
    monkeypatch.setattr(working, "AT_ONCE", 1)
    of_both = price(wish(project), Drawn.BY_LOT, 20).max_usd
    sample = start(project, wish(project))
    Sample.objects.update(max_usd=of_both / 4)

    working.work_on(sample.pk, seconds=60)

    sample.refresh_from_db()
    assert (sample.state, sample.stopped) == (SampleState.FINISHED, SampleStop.AGREED)
    assert len(server.asked) == 1
    assert sample.cost_usd == USD_A_CALL
    assert progress_of(sample).evaluated == 1
    assert not Backtest.objects.exists()


def test_live_runs_keep_their_part_of_the_days_budget(
    project: Project, server: ModelServer
) -> None:
    past(project, "fine")
    sample = start(project, wish(project))
    Budget.objects.create(project=project, usd_per_day=1)
    process = project.processes.get()
    today = timezone.now().date()
    Spending.objects.create(project=project, process=process, day=today, spent_usd="0.79")

    working.work_on(sample.pk, seconds=60)

    sample.refresh_from_db()
    assert (sample.stopped, sample.cost_usd) == (SampleStop.BUDGET, Decimal(0))
    assert server.asked == []
    assert price(wish(project), Drawn.BY_LOT, 20).left_usd == Decimal("0.01")
    assert Spending.objects.get().reserved_usd == 0


def test_it_is_paid_from_the_process(project: Project, server: ModelServer) -> None:
    past(project, "fine")

    sample = asked(project, wish(project))

    spending = Spending.objects.get()
    assert spending.process.slug == "small-work"
    assert spending.spent_usd == sample.cost_usd == USD_A_CALL


@pytest.mark.extended
@pytest.mark.parametrize("script", [AWAY, NOISE])
def test_what_is_not_heard_is_doubt_about_no_run(
    project: Project, server: ModelServer, script: Any
) -> None:
    server.script = [script]
    for number in range(7):
        past(project, f"fine {number}")

    sample = asked(project, wish(project))

    assert sample.stopped == SampleStop.JUDGE
    told = buckets(progress_of(sample))
    assert working.MOST_IN_VAIN <= told.pop("could_not_evaluate") <= 7
    assert told == {}
    assert all(one.why for one in progress_of(sample).changed)
    assert not Backtest.objects.exists()


def test_a_worker_that_is_killed_costs_nothing_twice(project: Project, server: ModelServer) -> None:
    past(project, "fine")
    sample = start(project, wish(project))
    [held] = claiming.claim(sample, batch=4)
    assert claiming.claim(sample, batch=4) == []
    SampledRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    working.work_on(sample.pk, seconds=60)

    with pytest.raises(claiming.SampleOver):
        claiming.grant(held, Decimal("0.01"), seconds=1)
    sample.refresh_from_db()
    assert sample.state == SampleState.FINISHED
    assert len(server.asked) == 1


def test_a_run_that_kills_its_workers_is_doubt(project: Project, server: ModelServer) -> None:
    past(project, "fine")
    sample = start(project, wish(project))
    SampledRun.objects.update(claims=claiming.MAX_CLAIMS)

    working.work_on(sample.pk, seconds=60)

    assert buckets(progress_of(sample)) == {"could_not_evaluate": 1}
    assert server.asked == []


def test_of_questions_side_by_side_none_is_paid_beyond_what_was_agreed_to(
    project: Project, server: ModelServer
) -> None:
    server.script = [together(2, blames_bad)]
    for number in range(4):
        past(project, f"fine {number}")
    of_all_twice = price(wish(project), Drawn.BY_LOT, 20).max_usd
    sample = start(project, wish(project))
    Sample.objects.update(max_usd=of_all_twice / 4)

    working.work_on(sample.pk, seconds=60)

    sample.refresh_from_db()
    assert sample.stopped == SampleStop.AGREED
    assert len(server.asked) == 2
    assert sample.cost_usd == 2 * USD_A_CALL
    assert SampledRun.objects.filter(answered_at=None, claims=0).count() == 2


def test_judges_are_waited_for_side_by_side(project: Project, server: ModelServer) -> None:
    server.script = [together(working.AT_ONCE, blames_bad)]
    for number in range(working.AT_ONCE):
        past(project, f"fine {number}")

    sample = asked(project, wish(project))

    assert progress_of(sample).evaluated == server.most_at_once == working.AT_ONCE


def test_cancelled_it_keeps_what_was_answered(
    project: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "AT_ONCE", 1)
    past(project, "fine")
    past(project, "BAD")
    sample = start(project, wish(project))
    working.work_on(sample.pk, seconds=0)

    assert services.cancel(access=editor(project), sample=sample)
    assert not services.cancel(access=editor(project), sample=sample)
    working.work_on(sample.pk, seconds=60)

    sample.refresh_from_db()
    assert (sample.state, progress_of(sample).evaluated) == (SampleState.CANCELLED, 1)
    assert len(server.asked) == 1


def test_who_left_off_is_woken_again(
    project: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    past(project, "fine")
    sample = start(project, wish(project))
    woken: list[int] = []
    monkeypatch.setattr(waking, "wake", woken.append)
    assert waking.sweep() == 0
    Sample.objects.update(next_at=timezone.now() - timedelta(seconds=1))

    assert [waking.sweep(), waking.sweep()] == [1, 0]
    assert woken == [sample.pk]


def test_what_a_lost_worker_heard_is_not_paid_again(project: Project, server: ModelServer) -> None:
    past(project, "BAD")
    sample = asked(project, wish(project))
    SampledAnswer.objects.update(recovery="")
    SampledRun.objects.update(answered_at=None, findings=[])
    Sample.objects.update(state=SampleState.OPEN, finished_at=None)

    working.work_on(sample.pk, seconds=60)

    assert len(server.asked) == 1
    assert buckets(progress_of(sample)) == {"unlabelled": 1}


def test_who_asks_the_same_at_once_follows_what_is_under_way(
    project: Project, server: ModelServer
) -> None:
    past(project, "fine")

    started = at_once(lambda _: start(project, wish(project)).pk)

    assert len(set(started)) == 1
    assert Sample.objects.count() == 1


def test_what_is_left_open_is_asked_once_more_and_not_again_by_another_sample(
    project: Project, server: ModelServer
) -> None:
    def unsure(request: dict[str, Any]) -> str:
        return blames_bad(request).replace('"satisfied", "why": "It', '"unknown", "why": "It')

    server.script = [unsure]
    past(project, "fine")
    first = asked(project, wish(project))
    assert len(server.asked) == 2
    assert buckets(progress_of(first)) == {"could_not_evaluate": 1}

    asked(project, wish(project))

    assert len(server.asked) == 2


def test_a_pattern_is_never_put_to_a_judge(project: Project, server: ModelServer) -> None:
    past(project, "fine")

    with pytest.raises(Conflict, match="without the judge"):
        start(project, wish(project, "N/A", type="regex"))

    assert not Sample.objects.exists()


def test_figures_of_few_or_chosen_runs_are_not_kept(project: Project, server: ModelServer) -> None:
    decided(project, "fail", "BAD")

    asked(project, wish(project), how=Drawn.DECIDED)
    assert not Backtest.objects.exists()
    asked(project, wish(project))
    assert Backtest.objects.exists()


def test_a_process_that_does_not_load_any_more_ends_its_sample(
    project: Project, server: ModelServer
) -> None:
    past(project, "fine")
    sample = start(project, wish(project))
    Sample.objects.update(candidate_text="name: [")

    working.work_on(sample.pk, seconds=60)

    sample.refresh_from_db()
    assert (sample.state, sample.stopped) == (SampleState.FINISHED, SampleStop.TEXT)


def test_a_run_that_was_deleted_meanwhile_is_left_out(
    project: Project, server: ModelServer
) -> None:
    gone = past(project, "fine")
    past(project, "BAD")
    sample = start(project, wish(project))
    gone.delete()

    working.work_on(sample.pk, seconds=60)

    sample.refresh_from_db()
    assert (sample.state, progress_of(sample).evaluated) == (SampleState.FINISHED, 1)


def test_the_lot_falls_alike_each_time_and_decided_runs_can_be_asked_for(
    project: Project, server: ModelServer
) -> None:
    runs = [past(project, f"fine {number}").pk for number in range(30)]
    known = decided(project, "fail", "BAD")

    first, second = (draw(wish(project), Drawn.BY_LOT, 10) for _ in range(2))

    assert first == second
    assert (len(set(first.run_ids)), first.of) == (10, 31)
    assert set(first.run_ids) != {known.pk, *runs[-9:]}
    assert draw(wish(project), Drawn.DECIDED, 10).run_ids == [known.pk]


@pytest.mark.extended
def test_decided_runs_are_found_by_their_index(project: Project, server: ModelServer) -> None:
    generate_runs(project, 2_000)
    decided(project, "fail", "BAD")

    with connection.cursor() as cursor, CaptureQueriesContext(connection) as asked:
        cursor.execute("analyze runs_run")
        draw(wish(project), Drawn.DECIDED, 10)
        cursor.execute(f"explain {asked[-1]['sql']}")
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "run_decided" in plan


def test_runs_that_lie_too_far_back_are_not_looked_for(
    project: Project, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    past(project, "BAD")
    newest = past(project, "fine").pk
    monkeypatch.setattr(drawing, "LOOKED_AT", 1)

    assert draw(wish(project), Drawn.BY_LOT, 10).run_ids == [newest]


def test_there_is_nothing_to_ask_without_a_judge_or_without_runs(project: Project) -> None:
    with pytest.raises(Conflict, match="asks no judge"):
        price(wish(project), Drawn.BY_LOT, 20)
    with model_server() as server:
        judged_by(project, server)
        with pytest.raises(Conflict, match="No run that a judge has seen"):
            start(project, wish(project))
        past(project, "fine")
        for number in range(services.MAX_OPEN):
            start(project, wish(project, f"Polite {number}"))
        with pytest.raises(Conflict, match="under way"):
            start(project, wish(project))
