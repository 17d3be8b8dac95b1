"""Figures as the HTTP contract shows them."""

from __future__ import annotations

from typing import Any

KNOWN: dict[str, Any] = {"n": 237, "value": 0.789, "low": 0.733, "high": 0.836}
KAPPA: dict[str, Any] = {"n": 237, "value": 0.57, "low": 0.46, "high": 0.67}
FEW: dict[str, Any] = {"n": 4, "needed": 10}
AGREEMENT: dict[str, Any] = {
    "with_people": {
        "n": 337,
        "undecided": 100,
        "verdicts": {"n": 237, "percentage": KNOWN, "kappa": KAPPA},
        "outcomes": {"n": 237, "percentage": KNOWN, "kappa": KAPPA},
        "precision": {"n": 88, "value": 0.841, "low": 0.75, "high": 0.903},
        "recall": {"n": 110, "value": 0.673, "low": 0.581, "high": 0.753},
        "confusion": {"fail": {"pass": 14, "fail": 74}},
    },
    "sample": {
        "drawn": 60,
        "decided": 45,
        "false_fail_rate": FEW,
        "escaped_defect_rate": {"n": 41, "value": 0.05, "low": 0.01, "high": 0.16},
        "precision": FEW,
        "recall": {"n": 6, "needed": 10},
    },
    "phases": [],
    "models": [],
    "rules": [
        {
            "process": "market-study",
            "rule": "figures-have-sources",
            "overturned": {"n": 37, "value": 0.41, "low": 0.264, "high": 0.565},
        }
    ],
    "people": {
        "verdicts": {"n": 4, "percentage": FEW, "kappa": FEW},
        "outcomes": {"n": 4, "percentage": FEW, "kappa": FEW},
        "differing": 1,
        "pairs": [],
    },
    "blind": {"decisions": 4, "changed": 1, "change_rate": FEW},
}


def _tenth(number: int, said: float | None = None, agreed: Any = None) -> dict[str, Any]:
    return {
        "low": number / 10,
        "high": (number + 1) / 10,
        "n": agreed["n"] if agreed else 0,
        "confidence": said,
        "agreed": agreed,
    }


SURE: dict[str, Any] = {"n": 150, "value": 0.993, "low": 0.963, "high": 0.999}
UNSURE: dict[str, Any] = {"n": 25, "value": 0.2, "low": 0.089, "high": 0.391}
CALIBRATION: dict[str, Any] = {
    "n": 175,
    "expected_calibration_error": {"n": 175, "value": 0.144},
    "tenths": [
        *(_tenth(number) for number in range(6)),
        _tenth(6, 0.65, UNSURE),
        _tenth(7),
        _tenth(8),
        _tenth(9, 0.9, SURE),
    ],
    "floors": [
        {
            "process": "market-study",
            "n": 175,
            "present": {"gather": 0.6, "write": 0.6},
            "floor": 0.9,
            "reason": None,
            "needed": None,
            "agreed": SURE,
            "judged_runs": 310,
            "below_now": 0.0,
            "below_then": 0.142,
        }
    ],
}
