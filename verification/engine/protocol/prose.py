"""The text around a verdict: what is quoted, and to whom the prose attributes it."""

from __future__ import annotations

import re

from verification.engine.protocol.reasoning import final_answer

QUOTED_LINE = re.compile(r"^[ \t]{0,8}>.*$", re.MULTILINE)
LIST_ITEM = re.compile(
    r"^[ \t]{0,8}(?:[-*+•–]|\d{1,3}[.)])[ \t]{1,3}(\S[^\n]{0,2000})", re.MULTILINE
)
_CONTROLS = re.compile(
    r"\x1b\[[0-9;:?]{0,40}[A-Za-z]"  # a terminal's colours
    r"|[\ufeff\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069]"  # marks that show nothing
)
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)[^\n`]{0,40}$", re.MULTILINE)
_OF_THE_WORK = re.compile(
    r"\b(?:outputs?|material|submission|agent|executor|deliverable|tool|command|script|tests?|logs?"
    r"|file|author|worker|prompt|example|format|schema|expected|previous|stdout|printed)\b",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:my|our|assessment|conclusion|verdict|judge?ment|evaluation|verification)\b",
    re.IGNORECASE,
)
_SOMEBODYS = re.compile(
    r"(?:\b(?:agent|executor|tool|author|script|submission|worker|assistant|model)['’]s"
    r"|\b(?:its|their|his|her))(?: own)?"
    r" (?:verdict|assessment|conclusion|judge?ment|evaluation|verification|answer|reply|review)\b",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\b(?:say|says|said|state|states|stated|contains?|contained|reads?|returns?|returned|prints?"
    r"|printed|writes?|wrote|claims?|claimed|shows?|showed|reports?|reported|reporting|outputs?|includes?"
    r"|included|including|emits?|emitted|quotes?|quoted|saying|instead of|not)"
    r"(?: that)?\s{0,3}:?$",
    re.IGNORECASE,
)
_LEADS_ON = re.compile(r"(?:[:：]|\b(?:with|like|is|was))$", re.IGNORECASE)
_GOES_ON = re.compile(
    r"[\"'`)\]]{0,3},?[ \t]{1,3}(?:but|however|although|though|yet|while|which|is|was|were|are|appears?|stands?"
    r"|in the|from the|of the|and|even|despite|when|where|would|should|does|did|as)\b"
)
_SENTENCE_END = re.compile(r"[.!?。]\s|\n")
_LEAD_CHARS = 300
_SAYS_CHARS = 40
_MARKS = " \t\r\n\"'`*_([<“‘«"


def answer_in(text: str) -> str:
    """Return the answer without reasoning, quoted lines and invisible marks.

    Raises:
        Doubt: see `final_answer`.
    """
    text = _CONTROLS.sub("", text).replace("\r\n", "\n")
    return QUOTED_LINE.sub("…", final_answer(text))


def without_fences(text: str) -> str:
    """The text without what it shows in fences; a text that is one fence is what stands in it."""
    marks = list(_FENCE.finditer(text))
    if len(marks) == 2 and not (text[: marks[0].start()] + text[marks[1].end() :]).strip():
        return text[marks[0].end() : marks[1].start()]
    kept, at = [], 0
    for opening, closing in zip(marks[::2], [*marks[1::2], None], strict=False):
        kept.append(text[at : opening.start()])
        at = len(text) if closing is None else closing.end()
    return "".join([*kept, text[at:]])


def fenced(text: str) -> list[tuple[int, str]]:
    """What stands in fences, and where each begins."""
    marks = list(_FENCE.finditer(text))
    pairs = zip(marks[::2], marks[1::2], strict=False)
    return [(first.start(), text[first.end() : last.start()]) for first, last in pairs]


def is_quoted(text: str, start: int, end: int) -> bool:
    """Whether the prose around a place gives what stands there to somebody else.

    `The output says {…} but …` is no verdict; nor is what follows `The log reads:`.
    """
    if _GOES_ON.match(text, end):
        return True
    before = text[max(0, start - _LEAD_CHARS) : start]
    lead = before.rstrip(_MARKS)
    is_apart = "\n" in before[len(lead) :]
    if not lead or (is_apart and not lead.endswith((":", "："))):
        return False
    sentence = _SENTENCE_END.split(lead)[-1]
    if _SOMEBODYS.search(sentence):
        return True
    if _OWN.search(sentence):
        return False
    if _SAYS.search(lead[-_SAYS_CHARS:]):
        return True
    return _LEADS_ON.search(lead) is not None and _OF_THE_WORK.search(sentence) is not None
