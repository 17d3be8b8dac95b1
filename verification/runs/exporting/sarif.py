"""A run as SARIF 2.1.0, as code hosts read it. Source: docs/exports.md, "SARIF"."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from processes.definition.model import Enforcement, RuleType
from verification.engine.outcome import Verdict
from verification.engine.reasons import REASONS
from verification.runs.exporting.gathered import Found, RunReport
from verification.runs.exporting.texts import clipped, one_line, relative_uri, sarif_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_BYTES = 8 * 1024 * 1024
"""Of results: code hosts take 10 MB, compressed."""
MAX_MESSAGE = 1_000
MAX_DESCRIPTION = 1_000
MAX_NOTIFICATIONS = 500
LEVELS = {Enforcement.HARD: "error", Enforcement.ADVISORY: "warning", Enforcement.OBSERVE: "note"}
EXIT_CODES = {Verdict.ACCEPT: 0, Verdict.REJECT: 1, Verdict.UNDECIDED: 2}
"""As `loomverify submit` ends."""
OWN_FOLDER = ".loomverify"
"""Stands in a path where a finding is in no file of the workspace: code hosts refuse a whole
document for one result without a place."""


def sarif(report: RunReport) -> str:
    rules = list(_rule_ids(report))
    indexes = {rule: index for index, rule in enumerate(rules)}
    results, left_out = _results(report, indexes)
    run = {
        "tool": {"driver": _driver(report, rules)},
        "automationDetails": _automation(report),
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, indexes, left_out)],
        "results": results,
        "properties": _properties(report),
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)


def _rule_ids(report: RunReport) -> Iterator[str]:
    """Every rule that was applied, and every check that found something; each once."""
    applied = [entry["rule"] for entry in report.trace if entry["applied"]]
    yield from dict.fromkeys([*applied, *(one.row.rule for one in report.found)])


def _driver(report: RunReport, rules: list[str]) -> dict[str, Any]:
    number = version("loomverify")
    firsts = {one.row.rule: one for one in reversed(report.found)}
    return {
        "name": "LoomVerify",
        "version": number,
        "semanticVersion": number,
        "rules": [_descriptor(report, rule, firsts) for rule in rules],
    }


def _descriptor(report: RunReport, name: str, firsts: Mapping[str, Found]) -> dict[str, Any]:
    rule = report.rules.get(name)
    first = firsts.get(name)
    if rule is None:
        code = first.row.reason_code if first else ""
        short = REASONS[code].title if code in REASONS else f"The check {name}."
        told, advice, tag = f"The check {name}. {short}", short, "check"
    else:
        short = rule.description or f"The rule {rule.name}."
        told = f"{short} Checked: {rule.check}" if rule.type is RuleType.LLM else short
        advice, tag = rule.suggestion or told, rule.type.value
    usual = rule.usual_enforcement if rule else None
    level = usual or (Enforcement(first.row.enforcement) if first else Enforcement.ADVISORY)
    return {
        "id": name,
        "name": name,
        "shortDescription": {"text": _said(short)},
        "fullDescription": {"text": _said(told)},
        "help": {"text": _said(advice)},
        "defaultConfiguration": {"level": LEVELS[level]},
        "properties": {"tags": ["loomverify", tag]}
        | ({"pattern": rule.check} if rule and rule.type is RuleType.REGEX else {}),
    }


def _said(text: str) -> str:
    return sarif_text(one_line(text), MAX_DESCRIPTION) or "Nothing is said about it."


def _results(report: RunReport, indexes: dict[str, int]) -> tuple[list[dict[str, Any]], int]:
    """The violated findings, most severe first, as many as fit; and how many do not."""
    results: list[dict[str, Any]] = []
    size, left_out = 0, report.left_out
    for one in report.found:
        if not one.is_violated:
            continue
        result = _result(one, indexes)
        size += len(json.dumps(result, ensure_ascii=False).encode())
        if size > MAX_BYTES:
            left_out += 1
        else:
            results.append(result)
    return results, left_out


def _result(one: Found, indexes: dict[str, int]) -> dict[str, Any]:
    row = one.row
    properties = {
        "enforcement": row.enforcement,
        "reasonCode": row.reason_code,
        "source": row.source,
        "tier": row.tier,
        "confidence": row.confidence,
        "quote": clipped(one.quote, MAX_MESSAGE),
        "quoteVerified": row.quote_verified,
    }
    return {
        "ruleId": row.rule,
        "ruleIndex": indexes[row.rule],
        "kind": "fail",
        "level": LEVELS[Enforcement(row.enforcement)],
        "message": {"text": _message(one)},
        "locations": [_location(one)],
        # Code hosts know an alert again by the first; the other says who made it.
        "partialFingerprints": {
            "primaryLocationLineHash": f"{row.fingerprint}:1",
            "loomverifyFingerprint/v1": row.fingerprint,
        },
        "properties": {
            name: value for name, value in properties.items() if value not in (None, "")
        },
    }


def _message(one: Found) -> str:
    said = one_line(f"{one.message} {one.suggestion}")
    return sarif_text(said, MAX_MESSAGE) or "Nothing was said."


def _location(one: Found) -> dict[str, Any]:
    uri, line = _place(one)
    column = one.row.column or 1
    quoted = one.quote if one.row.column and "\n" not in one.quote else ""
    region = {
        "startLine": line,
        "startColumn": column,
        "endLine": line,
        "endColumn": column + max(1, len(clipped(quoted, MAX_MESSAGE))),
    }
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}


def _place(one: Found) -> tuple[str, int]:
    """A file of the workspace and a line in it, else a place in what was submitted beside."""
    row = one.row
    if uri := relative_uri(row.path):
        return uri, row.line or 1
    if isinstance(number := row.place.get("tool_call"), int):
        return f"{OWN_FOLDER}/tool_calls", number + 1
    if numbers := row.place.get("claims"):
        return f"{OWN_FOLDER}/claims", numbers[0] + 1
    if name := row.place.get("evidence"):
        return f"{OWN_FOLDER}/evidence/{quote(name, safe='')}", row.line or 1
    if row.target == "output" and not row.path:
        return f"{OWN_FOLDER}/output", row.line or 1
    return f"{OWN_FOLDER}/submission", 1


def _invocation(report: RunReport, indexes: dict[str, int], left_out: int) -> dict[str, Any]:
    run, head = report.run, report.headline
    invocation: dict[str, Any] = {
        "executionSuccessful": report.verdict is not Verdict.UNDECIDED,
        "exitCode": EXIT_CODES[report.verdict],
        "exitCodeDescription": sarif_text(f"{head.title} {head.detail}".strip(), MAX_MESSAGE),
        "toolExecutionNotifications": list(_notifications(report, indexes, left_out)),
    }
    for name, at in (("startTimeUtc", run.started_at), ("endTimeUtc", run.finished_at)):
        if at:
            invocation[name] = _utc(at)
    return invocation


def _notifications(
    report: RunReport, indexes: dict[str, int], left_out: int
) -> Iterator[dict[str, Any]]:
    """What could not be looked into: told of the verifier, never held against the work."""
    unknown = [one for one in report.found if not one.is_violated]
    for one in unknown[:MAX_NOTIFICATIONS]:
        yield {
            "level": LEVELS[Enforcement(one.row.enforcement)],
            "message": {"text": _message(one)},
            "locations": [_location(one)],
            "associatedRule": {
                "id": one.row.rule,
                "index": indexes[one.row.rule],
            },
            "properties": {"reasonCode": one.row.reason_code},
        }
    left_out += len(unknown[MAX_NOTIFICATIONS:])
    if left_out:
        text = f"{left_out} findings more do not fit in here: {report.url}"
        yield {"level": "warning", "message": {"text": text}}


def _automation(report: RunReport) -> dict[str, Any]:
    """Code hosts keep what stands before the last slash apart, as a series."""
    parts = [report.run.process.slug, report.run.phase_id, str(report.run.uuid)]
    named = "/".join(quote(part, safe="") for part in parts)
    details: dict[str, Any] = {"id": f"loomverify/{named}"}
    if report.evaluation:
        details["guid"] = str(report.evaluation.uuid)
    return details


def _properties(report: RunReport) -> dict[str, Any]:
    run = report.run
    return {
        "url": report.url,
        "state": run.state,
        "outcome": run.outcome,
        "verdict": report.verdict.value,
        "finalOutcome": run.final_outcome or None,
        "reasonCode": run.reason_code or None,
        "process": run.process.slug,
        "processVersion": run.process_version.number,
        "verifierVersion": run.verifier_version.number,
        "phase": run.phase_id,
        "task": run.task.external_id,
    }


def _utc(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
