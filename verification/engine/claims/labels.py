"""Claims are counted here, never by whoever made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from verification.engine.claims.pruning import cut
from verification.engine.claims.settlement import ClaimSource, ClaimState, CountedClaim
from verification.engine.claims.spans import core_of, phrase_of
from verification.engine.claims.support import NO_SHARED_TERM, WITHOUT_TEXT, Support
from verification.engine.emptiness import is_blank
from verification.engine.evidence import Claim
from verification.engine.outcome import WHOLE_OUTCOMES, Outcome

CONFIRMED, INFERRED, UNSUPPORTED = "confirmed", "inferred", "unsupported"
LABELS = (CONFIRMED, INFERRED, UNSUPPORTED)
SECTIONS = ("recommendation", "recommendations", "supporting", "other")
MAX_SAID_CHARS = 200
MIN_UNPARTED_CHARS = 6


class ClaimCounts(TypedDict):
    confirmed: int
    inferred: int
    unsupported: int
    recommendation_unconfirmed: int
    supporting_unconfirmed_ratio: float | None


def is_known_label(claim: Claim) -> bool:
    return _plain(claim.label) in LABELS


def label_of(claim: Claim, support: Support) -> str:
    """The label that counts: nothing is confirmed without evidence that can confirm it."""
    label = _plain(claim.label)
    if label not in LABELS:
        return UNSUPPORTED
    if label == CONFIRMED and support.objection(claim):
        return INFERRED
    return label


def is_labelled(claim: Claim) -> bool:
    """Return whether it states something, under a label that exists."""
    return is_known_label(claim) and not is_blank(claim.text)


def is_doubtful(claim: CountedClaim, support: Support) -> bool:
    """Return whether it came as confirmed, and only the words of its evidence speak against it."""
    if _plain(claim.said) != CONFIRMED or claim.label == CONFIRMED:
        return False
    return support.objection(claim) in (WITHOUT_TEXT, NO_SHARED_TERM)


def key_of(claim: Claim | CountedClaim) -> str:
    """Claims that say the same have the same key, whatever their spaces, case and closing mark."""
    return core_of(phrase_of(claim.text))


def is_recommendation(claim: Claim | CountedClaim) -> bool:
    """Whatever calls itself one is one, among other words too."""
    return "recommend" in _plain(claim.section)


def counted_claims(
    claims: Sequence[Claim],
    support: Support | None = None,
    source: ClaimSource = ClaimSource.SUBMISSION,
) -> tuple[CountedClaim, ...]:
    """Give each claim the label that holds, and say why where it is another than it came with.

    Where the same claim stands twice, the weaker label holds for both.
    """
    support = support or Support()
    counted = [_counted(claim, support, source) for claim in claims]
    keys = [key_of(claim) for claim in claims]
    weakest: dict[str, str] = {}
    for key, one in zip(keys, counted, strict=True):
        weakest[key] = weaker(one.label, weakest.get(key, CONFIRMED))
    return tuple(
        _weakened(one, weakest[key], f"It stands elsewhere as {weakest[key]}.")
        for key, one in zip(keys, counted, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Merged:
    """`invented` counts the judge's claims that the work does not make."""

    claims: tuple[CountedClaim, ...]
    invented: int = 0


def merged(
    submitted: Sequence[CountedClaim], judged: Sequence[CountedClaim], texts: Iterable[str]
) -> Merged:
    """Both sides' claims, submitted ones first. Of two words on one claim the stricter holds.

    A judge's claim that stands in none of the texts is left out: the judge may have made it up.
    So is a single word: it states nothing, and would be taken out wherever it stands.
    """
    of_judge: dict[str, CountedClaim] = {}
    for one in judged:
        key = key_of(one)
        of_judge[key] = _stricter(of_judge[key], one) if key in of_judge else one
    whole = []
    for one in submitted:
        word = of_judge.get(key_of(one))
        whole.append(_stricter(one, word) if word else one)
    own = {key_of(one) for one in submitted}
    others = [one for key, one in of_judge.items() if key not in own]
    sought = {one.text for one in others if _states_something(one.text)}
    held = frozenset[str]().union(*(cut(text, sought).found for text in (texts if sought else ())))
    found = [one for one in others if one.text in held]
    return Merged((*whole, *found), len(others) - len(found))


def totals_of(claims: Sequence[CountedClaim]) -> ClaimCounts:
    """Count claims by the label that holds; pruned ones do not count.

    `supporting_unconfirmed_ratio` is the unconfirmed share of all claims outside of
    recommendations, 0 to 1; `None` means there are none (not 0, not 1).
    """
    standing = [claim for claim in claims if claim.state is not ClaimState.PRUNED]
    by_label = Counter(claim.label for claim in standing)
    elsewhere = [claim.label for claim in standing if not is_recommendation(claim)]
    unconfirmed = sum(label != CONFIRMED for label in elsewhere)
    return ClaimCounts(
        confirmed=by_label[CONFIRMED],
        inferred=by_label[INFERRED],
        unsupported=by_label[UNSUPPORTED],
        recommendation_unconfirmed=sum(
            is_recommendation(claim) and claim.label != CONFIRMED for claim in standing
        ),
        supporting_unconfirmed_ratio=unconfirmed / len(elsewhere) if elsewhere else None,
    )


def passes_unconfirmed_recommendation(outcome: Outcome, counts: ClaimCounts) -> bool:
    """Return whether work passes as a whole while a recommendation in it is unconfirmed.

    The policy engine never comes to it: it takes the recommendation out, or the work is partly
    verified at most. The rollout's target `recommendations` counts the runs of which it is true.
    """
    return outcome in WHOLE_OUTCOMES and counts["recommendation_unconfirmed"] > 0


def _states_something(text: str) -> bool:
    """Some scripts part no words."""
    return len(text.split()) > 1 or (not text.isascii() and len(text) >= MIN_UNPARTED_CHARS)


def weaker(one: str, other: str) -> str:
    """The label that claims less."""
    return max(one, other, key=LABELS.index)


def _counted(claim: Claim, support: Support, source: ClaimSource) -> CountedClaim:
    label = label_of(claim, support)
    notes = [_why_other(claim, label, support)]
    if _plain(claim.section) not in SECTIONS and not is_recommendation(claim):
        notes.append("There is no such section: it counts as other.")
    return CountedClaim(
        text=claim.text,
        label=label,
        said=claim.label,
        section=claim.section,
        evidence=claim.evidence,
        source=source,
        note=" ".join(filter(None, notes)),
    )


def _why_other(claim: Claim, label: str, support: Support) -> str:
    if not is_known_label(claim):
        return "There is no such label."
    return support.objection(claim) if label != _plain(claim.label) else ""


def _stricter(one: CountedClaim, word: CountedClaim) -> CountedClaim:
    """A claim after another's word on it: the weaker label, and a recommendation if either says so."""
    held = _weakened(
        one, weaker(one.label, word.label), f"The judge says {word.said[:MAX_SAID_CHARS]}."
    )
    if is_recommendation(word) and not is_recommendation(one):
        note = f"The judge says that it stands in {word.section[:MAX_SAID_CHARS]}."
        return replace(held, section=word.section, note=f"{held.note} {note}".strip())
    return held


def _weakened(claim: CountedClaim, label: str, why: str) -> CountedClaim:
    if label == claim.label:
        return claim
    return replace(claim, label=label, note=f"{claim.note} {why}".strip())


def _plain(word: str) -> str:
    return word.strip().lower()
