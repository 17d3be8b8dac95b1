"""A backtest under way: readers are fed, their answers weighed, and told of as they come."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from multiprocessing.connection import wait
from typing import Any

from processes.definition.model import Enforcement, Phase, Rule
from verification.engine import scoping
from verification.engine.backtest import Bucket, Weighed, weigh
from verification.engine.case import Case
from verification.engine.checks.conflict_examples import looks_for_conflicts
from verification.engine.checks.materials import Material
from verification.engine.checks.patterns import Asked, findings_of, wanted_matches
from verification.engine.evidence import Matches, NotInspected, PatternMatch, Submission, TaskSpec
from verification.engine.finding import Finding
from verification.engine.outcome import Outcome, Verdict
from verification.engine.verifier import Flags
from verification.rules.backtest import history
from verification.rules.backtest.history import PastRun
from verification.rules.backtest.readers import READERS, SIDE_BY_SIDE, Reader, ReaderLost
from verification.rules.backtest.wish import Wish, need_pattern
from verification.runs.casting import verifier_spec
from verification.runs.evidence_store import folder_of as evidence_folder

MAX_SECONDS = 30.0
FIRST_BATCH, BATCH = 25, 200
MAX_SHOWN = 100
"""Runs told of in each bucket; all are counted."""
MAX_LOSSES = 5
READER_LOST = "The search of its text broke down."
NO_TIME = "stopped_for_time"
NO_READER = "stopped_for_losses"


@dataclass(frozen=True, slots=True)
class Changed:
    """A run that the rule would have ended otherwise. `place` is None where nothing matched.

    `said` are a judge's own words, '' where none was asked.
    """

    run: PastRun
    bucket: Bucket
    after: tuple[Outcome, Verdict] | None
    why: str
    place: Mapping[str, Any] | None
    said: str = ""


@dataclass(slots=True)
class Progress:
    """`matched` counts runs that the rule speaks against, whether or not their outcome changes.

    `stopped` says why not all runs were looked at; '' they were, or are still being.
    """

    total: int
    counted_as: Enforcement
    evaluated: int = 0
    matched: int = 0
    told: int = 0
    """Runs about which a judge said something; of patterns it is not counted."""
    seconds: float = 0.0
    is_over: bool = False
    stopped: str = ""
    buckets: Counter[Bucket] = field(default_factory=Counter)
    changed: list[Changed] = field(default_factory=list)
    """`MAX_SHOWN` of each bucket, the newest or nearly so."""

    @property
    def newest_first(self) -> list[Changed]:
        """Readers answer in turns: what came first is not always the newest."""
        return sorted(self.changed, key=lambda one: (one.run.created_at, one.run.pk), reverse=True)

    def add(self, changed: Changed) -> None:
        self.buckets[changed.bucket] += 1
        if self.buckets[changed.bucket] <= MAX_SHOWN:
            self.changed.append(changed)


def backtest(wish: Wish, *, seconds: float = MAX_SECONDS) -> Progress:
    """Go through all runs, and return what came of it.

    Raises:
        InputError: `backtest.busy`
    """
    *_, progress = Running(wish, seconds=seconds)
    return progress


class Running:
    """A backtest under way, as an iterator: how far it is, after each batch.

    `stop` may be called from another thread: it ends the iteration at once.
    """

    def __init__(self, wish: Wish, *, seconds: float = MAX_SECONDS) -> None:
        need_pattern(wish.rule)
        self.wish = wish
        self.seconds = seconds
        self.rule = counting(wish.rule)
        self.answers = _Answers(self.rule, wish)
        self.batches = _batches(wish)
        self.owed: dict[Reader, list[PastRun]] = {}
        self.again: list[list[PastRun]] = []
        self.retried: set[int] = set()
        self.losses = 0
        self.is_stopped = False

    def __iter__(self) -> Iterator[Progress]:
        with READERS.place():
            self.started = time.monotonic()
            self.progress = Progress(history.count(self.wish), _counted_as(self.rule))
            try:
                yield from self._run()
            finally:
                self._let_go()

    def stop(self) -> None:
        self.is_stopped = True
        for reader in list(self.owed):
            reader.interrupt()

    def _run(self) -> Iterator[Progress]:
        for _ in range(SIDE_BY_SIDE):
            self._begin(READERS.take())
        while self.owed and not self.is_stopped:
            for reader in self._ready():
                runs = self.owed.pop(reader)
                try:
                    answers = reader.answer()
                except ReaderLost:
                    self._lose(reader, runs)
                else:
                    self._feed(reader)
                    self._take(runs, answers)
            self.progress.seconds = time.monotonic() - self.started
            yield self.progress
        self.progress.is_over = not self.is_stopped
        yield self.progress

    def _let_go(self) -> None:
        for reader in self.owed:
            READERS.give_back(reader, owes=True)
        self.owed.clear()

    def _ready(self) -> list[Reader]:
        left = self.started + self.seconds - time.monotonic()
        if left <= 0:
            return self._end_for_time()
        pipes = {reader.answers.fileno(): reader for reader in self.owed}
        ready = wait(list(pipes), timeout=left)
        if ready:
            return [pipes[pipe] for pipe in ready if isinstance(pipe, int)]
        return self._end_for_time()

    def _end_for_time(self) -> list[Reader]:
        self.progress.stopped = NO_TIME
        self._let_go()
        return []

    def _begin(self, reader: Reader) -> None:
        try:
            reader.begin(self.answers.job)
        except ReaderLost:
            READERS.give_back(reader, owes=True)
            return
        self._feed(reader)

    def _feed(self, reader: Reader) -> None:
        """Give a reader the next runs; one that gets none goes back."""
        runs = self.again.pop() if self.again else next(self.batches, None)
        if runs is None:
            READERS.give_back(reader, owes=False)
            return
        self.owed[reader] = runs
        try:
            reader.ask([(run.pk, run.phase_id) for run in runs if self.answers.speaks_in(run)])
        except ReaderLost:
            self.owed.pop(reader)
            self._lose(reader, runs)

    def _lose(self, reader: Reader, runs: Sequence[PastRun]) -> None:
        """What was lost with a reader is asked for once more; too many losses end it."""
        READERS.give_back(reader, owes=True)
        self.losses += 1
        if runs[0].pk in self.retried:
            self._take(runs, [[run.pk, None, READER_LOST] for run in runs])
        else:
            self.retried.add(runs[0].pk)
            self.again.append(list(runs))
        if self.losses < MAX_LOSSES and not self.is_stopped:
            self._begin(Reader())  # those that waited may have lost their connection as well
        elif not self.owed:
            self.progress.stopped = NO_READER

    def _take(self, runs: Sequence[PastRun], answers: Sequence[Sequence[Any]]) -> None:
        said = {run: (count, rest) for run, count, rest in answers}
        speaking = history.spoke(runs, self.wish.names)
        now = {run.pk: self.answers.of(run, said.get(run.pk)) for run in runs}
        self.progress.evaluated += len(runs)
        self.progress.matched += sum(1 for found in now.values() if found.is_violated)
        asked = [run for run in runs if now[run.pk].findings or run.evaluation_id in speaking]
        known = history.pasts(asked, self.wish.names, self.wish.definition) if asked else {}
        for run in asked:
            weighed = weigh(known[run.pk], now[run.pk].findings)
            if weighed.bucket is not None:
                self.progress.add(_changed(run, weighed, now[run.pk]))


def _changed(run: PastRun, weighed: Weighed, answered: Answered) -> Changed:
    assert weighed.bucket is not None  # noqa: S101 - the caller asked
    why = answered.why or weighed.why
    return Changed(run, weighed.bucket, weighed.after, why, answered.place)


def _batches(wish: Wish) -> Iterator[list[PastRun]]:
    """Small ones first, so that somebody sees something at once."""
    size = FIRST_BATCH
    for page in history.pages(wish):
        left = deque(page)
        while left:
            yield [left.popleft() for _ in islice(range(size), min(size, len(left)))]
            size = min(BATCH, size * 2)


@dataclass(frozen=True, slots=True)
class Answered:
    """What the rule says of one run now."""

    findings: Sequence[Finding]
    place: Mapping[str, Any] | None = None
    why: str = ""

    @property
    def is_violated(self) -> bool:
        return any(finding.verdict == "violated" for finding in self.findings)


NOTHING = Answered(())


class _Answers:
    """From what a reader found to what the rule says, by the engine's own words."""

    def __init__(self, rule: Rule, wish: Wish) -> None:
        self.rule = rule
        self.wish = wish
        self._cases: dict[tuple[str, int], Case] = {}

    @property
    def job(self) -> dict[str, Any]:
        once = self.rule.wanted_count is None
        return {
            "pattern": self.rule.check,
            "in_visible_text": _counted_as(self.rule) is Enforcement.HARD,
            "masks_examples": looks_for_conflicts(self.rule),
            "limit": 1 if once else wanted_matches(self.rule),
            "target": self.rule.target,
            "source": self.wish.source_text,
            "folder": evidence_folder(self.wish.process.project),
        }

    def speaks_in(self, run: PastRun) -> bool:
        return scoping.case_scope(self.rule, self._case(run)).applies

    def of(self, run: PastRun, said: tuple[int | None, Any] | None) -> Answered:
        case = self._case(run)
        asked = Asked(self.rule, scoping.case_scope(self.rule, case), case)
        if not asked.scope.applies:
            return NOTHING
        if said is None or said[0] is None:
            why = said[1] if said else READER_LOST
            asked.lose(NotInspected(why), [Material(b"")])
            return Answered(tuple(findings_of(asked)), why=why)
        count, place = said
        where = [PatternMatch(0, place["line"], place["column"], place["quote"])] if place else []
        text = Material(b"", place["path"] if place else "")
        asked.take(Matches(count or 0, tuple(where)), [text])
        return Answered(tuple(findings_of(asked)), place)

    def _case(self, run: PastRun) -> Case:
        key = (run.phase_id, run.verifier_version_id)
        if key not in self._cases:
            phase = self.wish.definition.phase(run.phase_id) or Phase(run.phase_id, "")
            verifier = verifier_spec(run.verifier_version_id)
            self._cases[key] = Case(self.wish.definition, phase, _NOTHING, verifier, tier=1)
        return self._cases[key]


_NOTHING = Submission(TaskSpec("", ""), "")


def counting(rule: Rule) -> Rule:
    """An observed rule never counts: it is tried as what it may become."""
    if rule.enforcement is Enforcement.OBSERVE:
        return replace(rule, enforcement=Enforcement.HARD)
    return rule


def _counted_as(rule: Rule) -> Enforcement:
    return scoping.rule_enforcement(rule, Flags())
