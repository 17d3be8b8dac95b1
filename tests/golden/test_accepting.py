"""What was observed, taken as what is expected: then nothing differs any more."""

from __future__ import annotations

from typing import Any

from tests.tables import check_rows
from verification.engine.golden.comparing import differences
from verification.golden.cases.accepting import accepted
from verification.golden.documents.schemas import ExpectedIn

FINDING = {
    "rule": "no-placeholders", "reason_code": "rule_violated", "enforcement": "hard",
    "verdict": "violated", "path": "a.md", "line": 3, "message": "A placeholder.", "quote": "TBD",
}  # fmt: skip
OBSERVED: dict[str, Any] = {
    "outcome": "fail",
    "verdict": "reject",
    "reason_code": "rule_violated",
    "severity_class": None,
    "retry_strategy": "generic",
    "tier_achieved": 1,
    "confidence": 0.25,
    "confidence_level": "FAILED",
    "action": "retry",
    "rerun_execution": True,
    "may_pass": False,
    "shadow": None,
    "findings": [FINDING],
    "rules": {
        "applied": [{"rule": "no-placeholders", "verdict": "violated", "reason": "phase"}],
        "skipped": [{"rule": "later", "reason": ""}],
    },
    "claims": {"confirmed": 1, "inferred": 0, "supporting_unconfirmed_ratio": 0.5},
    "claim_list": [{"state": "pruned"}],
    "attempt": {"number": 1, "counted": True, "used": 1, "left": 2, "terminal": ""},
    "decided": None,
    "review": ["low_confidence"],
    "tiers": [{"tier": 1, "recovery": "", "calls": 0}, {"tier": 2, "recovery": "yaml", "calls": 2}],
    "feedback": "Solve one problem.",
    "artefacts": [{"kind": "pruned", "path": "", "text": "What is left."}],
    "remediations": [
        {"mode": "confirm_or_prune", "request": {"reason_code": "unconfirmed", "claims": [1, 2]}}
    ],
}


@check_rows(
    ("expected", "becomes"),
    [
        ({"outcome": "pass", "tier_achieved": 1}, {"outcome": "fail", "tier_achieved": 1}),
        ({"severity_class": "semantic"}, {"severity_class": None}),
        ({"confidence": 0.9}, {"confidence": 0.25}),
        (
            {"findings": {"must": [{"rule": "gone"}, {"rule": "no-placeholders"}]}},
            {"findings": {"must": [{"rule": "no-placeholders"}]}},
        ),
        (
            {"outcome": "fail", "findings": {"must_not": [{"path": "a.md"}, {"path": "b.md"}]}},
            {"outcome": "fail", "findings": {"must_not": [{"path": "b.md"}]}},
        ),
        (
            {"findings": {"must": [{"rule": "gone"}]}},
            {"outcome": "fail", "verdict": "reject"},
        ),
        (
            {"findings": {"only": True}},
            {
                "findings": {
                    "only": True,
                    "must": [
                        {
                            "rule": "no-placeholders",
                            "reason_code": "rule_violated",
                            "enforcement": "hard",
                            "verdict": "violated",
                            "path": "a.md",
                        }
                    ],
                }
            },
        ),
        (
            {"rules": {"applied": {"no-placeholders": "satisfied", "later": "satisfied"}}},
            {"rules": {"applied": {"no-placeholders": "violated"}, "skipped": ["later"]}},
        ),
        (
            {"rules": {"skipped": ["no-placeholders", "later", "nowhere"]}},
            {"rules": {"skipped": ["later"], "applied": {"no-placeholders": "violated"}}},
        ),
        (
            {"outcome": "fail", "rules": {"reasons": {"no-placeholders": "unscoped", "gone": "phase"}}},
            {"outcome": "fail", "rules": {"reasons": {"no-placeholders": "phase"}}},
        ),
        ({"claims": {"confirmed": 3, "pruned": 0}}, {"claims": {"confirmed": 1, "pruned": 1}}),
        ({"attempt": {"number": 2, "left": 2}}, {"attempt": {"number": 1, "left": 2}}),
        ({"recovery": {"2": "strict_json"}}, {"recovery": {"2": "yaml"}}),
        ({"calls": {"2": 1}}, {"calls": {"2": 2}}),
        ({"review": []}, {"review": ["low_confidence"]}),
        (
            {"outcome": "fail", "feedback": ["Solve two", "Solve one"]},
            {"outcome": "fail", "feedback": ["Solve one"]},
        ),
        (
            {
                "artefacts": [
                    {"kind": "pruned", "holds": ["all", "left"], "lacks": ["What", "x"]},
                    {"kind": "verified_findings"},
                ]
            },
            {"artefacts": [{"kind": "pruned", "holds": ["left"], "lacks": ["x"]}]},
        ),
        (
            {"remediations": []},
            {
                "remediations": [
                    {"mode": "confirm_or_prune", "reason_code": "unconfirmed", "claims": 2}
                ]
            },
        ),
    ],
    ids=[
        "outcome", "null", "number", "must", "must-not", "nothing-left", "only", "applied",
        "skipped", "reasons", "claims", "attempt", "recovery", "calls", "review", "feedback", "artefacts",
        "remediations",
    ],
)  # fmt: skip
def test_accepted_is_what_was_observed_and_all_else_stays(
    expected: dict[str, Any], becomes: dict[str, Any]
) -> None:
    before = repr(expected)
    found = [one.to_json() for one in differences(expected, OBSERVED)]

    result = accepted(expected, OBSERVED, found)

    assert found
    assert result == becomes
    assert differences(result, OBSERVED) == ()
    assert repr(expected) == before
    ExpectedIn.model_validate(result)


def test_where_the_only_rule_is_gone_what_came_of_the_case_is_expected() -> None:
    gone = {"place": "rules.applied.r", "expected": "satisfied", "observed": "absent"}
    observed = {"outcome": "pass", "verdict": "accept"}

    changed = accepted({"rules": {"applied": {"r": "satisfied"}}}, observed, [gone])

    assert changed == observed
