"""What came from models and from operators' code, without what PostgreSQL cannot hold."""

from __future__ import annotations

import json
import re
from typing import Any

from verification.engine.tiers import TierReport

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_ITS_ESCAPES = ("\\u0000", "\\ud")


def storable(value: Any) -> Any:
    """A JSON value with every text cleaned, and numbers that JSON does not know as null."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {storable(str(name)): storable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [storable(one) for one in value]
    if isinstance(value, float) and value - value != 0:  # NaN and the infinities
        return None
    return value


def storable_report(report: TierReport) -> TierReport:
    """The report itself, unless something in it cannot be stored."""
    saved = report.to_json()
    return report if _is_storable(saved) else TierReport.from_json(storable(saved))


def _is_storable(saved: dict[str, Any]) -> bool:
    try:
        text = json.dumps(saved, allow_nan=False)
    except ValueError:
        return False
    return not any(escape in text for escape in _ITS_ESCAPES)
