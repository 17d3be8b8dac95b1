"""Replays of every shape: all that a case can expect stands in one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.engine.cases import FAILING, PASSING, llm, regex
from tests.engine.claim_cases import ADVICE, EVIDENCE, GUESS, SURE, TEXT
from tests.engine.golden.givens import Golden, answered, golden, votes
from tests.engine.judges import reply
from verification.engine.gates import GateReport
from verification.engine.golden.given import History
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

RULES = (
    regex("no-placeholder", "TODO"),
    regex("one-table", "table", expect="match", applies_to_phases=("plan",)),
    llm("says-why"),
)


def plain() -> Golden:
    return golden(output="It is done.", rules=RULES[:2])


def warned() -> Golden:
    return golden(output="TODO: table, TODO", rules=RULES, files={"a.json": '{"a": NaN}'})


def rejected() -> Golden:
    return golden(
        files={"a.py": "def f(:\n", "b.py": "x = 1\n"},
        deliverables=["a.py", "gone.md"],
        rules=[regex("no-x", "x", enforcement=None, remediation_mode="queue_follow_up")],
        output="x x",
        return_code=3,
    )


def judged() -> Golden:
    whole = reply(rules={"says-why": ("violated", "It does not.", "done")})
    return golden(answered(whole), tier=2, rules=RULES, output="It is done.")


def outvoted() -> Golden:
    return golden(answered(PASSING), *votes(PASSING, FAILING, FAILING), tier=3, output="Done.")


def pruned() -> Golden:
    return golden(
        files={"a.md": TEXT},
        output=TEXT,
        claims=(ADVICE, SURE, GUESS),
        evidence=EVIDENCE,
        of_phase={"is_critical_path": True},
    )


def parted() -> Golden:
    return golden(
        answered(PASSING),
        tier=2,
        output=TEXT,
        claims=(ADVICE, SURE, GUESS),
        of_phase={"is_synthesis": True},
    )


def contradicted() -> Golden:
    said = GateReport("test", Status.PASSED, exit_code=0, tests=TestCounts(passed=1, failed=2))
    return golden(gates=["test", "lint"], reported=[said])


def exhausted() -> Golden:
    history = History(attempts_used=2, submissions=4, is_same_candidate=True, repeats=1)
    return golden(return_code=1, history=history)


SAMPLES: Mapping[str, Callable[[], Golden]] = {
    one.__name__: one
    for one in (
        plain, warned, rejected, judged, outvoted, pruned, parted, contradicted, exhausted,
    )
}  # fmt: skip
