"""Work that makes claims, and judges who confirm them, deny them, or cannot be heard."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.engine.cases import MODELS, PASSING, case, ports
from verification.engine.climb import Conclusion, climb, conclude
from verification.engine.evidence import Claim, EvidenceItem
from verification.engine.fakes import ScriptedJudge
from verification.engine.judges.asking import Answer, Ask, Question
from verification.engine.verifier import Flags

EVIDENCE = (
    EvidenceItem("e1", text="Prices rose by 4 % in 2024. Sellers wait until May."),
    EvidenceItem("e2", text="So."),
)
QUOTE = "rose by 4 % in 2024"
ADVICE = Claim("Buy the house.", "inferred", "recommendation")
SURE = Claim("Wait for May.", "confirmed", "recommendation", ("e1",))
CONFIRMED_ELSEWHERE = Claim("Buy the house.", "confirmed", "recommendation", ("e1",))
"""As the work says; no term of it stands in its evidence."""
FACT = Claim("Prices rose.", "confirmed", "supporting", ("e1",))
GUESS = Claim("Rents will fall.", "unsupported", "supporting")
HUNCH = Claim("It will rain.", "inferred", "other")
TEXT = "Buy the house. Wait for May. Prices rose. Rents will fall. It will rain. So it goes."
PHASES = {
    "critical": {"is_critical_path": True},
    "critical may lower": {"is_critical_path": True, "may_lower_tier": True},
    "synthesis": {"is_synthesis": True},
    "critical synthesis": {"is_critical_path": True, "is_synthesis": True},
    "other": {},
    "advisory": {"advisory": True},
}
BLOCK, THEN_QUEUE, QUEUE = "block", "confirm_or_prune_then_queue", "queue_follow_up"
BY_PEOPLE = Flags(auto_confirm_prune_critical_path=False)
Confirm = Callable[[Question], str | Answer]


def token_in(question: Question) -> str:
    assert question.schema is not None
    return str(question.schema["properties"]["token"]["enum"][0])


def reply(question: Question, *words: dict[str, Any]) -> str:
    return json.dumps({"token": token_in(question), "claims": words})


def word(index: int, *, confirmed: bool = True, evidence: str = "e1", quote: str = QUOTE) -> Any:
    return {"index": index, "confirmed": confirmed, "evidence": evidence, "quote": quote, "why": ""}


def asked_about(question: Question) -> int:
    """How many claims a question is about."""
    return sum(line[:1].isdigit() for line in question.prompt.split("# Evidence")[0].splitlines())


def confirms(question: Question) -> str:
    return reply(question, *(word(n + 1) for n in range(asked_about(question))))


def denies(question: Question) -> str:
    return reply(question, *(word(n + 1, confirmed=False) for n in range(asked_about(question))))


def is_lost(_question: Question) -> Answer:
    return Answer(lost="rate_limited", detail="429")


def is_unreadable(_question: Question) -> str:
    return "I could not say."


def judge_who(confirm: Confirm, assessed: Sequence[str] = (PASSING,)) -> ScriptedJudge:
    """Answers an assessment by turn, and a question for proof as told."""
    turns = list(assessed)

    def answer(question: Question) -> str | Answer:
        if question.ask is Ask.CONFIRM:
            return confirm(question)
        return turns.pop(0) if len(turns) > 1 else turns[0]

    return ScriptedJudge([answer])


def settled(
    *claims: Claim,
    phase: str = "critical",
    behaviour: str = BLOCK,
    judge: ScriptedJudge | None = None,
    output: str = TEXT,
    evidence: tuple[EvidenceItem, ...] = EVIDENCE,
    **about: Any,
) -> Conclusion:
    """With a judge tier 2 is asked for, else tier 1 alone."""
    asked = case(
        claims=claims,
        evidence=evidence,
        output=output,
        of_phase=PHASES[phase],
        remediation={"critical_path_behavior": behaviour},
        models=MODELS,
        tier=2 if judge else 1,
        **about,
    )
    files = about.get("files")
    return conclude(asked, list(climb(asked, ports(files, judge=judge))))


def result(conclusion: Conclusion) -> tuple[str, str, str]:
    return conclusion.outcome, conclusion.verdict, conclusion.reason_code


def judged(*claims: dict[str, Any], **more: Any) -> str:
    return json.dumps(
        {
            "passed": True,
            "rules": [],
            "acceptance": {"verdict": "satisfied", "why": ""},
            "claims": claims,
            "confidence": 0.9,
            "suggestion": "",
            **more,
        }
    )


def said(claim: Claim, label: str, section: str = "", text: str = "") -> dict[str, Any]:
    return {
        "text": text or claim.text,
        "label": label,
        "section": section or claim.section,
        "evidence": ["e1"],
    }


PRUNED = ("partial_verified", "accept", "recommendation_pruned")
FINE = ("pass", "accept", "")
UNREAD = ("fail", "undecided", "parse_inconclusive")
