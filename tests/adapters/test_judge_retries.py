from __future__ import annotations

from typing import Any

import pytest

from tests.model_server import ModelServer, Said, Script, model_server
from verification.adapters.judge import Completion, Connection, Patience, retrying

AT_ONCE = Patience(tries=4, first_wait_seconds=0.001, longest_wait_seconds=0.02)


def ask(
    server: ModelServer, patience: Patience = AT_ONCE, **options: Any
) -> tuple[Completion, list[tuple[int, str]]]:
    """The last answer, and each try with what it lost."""
    tries: list[tuple[int, str]] = []
    answer = retrying(
        Connection("j", "openai/m", server.url, "key", structured_output=True, timeout_seconds=60),
        system="You judge.",
        prompt="Is it done? Answer as JSON.",
        schema={"type": "object"},
        patience=patience,
        on_try=lambda completion, number: tries.append((number, completion.lost)),
        **options,
    )
    return answer, tries


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("script", "lost"),
    [
        ([Said(status=503)], ["infra_verifier_error"]),
        ([Said(status=500), Said(hang_up=True)], ["infra_verifier_error"] * 2),
        ([Said(status=429)], ["rate_limited"]),
        ([Said(raw=b"<html>")], ["infra_verifier_error"]),
        (
            [Said(status=429), Said(status=502), Said(raw=b"[]")],
            ["rate_limited", "infra_verifier_error", "infra_verifier_error"],
        ),
        ([Said("response_format?", 400)], ["infra_verifier_error"]),
    ],
)
def test_what_may_pass_is_asked_again(script: list[Script], lost: list[str]) -> None:
    with model_server(*script, '{"passed": true}') as server:
        answer, tries = ask(server)

        assert len(server.asked) == len(script) + 1
    assert (answer.text, answer.lost) == ('{"passed": true}', "")
    assert tries == [*enumerate(lost, 1), (len(script) + 1, "")]


@pytest.mark.parametrize(
    "said",
    [
        Said(status=401),
        Said(status=404),
        Said(status=400),
        Said(status=402),
        Said("insufficient_quota", 429),
        Said("maximum context length", 400),
        Said("not json at all"),
    ],
)
def test_what_cannot_pass_is_asked_once(said: Said) -> None:
    with model_server(said, '{"passed": true}') as server:
        _, tries = ask(server)

        assert len(server.asked) == len(tries) == 1


@pytest.mark.parametrize("tries", [1, 2, 4])
def test_the_number_of_calls_is_bounded(tries: int) -> None:
    with model_server(Said(status=503)) as server:
        answer, made = ask(server, Patience(tries, 0.001, 0.01))

        assert len(server.asked) == len(made) == tries
    assert answer.lost == "infra_verifier_error"


@pytest.mark.extended
def test_a_timeout_is_asked_again() -> None:
    with model_server(Said("late", seconds=30), '{"passed": true}') as server:
        judge = Connection("j", "openai/m", server.url, "key", timeout_seconds=5)

        answer = retrying(judge, system="", prompt="?", patience=AT_ONCE)

        assert len(server.asked) == 2
    assert answer.text == '{"passed": true}'


def test_the_wait_that_was_asked_for_is_kept() -> None:
    asked = Said(status=429, headers={"Retry-After": "0.3"})
    with model_server(asked, "done") as server:
        answer, _ = ask(server, Patience(4, 0.001, longest_wait_seconds=0.5))

        assert server.seconds_between_asked()[0] >= 0.3
    assert answer.text == "done"


def test_a_longer_wait_than_ours_is_left_to_whoever_comes_back_later() -> None:
    with model_server(Said(status=429, headers={"Retry-After": "60"}), "done") as server:
        answer, tries = ask(server, Patience(4, 0.001, longest_wait_seconds=0.5))

        assert len(server.asked) == len(tries) == 1
    assert (answer.lost, answer.retry_after) == ("rate_limited", 60.0)


@pytest.mark.extended
def test_all_tries_together_are_bounded_in_time() -> None:
    with model_server(Said(status=503, seconds=0.2)) as server:
        answer, tries = ask(server, Patience(50, 0.001, 0.002, stop_after_seconds=0.5))

        # the last try may have so little time left that nothing of it arrives
        assert len(tries) - 1 <= len(server.asked) <= len(tries) <= 4
    assert answer.lost == "infra_verifier_error"


def test_nothing_is_sent_that_may_not_be() -> None:
    with model_server("done") as server:
        answer, tries = ask(server, may_call=lambda: "budget_exhausted")

        assert server.asked == []
    assert (answer.lost, answer.calls, tries) == ("budget_exhausted", 0, [])


def test_leave_is_asked_for_before_each_call() -> None:
    leaves = iter(["", "budget_exhausted"])
    with model_server(Said(status=503), "done") as server:
        answer, tries = ask(server, may_call=lambda: next(leaves))

        assert len(server.asked) == 1
    assert (answer.lost, tries) == ("budget_exhausted", [(1, "infra_verifier_error")])
