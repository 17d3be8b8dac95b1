"""How the verifier agrees with people, and people with each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loomverify.accounts.access import person
from loomverify.accounts.models import ApiKey, Project, User
from verification.engine.outcome import Outcome
from verification.engine.statistics.agreement import Agreement, agreement
from verification.engine.statistics.estimates import (
    Estimate,
    Figure,
    SampleRates,
    sample_rates,
    share,
)
from verification.reviews.agreement import counts
from verification.reviews.agreement.counts import Cell, Changed, PairCount
from verification.reviews.agreement.filters import PEOPLE_SAID, UNDECIDED, AgreementFilters

MAX_ROWS = 50
"""Of each table, the rows with most to say."""


@dataclass(frozen=True, slots=True)
class WithPeople:
    """The verifier beside people, over the same reviews.

    `verdicts` is of accept and reject, `outcomes` of all four words; both leave the `undecided`
    ones out. `precision` and `recall` are of fail verdicts among what people happened to see.
    """

    n: int
    undecided: int
    verdicts: Agreement
    outcomes: Agreement
    precision: Figure
    recall: Figure
    matrix: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Group:
    """One phase, or one model."""

    process: str
    phase: str
    model: str
    n: int
    undecided: int
    verdicts: Agreement


@dataclass(frozen=True, slots=True)
class RuleOverturned:
    process: str
    rule: str
    overturned: Figure


@dataclass(frozen=True, slots=True)
class Pair:
    """Two reviewers, by name, over what both decided."""

    first: str
    second: str
    verdicts: Agreement


@dataclass(frozen=True, slots=True)
class AmongPeople:
    verdicts: Agreement
    outcomes: Agreement
    differing: int
    pairs: Sequence[Pair]


@dataclass(frozen=True, slots=True)
class AgreementFigures:
    people: WithPeople
    sample: SampleRates
    phases: Sequence[Group]
    models: Sequence[Group]
    rules: Sequence[RuleOverturned]
    among: AmongPeople
    changed: Figure
    blind: Changed


def agreement_figures(project: Project, filters: AgreementFilters) -> AgreementFigures:
    """Raises InputError and NotFound where a filter is none."""
    cells = counts.cells(project, filters)
    blind = counts.changes(project, filters)
    return AgreementFigures(
        people=with_people(cells),
        sample=sample_rates(counts.drawn(project, filters)),
        phases=_groups(cells, lambda cell: (cell.process, cell.phase, "")),
        models=_groups(counts.cells_by_model(project, filters), lambda cell: ("", "", cell.model)),
        rules=_rules(project, filters),
        among=among_people(counts.pair_counts(project, filters)),
        changed=share(blind.changed, blind.n),
        blind=blind,
    )


def with_people(cells: Iterable[Cell]) -> WithPeople:
    matrix: dict[tuple[str, str], int] = defaultdict(int)
    for cell in cells:
        matrix[cell.said, cell.people] += cell.n
    undecided = sum(n for (said, _), n in matrix.items() if said == UNDECIDED)
    table = _table((*words, n) for words, n in matrix.items())
    verdicts = _verdicts(table)
    (_, escaped), (false_fails, caught) = verdicts
    return WithPeople(
        n=sum(matrix.values()),
        undecided=undecided,
        verdicts=agreement(verdicts),
        outcomes=agreement(table),
        precision=share(caught, caught + false_fails),
        recall=share(caught, caught + escaped),
        matrix=dict(matrix),
    )


def among_people(counted: Sequence[PairCount]) -> AmongPeople:
    """No reviewer is the first by nature, so both orders count half; in a pair both have names."""
    by_pair: dict[tuple[str, str], list[PairCount]] = defaultdict(list)
    for one in counted:
        by_pair[one.first, one.second].append(one)
    sizes = {pair: sum(one.n for one in rows) for pair, rows in by_pair.items()}
    shown = sorted(by_pair, key=lambda pair: (-sizes[pair], pair))[:MAX_ROWS]
    names = _names({who for pair in shown for who in pair})
    pairs = [
        Pair(names[first], names[second], agreement(_verdicts(_of_pairs(by_pair[first, second]))))
        for first, second in shown
    ]
    table = _of_pairs(counted)
    return AmongPeople(
        verdicts=agreement(_verdicts(table), interchangeable=True),
        outcomes=agreement(table, interchangeable=True),
        differing=sum(one.n for one in counted if one.first_said != one.second_said),
        pairs=pairs,
    )


def _groups(cells: Sequence[Cell], key: Callable[[Cell], tuple[str, str, str]]) -> list[Group]:
    """Most decided first."""
    found: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        found[key(cell)].append(cell)
    sizes = {name: sum(cell.n for cell in cells) for name, cells in found.items()}
    names = sorted(found, key=lambda name: (-sizes[name], name))[:MAX_ROWS]
    return [_group(name, found[name]) for name in names]


def _group(name: tuple[str, str, str], cells: Sequence[Cell]) -> Group:
    process, phase, model = name
    table = _table((cell.said, cell.people, cell.n) for cell in cells)
    undecided = sum(cell.n for cell in cells if cell.said == UNDECIDED)
    n = sum(cell.n for cell in cells)
    return Group(process, phase, model, n, undecided, agreement(_verdicts(table)))


def _rules(project: Project, filters: AgreementFilters) -> list[RuleOverturned]:
    """Worst first; those of which too little is known come last, most known first."""
    found = [
        RuleOverturned(one.process, one.rule, share(one.overturned, one.n))
        for one in counts.rule_counts(project, filters)
    ]
    return sorted(found, key=_worst_first)[:MAX_ROWS]


def _worst_first(one: RuleOverturned) -> tuple[bool, float, int, str, str]:
    is_known = isinstance(one.overturned, Estimate)
    value = one.overturned.value if isinstance(one.overturned, Estimate) else 0.0
    return (not is_known, -value, -one.overturned.n, one.process, one.rule)


def _of_pairs(counted: Iterable[PairCount]) -> list[list[int]]:
    return _table((one.first_said, one.second_said, one.n) for one in counted)


def _table(counted: Iterable[tuple[str, str, int]]) -> list[list[int]]:
    """What one said down, the other across; what was left undecided stands in none."""
    table = [[0] * len(PEOPLE_SAID) for _ in PEOPLE_SAID]
    for first, second, n in counted:
        if first != UNDECIDED:
            table[PEOPLE_SAID.index(first)][PEOPLE_SAID.index(second)] += n
    return table


def _verdicts(table: Sequence[Sequence[int]]) -> list[list[int]]:
    """Accept and reject, from a table of all four outcomes."""
    fail = PEOPLE_SAID.index(Outcome.FAIL)
    whole = sum(map(sum, table))
    rejected, by_people = sum(table[fail]), sum(row[fail] for row in table)
    both = table[fail][fail]
    return [[whole - rejected - by_people + both, by_people - both], [rejected - both, both]]


def _names(reviewers: Iterable[str]) -> dict[str, str]:
    """What people and keys are called, by `person:id` and `key:id`."""
    ids: dict[str, list[int]] = {"person": [], "key": []}
    for one in reviewers:
        kind, _, number = one.partition(":")
        ids[kind].append(int(number))
    people = User.objects.filter(pk__in=ids["person"])
    keys = ApiKey.objects.filter(pk__in=ids["key"])
    return {
        **{f"person:{user.pk}": person(user).name for user in people},
        **{f"key:{key.pk}": f"key {key.name}" for key in keys},
    }
