"""What the agreement page shows, each number with the rows behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from verification.engine.outcome import Outcome
from verification.engine.statistics.estimates import SampleRates
from verification.reviews.agreement.filters import (
    ACCEPTED,
    PEOPLE_SAID,
    UNDECIDED,
    VERIFIER_SAID,
    AgreementFilters,
    Sample,
)
from verification.reviews.agreement.rows import ACCEPTING, DECIDED, Which
from verification.reviews.agreement.selectors import (
    AgreementFigures,
    AmongPeople,
    Group,
    Pair,
    RuleOverturned,
    WithPeople,
)
from verification.reviews.agreement.shown import Shown, kappa_shown, plural, share_shown
from verification.runs import wording

FAIL = Outcome.FAIL.value


@dataclass(frozen=True, slots=True)
class Tile:
    label: str
    shown: Shown
    of: str
    query: str


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """`tone` is same, lax where the verifier accepted what people reject, or strict."""

    n: int
    tone: str
    query: str
    title: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    badge: wording.Badge
    cells: Sequence[MatrixCell]
    total: MatrixCell


@dataclass(frozen=True, slots=True)
class RuleRow:
    process: str
    rule: str
    shown: Shown
    query: str


@dataclass(frozen=True, slots=True)
class GroupRow:
    process: str
    name: str
    n: int
    undecided: int
    percentage: Shown
    kappa: Shown
    query: str


@dataclass(frozen=True, slots=True)
class PairRow:
    first: str
    second: str
    percentage: Shown
    kappa: Shown


def tiles(found: AgreementFigures, filters: AgreementFilters) -> list[Tile]:
    """First what decisions say, then what the sample says of all runs."""
    return [*_decision_tiles(found, filters), *_sample_tiles(found.sample, filters)]


def _decision_tiles(found: AgreementFigures, filters: AgreementFilters) -> list[Tile]:
    verdicts, among = found.people.verdicts, found.among
    compared, judged = plural(verdicts.n, "decision"), _query(filters, said=DECIDED)
    pairs = plural(among.verdicts.n, "pair")
    return [
        Tile("Agree with people", share_shown(verdicts.percentage), compared, judged),
        Tile("Beyond chance (kappa)", kappa_shown(verdicts.kappa), compared, judged),
        Tile(
            "People with each other (kappa)",
            kappa_shown(among.verdicts.kappa),
            f"{pairs} of decisions",
            _query(filters, which=Which.COMPARED.value),
        ),
        Tile(
            "Changed after the reveal",
            share_shown(found.changed),
            plural(found.blind.n, "blind decision"),
            _query(filters, which=Which.CHANGED.value),
        ),
    ]


def _sample_tiles(sample: SampleRates, filters: AgreementFilters) -> list[Tile]:
    drawn = {"sample": Sample.ONLY.value}
    return [
        Tile(
            "Rejected, and people accept",
            share_shown(sample.false_fail),
            plural(sample.false_fail.n, "decision"),
            _query(filters, said=FAIL, decided=ACCEPTING, **drawn),
        ),
        Tile(
            "Accepted, and people reject",
            share_shown(sample.escaped_defect),
            plural(sample.escaped_defect.n, "decision"),
            _query(filters, said=ACCEPTING, decided=FAIL, **drawn),
        ),
        Tile(
            "Rejections that are right",
            share_shown(sample.precision),
            f"precision, {plural(sample.precision.n, 'decision')}",
            _query(filters, said=FAIL, **drawn),
        ),
        Tile(
            "Defects that are found",
            share_shown(sample.recall),
            f"recall, {plural(sample.recall.n, 'defect')}",
            _query(filters, decided=FAIL, **drawn),
        ),
    ]


def matrix(found: WithPeople, filters: AgreementFilters) -> list[MatrixRow]:
    """What the verifier said down, what people said across."""
    return [
        MatrixRow(
            badge=_badge(said),
            cells=[
                _cell(found.matrix, filters, said=(said,), decided=(people,))
                for people in PEOPLE_SAID
            ],
            total=_cell(found.matrix, filters, said=(said,), decided=PEOPLE_SAID),
        )
        for said in VERIFIER_SAID
    ]


def verdict_matrix(found: WithPeople, filters: AgreementFilters) -> list[MatrixRow]:
    """The same by accept and reject alone."""
    sides = ((wording.Badge("accept", "pass", wording.PASS.sign), ACCEPTED), (_reject(), (FAIL,)))
    return [
        MatrixRow(
            badge=badge,
            cells=[
                _cell(found.matrix, filters, said=said, decided=decided) for _, decided in sides
            ],
            total=_cell(found.matrix, filters, said=said, decided=PEOPLE_SAID),
        )
        for badge, said in sides
    ]


def rule_rows(rules: Sequence[RuleOverturned], filters: AgreementFilters) -> list[RuleRow]:
    return [
        RuleRow(
            one.process,
            one.rule,
            share_shown(one.overturned),
            _query(filters, process=one.process, rule=one.rule, which=Which.OVERTURNED.value),
        )
        for one in rules
    ]


def phase_rows(phases: Sequence[Group], filters: AgreementFilters) -> list[GroupRow]:
    return [
        _group(one, one.phase, filters, {"process": one.process, "phase": one.phase})
        for one in phases
    ]


def model_rows(models: Sequence[Group], filters: AgreementFilters) -> list[GroupRow]:
    return [_group(one, one.model, filters, {"model": one.model}) for one in models]


def pair_rows(among: AmongPeople) -> list[PairRow]:
    return [_pair(one) for one in among.pairs]


def _group(
    one: Group, name: str, filters: AgreementFilters, narrowed: Mapping[str, str]
) -> GroupRow:
    return GroupRow(
        process=one.process,
        name=name,
        n=one.n,
        undecided=one.undecided,
        percentage=share_shown(one.verdicts.percentage),
        kappa=kappa_shown(one.verdicts.kappa),
        query=_query(filters, **narrowed),
    )


def _pair(one: Pair) -> PairRow:
    return PairRow(
        one.first,
        one.second,
        share_shown(one.verdicts.percentage),
        kappa_shown(one.verdicts.kappa),
    )


def _cell(
    counts: Mapping[tuple[str, str], int],
    filters: AgreementFilters,
    *,
    said: Sequence[str],
    decided: Sequence[str],
) -> MatrixCell:
    n = sum(counts.get((one, other), 0) for one in said for other in decided)
    words = f"{_words(said)} by the verifier, {_words(decided)} by people"
    return MatrixCell(
        n=n,
        tone=_tone(said, decided),
        query=_query(filters, said=_name(said), decided=_name(decided)),
        title=f"{plural(n, 'review')}: {words}",
    )


def _tone(said: Sequence[str], decided: Sequence[str]) -> str:
    if UNDECIDED in said or len(decided) == len(PEOPLE_SAID):
        return ""
    if (FAIL in said) != (FAIL in decided):
        return "strict" if FAIL in said else "lax"
    return "same" if said == decided else ""


def _name(words: Sequence[str]) -> str:
    """What a list of runs calls them in its address; '' is all."""
    if len(words) == 1:
        return words[0]
    return "" if FAIL in words else ACCEPTING


def _words(words: Sequence[str]) -> str:
    return _badge(words[0]).word if len(words) == 1 else _name(words) or "anything"


def _badge(word: str) -> wording.Badge:
    return wording.UNDECIDED if word == UNDECIDED else wording.OUTCOMES[Outcome(word)]


def _reject() -> wording.Badge:
    return wording.Badge("reject", wording.FAIL.tone, wording.FAIL.sign)


def _query(filters: AgreementFilters, **more: str) -> str:
    given = {**filters.given(), **{name: value for name, value in more.items() if value}}
    return urlencode(given)
