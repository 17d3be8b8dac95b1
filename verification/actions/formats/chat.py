"""An event as a message for a chat room: `{"text": …}`, as Slack, Mattermost and others take it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from verification.actions.landing import wording as landing
from verification.engine.outcome import Verdict
from verification.reviews.notices.text import one_line
from verification.runs import outbox, wording

MAX_WORDS = 400
_FOR_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b", "[": "(", "]": ")"})  # fmt: skip
"""Nobody is called by submitted text, and nothing in it becomes a link."""
_VERDICTS = {
    Verdict.ACCEPT: "Accepted",
    Verdict.REJECT: "Rejected",
    Verdict.UNDECIDED: "Undecided",
}

Told = Mapping[str, Any]


def message(topic: str, payload: Told, url: str) -> dict[str, str]:
    """`url` leads to what it is about; '' where nothing does."""
    said = _WORDS.get(topic, _unknown)(payload) or topic
    return {"text": f"{said}\n{url}" if url else said}


def _plain(text: object, limit: int = 80) -> str:
    return one_line(str(text or ""), limit).translate(_FOR_MARKUP)


def _where(payload: Told) -> str:
    """Which task of which process."""
    task = _plain(payload.get("task"))
    place = f"{_plain(payload.get('process'))}, {_plain(payload.get('phase'))}"
    return f"{task} ({place})" if task else place


def _finished(payload: Told) -> str:
    verdict = _VERDICTS.get(payload.get("verdict", ""), "Undecided")
    code = str(payload.get("reason_code") or "")
    why = f": {_plain(wording.reason(code))}" if code else ""
    return f"{verdict}: {_where(payload)}{why}."


def _decided(payload: Told) -> str:
    said = "accepted" if payload.get("passed") else "rejected"
    comment = _plain(payload.get("comment"), MAX_WORDS)
    told = f"A person {said} {_where(payload)}"
    return f"{told}: {comment}" if comment else f"{told}."


def _requested(payload: Told) -> str:
    reasons = ", ".join(_plain(wording.reason(one)) for one in payload.get("reasons", ())[:5])
    return f"A person is asked about {_where(payload)}{f': {reasons}' if reasons else ''}."


def _digest(payload: Told) -> str:
    waiting, decided = payload.get("waiting", 0), payload.get("decided", 0)
    return (
        f"{waiting} {'waits' if waiting == 1 else 'wait'} for a person; since the last hour "
        f"{payload.get('opened', 0)} came and {decided} {'was' if decided == 1 else 'were'} decided."
    )


def _queued(payload: Told) -> str:
    return f"Unconfirmed content of {_where(payload)} asks for more work."


def _regressed(payload: Told) -> str:
    counts = payload.get("counts", {})
    names = ", ".join(_plain(one.get("name")) for one in payload.get("cases", ())[:5])
    some = f": {names}" if names else ""
    return (
        f"{counts.get('regressed', 0)} of {payload.get('total', 0)} golden cases regressed{some}."
    )


def _stopped(payload: Told) -> str:
    return f"The shadow trial {_plain(payload.get('title'))} stopped: {_plain(payload.get('text'), MAX_WORDS)}"


def _drifted(payload: Told) -> str:
    outcomes = ", ".join(_plain(one.get("outcome")) for one in payload.get("outcomes", ()))
    return f"Since the cutover of {_plain(payload.get('title'))} there is more of: {outcomes}."


def _report(payload: Told) -> str:
    return _plain(payload.get("summary"), MAX_WORDS)


def _budget(payload: Told) -> str:
    share = round(100 * float(payload.get("share") or 0))
    of = _plain(payload.get("process")) or "the whole project"
    return f"{share} % of what judges of {of} may cost today are spent or set aside."


def _action(payload: Told) -> str:
    kind = landing.KINDS.get(payload.get("kind", ""), str(payload.get("kind", "")))
    state = landing.STATES.get(payload.get("state", ""))
    code = str(payload.get("reason_code") or "")
    why = f" {landing.REASONS.get(code, code)}" if code else ""
    told = f"{kind}, {_plain(payload.get('repository'))}: {state.word if state else ''}."
    return f"{told}{why}"


def _test(payload: Told) -> str:
    return f"A test of LoomVerify, sent by {_plain(payload.get('sent_by'))}."


def _unknown(payload: Told) -> str:
    return _plain(payload.get("text") or payload.get("summary"), MAX_WORDS)


_WORDS: Mapping[str, Callable[[Told], str]] = {
    outbox.RUN_FINISHED: _finished,
    outbox.RUN_DECIDED: _decided,
    outbox.REVIEW_REQUESTED: _requested,
    outbox.REVIEW_DIGEST: _digest,
    outbox.REMEDIATION_QUEUED: _queued,
    outbox.GOLDEN_REGRESSED: _regressed,
    outbox.SHADOW_STOPPED: _stopped,
    outbox.SHADOW_DRIFT: _drifted,
    outbox.REPORT_MORNING: _report,
    outbox.BUDGET_WARNING: _budget,
    outbox.ACTION_PROPOSED: _action,
    outbox.ACTION_TAKEN: _action,
    outbox.ACTION_HELD: _action,
    "webhook.test": _test,
}
