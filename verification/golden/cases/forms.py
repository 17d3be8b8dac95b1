"""The common fields of a case as a form, and the document that it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from verification.engine.outcome import Outcome, Verdict
from verification.engine.reasons import REASONS
from verification.golden.cases.services import MAX_REASON_CHARS
from verification.runs import wording

UNSAID = ("", "not looked at")
NO_REASON = "-"
OUTCOMES = [UNSAID, *((one.value, wording.OUTCOMES[one].word) for one in Outcome)]
VERDICTS = [UNSAID, *((one.value, one.value) for one in Verdict)]
REASON_CODES = [
    UNSAID,
    (NO_REASON, "no reason: nothing is wrong"),
    *((code, f"{wording.reason(code)} ({code})") for code in sorted(REASONS)),
]


class FieldsForm(forms.Form):
    """What most changes are about; the rest of the document stays as it is."""

    guards = forms.CharField(
        max_length=500,
        label="What it guards",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One sentence: what must stay so.",
    )
    owner = forms.CharField(max_length=200, required=False, label="Owner")
    tags = forms.CharField(
        required=False, label="Tags", help_text="Small letters, digits and hyphens, by spaces."
    )
    outcome = forms.ChoiceField(choices=OUTCOMES, required=False, label="Outcome")
    verdict = forms.ChoiceField(choices=VERDICTS, required=False, label="Verdict")
    reason_code = forms.ChoiceField(choices=REASON_CODES, required=False, label="Why")
    must = forms.CharField(
        required=False,
        label="Rules that must be violated",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One name on each line.",
    )
    must_not = forms.CharField(
        required=False,
        label="Rules that must not be violated",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One name on each line.",
    )
    reason = forms.CharField(
        max_length=MAX_REASON_CHARS,
        label="Why it is changed",
        help_text="Stands beside the version.",
    )


def initial_of(document: Mapping[str, Any]) -> dict[str, str]:
    expected = document.get("expected") or {}
    findings = expected.get("findings") or {}
    reason = expected.get("reason_code")
    return {
        "guards": document.get("guards") or "",
        "owner": document.get("owner") or "",
        "tags": " ".join(document.get("tags") or ()),
        "outcome": expected.get("outcome") or "",
        "verdict": expected.get("verdict") or "",
        "reason_code": reason or (NO_REASON if "reason_code" in expected else ""),
        "must": "\n".join(_plain_rules(findings.get("must"))),
        "must_not": "\n".join(_plain_rules(findings.get("must_not"))),
    }


def written(document: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """The document with the form's fields in it; what the form does not show stays."""
    said = {**document, "guards": fields["guards"]}
    _put(said, "owner", fields["owner"])
    _put(said, "tags", fields["tags"].split())
    expected = dict(document.get("expected") or {})
    _put(expected, "outcome", fields["outcome"])
    _put(expected, "verdict", fields["verdict"])
    if fields["reason_code"] == NO_REASON:
        expected["reason_code"] = ""
    else:
        _put(expected, "reason_code", fields["reason_code"])
    findings = dict(expected.get("findings") or {})
    for name in ("must", "must_not"):
        _put(findings, name, _rules(findings.get(name) or (), fields[name]))
    _put(expected, "findings", findings)
    said["expected"] = expected
    return said


def other_findings(document: Mapping[str, Any]) -> int:
    """How many findings are expected more closely than by their rule: the form keeps them."""
    findings = (document.get("expected") or {}).get("findings") or {}
    listed = [*(findings.get("must") or ()), *(findings.get("must_not") or ())]
    return sum(not _is_plain(one) for one in listed)


def _rules(before: Sequence[Mapping[str, Any]], lines: str) -> list[Mapping[str, Any]]:
    kept = [one for one in before if not _is_plain(one)]
    return [*kept, *({"rule": name.strip()} for name in lines.splitlines() if name.strip())]


def _plain_rules(findings: Sequence[Mapping[str, Any]] | None) -> list[str]:
    return [str(one["rule"]) for one in findings or () if _is_plain(one)]


def _is_plain(finding: Mapping[str, Any]) -> bool:
    return set(finding) == {"rule"}


def _put(into: dict[str, Any], name: str, value: Any) -> None:
    """What is empty is not said."""
    if value:
        into[name] = value
    else:
        into.pop(name, None)
