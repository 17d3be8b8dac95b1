"""What a reply says of each rule that was asked about, and what of it can be relied on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from processes.definition.model import Enforcement, Target
from verification.engine import scoping
from verification.engine.case import Case
from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.absences import denied
from verification.engine.protocol.prompt import ACCEPTANCE, AskedRule, OpenQuestion, asked_rules
from verification.engine.protocol.quotes import Quotes, Where
from verification.engine.protocol.reply import Reply, RuleAnswer

SATISFIED, VIOLATED, UNKNOWN = FindingVerdict
HARD = Enforcement.HARD
SILENT = "Nothing was said of it."
DISAGREES = "The two answers of the judge disagree."
UNEXPLAINED = "The work was said not to pass, and nothing says why."


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """The judge's word on one rule; on the acceptance criteria where `asked` is None.

    `gap` says what is missing before it can be relied on, '' if nothing is. `is_told`: the judge
    itself says that it cannot tell. `reason_code` is the reason of the doubt, if it is a special one.
    """

    id: str
    asked: AskedRule | None
    enforcement: Enforcement
    verdict: FindingVerdict
    why: str = ""
    quote: str = ""
    quote_verified: bool | None = None
    where: Where | None = None
    gap: str = ""
    is_told: bool = False
    reason_code: str = ""

    @property
    def is_blame(self) -> bool:
        """It can carry a reject alone."""
        is_sound = self.quote_verified is not False
        return self.enforcement is HARD and self.verdict is VIOLATED and is_sound

    @property
    def is_open(self) -> bool:
        return self.enforcement is HARD and bool(self.gap)


def weigh(case: Case, reply: Reply, quotes: Quotes) -> tuple[RuleVerdict, ...]:
    """Read a reply as an answer to all rules asked about, the acceptance criteria last."""
    rules = asked_rules(case)
    given = _by_id(reply.rules, rules)
    told = _issues_by_id(reply, rules)
    words = [
        _examined(
            _word(case, one, given.get(one.id, ()), reply, told.get(one.id, ())), case, quotes
        )
        for one in rules
    ]
    words.append(_examined(_of_acceptance(case, reply, words, told), case, quotes))
    return tuple(words)


def open_questions(words: Sequence[RuleVerdict]) -> tuple[OpenQuestion, ...]:
    """What to ask once more. Nothing, where the work is at fault for certain already."""
    if any(word.is_blame for word in words):
        return ()
    return tuple(OpenQuestion(word.id, word.gap) for word in words if word.is_open)


def merged(
    words: Sequence[RuleVerdict], again: Sequence[RuleVerdict], asked: Collection[str]
) -> list[RuleVerdict]:
    """Take the second word on what was open; a quote that is again invented carries nothing."""
    second = {word.id: word for word in again}
    return [second[word.id] if word.id in asked else word for word in words]


def verdict_of(words: Sequence[RuleVerdict]) -> bool | None:
    """What they come to, by themselves; None: in doubt."""
    if any(word.is_blame for word in words):
        return False
    in_doubt = any(word.enforcement is HARD and word.verdict is not SATISFIED for word in words)
    return None if in_doubt else True


def is_bare_fail(reply: Reply, words: Sequence[RuleVerdict]) -> bool:
    """Whether a reply fails the work, and it is not the material that refutes what it blames."""
    return reply.passed is False and not any(word.quote_verified is False for word in words)


def withdraw_verdict(
    words: Sequence[RuleVerdict], reason_code: str, why: str
) -> tuple[RuleVerdict, ...]:
    """Take back everything that carries the verdict: the blame, and the word on the criteria."""
    return tuple(
        replace(word, verdict=UNKNOWN, gap=why, reason_code=reason_code)
        if word.is_blame or word.asked is None
        else word
        for word in words
    )


def strangers(reply: Reply, case: Case) -> int:
    """How many rules it speaks of that nobody asked about."""
    known = {_plain(one.id) for one in asked_rules(case)}
    return sum(_plain(one.rule) not in known for one in reply.rules)


def _by_id(
    answers: Sequence[RuleAnswer], asked: Sequence[AskedRule]
) -> Mapping[str, list[RuleAnswer]]:
    """Answers by the id they mean; case and spaces may differ where that leaves one rule."""
    exact = {one.id for one in asked}
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    for one in asked:
        spellings[_plain(one.id)].add(one.id)
    given: defaultdict[str, list[RuleAnswer]] = defaultdict(list)
    for answer in answers:
        meant = {answer.rule} if answer.rule in exact else spellings.get(_plain(answer.rule), set())
        if len(meant) == 1:
            given[next(iter(meant))].append(answer)
    return given


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def _issues_by_id(reply: Reply, asked: Sequence[AskedRule]) -> Mapping[str, list[str]]:
    """Issues by the rules that they name: a name within a longer one is not meant."""
    by_length = sorted((re.escape(one.id) for one in asked), key=len, reverse=True)
    name = re.compile(rf"(?<!\w)(?<!\w[-.])(?:{'|'.join(by_length)})(?![-.]?\w)")
    told: defaultdict[str, list[str]] = defaultdict(list)
    for issue in _issues(reply) if asked else ():
        for rule in dict.fromkeys(name.findall(issue)):
            told[rule].append(issue)
    return told


def _word(
    case: Case,
    asked: AskedRule,
    given: Sequence[RuleAnswer],
    reply: Reply,
    issues: Sequence[str],
) -> RuleVerdict:
    enforcement = scoping.rule_enforcement(asked.rule, case.verifier.flags)
    word = RuleVerdict(asked.id, asked, enforcement, UNKNOWN, gap=SILENT)
    if case.is_legacy and reply.passed and not any(one.verdict is VIOLATED for one in given):
        return replace(word, verdict=SATISFIED, gap="")
    if len({one.verdict for one in given}) > 1:
        return replace(word, gap="There are two verdicts on it that disagree.")
    if given:
        one = given[0]
        is_told = one.verdict is UNKNOWN
        gap = "You said that it cannot be told." if is_told else ""
        return replace(
            word, verdict=one.verdict, why=one.why, quote=one.quote, gap=gap, is_told=is_told
        )
    if reply.is_short and reply.passed:
        return replace(word, verdict=SATISFIED, gap="")
    if issues:
        return replace(word, verdict=VIOLATED, why=" ".join(issues), gap="")
    return word


def _issues(reply: Reply) -> Sequence[str]:
    return () if reply.passed else [one for one in reply.issues if one.strip()]


def _of_acceptance(
    case: Case, reply: Reply, words: Sequence[RuleVerdict], told: Mapping[str, Sequence[str]]
) -> RuleVerdict:
    word = RuleVerdict(ACCEPTANCE, None, HARD, UNKNOWN, gap=SILENT)
    issues = " ".join(_other_issues(reply, words, told))
    is_explained = any(one.verdict is VIOLATED and one.enforcement is HARD for one in words)
    if reply.acceptance is VIOLATED or (reply.passed is False and issues and not is_explained):
        return replace(word, verdict=VIOLATED, why=reply.acceptance_why or issues, gap="")
    if case.is_legacy and not is_explained:
        verdict = SATISFIED if reply.passed else VIOLATED
        return replace(word, verdict=verdict, why=reply.acceptance_why, gap="")
    if reply.acceptance is UNKNOWN:
        why, gap = reply.acceptance_why, "You said that it cannot be told."
        return replace(word, why=why, gap=gap, is_told=True)
    if reply.passed or (reply.passed is None and reply.acceptance is SATISFIED):
        return replace(word, verdict=SATISFIED, why=reply.acceptance_why, gap="")
    if reply.passed is False:
        is_advised = any(one.verdict is VIOLATED for one in words)
        if reply.acceptance is SATISFIED and (is_explained or is_advised):
            return replace(word, verdict=SATISFIED, gap="")
        return replace(word, gap=UNEXPLAINED)
    return word


def _other_issues(
    reply: Reply, words: Sequence[RuleVerdict], told: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Issues that name no rule which is violated."""
    known = {one for word in words if word.verdict is VIOLATED for one in told.get(word.id, ())}
    return (issue for issue in _issues(reply) if issue not in known)


def _examined(word: RuleVerdict, case: Case, quotes: Quotes) -> RuleVerdict:
    """Look whether the material bears out what is blamed: its quote, and what is called missing.

    The old engine did not: there it is only marked.
    """
    word = _looked_up(word, case, quotes)
    return replace(word, gap="") if case.is_legacy and word.verdict is VIOLATED else word


def _looked_up(word: RuleVerdict, case: Case, quotes: Quotes) -> RuleVerdict:
    if word.verdict is not VIOLATED:
        return word
    target = word.asked.rule.target if word.asked else Target.OUTPUT
    if present := denied(word.why, case, quotes):
        gap = f"You called {present} missing, and it is there."
        return replace(word, quote_verified=False, gap=gap)
    if not word.quote.strip():
        return word
    if where := quotes.find(word.quote, target):
        return replace(word, quote_verified=True, where=where)
    if quotes.is_of_the_task(word.quote):
        return word
    gap = f"What you quoted does not stand in the material: {word.quote[:300]!r}."
    return replace(word, quote_verified=False, gap=gap)
