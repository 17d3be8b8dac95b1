"""What judges say in tests, in short words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.engine.cases import Files, judged_case, ports
from verification.engine.climb import Conclusion, climb, conclude
from verification.engine.fakes import ScriptedJudge
from verification.engine.judges.asking import Answer, Question
from verification.engine.tiers import TierReport

Said = str | Answer | Callable[[Question], str | Answer]
Verdict = str | tuple[str, str] | tuple[str, str, str]


def reply(
    *,
    passed: bool | None = True,
    rules: Mapping[str, Verdict] | None = None,
    acceptance: Verdict | None = "satisfied",
    confidence: float | None = 0.9,
    **more: Any,
) -> str:
    """A reply in the long form. A verdict may carry its why and its quote."""
    whole: dict[str, Any] = {
        "passed": passed,
        "rules": [{"rule": name, **_verdict(said)} for name, said in (rules or {}).items()],
        "acceptance": None if acceptance is None else _verdict(acceptance),
        "confidence": confidence,
        "suggestion": "",
        **more,
    }
    return json.dumps({key: value for key, value in whole.items() if value is not None})


def judged(
    *script: Said, files: Files | None = None, **about: Any
) -> tuple[Conclusion, ScriptedJudge, TierReport]:
    """What comes of a case of tier 2 whose judges answer by this script."""
    judge = ScriptedJudge(list(script))
    asked = judged_case(files=files, **about)
    tiers = list(climb(asked, ports(files, judge=judge)))
    return conclude(asked, tiers), judge, tiers[-1]


def _verdict(said: Verdict) -> dict[str, str]:
    words = (said,) if isinstance(said, str) else said
    return dict(zip(("verdict", "why", "quote"), words, strict=False))
