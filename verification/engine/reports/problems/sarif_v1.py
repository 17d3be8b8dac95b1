"""A run in SARIF 1.0.0, as Roslyn, BinSkim and the converters of their time write it.

Source: https://github.com/microsoft/sarif-sdk, Sarif/Schemata, version 1.0.0
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from verification.engine.reports.contents import Record, inside, listed, record, records
from verification.engine.reports.model import Problem, ProblemSeverity, Unreadable
from verification.engine.reports.problems.parsing import path_of_uri, problem

PLACES = ("resultFile", "analysisTarget")
"""What holds a location's file: where the problem is, before what the tool was run on."""
_NO_PROBLEM = frozenset({"pass", "notApplicable"})
_LEVELS: Mapping[object, ProblemSeverity] = {
    "error": ProblemSeverity.HIGH,
    "warning": ProblemSeverity.MEDIUM,
    "note": ProblemSeverity.LOW,
}
_ARGUMENT = re.compile(r"\{(\d{1,2})\}")


def problems(run: Record, folder: str) -> Iterator[Problem]:
    """What is suppressed, passed or not applicable, or only in an earlier run, is no problem."""
    if run.get("results") is None:
        raise Unreadable("A run of the report has no results: the tool did not report.")
    if inside(run, "tool", "driver") is not None:
        raise Unreadable("The report says that it is SARIF 1.0.0, and is of another version.")
    rules = record(run.get("rules") or {})
    tool = inside(run, "tool", "name")
    for kind in ("configurationNotifications", "toolNotifications"):
        for one in records(run.get(kind) or []):
            if one.get("level") == "error":
                place = inside(one, "physicalLocation")
                yield _problem(one.get("message"), ProblemSeverity.HIGH, place, folder, tool)
    for result in records(run["results"]):
        rule = record(rules.get(str(result.get("ruleKey") or result.get("ruleId"))) or {})
        level = result.get("level") or rule.get("defaultLevel")
        if level in _NO_PROBLEM or _is_left_out(result):
            continue
        severity = _LEVELS.get(level, ProblemSeverity.MEDIUM)
        rule_id = result.get("ruleId") or rule.get("id") or tool
        yield _problem(_message(result, rule), severity, _place(result), folder, rule_id)


def _is_left_out(result: Record) -> bool:
    return bool(result.get("suppressionStates")) or result.get("baselineState") == "absent"


def _place(result: Record) -> object:
    for location in records(result.get("locations") or []):
        if "physicalLocation" in location:
            raise Unreadable("The report says that it is SARIF 1.0.0, and is of another version.")
        for key in PLACES:
            if inside(location, key, "uri"):
                return location[key]
    return None


def _message(result: Record, rule: Record) -> object:
    """Its own, else the rule's template with its arguments in it."""
    message = result.get("message")
    if message is not None and not isinstance(message, str):
        raise Unreadable("The report says that it is SARIF 1.0.0, and is of another version.")
    formatted = result.get("formattedRuleMessage")
    template = inside(rule, "messageFormats", str(inside(formatted, "formatId")))
    if message or not isinstance(template, str):
        return message or rule.get("shortDescription")
    arguments = [str(one) for one in listed(inside(formatted, "arguments") or [])]

    def argument(found: re.Match[str]) -> str:
        index = int(found[1])
        return arguments[index] if index < len(arguments) else found[0]

    return _ARGUMENT.sub(argument, template)


def _problem(
    message: object, severity: ProblemSeverity, place: object, folder: str, rule: object
) -> Problem:
    return problem(
        message,
        severity,
        path=path_of_uri(inside(place, "uri"), folder),
        line=inside(place, "region", "startLine"),
        column=inside(place, "region", "startColumn"),
        rule=rule,
    )
