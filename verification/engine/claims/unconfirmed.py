"""What becomes of claims that nothing confirms: confirmed, taken out, left for people, or blamed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from processes.definition.model import Enforcement, Target
from verification.engine.case import Case, Ports
from verification.engine.claims.confirming import Asked, confirm
from verification.engine.claims.labels import (
    CONFIRMED,
    counted_claims,
    is_doubtful,
    key_of,
    merged,
)
from verification.engine.claims.missing import lacks_labelled_claims, missing_claims
from verification.engine.claims.pruned_files import Pruning, prune
from verification.engine.claims.routing import (
    ID,
    MAX_SHOWN,
    REMEDY,
    Route,
    Shortfall,
    Weight,
    finding_of,
    first_support,
    named,
    route_of,
    shortfalls,
)
from verification.engine.claims.settlement import (
    Artefact,
    ArtefactKind,
    ClaimSource,
    ClaimState,
    CountedClaim,
)
from verification.engine.claims.submitted_texts import SubmittedTexts, changed, texts_of
from verification.engine.claims.support import Support
from verification.engine.claims.synthesis import parted
from verification.engine.evidence import Claim, CouldNotInspect
from verification.engine.finding import Finding
from verification.engine.judges.asking import Conversation
from verification.engine.outcome import FindingVerdict, Source
from verification.engine.policy import is_open

USUAL_ATTEMPTS = 2
MAX_NAMED = 5
AssessAgain = Callable[[Case, Ports], tuple[Finding, ...]]
"""Semantic verification once more, of a case and files without what was taken out."""


@dataclass(frozen=True, slots=True)
class Settled:
    """`claims` as they count; `note` says what was left out of them, '' where nothing was.

    `unanswered` are the places of claims about which the judge's answer was lost.
    """

    findings: tuple[Finding, ...] = ()
    claims: tuple[CountedClaim, ...] = ()
    artefacts: tuple[Artefact, ...] = ()
    note: str = ""
    unanswered: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Work:
    """What is settled and by whom: without `talk`, nothing can be confirmed."""

    case: Case
    ports: Ports
    talk: Conversation | None
    judge: str
    assess_again: AssessAgain | None

    @cached_property
    def submitted(self) -> SubmittedTexts:
        return texts_of(self.case, self.ports.workspace)

    def texts(self) -> Iterator[str]:
        """Read only when they are looked into."""
        yield from (one.text for one in self.submitted.texts)

    @cached_property
    def support(self) -> Support:
        return Support(self.case.submission.evidence)

    @property
    def tier(self) -> int:
        return 1 if self.talk is None else 2

    @property
    def source(self) -> Source:
        return Source.DETERMINISTIC if self.talk is None else Source.LLM

    def tells(
        self, short: Shortfall, claims: Sequence[CountedClaim], *, tried: str = ""
    ) -> Finding:
        return finding_of(self.case, short, claims, tier=self.tier, tried=tried)

    def route(self, short: Shortfall) -> Route:
        return route_of(self.case, recommends=short.recommends)


def settle(
    case: Case,
    ports: Ports,
    judged: Sequence[Claim] = (),
    talk: Conversation | None = None,
    judge: str = "",
    assess_again: AssessAgain | None = None,
    *,
    is_open: bool = True,
    lost: str = "",
) -> Settled:
    """Settle the claims once, at the end of the highest of tiers 1 and 2 that was asked for.

    `judged` are the judge's own claims. Without `talk` nothing can be confirmed. Where it is not
    open any more whether the work is accepted, its claims are only counted. `lost` is the reason
    code for which the judge could not be asked once more.

    Source: docs/engine.md, "Claims".
    """
    needs_labels = is_open and lacks_labelled_claims(case, ports, judged)
    if not case.submission.claims and not judged:
        return Settled(findings=(missing_claims(case, lost),) if needs_labels else ())
    work = _Work(case, ports, talk, judge, assess_again)
    own = counted_claims(case.submission.claims, work.support)
    told = merged(own, counted_claims(judged, work.support, ClaimSource.JUDGE), work.texts())
    note = _left_out(told.invented)
    if needs_labels:
        return Settled((missing_claims(case, lost),), told.claims, note=note)
    if case.is_legacy or not is_open:
        return Settled(claims=told.claims, note=note)
    tried = _confirm_or_prune(work, told.claims)
    known = shortfalls(case, counted_claims(case.submission.claims, first_support(case)))
    others = [
        work.tells(short, tried.claims)
        for short in shortfalls(case, tried.claims)
        if not work.route(short).is_tried
        and short not in known
        and tried.unanswered.isdisjoint(short.numbers)
    ]
    settled = replace(tried, findings=(*tried.findings, *others), note=note)
    return _with_parts(work, settled)


def _confirm_or_prune(work: _Work, claims: tuple[CountedClaim, ...]) -> Settled:
    doubtful = _doubtful(work, claims)
    open_before = _numbers(_tried(work, claims)) | doubtful
    if not open_before:
        return Settled(claims=claims)
    asked = _asked(work, claims, open_before)
    claims = tuple(asked.claims.get(number, claim) for number, claim in enumerate(claims))
    short = _tried(work, claims)
    numbers = _numbers(short)
    doubtful &= _numbers(shortfalls(work.case, claims))
    if unanswered := (numbers | doubtful) & asked.unanswered:
        lost = _lost(work, asked.lost, unanswered)
        return Settled((lost,), claims, unanswered=unanswered)
    if not short:
        return Settled(claims=claims)
    try:
        texts = {claims[number].text for number in numbers}
        pruning = prune(work.submitted, texts, work.ports.probe)
    except CouldNotInspect as error:
        return Settled((_lost(work, ("infra_verifier_error", str(error)), numbers),), claims)
    return _pruned(work, claims, short, pruning)


def _pruned(
    work: _Work, claims: tuple[CountedClaim, ...], short: Sequence[Shortfall], pruning: Pruning
) -> Settled:
    """Nothing is taken out of work that is rejected all the same."""
    after = _without_gone(claims, pruning.gone)
    left = _tried(work, after)
    why = _why_not(pruning)
    if any(work.route(one).weight is Weight.BLOCKS for one in left):
        sides = {one.recommends for one in left}
        blamed = [one for one in short if one.recommends in sides]
        return Settled(tuple(work.tells(one, claims, tried=why) for one in blamed), claims)
    findings = [work.tells(one, after, tried=why) for one in left]
    for one in short:
        findings += _taken_out(work, one, after)
    if work.assess_again and pruning.contents and not all(one.recommends for one in short):
        findings += work.assess_again(*_rest(work, after, pruning))
    artefacts = tuple(
        Artefact(ArtefactKind.PRUNED, path, content) for path, content in pruning.contents.items()
    )
    return Settled(tuple(findings), after, artefacts)


def _rest(work: _Work, after: Sequence[CountedClaim], pruning: Pruning) -> tuple[Case, Ports]:
    """The work as if it had been submitted without what was taken out."""
    gone = {claim.text for claim in after if claim.state is ClaimState.PRUNED}
    case, ports = changed(work.case, work.ports, pruning.contents)
    claims = tuple(claim for claim in case.submission.claims if claim.text not in gone)
    return replace(case, submission=replace(case.submission, claims=claims)), ports


def _doubtful(work: _Work, claims: Sequence[CountedClaim]) -> frozenset[int]:
    """Claims of a shortfall that a judge may confirm against the text of their evidence."""
    if work.talk is None:
        return frozenset()
    numbers = _numbers(shortfalls(work.case, claims))
    return frozenset(number for number in numbers if is_doubtful(claims[number], work.support))


def _asked(work: _Work, claims: Sequence[CountedClaim], numbers: Collection[int]) -> Asked:
    """Ask for each claim once, however often and in whatever spelling it stands."""
    if work.talk is None:
        return Asked({})
    same: defaultdict[str, list[int]] = defaultdict(list)
    for number, claim in enumerate(claims):
        same[key_of(claim)].append(number)
    keys = {key_of(claims[number]) for number in numbers}
    groups = {same[key][0]: same[key] for key in keys}
    attempts = work.case.definition.remediation.get("max_attempts", USUAL_ATTEMPTS)
    asked = confirm(
        work.case, work.talk, work.judge, {first: claims[first] for first in groups}, attempts
    )
    return Asked(
        {
            number: _like(claims[number], asked.claims[first])
            for first, numbers in groups.items()
            for number in numbers
        },
        frozenset(number for first in asked.unanswered for number in groups[first]),
        asked.lost,
    )


def _like(claim: CountedClaim, twin: CountedClaim) -> CountedClaim:
    """What was found out about a claim holds for every other that says the same."""
    if twin.state is not ClaimState.CONFIRMED:
        return replace(claim, note=twin.note)
    return replace(
        claim,
        label=twin.label,
        state=twin.state,
        evidence=twin.evidence,
        quote=twin.quote,
        note=twin.note,
    )


def _tried(work: _Work, claims: Sequence[CountedClaim]) -> list[Shortfall]:
    """What confirm-or-prune is to put right."""
    return [one for one in shortfalls(work.case, claims) if work.route(one).is_tried]


def _numbers(short: Sequence[Shortfall]) -> frozenset[int]:
    return frozenset(number for one in short for number in one.numbers)


def _without_gone(
    claims: Sequence[CountedClaim], gone: Collection[str]
) -> tuple[CountedClaim, ...]:
    keys = {key_of(claim) for claim in claims if claim.text in gone}
    return tuple(
        replace(claim, state=ClaimState.PRUNED) if key_of(claim) in keys else claim
        for claim in claims
    )


def _taken_out(work: _Work, short: Shortfall, after: Sequence[CountedClaim]) -> Iterator[Finding]:
    """What of a shortfall was taken out of the work."""
    numbers = [n for n in short.numbers if after[n].state is ClaimState.PRUNED]
    if not numbers:
        return
    where = "recommendations" if short.recommends else "claims outside of recommendations"
    yield Finding(
        rule=ID,
        reason_code="recommendation_pruned" if short.recommends else "unconfirmed_above_threshold",
        message=f"{len(numbers)} of {short.total} {where} could not be confirmed and were taken out."
        f" {named(after, numbers)}",
        enforcement=Enforcement.HARD,
        source=work.source,
        tier=work.tier,
        target=Target.EVIDENCE,
        place={"claims": numbers[:MAX_SHOWN]},
        suggestion=REMEDY,
    )


def _lost(work: _Work, why: tuple[str, str], numbers: Collection[int]) -> Finding:
    reason_code, told = why
    claims = "1 claim is" if len(numbers) == 1 else f"{len(numbers)} claims are"
    return Finding(
        rule=ID,
        reason_code=reason_code,
        message=f"Whether {claims} confirmed could not be found out. {told}".strip(),
        enforcement=Enforcement.HARD,
        verdict=FindingVerdict.UNKNOWN,
        source=work.source,
        tier=work.tier,
        target=Target.EVIDENCE,
        place={"claims": sorted(numbers)[:MAX_SHOWN]},
    )


def _why_not(pruning: Pruning) -> str:
    if not pruning.hindered:
        return "They stand nowhere in the texts, or not in these words, and cannot be taken out."
    texts = ", ".join(path or "the output" for path in pruning.hindered[:MAX_NAMED])
    return f"They could not be taken out of {texts}: it would be empty or broken, or is closed."


def _left_out(invented: int) -> str:
    if not invented:
        return ""
    if invented == 1:
        return (
            "1 claim of the judge stands nowhere in the work, or is a single word, and is left out."
        )
    return f"{invented} claims of the judge stand nowhere in the work, or are single words, and are left out."


def _with_parts(work: _Work, settled: Settled) -> Settled:
    """A synthesis that is not rejected is parted where anything is unconfirmed."""
    stands = is_open(settled.findings, work.case.verifier.flags)
    in_doubt = any(claim.label != CONFIRMED for claim in settled.claims)
    if not (work.case.phase.is_synthesis and stands and in_doubt):
        return settled
    parts = parted(work.submitted.texts, settled.claims)
    return replace(settled, artefacts=(*settled.artefacts, *parts))
