"""What a case has on record: the answers of judges and the reports of gates, for its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verification.runs import judge_wording
from verification.runs.artefacts import Text, shown_text
from verification.runs.judge_wording import StageWords
from verification.runs.wording import STATUSES, Badge, reason

LINES_OF_REPLY = 400


@dataclass(frozen=True, slots=True)
class Reply:
    """A recorded answer, and how the last replay read it. `lost`: why none came."""

    tier: int
    ask: str
    number: int
    text: Text | None = None
    lost: str = ""
    is_cut: bool = False
    reading: StageWords | None = None
    is_stale: bool = False
    is_missing: bool = False
    is_unused: bool = False


@dataclass(frozen=True, slots=True)
class Gate:
    gate: str
    component: str
    badge: Badge
    exit_code: int | None
    counts: str
    detail: str


def replies_of(spec: Mapping[str, Any], played: Sequence[Mapping[str, Any]] | None) -> list[Reply]:
    """As they were recorded; after them what was asked and never answered.

    `played` are the questions of the last replay; None: there was none.
    """
    asked = {(one["tier"], one["ask"], one["number"]): one for one in played or ()}
    seen: Counter[tuple[int, str]] = Counter()
    found = []
    for one in spec.get("replies") or ():
        tier, ask = one.get("tier", 2), one.get("ask", "assess")
        seen[tier, ask] += 1
        key = (tier, ask, one.get("number") or seen[tier, ask])
        used = asked.pop(key, None)
        found.append(_reply(key, one, used, is_unused=played is not None and used is None))
    rest = [one for one in asked.values() if one.get("is_missing")]
    return found + [
        Reply(one["tier"], judge_wording.ask(one["ask"]), one["number"], is_missing=True)
        for one in rest
    ]


def _reply(
    key: tuple[int, str, int],
    one: Mapping[str, Any],
    used: Mapping[str, Any] | None,
    *,
    is_unused: bool,
) -> Reply:
    tier, ask, number = key
    return Reply(
        tier,
        judge_wording.ask(ask),
        number,
        text=shown_text(one.get("text") or "", limit=LINES_OF_REPLY),
        lost=reason(one["lost"]) if one.get("lost") else "",
        is_cut=bool(one.get("is_cut")),
        reading=judge_wording.stage(used.get("recovery") or "") if used else None,
        is_stale=bool(used and used.get("is_stale")),
        is_unused=is_unused,
    )


def gate_of(one: Mapping[str, Any]) -> Gate:
    tests = one.get("tests") or {}
    counts = ", ".join(f"{count} {name}" for name, count in tests.items() if count)
    status = str(one.get("status"))
    badge = STATUSES.get(status) or Badge(status, "open", "")  # type: ignore[call-overload]
    return Gate(
        str(one.get("gate")), str(one.get("component") or ""), badge,
        one.get("exit_code"), counts, str(one.get("detail") or ""),
    )  # fmt: skip
