from __future__ import annotations

import math
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.errors import Conflict
from tests.builders import make_project
from tests.golden.builders import editor_of, make_case
from tests.golden.replayed import ASKS, FILES, PASSED, queued, replayed, results
from tests.runs.conftest import new_project
from verification.engine.golden.standing import Change, Standing
from verification.golden.cases.services import ensure_shipped
from verification.golden.models import GoldenCaseVersion, Replay, ReplayResult, ReplayState
from verification.golden.replays import claiming, finishing, services, waking, working
from verification.runs import evidence_store
from verification.runs.models import Blob

pytestmark = pytest.mark.django_db
TIMED = ("duration_ms",)
NAMED = ("id", "replay_id", "replayed_at", "lease_until", "claims", "case_id", "case_version_id")


def cases(project: Project, count: int) -> None:
    for number in range(count):
        make_case(project, f"case-{number:03}", files=FILES)


def waiting(replay: Replay) -> Any:
    return ReplayResult.objects.filter(replay=replay, replayed_at=None)


def lose(replay: Replay) -> None:
    """As if the workers of what is claimed were killed, and their leases over."""
    past = timezone.now() - timedelta(seconds=1)
    waiting(replay).filter(lease_until__isnull=False).update(lease_until=past)


def told(replay: Replay) -> dict[str, Any]:
    """Everything that a replay stored, without ids, times and durations."""
    left_out = {*TIMED, *NAMED}
    rows = ReplayResult.objects.filter(replay=replay).select_related("case")
    return {
        row.case.name: {
            one.attname: getattr(row, one.attname)
            for one in ReplayResult._meta.concrete_fields
            if one.attname not in left_out
        }
        for row in rows
    }


@pytest.mark.extended
def test_the_shipped_corpus_replayed_twice_gives_the_same_to_the_last_letter(db: None) -> None:
    project = new_project("shipped")
    ensure_shipped(project=project)

    first, second = replayed(project), replayed(project)

    assert first.total > 100
    assert told(first) == told(second)
    assert first.counts == second.counts == {
        **dict.fromkeys(Change, 0), Change.HELD: first.total,
    }  # fmt: skip
    assert (first.stale_share, first.corpus_sha256) == (second.stale_share, second.corpus_sha256)


def test_no_plan_of_the_database_claims_more_than_a_batch(project: Project) -> None:
    cases(project, 5)
    replay = queued(project)
    with connection.cursor() as cursor:
        for one in ("hashjoin", "mergejoin", "hashagg", "sort", "material"):
            cursor.execute(f"set local enable_{one} = off")

    claimed = claiming.claim(replay.pk, batch=3)

    assert len(claimed) == 3


def test_what_a_worker_has_claimed_no_other_gets(project: Project) -> None:
    cases(project, 5)
    replay = queued(project)

    mine = claiming.claim(replay.pk, batch=3)
    theirs = claiming.claim(replay.pk, batch=3)

    assert [len(mine), len(theirs)] == [3, 2]
    assert not {one.pk for one in mine} & {one.pk for one in theirs}
    assert claiming.claim(replay.pk, batch=3) == []


def test_a_lost_workers_cases_are_claimed_again_one_at_a_time(project: Project) -> None:
    cases(project, 3)
    replay = queued(project)
    claiming.claim(replay.pk, batch=3)
    assert claiming.claim(replay.pk, batch=3) == []

    lose(replay)

    assert [one.claims for one in claiming.claim(replay.pk, batch=3)] == [2]


def test_who_comes_back_late_writes_nothing(project: Project) -> None:
    cases(project, 1)
    replay = queued(project)
    [late] = claiming.claim(replay.pk, batch=1)
    lose(replay)
    services.run_now(replay)
    before = told(replay)

    other = queued(project)
    [mine] = claiming.claim(other.pk, batch=1)
    lose(other)
    claiming.claim(other.pk, batch=1)
    row = {"id": mine.pk, "claims": mine.claims, "standing": "held", "error_text": "late"}
    claiming.store(other.pk, [row])

    assert waiting(other).count() == 1
    with pytest.raises(claiming.ReplayOver):
        claiming.store(replay.pk, [{**row, "id": late.pk}])
    assert told(replay) == before


def test_a_case_that_kills_its_workers_ends_as_not_judged_and_takes_none_with_it(
    project: Project,
) -> None:
    cases(project, 3)
    replay = queued(project)
    claiming.claim(replay.pk, batch=3)
    lose(replay)
    for _ in range(claiming.MAX_CLAIMS - 1):
        claiming.claim(replay.pk, batch=3)
        lose(replay)

    services.run_now(replay)

    assert list(results(replay).values()) == ["not_judged", "held", "held"]
    assert results(replay, "error_text")["case-000"] == working.LOST
    assert replay.counts[Change.NOT_JUDGED] == 1


BROKEN: list[tuple[Any, str]] = [
    ([], "in the verifier"),
    ({"process": "small-work"}, "Field required"),
]


@pytest.mark.parametrize(("spec", "why"), BROKEN, ids=["no-document", "half-a-document"])
def test_a_case_that_cannot_be_read_is_told_and_ends_nothing_but_itself(
    project: Project, spec: Any, why: str
) -> None:
    cases(project, 3)
    GoldenCaseVersion.objects.filter(case__name="case-001").update(spec=spec)

    replay = replayed(project)

    assert list(results(replay).values()) == ["held", "not_judged", "held"]
    assert why in results(replay, "error_text")["case-001"]


def test_a_lost_file_is_our_fault_and_not_the_cases(project: Project) -> None:
    make_case(project, "case", files={"report.json": '{"kept": "nowhere else"}'})
    for blob in Blob.objects.filter(project=project):
        name = evidence_store.content_name(project.uuid, blob.sha256)
        evidence_store._storage().delete(name)

    replay = replayed(project)

    assert results(replay) == {"case": Standing.NOT_JUDGED}
    assert results(replay, "error_text")["case"].startswith("evidence.missing")


def test_texts_that_postgresql_cannot_hold_are_stored_all_the_same(project: Project) -> None:
    hostile = PASSED.replace("0.9}", '0.9, "suggestion": "\\u0000 \\ud800"}')
    make_case(project, "case", **ASKS, replies=[{"text": hostile}])

    replay = replayed(project)

    assert results(replay) == {"case": Standing.HELD}


def test_after_its_turn_a_worker_hands_on_and_gives_back_what_it_did_not_begin(
    project: Project,
) -> None:
    cases(project, 5)
    replay = queued(project)

    working.work_on(replay.pk, seconds=0)

    replay.refresh_from_db()
    assert replay.state == ReplayState.RUNNING
    assert waiting(replay).count() == 4
    assert set(waiting(replay).values_list("claims", "lease_until")) == {(0, None)}

    for _ in range(4):
        working.work_on(replay.pk, seconds=0)
    working.work_on(replay.pk, seconds=0)

    replay.refresh_from_db()
    assert replay.state == ReplayState.FINISHED


def test_the_relay_wakes_a_replay_that_nobody_works_on(project: Project) -> None:
    cases(project, 1)
    replay = queued(project)
    assert waking.sweep() == 0

    Replay.objects.filter(pk=replay.pk).update(next_at=timezone.now())

    assert waking.sweep() == 1
    assert waking.sweep() == 0
    services.run_now(replay)
    Replay.objects.filter(pk=replay.pk).update(next_at=timezone.now())
    assert waking.sweep() == 0


def test_who_finds_only_others_at_work_is_woken_when_the_first_lease_ends(
    project: Project,
) -> None:
    cases(project, 1)
    replay = queued(project)
    claiming.claim(replay.pk, batch=1)

    working.work_on(replay.pk)

    replay.refresh_from_db()
    assert replay.state == ReplayState.RUNNING
    assert replay.next_at == waiting(replay).get().lease_until


def test_a_finished_replay_is_not_finished_again(project: Project) -> None:
    cases(project, 1)
    replay = replayed(project)

    assert not finishing.finish(replay.pk)
    assert not finishing.finish(0)


def test_who_works_on_a_cancelled_replay_stops_at_the_next_batch(project: Project) -> None:
    cases(project, 5)
    replay = queued(project)
    [one] = claiming.claim(replay.pk, batch=1)

    assert services.cancel(access=editor_of(project), replay=replay.uuid)

    with pytest.raises(claiming.ReplayOver):
        claiming.store(replay.pk, [{"id": one.pk, "claims": 1, "standing": "held"}])
    working.work_on(replay.pk)
    assert waiting(replay).count() == 5
    assert not finishing.finish(replay.pk)


class TestAtOnce:
    pytestmark = pytest.mark.django_db(transaction=True)

    @pytest.fixture
    def replay(self) -> Replay:
        project = make_project()
        cases(project, 90)
        return queued(project)

    def at_once(self, *actions: Any) -> None:
        gate = threading.Barrier(len(actions))

        def act(action: Any) -> None:
            gate.wait()
            try:
                action()
            finally:
                connection.close()

        with ThreadPoolExecutor(len(actions)) as pool:
            list(pool.map(act, actions))

    @pytest.mark.extended
    def test_workers_side_by_side_do_each_case_once(self, replay: Replay) -> None:
        self.at_once(*[lambda: working.work_on(replay.pk, seconds=math.inf)] * 4)

        replay.refresh_from_db()
        assert replay.state == ReplayState.FINISHED
        assert replay.counts[Change.HELD] == replay.total == 90
        assert Counter(results(replay, "claims").values()) == {1: 90}

    @pytest.mark.extended
    def test_two_that_start_at_once_stay_within_the_bound(self, replay: Replay) -> None:
        project, refused = replay.project, []
        for _ in range(services.MAX_OPEN - 2):
            queued(project)

        def start() -> None:
            try:
                queued(project)
            except Conflict as error:
                refused.append(error.code)

        self.at_once(*[start] * 4)

        assert refused == ["replay.too_many"] * 3
        assert Replay.objects.filter(project=project).count() == services.MAX_OPEN
