from __future__ import annotations

from processes.definition.model import Enforcement
from tests.engine.cases import MODELS, judge_of, ports
from tests.engine.judges import reply
from tests.processes.builtin_cases import (
    JudgeCase,
    definition_of,
    good_work,
    judge_cases,
    with_text,
)
from tests.tables import check_rows
from verification.engine.case import Case
from verification.engine.climb import Conclusion, conclude
from verification.engine.judges.semantic import assess
from verification.engine.protocol.prompt import asked_rules
from verification.engine.verifier import VerifierSpec


def judged(one: JudgeCase) -> tuple[Case, Conclusion]:
    """What tier 2 makes of an example whose judge sees what the author says is to be seen."""
    definition = definition_of(one.process)
    phase = definition.phase(one.phase)
    rule = next(rule for rule in definition.rules if rule.name == one.rule)
    assert phase is not None
    work = with_text(good_work(one.process, one.phase), one.text, rule.target)
    case = Case(definition, phase, work.submission, VerifierSpec(models=MODELS), tier=2)
    verdicts: dict[str, str | tuple[str, str, str]] = {
        asked.id: "satisfied" for asked in asked_rules(case)
    }
    if not one.passes:
        quote = max(one.text.splitlines(), key=len)
        verdicts[one.rule] = ("violated", "It is not as it should be.", quote)
    said = reply(passed=one.passes, rules=verdicts)
    judge = judge_of(said)
    report = assess(case, ports(work.files, judge=judge), judge, ())
    assert one.text.split()[0] in judge.asked[0].prompt
    return case, conclude(case, [report])


@check_rows(
    "one", [*judge_cases()], ids=lambda one: f"{one.process}-{one.phase}-{one.rule}-{one.passes}"
)
def test_a_judge_that_sees_what_the_author_sees_decides_every_example(one: JudgeCase) -> None:
    case, conclusion = judged(one)

    rule = next(rule for rule in case.definition.rules if rule.name == one.rule)
    entry = next(entry for entry in conclusion.trace if entry.rule == one.rule)
    violated = [finding for finding in conclusion.findings if finding.rule == one.rule]
    assert entry.verdict == ("satisfied" if one.passes else "violated")
    assert [finding.quote_verified for finding in violated] == ([] if one.passes else [True])
    if not one.passes and rule.usual_enforcement is Enforcement.HARD:
        assert conclusion.verdict == "reject"
    else:
        assert conclusion.verdict == "accept"
