"""The cutover criteria as the panel shows them: state, figure, interval, what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from verification.engine.cutover import Criterion, CriterionState, Gate, Shown
from verification.engine.shadow import SideOutcome
from verification.golden.models import Replay
from verification.runs.templatetags.loomverify import ms, percent, usd
from verification.runs.wording import Badge
from verification.trials.figures import Figures
from verification.trials.models import Trial
from verification.trials.pages.wording import (
    CRITERIA,
    CRITERION_STATES,
    GATES,
    NONE,
    SHOWN,
    TIMES,
)

CORPUS = "corpus"


@dataclass(frozen=True, slots=True)
class CriterionRow:
    """`value` is the figure, `beside` what it was counted over or its interval."""

    name: str
    words: str
    badge: Badge
    value: str
    beside: str
    missing: str
    url: str


@dataclass(frozen=True, slots=True)
class Panel:
    """`held` of the criteria hold. `p_value`: how surely the two decide otherwise at all."""

    badge: Badge
    is_open: bool
    rows: Sequence[CriterionRow]
    held: int
    p_value: str
    shown: Sequence[tuple[str, str, str]]
    """In words, the figure, and where the rows behind it are."""
    is_corpus_asked: bool

    @property
    def lacking(self) -> Sequence[CriterionRow]:
        return [one for one in self.rows if one.badge is not CRITERION_STATES[CriterionState.HOLDS]]


def panel_of(trial: Trial, gate: Gate, figures: Figures, replay: Replay | None) -> Panel:
    """`replay`: of the corpus, that the gate read or that is under way."""
    rows = [_row(trial, one, figures, replay) for one in gate.criteria]
    states = {one.name: one.state for one in gate.criteria}
    return Panel(
        badge=GATES[gate.state],
        is_open=gate.state.value == "open",
        rows=rows,
        held=sum(one.state is CriterionState.HOLDS for one in gate.criteria),
        p_value="" if gate.p_value is None else _p(gate.p_value),
        shown=[
            (SHOWN[one.name], _share_of(one), _listed(trial, SHOWN_ROWS[one.name]))
            for one in gate.shown
            if one.n
        ],
        is_corpus_asked=states[CORPUS] is CriterionState.WAITING and replay is None,
    )


def _row(trial: Trial, one: Criterion, figures: Figures, replay: Replay | None) -> CriterionRow:
    value, beside = FIGURES[one.name](one, figures)
    return CriterionRow(
        name=one.name,
        words=CRITERIA[one.name],
        badge=CRITERION_STATES[one.state],
        value=value,
        beside=beside,
        missing=one.missing,
        url=_url(trial, one, replay),
    )


def _url(trial: Trial, one: Criterion, replay: Replay | None) -> str:
    """Where the rows behind the figure are; '' where there are none to show."""
    slug = trial.project.slug
    if one.name == CORPUS:
        return reverse("golden_replay", args=[slug, replay.uuid]) if replay else ""
    query = ROWS.get(one.name)
    return _listed(trial, query) if query else ""


def _listed(trial: Trial, query: Mapping[str, str]) -> str:
    return f"{reverse('trial', args=[trial.project.slug, trial.uuid])}?{urlencode(query)}#rows"


ROWS: Mapping[str, Mapping[str, str]] = {
    "discordant_pairs": {"move": "both"},
    "difference": {"move": "both", "judged": "yes"},
    "false_fails": {"judged": "false_fails"},
    "unsafe_passes": {"move": "passes", "judged": "yes"},
    "old_flips": {"aa": "old"},
    "new_flips": {"aa": "new"},
    "undecided": {"new": SideOutcome.UNDECIDED.value},
}
SHOWN_ROWS: Mapping[str, Mapping[str, str]] = {
    "laxer_unsafe": {"move": "laxer", "judged": "yes"},
    "stricter_wrong": {"move": "stricter", "judged": "yes"},
    "old_undecided": {"old": SideOutcome.UNDECIDED.value},
}


def _count(one: Criterion, _: Figures) -> tuple[str, str]:
    return f"{one.n:,}", f"of {one.limit:,.0f}"


def _difference(one: Criterion, _: Figures) -> tuple[str, str]:
    return (NONE if one.value is None else f"p {_p(one.value)}"), f"{one.n:,} judged"


def _unsafe(one: Criterion, _: Figures) -> tuple[str, str]:
    bound = f"95 % bound {percent(one.high)}" if one.high is not None else ""
    return _share(one.value), bound


def _interval(one: Criterion, _: Figures) -> tuple[str, str]:
    n = f"of {one.n:,}" if one.n else ""
    return _share(one.value), " ".join(filter(None, [_between(one.low, one.high, n=one.n), n]))


def _cost(one: Criterion, figures: Figures) -> tuple[str, str]:
    if not one.n:
        return NONE, ""
    if not figures.old_cost and not figures.new_cost:
        return NONE, "no cost on either side"
    return _ratio(one.value), f"new {usd(figures.new_cost)}, old {usd(figures.old_cost)}"


def _latency(one: Criterion, figures: Figures) -> tuple[str, str]:
    times = (ms(round(figures.new_p95_ms)), ms(round(figures.old_p95_ms)))
    return _ratio(one.value), f"p95 new {times[0]}, old {times[1]}" if one.n else ""


def _corpus(one: Criterion, _: Figures) -> tuple[str, str]:
    if not one.n:
        return NONE, ""
    return f"{one.value or 0:.0f} regressed", f"of {one.n:,}"


FIGURES: Mapping[str, Callable[[Criterion, Figures], tuple[str, str]]] = {
    "discordant_pairs": _count,
    "difference": _difference,
    "false_fails": _interval,
    "unsafe_passes": _unsafe,
    "old_flips": _interval,
    "new_flips": _interval,
    "undecided": _interval,
    "cost": _cost,
    "latency": _latency,
    "corpus": _corpus,
}


def _share_of(one: Shown) -> str:
    between = _between(one.low, one.high, n=one.n)
    return f"{_share(one.value)} {between} of {one.n:,}"


def _share(value: float | None) -> str:
    if value is None:
        return NONE
    return percent(value) if value >= 0 else f"{value * 100:.1f} %"


def _between(low: float | None, high: float | None, *, n: int) -> str:
    """Percentages; nothing where nothing was counted."""
    if low is None or high is None or not n:
        return ""
    return f"({low * 100:.1f} to {high * 100:.1f})"


def _ratio(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f} {TIMES}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
