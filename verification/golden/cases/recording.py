"""What the judges of a run were asked and said, as a case's recorded replies."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from verification.adapters.judge_reply import CUT
from verification.engine.case import MAX_PROMPT_CHARS
from verification.engine.golden.given import TOKEN, digest_of
from verification.engine.golden.recordings import Played
from verification.engine.judges.asking import Ask, Question
from verification.engine.outcome import COUNTING, Status
from verification.engine.verifier import VerifierSpec
from verification.golden.documents.schemas import MAX_REPLIES
from verification.runs.calls import Request
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.judging import known_of_judges
from verification.runs.models import Evaluation, ModelCall, TierResult

Reply = dict[str, Any]
_SEAT = re.compile(r":vote:(\d+)")


def replies_of(evaluation: Evaluation, *, token: str) -> list[Reply]:
    """The last answer to each question, numbered within its tier and kind as it was asked.

    Votes are numbered by their seats, and those that were cast again after all of them. Where
    `token` was copied into an answer, its place is kept instead.
    """
    found: list[Reply] = []
    for tier in (2, 3):
        numbers: dict[str, int] = defaultdict(int)
        for calls in _in_order(_calls(evaluation, tier)):
            last = calls[-1]
            numbers[last.ask] += 1
            found.append(_reply(last, numbers[last.ask], token))
    return found[:MAX_REPLIES]


def seats_of(evaluation: Evaluation) -> dict[str, Any]:
    """The models behind the judges that the evaluation could ask."""
    spec = VerifierSpec.from_json(evaluation.verifier_version.spec)
    models = spec.models
    known = known_of_judges(evaluation.run.project_id, models)
    by_name = known["judge_models"]
    seats: dict[str, Any] = {"primary": by_name.get(models.primary, models.primary)}
    if models.alternate:
        seats["alternate"] = by_name.get(models.alternate, models.alternate)
    if models.panel:
        seats["panel"] = [by_name.get(name, name) for name in models.panel]
    room = min(known["prompt_chars"], spec.limits.prompt_chars)
    if room != MAX_PROMPT_CHARS:
        seats["prompt_chars"] = room
    return seats


def renumbered(replies: Sequence[Reply], played: Sequence[Played]) -> list[Reply]:
    """Give each recording the number of the question that it answered.

    Questions that were asked at once were answered in any order. Votes are all asked the same,
    and have their numbers by their seats.
    """
    wanted = {
        (one.tier, str(one.ask), one.prompt): one.number
        for one in reversed(played)
        if one.ask is not Ask.VOTE
    }
    numbered = [
        {
            **one,
            "number": wanted.get((one["tier"], one["ask"], one.get("prompt", "")), one["number"]),
        }
        for one in replies
    ]
    keys = {(one["tier"], one["ask"], one["number"]) for one in numbered}
    return numbered if len(keys) == len(numbered) else list(replies)


def never_asked(played: Sequence[Played], reasons: Mapping[int, str]) -> list[Reply]:
    """Questions that could not be put at all, for the reason that their tier was lost for."""
    return [
        {"tier": one.tier, "ask": str(one.ask), "number": one.number, "lost": reasons[one.tier]}
        for one in played
        if one.is_missing and one.tier in reasons
    ]


def _calls(evaluation: Evaluation, tier: int) -> list[ModelCall]:
    """Those of this evaluation, or of the one from which it carried the tier over."""
    calls = ModelCall.objects.filter(tier=tier).select_related("reply__project", "request__project")
    own = list(calls.filter(evaluation=evaluation).order_by("seq"))
    settled = (Status.PASSED, Status.FAILED)
    reached = TierResult.objects.filter(evaluation=evaluation, tier=tier, status__in=settled)
    if own or not reached.exists():
        return own
    before = Evaluation.objects.filter(
        run=evaluation.run_id, purpose__in=COUNTING, pk__lt=evaluation.pk, model_calls__tier=tier
    )
    last = before.order_by("-pk").first()
    return list(calls.filter(evaluation=last).order_by("seq")) if last else []


def _in_order(calls: Sequence[ModelCall]) -> Iterator[list[ModelCall]]:
    """Yield the tries of each question, in the order in which the questions were asked."""
    questions: list[list[ModelCall]] = []
    under_way: dict[tuple[str, str, str], list[ModelCall]] = {}
    for call in calls:
        key = (call.ask, call.cache_key, call.nonce)
        if call.tried == 1 or key not in under_way:
            under_way[key] = []
            questions.append(under_way[key])
        under_way[key].append(call)
    rounds: dict[int, int] = defaultdict(int)
    placed = []
    for order, tries in enumerate(questions):
        seat = _SEAT.search(tries[0].nonce) if tries[0].ask == Ask.VOTE else None
        if seat is None:
            placed.append(((0, 0, order), tries))
            continue
        number = int(seat[1])
        placed.append(((rounds[number], number, order), tries))
        rounds[number] += 1
    return iter([tries for _, tries in sorted(placed, key=lambda one: one[0])])


def _reply(call: ModelCall, number: int, token: str) -> Reply:
    reply: Reply = {"tier": call.tier, "ask": str(call.ask), "number": number}
    if call.lost:
        reply["lost"] = call.lost
    else:
        text = read_blob(call.reply).decode(errors="replace") if call.reply else ""
        reply["text"] = text.replace("\0", "\ufffd").replace(token, TOKEN)
        if call.error == CUT:
            reply["is_cut"] = True
    return {**reply, "prompt": _prompt(call)}


def _prompt(call: ModelCall) -> str:
    """'' where the question is kept no more."""
    if call.request is None:
        return ""
    try:
        sent = Request.read(call.request)
    except EvidenceLost:
        return ""
    asked = Question(call.judge, Ask(call.ask), sent.system, sent.prompt, sent.schema)
    return digest_of(asked)
