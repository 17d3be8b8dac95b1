"""The pane beside a rule: what it would have done to past runs, drawn anew as figures come."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.db import connection
from django.template.loader import render_to_string

from loomverify.accounts.access import Access
from loomverify.errors import InputError
from verification.engine.backtest import Bucket
from verification.engine.statistics.intervals import Interval
from verification.rules.backtest.running import Changed, Progress, Running
from verification.rules.backtest.services import remember
from verification.rules.backtest.wish import Wish
from verification.rules.models import SampleStop
from verification.rules.steps.figures import share_of
from verification.runs import wording

TEMPLATE = "rules/_backtest.html"
NEXT = "<!--next-->"
"""Ends a drawing of the pane; nothing that users wrote can hold it, for all of it is escaped."""
SECONDS_BETWEEN = 0.1
LINES_BEFORE = 8
SHOWN_WHILE_RUNNING = 5
SENT_AT_ONCE = 20
WORDS = {
    Bucket.GOOD_CATCH: ("good catch", "spoken against now; a person failed the work"),
    Bucket.FALSE_ALARM: ("false alarm", "spoken against now; a person accepted the work"),
    Bucket.UNSAFE_PASS: (
        "unsafe pass",
        "let go now; a person failed the work, or it would be accepted unseen",
    ),
    Bucket.UNLABELLED: ("unlabelled", "spoken against now; nobody has decided"),
    Bucket.LET_GO: ("let go", "spoken against less than before; nobody has decided"),
    Bucket.RELIEVED: ("relieved", "let go now; a person accepted the work"),
    Bucket.COULD_NOT_EVALUATE: ("not evaluated", "what it would come to is not known"),
}
STOPPED = {
    "stopped_for_time": "It took too long: the newest runs are counted, the others are not.",
    "stopped_for_losses": "The search broke down too often: what is counted is not all.",
    **dict(SampleStop.choices),
}


@dataclass(frozen=True, slots=True)
class ShownRun:
    changed: Changed

    @property
    def after_badge(self) -> wording.Badge | None:
        after = self.changed.after
        return wording.badge(*after) if after else None

    @property
    def before(self) -> str:
        return wording.badge(self.changed.run.outcome, self.changed.run.verdict).word.lower()

    @property
    def first_line(self) -> int:
        line = (self.changed.place or {}).get("line") or 1
        return max(1, int(line) - LINES_BEFORE)

    @property
    def at_match(self) -> str:
        """What follows the address of the run's page to open it at the match."""
        place = self.changed.place
        if not place:
            return ""
        shows = {"file": place.get("path"), "evidence": place.get("evidence")}
        what = {name: value for name, value in shows.items() if value} or {"show": "output"}
        line = int(place.get("line") or 1)
        return f"?{urlencode({**what, 'places': f'{line}.hard'})}#L{line}"


@dataclass(frozen=True, slots=True)
class ShownBucket:
    bucket: Bucket
    count: int
    runs: list[ShownRun]

    @property
    def unasked(self) -> list[ShownRun]:
        return [run for run in self.runs if run.changed.run.is_unasked]

    @property
    def to_send(self) -> list[ShownRun]:
        return self.unasked[:SENT_AT_ONCE]

    @property
    def word(self) -> str:
        return WORDS[self.bucket][0]

    @property
    def told(self) -> str:
        return WORDS[self.bucket][1]


@dataclass(frozen=True, slots=True)
class Shown:
    progress: Progress

    @property
    def buckets(self) -> list[ShownBucket]:
        known: dict[Bucket, list[ShownRun]] = {bucket: [] for bucket in WORDS}
        for one in self.progress.newest_first:
            known[one.bucket].append(ShownRun(one))
        most = None if self.progress.is_over else SHOWN_WHILE_RUNNING
        counts = self.progress.buckets
        return [ShownBucket(one, counts[one], known[one][:most]) for one in WORDS]

    @property
    def first(self) -> Bucket | None:
        """The bucket whose runs are open at first."""
        return next((bucket for bucket in WORDS if self.progress.buckets[bucket]), None)

    @property
    def wrong(self) -> tuple[float, Interval] | None:
        """Of what it newly holds back and people decided on, the share that they accepted."""
        counts = self.progress.buckets
        wrong = counts[Bucket.FALSE_ALARM]
        return share_of(wrong, wrong + counts[Bucket.GOOD_CATCH])

    @property
    def matched(self) -> tuple[float, Interval] | None:
        """Of the runs about which a judge said something, those that the rule speaks against."""
        return share_of(self.progress.matched, self.progress.told)

    @property
    def stopped(self) -> str:
        return STOPPED.get(self.progress.stopped, "")


def drawings(running: Running, wish: Wish, access: Access) -> Iterator[bytes]:
    """Draw the pane now and then, and once more at the end."""
    last = 0.0
    try:
        for progress in running:
            now = time.monotonic()
            if progress.is_over:
                remember(wish, progress, actor=access.actor)
            elif now - last < SECONDS_BETWEEN:
                continue
            last = now
            yield drawn({"shown": Shown(progress), "access": access, "process": wish.process})
    except InputError as error:
        yield drawn({"refusal": str(error)})


def drawn(context: dict[str, object]) -> bytes:
    return (render_to_string(TEMPLATE, context) + NEXT).encode()


async def drawings_aside(running: Running, chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Each step in one thread of its own; whoever goes away stops what was begun for them."""
    with_connection = ThreadPoolExecutor(max_workers=1)
    step = sync_to_async(
        lambda: next(chunks, b""), thread_sensitive=False, executor=with_connection
    )
    try:
        while chunk := await step():
            yield chunk
    finally:
        running.stop()
        with_connection.submit(_end, chunks)
        with_connection.shutdown(wait=False)


def _end(chunks: Iterator[bytes]) -> None:
    close = getattr(chunks, "close", None)
    if close is not None:
        close()
    connection.close()
