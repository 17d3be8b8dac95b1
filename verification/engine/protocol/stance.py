"""What a judge's own prose says of the work: whether it blames it, or passes it after all.

A verdict is doubted where the prose beside it says the opposite. Quoted text is not the judge's.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from verification.engine.protocol import stance_words
from verification.engine.protocol.prose import QUOTED_LINE, without_fences
from verification.engine.protocol.stance_words import BAD_MARK, any_of

MAX_CLAUSE_CHARS = 500
NEARBY_CHARS = 20
"""How far before a blame its negation stands: `with no source at all, the work fails` has none."""
_BACKQUOTED = re.compile(r"`[^`\n]{1,400}`")
_QUOTED = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|「[^」\n]{1,400}」"
    r"|『[^』\n]{1,400}』|(?<!\w)‘[^’\n]{1,400}’(?!\w)|(?<![\w’'])'[^'\n]{1,200}'(?!\w)"
)
_EMPHASIS = re.compile(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}|~~")
_SENTENCE_END = re.compile(r"(?<=[.!?;])(?:\s|$)|(?<=[。！？；])|\n")
_CLAUSE_END = re.compile(
    r",?\s(?=(?:but|yet|although|though|however|whereas|while|because|since|so|hence|thus|therefore"
    r"|which|except|nevertheless|still|instead|aber|denn|mais|pero|mas|ma|но)\b)"
    r"|:\s(?!none\b|no\b|0\b|nothing\b|keine?\b|aucune?\b)|\s[–—-]\s|[()…—，、；]"
    r"|,?\s(?=and\s(?:the|it|this|that|they|there|i|we|one|two|some|all|each|every|its|must|has|have"
    r"|needs|cannot|can[’']t|doesn[’']t|fails?)\b)"
    r"|,\s(?=(?:the|it|this|that|they|there|i|we|one|two|some|also|donc|quindi|portanto)\b)",
    re.IGNORECASE,
)

_NAME = rf"(?:{'|'.join(stance_words.VERDICT_NAMES)})"
_BAD = rf"(?:{'|'.join(stance_words.BAD_WORDS)})"
_GOOD = rf"(?:{'|'.join(stance_words.GOOD_WORDS)})"
_NAMED = (
    rf"(?:^|[^\w])(?:(?:final|overall|my|the)\s)?{_NAME}(?:\s(?:on|of|for)\s[^:\n]{{1,40}})?"
    r"[\"'“”\s]{0,4}(?:[:：=–—→➜⇒|]|-{1,2}>|\s-\s|\bis\b|\bwas\b)[\"'“”\s(\[]{0,6}"
)
_BAD_LABEL = re.compile(
    rf"{_NAMED}(?:{BAD_MARK}\s{{0,4}})?(?:the\s\w{{1,20}}\s(?:is|has)\s)?(?:{_BAD}(?![\w-])|{BAD_MARK}|f\W*$)",
    re.IGNORECASE | re.MULTILINE,
)
_GOOD_LABEL = re.compile(rf"{_NAMED}(?:✅\s{{0,2}})?{_GOOD}(?!\w|\s*[|/])", re.IGNORECASE)


def _below_heading(words: str, marks: str) -> re.Pattern[str]:
    """A heading that names a verdict, and the verdict alone in the next line."""
    return re.compile(
        rf"^[#\s]{{0,8}}(?:(?:final|overall|my|the)\s)?{_NAME}[:\s]{{0,6}}\n+\s{{0,4}}"
        rf"(?:{marks}\s{{0,2}})?{words}[.!{marks[1:-1]}\s]{{0,6}}$",
        re.IGNORECASE | re.MULTILINE,
    )


_BAD_BELOW, _GOOD_BELOW = _below_heading(_BAD, BAD_MARK), _below_heading(_GOOD, "[✅]")
_BAD_ALONE = re.compile(
    rf"^[\W_]{{0,12}}(?:(?:overall|result)\W{{1,3}})?"
    rf"(?:{_BAD}(?<!against)(?<!void)|i[’']m sorry,? but no)(?:[\W_]{{0,8}}$|\s?[–—:-]\s(?!\d|none|no\b))",
    re.IGNORECASE,
)
_ROW = rf"(?:{BAD_MARK}|fail(?:ed|s)?|violated|unmet|unsatisfied|breached|(?:does )?not (?:met|satisfied|fulfilled|hold))"
_BAD_ROW = re.compile(
    r"^[^\n]{1,120}?(?:[:：|→–—]|\s-\s|-->?)[ \t(\[]{0,4}"
    rf"(?:{BAD_MARK}[ \t]{{0,2}})?{_ROW}(?!\w)[)\]]?[ \t]*(?:$|[.,;(–—]|\s-\s|\|(?!\s*[\d.,%]+\s*\|?))",
    re.IGNORECASE | re.MULTILINE,
)
_BAD_MARKED = re.compile(
    rf"(?:^[\s\-•\d.)]{{0,8}}|\|\s{{0,3}}){BAD_MARK}(?!\s{{0,3}}(?:\w{{1,12}}\s{{0,2}}[:=]?\s{{0,2}})?0\b)|{BAD_MARK}[\s.!|]{{0,4}}$",
    re.MULTILINE,
)
_TABLE_HEAD = re.compile(
    r"^[ \t]{0,9}\|[^\n]{0,500}\n[ \t]{0,9}\|?[ \t]{0,9}:?-{2,80}[-:| \t]{0,300}$", re.MULTILINE
)

_NEGATED_PASS = re.compile(r"\b(?:not|never|cannot|none)\b|n[’']t\b|\bfalse\b", re.IGNORECASE)

_IS_SUPPOSED = re.compile(
    r"^\W*(?:if|had|were|should (?:the|it|any)|hätte|wäre|wenn|si|se|если|如果|假如|もし)\b|\bif\b[^.!?]{0,60}\bwere\b"
    r"|[?？]\W*$|^\W*(?:如果|假如|もし)",
    re.IGNORECASE,
)
_NONE_FOLLOWS = re.compile(r"\W{0,3}(?:none(?! of)|no one|nothing|0|nil)\b", re.IGNORECASE)

_EXPLICIT = any_of(stance_words.EXPLICIT)
_RETRACTION = any_of(stance_words.RETRACTIONS)
_RELENTING = any_of(stance_words.RELENTING)
_DEFICIT = any_of(stance_words.DEFICITS)
_NEGATOR = any_of(stance_words.NEGATORS, words=True)
_NEGATED = any_of(stance_words.NEGATED_BLAME)
_CONDITIONAL = any_of(stance_words.CONDITIONALS, words=True)
_RESOLVED = any_of(stance_words.RESOLVED, words=True)
_ATTRIBUTION = re.compile(rf"\b(?<!i ){stance_words.ATTRIBUTION}", re.IGNORECASE)
_REPORTED = any_of(stance_words.REPORTED, words=True)
_OTHER_LANGUAGES = [
    (any_of(blame), any_of(excuse)) for blame, excuse in stance_words.OTHER_LANGUAGES.values()
]


def blames_the_work(text: str) -> bool:
    """Whether the prose says that the work fails, or takes a pass back."""
    return blame_in(text) != ""


def blame_in(text: str, *, outright: bool = False) -> str:
    """Return the words that blame the work; '' if there are none.

    `outright`: only what says that the work or a rule fails, not what finds something wrong.
    """
    prose = _TABLE_HEAD.sub("", _own_prose(text))
    quotes = [quote.span() for quote in _QUOTED.finditer(prose)]
    for pattern in (_BAD_LABEL, _BAD_BELOW, _BAD_ROW, _BAD_MARKED):
        for label in pattern.finditer(prose):
            if not (_is_reported_label(label) or _begins_within(label, quotes)):
                return label.group().strip()
    sentences = _sentences(_QUOTED.sub(" ", prose))
    return next((sentence for sentence in sentences if _is_blame(sentence, outright)), "")


def passes_the_work(text: str) -> bool:
    """Whether the prose beside a fail says that the work passes after all."""
    return pass_in(text) != ""


def pass_in(text: str) -> str:
    """Return the words that pass the work; '' if there are none."""
    prose = _own_prose(text)
    labelled = _TABLE_HEAD.sub("", prose)
    for pattern in (_GOOD_LABEL, _GOOD_BELOW):
        if label := pattern.search(labelled):
            return label.group().strip()
    sentences = _sentences(_QUOTED.sub(" ", prose))
    return next((sentence for sentence in sentences if _relents(sentence)), "")


def _relents(sentence: str) -> bool:
    if _RETRACTION.search(sentence):
        return True
    return any(
        _RELENTING.search(clause)
        and not (_NEGATED_PASS.search(clause) or _CONDITIONAL.search(clause))
        for clause in _clauses(sentence)
    )


def _begins_within(label: re.Match[str], quotes: Sequence[tuple[int, int]]) -> bool:
    """Whether a label stands in quotation marks as a whole: `the log says "Result: FAILED"`."""
    before = bisect_right(quotes, (label.start(), label.end())) - 1
    candidates = quotes[max(0, before) : before + 2]
    return any(start <= label.start() and label.end() <= end for start, end in candidates)


def _is_reported_label(label: re.Match[str]) -> bool:
    return label.re is _BAD_ROW and _REPORTED.search(label.group()) is not None


def _is_blame(sentence: str, outright: bool) -> bool:
    if _BAD_ALONE.match(sentence) or _RETRACTION.search(sentence):
        return True
    if _IS_SUPPOSED.search(sentence):
        return False
    return any(_is_blaming_clause(clause, outright) for clause in _clauses(sentence))


def _is_blaming_clause(clause: str, outright: bool) -> bool:
    if _asserts(_EXPLICIT, clause):
        return True
    if outright:
        return False
    if any(
        blame.search(clause) and not excuse.search(clause) for blame, excuse in _OTHER_LANGUAGES
    ):
        return True
    return _asserts(_DEFICIT, clause, unless_reported=True)


def _asserts(pattern: re.Pattern[str], clause: str, *, unless_reported: bool = False) -> bool:
    """Whether words stand in a clause, and nothing in it takes away their force."""
    for words in pattern.finditer(clause):
        before, until = clause[: words.start()], clause[: words.end()]
        nearby = until if unless_reported else until[max(0, words.start() - NEARBY_CHARS) :]
        if not (
            _NEGATOR.search(nearby)
            or _NEGATED.search(clause)
            or _NONE_FOLLOWS.match(clause, words.end())
            or _CONDITIONAL.search(until)
            or _RESOLVED.search(clause)
            or _ATTRIBUTION.search(until)
            or (unless_reported and _REPORTED.search(before))
        ):
            return True
    return False


def _sentences(prose: str) -> Iterator[str]:
    return (sentence for sentence in _SENTENCE_END.split(prose) if sentence and sentence.strip())


def _clauses(sentence: str) -> Iterator[str]:
    for clause in _CLAUSE_END.split(sentence):
        for start in range(0, len(clause), MAX_CLAUSE_CHARS):
            if part := clause[start : start + MAX_CLAUSE_CHARS].strip():
                yield part


def _own_prose(text: str) -> str:
    """The text without what it quotes in fences, backquotes and quoted lines."""
    text = without_fences(unicodedata.normalize("NFKC", text))
    text = QUOTED_LINE.sub(" ", _BACKQUOTED.sub(" ", text))
    return _EMPHASIS.sub("", text)
