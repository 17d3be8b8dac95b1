"""Replays whose judges are asked anew, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings

from loomverify.accounts.models import Project
from loomverify.errors import Conflict, InputError
from tests.builders import SOURCE_TEXT
from tests.golden.builders import document, editor_of, make_case
from tests.golden.replayed import ASKS, FAILS, PASSED, queued, replayed, results
from tests.model_server import ModelServer, Said, model_server, together
from tests.runs.judged import AWAY, NOISE, judged_by
from verification.engine.golden.standing import Standing
from verification.golden.cases.services import change_case
from verification.golden.models import Replay, ReplayResult, ReplayState
from verification.golden.replays import services
from verification.golden.replays.recording import record_anew
from verification.verifiers.models import Budget, Spending

pytestmark = pytest.mark.django_db(transaction=True)
FAILING = '{"passed": false, "issues": ["The third quarter is missing."], "confidence": 0.9}'


@pytest.fixture(autouse=True)
def _nobody_waits_long(settings: LazySettings) -> None:
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:
    with model_server(with_token) as server:
        judged_by(project, server)
        yield server


def with_token(request: dict[str, Any]) -> str:
    """A judge that copies the token, as it is told to."""
    system = str(request["messages"][0]["content"])
    token = system.split("token: the text ")[1].split()[0]
    return json.dumps({"token": token, "passed": True, "confidence": 0.9})


def asked(project: Project, name: str = "asked", **fields: Any) -> None:
    """A case whose recorded judge says the opposite of the real one."""
    replies = [{"text": FAILING}]
    make_case(project, name, **{**ASKS, "replies": replies, **fields})


def result(replay: Replay) -> ReplayResult:
    return ReplayResult.objects.get(replay=replay)


def test_a_live_replay_asks_the_judges_of_the_verifier_version(
    project: Project, server: ModelServer
) -> None:
    asked(project)

    assert results(replayed(project)) == {"asked": Standing.FAILING}
    assert server.asked == []
    replay = replayed(project, is_live=True)

    assert results(replay) == {"asked": Standing.HELD}
    assert [one["model"] for one in server.asked] == ["first"]
    assert not replay.is_live_line


def test_the_mark_around_the_material_is_another_each_time(
    project: Project, server: ModelServer
) -> None:
    asked(project)

    fences = [result(replayed(project, is_live=True)).played[0]["fence"] for _ in range(2)]

    assert [[fence in prompt for prompt in server.prompts()] for fence in fences] == [
        [True, False], [False, True],
    ]  # fmt: skip


def test_what_it_cost_is_on_the_replay_and_in_the_budgets(
    project: Project, server: ModelServer
) -> None:
    asked(project)

    replay = replayed(project, is_live=True)

    cost = Decimal(100 * 10 + 20 * 100) / 1_000_000
    spending = Spending.objects.get(project=project, process__slug="small-work")
    assert replay.cost_usd == spending.spent_usd == cost
    assert (spending.calls, spending.reserved_usd) == (1, Decimal(0))


def test_a_spent_budget_asks_nobody_and_judges_nothing(
    project: Project, server: ModelServer
) -> None:
    Budget.objects.create(project=project, usd_per_day=0)
    asked(project, expected={"outcome": "pass"})

    replay = replayed(project, is_live=True)

    assert server.asked == []
    assert results(replay) == {"asked": Standing.NOT_JUDGED}
    assert "does not hold another call" in result(replay).error_text
    assert replay.cost_usd == 0


def test_a_judge_that_is_away_judges_nothing(project: Project, server: ModelServer) -> None:
    server.script = [AWAY]
    asked(project)

    replay = replayed(project, is_live=True)

    assert results(replay) == {"asked": Standing.NOT_JUDGED}
    assert result(replay).error_text.startswith("A judge gave no answer. ")
    assert len(server.asked) > 1


def test_a_lost_call_is_made_again(project: Project, server: ModelServer) -> None:
    server.script = [AWAY, with_token]
    asked(project)

    assert results(replayed(project, is_live=True)) == {"asked": Standing.HELD}
    assert len(server.asked) == 2


def test_a_judge_that_answers_noise_has_answered(project: Project, server: ModelServer) -> None:
    server.script = [NOISE]
    asked(project, expected={"reason_code": "parse_inconclusive", "verdict": "undecided"})

    assert results(replayed(project, is_live=True)) == {"asked": Standing.HELD}


def test_votes_are_asked_side_by_side_and_kept_in_their_order(
    project: Project, server: ModelServer
) -> None:
    server.script = [with_token, together(3, with_token)]
    asked(project, tier=3, replies=[])

    replay = replayed(project, is_live=True)

    keys = [(one["tier"], one["ask"], one["number"]) for one in result(replay).played]
    assert keys == [(2, "assess", 1), (3, "vote", 1), (3, "vote", 2), (3, "vote", 3)]
    assert server.most_at_once == 3


def test_the_old_engine_asks_only_where_a_case_expects_something_of_it(
    project: Project, server: ModelServer
) -> None:
    asked(project, "alone")
    asked(project, "beside", expected={"shadow": "no_diff"})

    replay = replayed(project, is_live=True)

    assert results(replay) == {"alone": Standing.HELD, "beside": Standing.HELD}
    assert len(server.asked) == 3
    assert {name: bool(old) for name, old in results(replay, "legacy").items()} == {
        "alone": False, "beside": True,
    }  # fmt: skip


def test_a_verifier_without_judges_cannot_be_asked(project: Project) -> None:
    asked(project)

    with pytest.raises(InputError) as refused:
        queued(project, is_live=True)

    assert refused.value.code == "replay.no_judge"


def test_a_case_of_a_process_that_is_gone_has_no_budget_to_pay_from(
    project: Project, server: ModelServer
) -> None:
    own = SOURCE_TEXT.replace("small-work", "their-own")
    asked(project, process="their-own", process_text=own)

    replay = replayed(project, is_live=True)

    assert server.asked == []
    assert "whose budget could pay" in result(replay).error_text


def test_answers_of_a_live_replay_become_the_cases_recordings(
    project: Project, server: ModelServer
) -> None:
    asked(project, tier=3)
    live = replayed(project, is_live=True)

    version = record_anew(access=editor_of(project), result=result(live), reason="A new judge.")

    assert version.number == 2
    assert version.spec["judges"] == {"primary": "openai/first"}
    assert [one["text"].count("{{token}}") for one in version.spec["replies"]] == [1] * 4
    again = replayed(project)
    assert results(again) == {"asked": Standing.HELD}
    assert results(again, "stale") == {"asked": 0}


@pytest.mark.extended
@pytest.mark.parametrize("is_live", [False, True], ids=["recorded", "lost"])
def test_only_whole_answers_are_recorded(
    project: Project, server: ModelServer, is_live: bool
) -> None:
    server.script = [AWAY]
    asked(project)
    replay = replayed(project, is_live=is_live)

    with pytest.raises(InputError) as refused:
        record_anew(access=editor_of(project), result=result(replay), reason="A new judge.")

    assert refused.value.code == "replay.not_live"


def test_answers_for_a_case_that_was_changed_since_are_not_recorded(
    project: Project, server: ModelServer
) -> None:
    asked(project)
    live = result(replayed(project, is_live=True))
    changed = document("asked", **ASKS, replies=[{"text": PASSED}], expected=FAILS)
    change_case(access=editor_of(project), case=live.case.uuid, document=changed, reason="Other.")

    with pytest.raises(Conflict) as refused:
        record_anew(access=editor_of(project), result=live, reason="A new judge.")

    assert refused.value.code == "golden.changed"


def test_a_live_replay_that_is_cancelled_makes_no_further_call(
    project: Project, server: ModelServer
) -> None:
    asked(project)
    replay = queued(project, is_live=True)

    def cancels(request: dict[str, Any]) -> Said:
        Replay.objects.filter(pk=replay.pk).update(state=ReplayState.CANCELLED)
        return AWAY

    server.script = [cancels]
    services.run_now(replay)

    assert len(server.asked) == 1
    assert (replay.state, results(replay)) == (ReplayState.CANCELLED, {"asked": ""})
    assert Spending.objects.get(project=project).reserved_usd == 0
