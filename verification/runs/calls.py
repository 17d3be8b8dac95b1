"""The calls of judges as rows: what was asked and answered, once, and what each of them cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from verification.adapters.judge import Completion, Connection
from verification.engine.judges.asking import Ask, Question
from verification.engine.outcome import COUNTING, Verdict
from verification.engine.protocol.reply import Stage
from verification.runs import figures, statements
from verification.runs.evidence_store import (
    EvidenceLost,
    digest_of,
    name_blobs,
    read_blob,
    store_contents,
)
from verification.runs.holding import Hold, LeaseLost
from verification.runs.models import Blob, ModelCall
from verification.runs.spans import start_of_hour
from verification.runs.work import Begun, Work


@dataclass(frozen=True, slots=True)
class Books:
    """Whose calls these are. `own` keeps an evaluation's replies to itself, '' shares them."""

    hold: Hold
    work: Work
    begun: Begun
    prompt_version: int
    own: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What a judge was sent, as it is kept."""

    system: str
    prompt: str
    schema: Mapping[str, Any] | None
    temperature: float

    @classmethod
    def of(cls, question: Question) -> Self:
        return cls(question.system, question.prompt, question.schema, question.temperature)

    @classmethod
    def read(cls, blob: Blob) -> Self:
        """Raises `EvidenceLost` where the store holds it no more."""
        return cls(**json.loads(read_blob(blob)))

    @property
    def content(self) -> bytes:
        kept = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps(kept, sort_keys=True, indent=1).encode()


def cache_key(books: Books, question: Question, connection: Connection) -> str:
    """Name all that a reply depends on."""
    return key_of(
        books.work.project_uuid, books.prompt_version, question, connection, own=books.own
    )


def key_of(
    project: UUID, prompt_version: int, question: Question, connection: Connection, *, own: str = ""
) -> str:
    asked = [
        str(project),
        connection.model,
        connection.base_url,
        connection.max_output_tokens,
        connection.structured_output,
        prompt_version,
        hashlib.sha256(Request.of(question).content).hexdigest(),
        question.nonce,
        own,
    ]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def keep_request(books: Books, question: Question) -> Blob:
    """Keep what is about to be asked; its tries share it."""
    return _keep(books, Request.of(question).content)


def made_before(books: Books, cache_key: str, *, apart_from: Collection[int]) -> list[ModelCall]:
    """The calls that a lost worker made for a question of this very evaluation, in order.

    They end with the first that was answered: a worker that takes over hears again what was
    said, and pays nothing.
    """
    found = []
    rows = _with_reply().filter(
        evaluation=books.begun.evaluation_id, cache_key=cache_key, cached=False
    )
    for call in rows.exclude(pk__in=list(apart_from)).order_by("seq"):
        found.append(call)
        if not call.lost:
            break
    return found


def read_before(books: Books, cache_key: str) -> ModelCall | None:
    """A call with this very key whose answer could be read, and led to a decision.

    A verdict that counts rests on no answer of an evaluation that does not.
    """
    return answered_before(cache_key, is_counting=books.begun.purpose in COUNTING)


def answered_before(cache_key: str, *, is_counting: bool) -> ModelCall | None:
    """What left a run in doubt is asked anew: the same words would leave it there."""
    rows = _with_reply().filter(
        cache_key=cache_key,
        lost="",
        reply__isnull=False,
        evaluation__verdict__in=(Verdict.ACCEPT, Verdict.REJECT),
    )
    if is_counting:
        rows = rows.filter(evaluation__purpose__in=COUNTING)
    return rows.exclude(recovery__in=("", Stage.UNREADABLE)).order_by("-id").first()


def text_of(call: ModelCall) -> str | None:
    """The reply as it came. None: it is kept no more."""
    if call.reply is None:
        return None
    try:
        return read_blob(call.reply).decode(errors="replace")
    except EvidenceLost:
        return None


@dataclass(frozen=True, slots=True)
class Made:
    """One call as it ended. `tried` counts the tries at its question from 1."""

    tier: int
    question: Question
    completion: Completion
    tried: int
    cache_key: str
    request: Blob
    cached: ModelCall | None = None


def keep_call(books: Books, made: Made) -> int:
    """Write a call, and enter what it cost; return its row's key.

    It is written even when the work was lost or cancelled meanwhile: it was paid all the same.

    Raises:
        LeaseLost: the work is no longer ours; what was paid is in the books.
    """
    completion = made.completion
    reply = made.cached.reply if made.cached else None
    if completion.text and reply is None:
        reply = _keep(books, completion.text.encode(errors="replace"))
    with transaction.atomic():
        # From here on calls of one evaluation are numbered one after another.
        held = books.hold.add_cost(books.begun.evaluation_id, completion.cost_usd)
        if held is None:
            raise LeaseLost(f"run {books.work.run_id} was deleted")
        kept = statements.one(statements.KEEP_CALL, **_columns(books, made, reply)) or ()
        call_id, counted = kept[0], dict(zip(_COUNTS, kept[1:], strict=True))
        _count(books, counted, recovery="", lost=completion.lost)
        if not held:
            figures.mark_dirty(books.work)
    if not held:
        raise LeaseLost(f"run {books.work.run_id} evaluation {books.begun.evaluation_id}")
    return int(call_id)


def note(books: Books, ref: int, recovery: str) -> None:
    """Keep by which stage a call of this evaluation was read, once, and count it there."""
    with transaction.atomic():
        row = statements.one(
            statements.NOTE_CALL,
            call=ref,
            evaluation=books.begun.evaluation_id,
            recovery=recovery,
        )
        if row is None:
            return
        counted = dict(zip(_COUNTS, row, strict=True))
        # Taken from those that are not read yet, and added to those of this stage.
        statements.run(statements.UNCOUNT_CALL, **_hour(books, counted))
        _count(books, counted, recovery=recovery, lost="")


def asked_again(begun: Begun) -> int:
    """How many calls of an evaluation were made because another was lost or not good enough."""
    made = ModelCall.objects.filter(evaluation=begun.evaluation_id, cached=False)
    counts = made.aggregate(
        again=Count("pk", filter=Q(tried__gt=1) | Q(ask__in=(Ask.AGAIN, Ask.RESTATE))),
        assessed=Count("pk", filter=Q(tried=1, ask=Ask.ASSESS)),
    )
    return int(counts["again"] + max(0, counts["assessed"] - 1))


_COUNTS = ("model", "at", "calls", "cached", "prompt_tokens", "completion_tokens", "cost_usd")
"""What statements return of a call: a cached answer is no call."""


def _columns(books: Books, made: Made, reply: Blob | None) -> dict[str, Any]:
    question, completion = made.question, made.completion
    return {
        "evaluation": books.begun.evaluation_id,
        "tier": made.tier,
        "judge": question.judge[:120],
        "model": completion.model[:120],
        "ask": question.ask,
        "tried": made.tried,
        "lost": completion.lost,
        "prompt_version": books.prompt_version,
        "request": made.request.pk,
        "reply": reply.pk if reply else None,
        "cache_key": made.cache_key,
        "nonce": question.nonce[:40],
        "cached": made.cached is not None,
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "cost_usd": completion.cost_usd,
        "error": completion.detail[:300],
        "duration_ms": completion.duration_ms,
        "now": timezone.now(),
    }


def _count(books: Books, counted: Mapping[str, Any], *, recovery: str, lost: str) -> None:
    told = {"recovery": recovery, "lost": lost}
    statements.run(statements.COUNT_CALL, **_hour(books, counted), **told)


def _hour(books: Books, counted: Mapping[str, Any]) -> dict[str, Any]:
    where = {"project": books.work.project_id, "process": books.work.process_id}
    return {**where, **counted, "hour": start_of_hour(counted["at"])}


def _keep(books: Books, content: bytes) -> Blob:
    """Content first, then the row that names it."""
    store_contents(books.work.project, [content])
    sha256, size = digest_of(content)
    return name_blobs(books.work.project, {sha256: size})[sha256]


def _with_reply() -> QuerySet[ModelCall]:
    return ModelCall.objects.select_related("reply__project").order_by()
