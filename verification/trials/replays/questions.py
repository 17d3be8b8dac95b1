"""What both sides asked over a golden case, in full: a recording keeps a digest of it alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loomverify.accounts.models import Project
from verification.engine.golden.given import Seats
from verification.engine.golden.recordings import Played
from verification.engine.golden.replay import Replayed
from verification.engine.judges.asking import Question
from verification.runs.calls import Request
from verification.runs.evidence_store import digest_of, name_blobs, store_contents
from verification.trials.models import CaseQuestion


@dataclass(frozen=True, slots=True)
class Put:
    """A question as a side put it. `position` counts from 1, `model` stood behind the judge."""

    side: str
    position: int
    played: Played
    content: bytes
    model: str


def put_by(side: str, replayed: Replayed, seats: Seats) -> Iterator[Put]:
    """What this side asked, in its order."""
    asked = zip(replayed.played, replayed.asked, strict=True)
    for position, (played, question) in enumerate(asked, start=1):
        yield Put(side, position, played, _content(question), seats.by_name.get(played.judge, ""))


def keep_contents(project: Project, questions: Iterable[Put]) -> None:
    """Before the transaction that names them. The same question is kept once per project."""
    store_contents(project, {one.content for one in questions})


def store(project: Project, questions: Mapping[int, Sequence[Put]]) -> None:
    """By comparison."""
    digests = dict(digest_of(one.content) for each in questions.values() for one in each)
    if not digests:
        return
    blobs = name_blobs(project, digests)
    CaseQuestion.objects.bulk_create(
        CaseQuestion(
            comparison_id=comparison,
            side=one.side,
            position=one.position,
            tier=one.played.tier,
            ask=one.played.ask,
            number=one.played.number,
            judge=one.played.judge[:120],
            model=one.model[:120],
            recovery=one.played.recovery,
            is_missing=one.played.is_missing,
            is_stale=one.played.is_stale,
            blob=blobs[digest_of(one.content)[0]],
        )
        for comparison, each in questions.items()
        for one in each
    )


def _content(question: Question) -> bytes:
    return Request.of(question).content
