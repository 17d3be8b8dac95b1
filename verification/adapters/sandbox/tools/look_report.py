"""What was found, as one SARIF report."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from verification.adapters.sandbox.tools.look_levels import ERROR, NOTE, WARNING
else:
    from look_levels import ERROR, NOTE, WARNING

MAX_RESULTS = 5_000
MAX_MESSAGE_CHARS = 400


@dataclass(frozen=True)
class Found:
    """`path` is whole; `line` and `column` count from 1, and 0 is none."""

    level: str
    rule: str
    message: str
    path: str
    line: int = 0
    column: int = 0


def write(runs: Mapping[str, Sequence[Found]]) -> None:
    """The most severe first: there is a bound to what is read."""
    order = (ERROR, WARNING, NOTE)
    report = {
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": tool}},
                "results": [
                    result(one)
                    for one in sorted(found, key=lambda one: order.index(one.level))[:MAX_RESULTS]
                ],
            }
            for tool, found in runs.items()
        ],
    }
    Path(os.environ["LV_REPORT"]).write_text(json.dumps(report))


def result(found: Found) -> Mapping[str, Any]:
    at: dict[str, Any] = {"artifactLocation": {"uri": f"file://{quote(found.path)}"}}
    if found.line:
        at["region"] = {"startLine": found.line} | (
            {"startColumn": found.column} if found.column else {}
        )
    return {
        "ruleId": found.rule or "look:not-read",
        "level": found.level,
        "message": {"text": found.message[:MAX_MESSAGE_CHARS]},
        "locations": [{"physicalLocation": at}],
    }
