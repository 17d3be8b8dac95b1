"""Gates that could not run: a judge reviews the work alone, and a person decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from processes.definition.model import ScoreLoop
from tests.engine.cases import judged_case, ports
from tests.engine.judges import reply
from verification.engine.case import Case
from verification.engine.climb import climb, conclude
from verification.engine.fakes import ScriptedJudge
from verification.engine.gates import GateReport
from verification.engine.outcome import Status
from verification.engine.rating import Rating

GATES = ("install", "build", "test")
POINTS = {"correctness": 2, "completeness": 1, "testing": 0, "quality": 1, "practice": 1}
NOT_RUN = {
    "no Docker engine": {"is_lost": True, "detail": "The Docker engine does not answer."},
    "no image": {"is_lost": True, "detail": "The image python:3.12-slim cannot be pulled."},
    "no known language": {"detail": "There is no file that says how it is built or tried."},
}


class Reported:
    """The port `Gates`: every gate of the phase ends as one report does."""

    def __init__(self, status: Status = Status.ERROR, **fields: Any) -> None:
        self.status, self.fields = status, fields

    def run(self, case: Case) -> Sequence[GateReport]:
        return [GateReport(gate, self.status, **self.fields) for gate in case.phase.gates]


@pytest.mark.parametrize("fields", [*NOT_RUN.values(), None], ids=[*NOT_RUN, "no sandbox at all"])
@pytest.mark.parametrize("passed", [True, False])
def test_a_judge_reviews_the_work_alone_and_the_run_is_not_accepted(
    fields: dict[str, Any] | None, *, passed: bool
) -> None:
    acceptance = "satisfied" if passed else ("violated", "It does not add up.")
    judge = ScriptedJudge([reply(passed=passed, acceptance=acceptance, score=POINTS)])
    asked = judged_case(gates=GATES, of_phase={"score": ScoreLoop()})
    reached = replace(ports(judge=judge), gates=Reported(**fields) if fields else None)

    conclusion = conclude(asked, list(climb(asked, reached)))

    assert len(judge.asked) == 1
    assert conclusion.ratings == (Rating(2, 1, 0, 1, 1),)
    assert conclusion.verdict == ("undecided" if passed else "reject")
    assert {one.source for one in conclusion.findings} == ({"gate"} if passed else {"gate", "llm"})


def test_gates_that_contradict_themselves_ask_no_judge() -> None:
    judge = ScriptedJudge([reply()])
    asked = judged_case(gates=GATES)
    gates = Reported(Status.PASSED, contradiction="It ended well, and two tests failed.")

    conclusion = conclude(asked, list(climb(asked, replace(ports(judge=judge), gates=gates))))

    assert (len(judge.asked), conclusion.verdict) == (0, "undecided")
