"""What the page of one replay shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.urls import reverse

from loomverify.filters import check_choice
from verification.engine.golden.standing import STALE_WARNING, Change, Standing
from verification.golden.cases.expecting import PLAIN, SHADOW
from verification.golden.documents.schemas import CANARY
from verification.golden.models import Replay, ReplayPurpose, ReplayResult, ReplayState
from verification.golden.replays import selectors
from verification.golden.replays.shown import (
    COUNTED,
    STATES,
    Mark,
    count_rows,
    mark,
    over_words,
    spaced,
)
from verification.golden.scores.pairs import OLD, Behind, results_behind
from verification.golden.wording import standing_badge
from verification.runs import judge_wording, wording
from verification.runs.templatetags.loomverify import ms, percent
from verification.runs.wording import Badge
from verification.runs.wording import badge as verdict_badge

PER_PAGE = 100
FINDINGS = {
    "findings.must": "a finding is missing",
    "findings.must_not": "a finding that must not be there",
    "findings.only": "a finding nobody expects",
}
KNOWN = set(Standing)
CLOSED: Mapping[str, Iterable[str]] = {"change": Change, "standing": Standing}
"""The filters that take one of a closed set. The page names the others, whatever they hold."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """'' leaves a filter open.

    `expected`, `came`, `reason` and `by` are those of the scores, the last six of coverage.
    """

    change: str = ""
    process: str = ""
    q: str = ""
    standing: str = ""
    expected: str = ""
    came: str = ""
    reason: str = ""
    by: str = ""
    phase: str = ""
    rule: str = ""
    broken: str = ""
    code: str = ""
    shadow: str = ""
    stage: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Raises InputError: `filter.invalid`."""
        given = {one.name: query.get(one.name, "").strip()[:120] for one in fields(cls)}
        filters = cls(**{name: value.replace("\0", "") for name, value in given.items()})
        for name, allowed in CLOSED.items():
            check_choice(name, getattr(filters, name), allowed)
        return filters

    @property
    def words(self) -> list[str]:
        """What narrows the list beyond its chips."""
        by = "the old engine" if self.by == OLD else "the verifier"
        told = {
            "process": f"process {self.process}",
            "q": f"named like {self.q}",
            "standing": standing_badge(self.standing).word if self.standing in KNOWN else "",
            "expected": f"expected: {spaced(self.expected)}",
            "came": f"{by} said: {spaced(self.came)}",
            "reason": f"expected because {wording.reason(self.reason)}",
            "phase": f"phase {self.phase}",
            "rule": f"rule {self.rule} {'broken' if self.broken else 'applied'}",
            "code": f"came to: {wording.reason(self.code)}",
            "shadow": SHADOW.get(self.shadow, spaced(self.shadow)),
            "stage": f"an answer {_stage(self.stage)}",
        }
        return [words for name, words in told.items() if getattr(self, name) and words]


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    total: int
    standings: Sequence[tuple[str, int]]

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0

    @property
    def words(self) -> str:
        return f"{self.done:,} of {self.total:,} cases"


@dataclass(frozen=True, slots=True)
class ResultRow:
    result: ReplayResult
    mark: Mark
    came_to: Badge | None
    url: str
    why: str
    more: int


@dataclass(frozen=True, slots=True)
class ReplayPage:
    """`rows` are a page of the results, most urgent first; `found` is how many there are."""

    replay: Replay
    badge: Badge
    progress: Progress
    counts: Sequence[tuple[str, Mark, int]]
    warnings: Sequence[str]
    over: str
    purpose: str
    has_canary: bool
    rows: Sequence[ResultRow]
    found: int
    number: int

    @property
    def pages(self) -> int:
        return max(1, -(-self.found // PER_PAGE))

    @property
    def took(self) -> str:
        begun, ended = self.replay.started_at or self.replay.created_at, self.replay.finished_at
        return ms(int((ended - begun).total_seconds() * 1000)) if ended else ""


def replay_page(replay: Replay, narrowed: Narrowed, *, number: int = 1) -> ReplayPage:
    found = results(replay, narrowed)
    count = found.count() if replay.is_over else 0
    number = min(max(1, number), max(1, -(-count // PER_PAGE)))
    listed = found[(number - 1) * PER_PAGE : number * PER_PAGE] if count else ()
    return ReplayPage(
        replay=replay,
        badge=STATES[ReplayState(replay.state)],
        progress=progress(replay),
        counts=count_rows(replay),
        warnings=_warnings(replay),
        over=over_words(replay),
        purpose=ReplayPurpose(replay.purpose).label,
        has_canary=replay.results.filter(case__tags__contains=[CANARY]).exists(),
        rows=[_row(replay, one) for one in listed],
        found=count,
        number=number,
    )


def results(replay: Replay, narrowed: Narrowed) -> QuerySet[ReplayResult]:
    """Most urgent first."""
    filters = selectors.ResultFilters(narrowed.change, narrowed.process, narrowed.q)
    rows = selectors.results(replay, filters)
    if narrowed.standing:
        rows = rows.filter(standing=narrowed.standing)
    if narrowed.expected or narrowed.came or narrowed.reason:
        rows = rows.filter(
            pk__in=results_behind(
                replay,
                Behind(
                    narrowed.expected, narrowed.came, narrowed.reason, is_old=narrowed.by == OLD
                ),
            )
        )
    return came_to(rows, narrowed)


def came_to(rows: QuerySet[ReplayResult], narrowed: Narrowed) -> QuerySet[ReplayResult]:
    """Those that coverage counts."""
    if narrowed.phase:
        rows = rows.filter(case__phase=narrowed.phase)
    if narrowed.rule:
        entry = {"rule": narrowed.rule, **({"verdict": "violated"} if narrowed.broken else {})}
        rows = rows.filter(observed__contains={"rules": {"applied": [entry]}})
    if code := narrowed.code:
        found = Q(observed__contains={"findings": [{"reason_code": code}]})
        ended = Q(observed__contains={"attempt": {"terminal": code}})
        rows = rows.filter(Q(reason_code=code) | found | ended)
    if narrowed.shadow:
        rows = rows.filter(observed__contains={"shadow": narrowed.shadow})
    if stage := narrowed.stage:
        asked = Q(played__contains=[{"recovery": stage}])
        rows = rows.filter(asked | Q(observed__contains={"tiers": [{"recovery": stage}]}))
    return rows


def _stage(code: str) -> str:
    told = judge_wording.stage(code)
    return told.short if told else code


def progress(replay: Replay) -> Progress:
    found = selectors.progress(replay)
    standings = [
        (COUNTED[one], found.counts[one.value]) for one in Standing if found.counts.get(one.value)
    ]
    return Progress(found.done, found.total, standings)


def _row(replay: Replay, result: ReplayResult) -> ResultRow:
    here = reverse("golden_result", args=[replay.project.slug, replay.uuid, result.case.uuid])
    places = [str(one.get("place", "")) for one in result.differences if isinstance(one, dict)]
    places = list(dict.fromkeys(map(place_words, places)))
    return ResultRow(
        result=result,
        mark=mark(result.change),
        came_to=verdict_badge(result.outcome, result.verdict) if result.verdict else None,
        url=here,
        why=_why(result, places),
        more=max(0, len(places) - 3),
    )


def place_words(place: str) -> str:
    """What differs, as it stands in a list."""
    kind = place.partition("[")[0]
    return PLAIN.get(place, "").lower() or FINDINGS.get(kind) or spaced(kind).replace(".", " ")


def _why(result: ReplayResult, places: Sequence[str]) -> str:
    if result.error_text:
        return result.error_text
    if result.missing:
        return f"{result.missing} of {result.questions} questions have no recorded answer"
    return ", ".join(places[:3])


def _warnings(replay: Replay) -> list[str]:
    """What makes a finished replay say less than it seems to."""
    told: list[str] = []
    if replay.state == ReplayState.ERRORED:
        told.append(f"It could not be brought to its end: {replay.error_text}")
    share = replay.stale_share or 0.0
    if share > STALE_WARNING:
        told.append(
            f"{percent(share)} of the questions have changed since their answers were recorded: "
            "what judges would say today may differ. Replay with live judges, or record anew."
        )
    not_judged = int(replay.counts.get(Change.NOT_JUDGED.value, 0))
    if not_judged:
        cases = "1 case" if not_judged == 1 else f"{not_judged:,} cases"
        told.append(f"{cases} could not be judged. They are no pass.")
    return told


def same_again(page: ReplayPage) -> str:
    """The query that fills the start page with what this replay ran over.

    Empty where it cannot: a text that was no version is not kept there.
    """
    replay = page.replay
    if replay.candidate_sha256 or (replay.process_version and not replay.process):
        return ""
    over = ""
    if replay.process and replay.process_version:
        over = f"{replay.process.slug}:{replay.process_version.number}"
    elif replay.process:
        over = f"{replay.process.slug}:"
    given = {
        "verifier": replay.verifier_version.number,
        "over": over,
        "tags": " ".join(replay.tags),
        "canary": "on" if page.has_canary else "",
        "live": "on" if replay.is_live else "",
    }
    return urlencode({name: value for name, value in given.items() if value})
