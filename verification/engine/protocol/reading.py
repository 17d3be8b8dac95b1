"""From a reply's JSON to its meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.reply import Reply, RuleAnswer


def reply_of(document: Mapping[str, Any]) -> Reply | None:
    """Read a reply; None: it says neither pass nor fail."""
    passed = document.get("passed")
    if not isinstance(passed, bool):
        return None
    rules = document.get("rules")
    return Reply(
        passed=passed,
        rules=tuple(
            RuleAnswer(
                rule=str(one["rule"]),
                verdict=FindingVerdict(one["verdict"]),
                why=str(one.get("why") or ""),
                quote=str(one.get("quote") or ""),
            )
            for one in rules or ()
        ),
        confidence=document.get("confidence"),
        suggestion=str(document.get("suggestion") or ""),
        issues=tuple(map(str, document.get("issues") or ())),
        is_short=rules is None,
    )
