"""Checks that a restated reply says no more than the reply that it restates."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.echoes import squeezed
from verification.engine.protocol.prompt import Prompt
from verification.engine.protocol.prose import without_fences
from verification.engine.protocol.recovery import own_answer
from verification.engine.protocol.reply import Reply
from verification.engine.protocol.stance_words import DOUBTING

MAX_CHARS = 200_000
_PASSED, _FAILED, _LEFT_OPEN = " said-pass ", " said-fail ", " uncertain "
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»")
_SHOWN = re.compile(r"`[^`\n]{1,400}`|^[ \t]*>[^\n]*$", re.MULTILINE)
_HOLDS_VERDICT = re.compile(r"(?:passed|pass|verdict)\W{0,3}[:=]", re.IGNORECASE)
_KEYED = re.compile(
    r"[\"'“”<]?\b(?:(?:is|has|overall)[_ ]?)?(pass(?:ed)?|fail(?:ed)?|verdict|result|outcome|status)\b"
    r"[\"'“”>]?\s{0,9}(?:[:=]|(?<=>))\s{0,9}[\"'“”*_]{0,3}(\w{1,40})?(?:\s*[|/]\s*\w{1,40})?",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\w\s*[|/]\s*\w")
_GOOD = ("true", "yes", "pass", "passed", "satisfied", "met", "accept", "accepted", "approved")
_BAD = ("false", "no", "fail", "failed", "violated", "unmet", "reject", "rejected", "unsatisfied")
_PASSING = re.compile(
    r"\bsaid-pass\b|^\W{0,40}(?:pass|passed|ok|approved|accepted)\W{0,40}$"
    r"|\b(?:it|this|that|work|output|submission|report|code|everything|all|both|criteri\w+|rules?"
    r"|requirements?|task|result)\b[^.!?\n]{0,60}\b(?:pass(?:es|ed)|meets?|met|satisf\w+|fulfil\w+"
    r"|compl(?:y|ies|iant|ete)|acceptable|accepted|approved|correct)\b"
    r"|\b(?:bestanden|erfüllt|réussi\w*|conforme\w*|rempli\w*|satisfait\w*|aprobad\w*|cumpl\w*"
    r"|superat\w*|soddisf\w*|passou|atend\w*|пройден\w*|соответству\w*|выполнен\w*)\b"
    r"|[✓✔✅☑👍]|通过|合格|符合|满足|満た",
    re.IGNORECASE | re.MULTILINE,
)
_FAILING = re.compile(
    r"\bsaid-fail\b|\b(?:fail(?:s|ed|ure|ures|ing)?|violat\w*|reject\w*|unmet|unsatisf\w*"
    r"|miss(?:es|ing)|lack\w*|incomplete|incorrect|wrong|false|not?|none|never|nicht|kein\w*"
    r"|durchgefallen|verletzt|échou\w*|échec|pas|manqu\w*|falt\w*|rechaz\w*|incumpl\w*|manca\w*"
    r"|respint\w*|não|falh\w*|не|нет|провал\w*|наруш\w*)\b"
    r"|n['’]t\b|[✗✘❌☒👎]|不|未|失败|没有|欠|ない",
    re.IGNORECASE,
)
_BLAMING = re.compile(
    r"\b(?:fails|failed|violates|violated|rejected|unmet|unsatisfied|missing"
    r"|not\W+(?:been\W+)?(?:met|satisf\w*|pass\w*|fulfil\w*|complete\w*|accept\w*)"
    r"|does(?:n['’]t|\W+not)\W+(?:pass|meet|satisfy|comply)|incomplete|incorrect"
    r"|nicht\W+(?:bestanden|erfüllt)|durchgefallen|verletzt|échou\w*|échec|manqu\w*"
    r"|pas\W+(?:rempli|satisfait|conforme|respect)\w*|no\W+(?:cumple|aprob)\w*|rechaz\w*"
    r"|incumpl\w*|respint\w*|falh\w*|не\W+(?:выполнен|пройден|соответств)\w*|провал\w*"
    r"|наруш\w*)\b"
    r"|[✗✘❌☒👎]|不(?:合格|符合|通过|满足)|未(?:通过|满足)|失败",
    re.IGNORECASE,
)
_REPORTING = re.compile(
    r"\b(?:says?|said|reads|contains?|returned|prints?|printed|states|stated|claims that|claimed"
    r"|found in|logs?:)\b",
    re.IGNORECASE,
)


def supported_part(original: str, restated: Reply, prompt: Prompt) -> Reply | None:
    """Return what of a restatement the original says itself; None: not even its verdict.

    A pass of the whole passes each rule, as the short form of a reply does. Whatever the
    restatement says against the work, or leaves open, is kept beside it. A rule is blamed only
    where the original names it; the rest of the blame is the acceptance criteria's.
    """
    if restated.passed is None or not supports_verdict(original, restated.passed, prompt):
        return None
    # Numbers that could not be read in the original are not its own.
    reply = replace(restated, rating=None)
    if restated.passed:
        against = tuple(a for a in reply.rules if a.verdict is not FindingVerdict.SATISFIED)
        is_whole = not against and reply.acceptance in (None, FindingVerdict.SATISFIED)
        return replace(
            reply,
            rules=against,
            acceptance=None if is_whole else reply.acceptance,
            is_short=is_whole,
        )
    named = tuple(answer for answer in reply.rules if _is_named(answer.rule, original))
    others = [
        answer.why or f"The rule {answer.rule} is violated."
        for answer in reply.rules
        if answer.verdict is FindingVerdict.VIOLATED and answer not in named
    ]
    if not others:
        return replace(reply, rules=named)
    why = " ".join(filter(None, (reply.acceptance_why, *others)))
    return replace(
        reply, rules=named, acceptance=FindingVerdict.VIOLATED, acceptance_why=why, is_short=False
    )


def _is_named(rule: str, text: str) -> bool:
    name = " ".join(rule.split())
    return (
        bool(name)
        and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
    )


def supports_verdict(original: str, passed: bool, prompt: Prompt) -> bool:
    """Whether the first reply gives the verdict that its restatement gives.

    A pass needs a word of passing, none of failing, doubt or report, and an end: restating never
    turns a fail, a refusal, noise, a quote, a bare truth value or what was cut off into a pass. A
    fail needs a word that blames the work. What says both in the manner of a verdict says neither.
    """
    words = _own_words(original[:MAX_CHARS], prompt)
    says_pass, says_fail = _PASSED.strip() in words, _FAILED.strip() in words
    if says_pass and says_fail:
        return False
    is_reported = _REPORTING.search(words) is not None
    if not passed:
        is_blamed = _BLAMING.search(words) or (says_fail and not is_reported)
        return bool(is_blamed) and not says_pass
    is_whole = len(original) <= MAX_CHARS and not _breaks_off(original)
    is_clear = not (_FAILING.search(words) or DOUBTING.search(words) or is_reported)
    return is_whole and is_clear and _PASSING.search(words) is not None


def _breaks_off(text: str) -> bool:
    return text.count("{") > text.count("}") or text.count("[") > text.count("]")


def _own_words(text: str, prompt: Prompt) -> str:
    """Without what is quoted: that is the work speaking. Keys of a verdict become its words."""
    material = squeezed(prompt.text)
    text = _SHOWN.sub(" ", without_fences(own_answer(unicodedata.normalize("NFKC", text))))

    def own(quoted: re.Match[str]) -> str:
        is_verdict = _HOLDS_VERDICT.search(quoted.group()) is not None
        is_of_the_work = len(quoted.group()) > 2 and squeezed(quoted.group()) in material
        return " " if is_verdict or is_of_the_work else quoted.group()

    return _KEYED.sub(_plainly, _QUOTED.sub(own, text))


def _plainly(keyed: re.Match[str]) -> str:
    key, value = keyed[1].casefold(), (keyed[2] or "").casefold()
    if _CHOICE.search(keyed.group()) or value not in (*_GOOD, *_BAD):
        return _LEFT_OPEN
    if key.startswith("fail"):
        return " " if value in _BAD else _LEFT_OPEN
    return _PASSED if value in _GOOD else _FAILED
