"""Whether a judge's own words bear out what is made of them when they are restated."""

from __future__ import annotations

import re
import unicodedata

from verification.engine.protocol.echoes import squeezed
from verification.engine.protocol.prompt import Prompt

MAX_CHARS = 200_000
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|`[^`\n]{1,400}`")
_PASSING = re.compile(
    r"\b(?:pass(?:es|ed|ing)?|satisf\w*|fulfil\w*|met|meets?|accept(?:s|ed|able)?|approv\w*|true|yes"
    r"|compl(?:y|ies|iant|ete[ds]?)|correct|bestanden|erfüllt|réussi\w*|conforme\w*|rempli\w*"
    r"|satisfait\w*|aprobad\w*|cumpl\w*|superat\w*|soddisf\w*|passou|atend\w*|пройден\w*"
    r"|соответству\w*|выполнен\w*)\b"
    r"|[✓✔✅☑👍]|通过|合格|符合|满足|合格|満た",
    re.IGNORECASE,
)
_FAILING = re.compile(
    r"\b(?:fail(?:s|ed|ure|ures|ing)?|violat\w*|reject\w*|unmet|unsatisf\w*|miss(?:es|ing)|lack\w*"
    r"|incomplete|incorrect|wrong|false|not?|none|never|nicht|kein\w*|durchgefallen|verletzt"
    r"|échou\w*|échec|pas|manqu\w*|falt\w*|rechaz\w*|incumpl\w*|manca\w*|respint\w*|não|falh\w*"
    r"|не|нет|провал\w*|наруш\w*)\b"
    r"|n['’]t\b|[✗✘❌☒👎]|不|未|失败|没有|欠|ない",
    re.IGNORECASE,
)
_BLAMING = re.compile(
    r"\b(?:fail(?:s|ed|ure|ures|ing)?|violat\w*|reject(?:ed|s|ing)?|unmet|unsatisf\w*|missing"
    r"|not\W+(?:been\W+)?(?:met|satisf\w*|pass\w*|fulfil\w*|complete\w*|accept\w*)|false"
    r"|does(?:n['’]t|\W+not)\W+(?:pass|meet|satisfy|comply)|incomplete|incorrect"
    r"|nicht\W+(?:bestanden|erfüllt)|durchgefallen|verletzt|échou\w*|échec|manqu\w*"
    r"|pas\W+(?:rempli|satisfait|conforme|respect)\w*|no\W+(?:cumple|aprob)\w*|rechaz\w*"
    r"|incumpl\w*|respint\w*|falh\w*|не\W+(?:выполнен|пройден|соответств)\w*|провал\w*"
    r"|наруш\w*)\b"
    r"|[✗✘❌☒👎]|不(?:合格|符合|通过|满足)|未(?:通过|满足)|失败",
    re.IGNORECASE,
)
_DOUBTING = re.compile(
    r"\b(?:cannot|can['’]?t|unable|sorry|unsure|uncertain|unclear|unknown|inconclusive|maybe"
    r"|perhaps|might|however|but|although|except|if|refus\w*|as an ai|aber|mais|pero|però|mas|но)\b"
    r"|但|しかし",
    re.IGNORECASE,
)


def bears_out(original: str, passed: bool, prompt: Prompt) -> bool:
    """Whether the first reply said what its restatement says.

    A pass needs a word of passing, none of failing and none of doubt, and an end: restating never
    turns a fail, a refusal, noise or what was cut off into a pass. A fail needs a word that blames
    the work.
    """
    words = _own_words(original[:MAX_CHARS], prompt)
    if not passed:
        return _BLAMING.search(words) is not None
    is_whole = len(original) <= MAX_CHARS and not _breaks_off(original)
    is_clear = not _FAILING.search(words) and not _DOUBTING.search(words)
    return is_whole and is_clear and _PASSING.search(words) is not None


def _breaks_off(text: str) -> bool:
    return text.count("{") > text.count("}") or text.count("[") > text.count("]")


def _own_words(text: str, prompt: Prompt) -> str:
    """Without what is quoted from the material: that is the work speaking."""
    material = squeezed(prompt.text)
    text = unicodedata.normalize("NFKC", text)

    def own(quoted: re.Match[str]) -> str:
        return " " if squeezed(quoted.group()) in material else quoted.group()

    return _QUOTED.sub(own, text)
