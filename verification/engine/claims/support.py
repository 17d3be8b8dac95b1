"""Whether the evidence that a claim names can confirm it, as far as its words show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from verification.engine.claims.settlement import CountedClaim
from verification.engine.claims.terms import stems_of, terms_of
from verification.engine.emptiness import is_blank
from verification.engine.evidence import Claim, EvidenceItem

NOT_SUBMITTED = "It names no evidence that was submitted."
WITHOUT_TEXT = "The evidence that it names has no text."
NO_SHARED_TERM = "The evidence that it names shares no term with it."


class Support:
    """The submitted evidence by its ids. Two items with one id are one text.

    `reads_texts` False: the texts are left to a judge, who is asked later.
    """

    def __init__(self, evidence: Sequence[EvidenceItem] = (), *, reads_texts: bool = True) -> None:
        self._reads_texts = reads_texts
        self._items: defaultdict[str, list[_Item]] = defaultdict(list)
        for item in evidence:
            self._items[item.id].append(_Item(item.text))

    def objection(self, claim: Claim | CountedClaim) -> str:
        """Return why nothing that the claim names can confirm it, in a sentence; '' if it can."""
        items = [item for name in claim.evidence for item in self._items.get(name, ())]
        if not items:
            return NOT_SUBMITTED
        if not self._reads_texts:
            return ""
        if all(item.is_blank for item in items):
            return WITHOUT_TEXT
        terms = terms_of(claim.text)
        return "" if any(terms & item.stems for item in items) else NO_SHARED_TERM


class _Item:
    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def is_blank(self) -> bool:
        return is_blank(self._text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems_of(self._text)
