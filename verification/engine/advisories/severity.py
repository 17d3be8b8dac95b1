"""How severe an advisory is: the highest of all that it says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cvss import CVSS2, CVSS3, CVSS4
from cvss.exceptions import CVSSError

HIGH_SCORE = 7.0
"""From here on a vulnerability is high or critical."""
MALICIOUS = "MAL-"
_LABELS = {"LOW": 3.9, "MODERATE": 6.9, "MEDIUM": 6.9, "HIGH": 8.9, "CRITICAL": 10.0}
_MAX_VECTOR_CHARS = 300
_MAX_RATINGS = 50


def score_of(advisory: Mapping[str, Any], affected: Mapping[str, Any]) -> float | None:
    """0 to 10; None where it does not say. A package that is malice itself is as bad as can be.

    Source: CVSS's qualitative scale, for advisories that tell a word alone.
    """
    if str(advisory.get("id", "")).startswith(MALICIOUS):
        return 10.0
    told = [*_scores(advisory), *_scores(affected)]
    return max(told, default=None)


def _scores(owner: Mapping[str, Any]) -> Iterator[float]:
    ratings = owner.get("severity")
    for one in ratings[:_MAX_RATINGS] if isinstance(ratings, list) else ():
        score = _of_vector(one.get("score")) if isinstance(one, dict) else None
        if score is not None:
            yield score
    for name in ("database_specific", "ecosystem_specific"):
        specific = owner.get(name)
        label = specific.get("severity") if isinstance(specific, dict) else None
        if isinstance(label, str) and label.upper() in _LABELS:
            yield _LABELS[label.upper()]


def _of_vector(vector: object) -> float | None:
    if not isinstance(vector, str) or len(vector) > _MAX_VECTOR_CHARS:
        return None
    try:
        if vector.startswith("CVSS:4"):
            return float(CVSS4(vector).base_score)
        if vector.startswith("CVSS:3"):
            return float(CVSS3(vector).base_score)
        return float(CVSS2(vector).base_score)
    except (CVSSError, ValueError, ArithmeticError, LookupError, TypeError):
        return None
