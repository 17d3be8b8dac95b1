"""What the golden corpus says of a change that is to judge runs: read, never started, here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform

from processes.guards import Publication
from verification.engine.golden.standing import Before, Change, Standing
from verification.golden.models import OPEN_STATES, Replay, ReplayResult, ReplayState
from verification.golden.replays import selectors
from verification.golden.replays.before import before
from verification.golden.replays.selectors import Pinned
from verification.verifiers.models import VerifierVersion

MAX_SHOWN = 10


class State(StrEnum):
    """How far the corpus has spoken of exactly this change, over the cases as they are now."""

    MISSING = "missing"
    RUNNING = "running"
    STOPPED = "stopped"
    """The last replay of it was cancelled, or broke down."""
    CLEAN = "clean"
    REGRESSED = "regressed"


@dataclass(frozen=True, slots=True)
class Heard:
    """`worse`: cases that held once and do not hold now, then those that could not be judged now.

    `count` is how many cases it is about, `worse_count` how many are worse, `lost_count` how
    many of these could not be judged; `worse` holds the first few of them.
    """

    state: State
    count: int
    replay: Replay | None = None
    worse: Sequence[ReplayResult] = field(default=())
    worse_count: int = 0
    lost_count: int = 0


def heard_of_process(wish: Publication) -> Heard | None:
    """None: no case could tell."""
    project = wish.process.project
    cases = selectors.asked_for(project, process=wish.process)
    if not cases:
        return None
    sha256 = selectors.candidate_sha256(wish.source_text)
    same_text = Q(process_version__sha256=sha256) | Q(candidate_sha256=sha256)
    rows = selectors.replays(project).filter(
        same_text, process=wish.process, verifier_version__is_active=True
    )
    return _heard(rows, cases, is_current=lambda _replay: True)


def heard_of_verifier(version: VerifierVersion) -> Heard | None:
    """None: no case could tell. Its replay was over the processes that are published now."""
    cases = selectors.asked_for(version.project)
    if not cases:
        return None
    rows = selectors.replays(version.project).filter(
        verifier_version=version, process=None, process_version=None, candidate_sha256=""
    )
    return _heard(rows, cases, is_current=is_over_published)


def is_over_published(replay: Replay) -> bool:
    """Whether each case was taken by the version of its process that is published now.

    Where the replay names a version, that one stands in for the published one.
    """
    published = dict(
        replay.project.processes.filter(published__isnull=False).values_list("slug", "published_id")
    )
    if replay.process_version:
        published[replay.process_version.process.slug] = replay.process_version.pk
    rows = ReplayResult.objects.filter(replay=replay).annotate(
        own=KeyTextTransform("process_text", "case_version__spec")
    )
    taken = rows.filter(Q(own__isnull=True) | Q(own="")).values_list(
        "case__process", "process_version_id"
    )
    return all(published.get(process) == version for process, version in taken.distinct())


def _heard(
    rows: QuerySet[Replay], cases: Sequence[Pinned], *, is_current: Callable[[Replay], bool]
) -> Heard:
    """The newest that ended counts, else the newest at all."""
    same = rows.filter(is_live=False, tags=[], corpus_sha256=selectors.sha256_of(cases))
    finished = same.filter(state=ReplayState.FINISHED).first()
    if finished is not None and is_current(finished):
        return ended(finished)
    last = same.exclude(state=ReplayState.FINISHED).first()
    if last is None or not is_current(last):
        return Heard(State.MISSING, len(cases))
    state = State.RUNNING if last.state in OPEN_STATES else State.STOPPED
    return Heard(state, len(cases), last)


def ended(replay: Replay) -> Heard:
    """What a finished replay says: what held once and does not hold in it."""
    worse = ReplayResult.objects.filter(replay=replay).filter(
        Q(change=Change.REGRESSED) | Q(pk__in=_held_once(replay))
    )
    shown = worse.select_related("case").defer("observed", "legacy", "played")
    listed = list(shown.annotate(rank=selectors.RANK).order_by("rank", "pk")[:MAX_SHOWN])
    count = worse.count() if listed else 0
    lost = worse.filter(change=Change.NOT_JUDGED).count() if listed else 0
    state = State.REGRESSED if count else State.CLEAN
    return Heard(state, replay.total, replay, listed, count, lost)


def unknown_before(replay: Replay) -> int:
    """How many fail in a replay that what judges was never replayed over, whatever came of it."""
    failing = ReplayResult.objects.filter(replay=replay, standing=Standing.FAILING)
    met = ReplayResult.objects.filter(
        case_version=OuterRef("case_version"),
        replay__project=replay.project_id,
        replay__is_live_line=True,
        replay__state=ReplayState.FINISHED,
    ).exclude(replay=replay.pk)
    return failing.filter(~Exists(met)).count()


def _held_once(replay: Replay) -> list[int]:
    """What does not hold and did, as is known by now: the change may have been replayed first.

    Those that could not be judged are among them: doubt is no pass.
    """
    unclear = (Change.NEW, Change.STILL_FAILING, Change.NOT_JUDGED)
    if not any(replay.counts.get(change) for change in unclear):
        return []
    past = before(replay)
    rows = ReplayResult.objects.filter(replay=replay, change__in=unclear)
    return [
        pk
        for pk, version in rows.values_list("pk", "case_version_id")
        if past.get(version, Before()).ever_held
    ]
