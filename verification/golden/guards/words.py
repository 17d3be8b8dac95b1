"""The guards themselves: what publishing and activating are told, and pages show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.urls import reverse

from loomverify.accounts.models import Project
from loomverify.errors import Issue
from loomverify.guarding import Word
from processes.guards import PUBLISHING, Publication
from verification.engine.golden.standing import Change
from verification.golden.cases.expecting import PLAIN, said_of
from verification.golden.guards.asking import Heard, State, heard_of_process, heard_of_verifier
from verification.golden.models import ReplayResult
from verification.golden.replays import selectors
from verification.golden.replays.places import url_of
from verification.golden.replays.selectors import Progress
from verification.verifiers.guards import ACTIVATING
from verification.verifiers.models import VerifierVersion
from verification.verifiers.services import lock

NAME = "corpus"
TEMPLATE = "golden/_guard.html"
MAX_NAMED = 5
MAX_LINES = 3
MAX_VALUE_CHARS = 200
REGRESSED, NOT_REPLAYED = "golden.regressed", "golden.not_replayed"
ANYWAY = "To go on all the same, say why as corpus_reason."


@dataclass(frozen=True, slots=True)
class Line:
    place: str
    expected: str
    observed: str


@dataclass(frozen=True, slots=True)
class Worse:
    """A case that got worse. `lines`: expected beside observed, `more` are left out."""

    result: ReplayResult
    url: str
    lines: Sequence[Line]
    more: int


@dataclass(frozen=True, slots=True)
class Shown:
    """What pages show. `url`: this part; a POST there starts the replay.

    `starts_itself`: nothing was replayed yet, and nobody stopped it.
    """

    heard: Heard
    url: str
    replay_url: str = ""
    progress: Progress | None = None
    worse: Sequence[Worse] = ()
    problem: str = ""

    @property
    def starts_itself(self) -> bool:
        return self.heard.state is State.MISSING and not self.problem

    @property
    def more(self) -> int:
        return self.heard.worse_count - len(self.worse)

    @property
    def is_any_not_judged(self) -> bool:
        """Not all that got worse fails: some of it could not be judged."""
        return bool(self.heard.lost_count)

    @property
    def others(self) -> str:
        """What else does not hold, in words: it did not before either."""
        counts = self.heard.replay.counts if self.heard.replay else {}
        failing = counts.get(Change.NEW, 0) + counts.get(Change.STILL_FAILING, 0)
        worse_and_lost = counts.get(Change.REGRESSED, 0) + counts.get(Change.NOT_JUDGED, 0)
        lost = worse_and_lost - self.heard.worse_count
        told = [f"{failing:,} did not hold before either"] if failing else []
        told += [f"{lost:,} could never be judged"] if lost else []
        return " and ".join(told)


def on_publishing(wish: Publication) -> Word | None:
    """The first publication of a process changes nothing that cases could compare with."""
    if wish.process.published_id is None:
        return None
    _hold_verifiers(wish.process.project)
    heard = heard_of_process(wish)
    if heard is None:
        return None
    slug, process = wish.process.project.slug, wish.process.slug
    if wish.version is None:
        url = reverse("golden_guard_draft", args=[slug, process])
    else:
        url = reverse("golden_guard_version", args=[slug, process, wish.version.number])
    return word_of(heard, url)


def on_activating(version: VerifierVersion) -> Word | None:
    heard = heard_of_verifier(version)
    url = reverse("golden_guard_verifier", args=[version.project.slug, version.number])
    return word_of(heard, url) if heard else None


def register() -> None:
    PUBLISHING.register(on_publishing)
    ACTIVATING.register(on_activating)


def word_of(heard: Heard, url: str, *, problem: str = "") -> Word:
    """`problem`: why no replay could be started just now."""
    said = FIGURES[heard.state](heard)
    kept = f"{said} Replay {heard.replay.uuid}." if heard.replay else said
    return Word(NAME, _objection(heard, said), kept, TEMPLATE, _shown(heard, url, problem))


def _objection(heard: Heard, said: str) -> Issue | None:
    if heard.state is State.CLEAN:
        return None
    code = REGRESSED if heard.state is State.REGRESSED else NOT_REPLAYED
    place = f" See {url_of(heard.replay)}." if heard.replay else ""
    return Issue(code, f"{said}{place} {ANYWAY}")


def _regressed(heard: Heard) -> str:
    names = ", ".join(one.case.name for one in heard.worse[:MAX_NAMED])
    more = " and more" if heard.worse_count > MAX_NAMED else ""
    verb = "does" if heard.worse_count == 1 else "do"
    return (
        f"{heard.worse_count:,} of {_cases(heard)} that held before {verb} not hold now: "
        f"{names}{more}."
    )


FIGURES: Mapping[State, Callable[[Heard], str]] = {
    State.CLEAN: lambda heard: f"Of {_cases(heard)} none regressed.",
    State.REGRESSED: _regressed,
    State.MISSING: lambda heard: f"{_cases(heard)} {_was(heard)} not replayed with it yet.",
    State.RUNNING: lambda heard: f"{_cases(heard)} {_is(heard)} being replayed with it.",
    State.STOPPED: lambda heard: f"{_cases(heard)} {_was(heard)} not replayed to the end with it.",
}


def _cases(heard: Heard) -> str:
    return "1 golden case" if heard.count == 1 else f"{heard.count:,} golden cases"


def _shown(heard: Heard, url: str, problem: str) -> Shown:
    replay = heard.replay
    if replay is None:
        return Shown(heard, url, problem=problem)
    place = reverse("golden_replay", args=[replay.project.slug, replay.uuid])
    progress = selectors.progress(replay) if heard.state is State.RUNNING else None
    worse = [_worse(one, place) for one in heard.worse]
    return Shown(heard, url, place, progress, worse, problem)


def _worse(result: ReplayResult, replay_url: str) -> Worse:
    lines = [
        Line(
            PLAIN.get(place, place),
            _text(place, one.get("expected")),
            _text(place, one.get("observed")),
        )
        for one in result.differences
        for place in [str(one.get("place", ""))]
    ]
    url = f"{replay_url}cases/{result.case.uuid}/"
    return Worse(result, url, lines[:MAX_LINES], max(0, len(lines) - MAX_LINES))


def _text(place: str, value: Any) -> str:
    text = said_of(place, value)
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[:MAX_VALUE_CHARS]}…"


def _hold_verifiers(project: Project) -> None:
    """While something is published nobody activates another verifier beside it."""
    if connection.in_atomic_block:
        lock(project)


def _was(heard: Heard) -> str:
    return "was" if heard.count == 1 else "were"


def _is(heard: Heard) -> str:
    return "is" if heard.count == 1 else "are"
