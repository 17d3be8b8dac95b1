"""Terms of a text: its words without endings and common words, and its numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

MIN_STEM_LETTERS, MAX_STEM_LETTERS = 3, 6
MAX_WORD_LETTERS = 20
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+")
_UNSPACED_FROM = "\u0e00"
"""Scripts from here on write words without spaces: each pair of letters is a term."""
_ENDING = re.compile(
    r"(?:ations?|ments?|(?:ing|ed)ly|ings?|ions?|ie[sd]|ers?|e[dns]|ly|al|[seny])$"
)
_COMMON_WORDS = """
about after all also am an and any are as at be been before being both but by can could did do does
each for from had has have he here him his how if in into is it its just me more most much must my no
nor not now of off on one only or other our out over own same shall she should so some such than that
the their them then there these they this those through to too under until up very was we were what
when where which while who whom whose why will with would you your
aber als auch auf aus bei da das dass dem den der des diese dieser du durch ein eine einem einen
einer eines er es fur haben hat ich ihr ihre im ist ja kann mit nach nicht noch ob oder sein sich sie
sind uber um und uns unter vom von vor waren wenn werden wie wir wird wo zu zum zur
au aux avec ce ces cette dans de du elle en est et il je la le les leur mais ne nous on ont ou par
pas plus pour que qui sa sans se ses si sont sur te tu un une vous
al con del di e el ella las lo los ma mas mi ni para pero por sin su sus una ya yo
che da della delle gli ha ho ma nel non sono ti tra ao com dos em na nao nas nos os seu sua uma
aan dat een het ik je met naar niet om ook op uw van voor ze zijn zo
"""
"""Of English, German, French, Spanish, Italian, Portuguese and Dutch, without accents."""
_COMMON = frozenset(_COMMON_WORDS.split())


def terms_of(text: str) -> frozenset[str]:
    """Return what a text is about; for a text of common words alone, these words."""
    words = [*_words(text)]
    terms = frozenset(_stem(word) for word in words if not _is_common(word))
    return terms or frozenset(map(_stem, words))


def stems_of(text: str) -> frozenset[str]:
    """Return all words of a text, common ones among them, as `terms_of` writes them."""
    return frozenset(map(_stem, _words(text)))


def _words(text: str) -> Iterator[str]:
    """Yield words without case and accents, numbers without separators."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(one for one in decomposed if not unicodedata.combining(one))
    for match in _WORD.finditer(unicodedata.normalize("NFC", letters)):
        word = match.group()
        if word[0].isdigit():
            yield word.replace(",", "").replace(".", "")
        elif word[-1] >= _UNSPACED_FROM and len(word) > 1:
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield word


def _is_common(word: str) -> bool:
    return word in _COMMON or (len(word) == 1 and word.isascii() and word.isalpha())


def _stem(word: str) -> str:
    if word[-1] >= _UNSPACED_FROM or any(map(str.isdigit, word)):
        return word
    word = word[:MAX_WORD_LETTERS]
    while ending := _ENDING.search(word, MIN_STEM_LETTERS):
        word = word[: ending.start()]
    return word[:MAX_STEM_LETTERS]
