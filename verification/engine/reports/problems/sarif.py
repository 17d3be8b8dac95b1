"""SARIF 2.1.0, as CodeQL, Semgrep, ruff, Trivy, gosec and many others write it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from verification.engine.reports.contents import Record, as_json, inside, listed, record, records
from verification.engine.reports.model import (
    MAX_NAME_CHARS,
    Problem,
    ProblemReport,
    ProblemSeverity,
    Unreadable,
    inner_path,
)
from verification.engine.reports.problems.parsing import collected, problem

_NO_PROBLEM = frozenset({"pass", "notApplicable", "informational"})
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:")
_LEVELS: Mapping[object, ProblemSeverity] = {
    "error": ProblemSeverity.HIGH,
    "warning": ProblemSeverity.MEDIUM,
    "note": ProblemSeverity.LOW,
    "none": ProblemSeverity.LOW,
}
_MAX_SCORE, _HIGH_SCORE, _MEDIUM_SCORE = 10.0, 7.0, 4.0


def read(content: bytes, folder: str = "") -> ProblemReport:
    """What is suppressed, or told of an earlier run only, is no problem."""
    report = record(as_json(content))
    runs = listed(report.get("runs"))
    if not runs:
        raise Unreadable("The report holds no run of a tool.")
    return collected(one for run in runs for one in _problems(record(run), folder))


def _problems(run: Record, folder: str) -> Iterator[Problem]:
    # Without a list the tool did not look, says the standard: an empty one is no problem.
    results = listed(run.get("results"))
    invocations = listed(run.get("invocations") or [])
    rules, places = _rules(run), _Places(run, folder)
    complaints = [one for each in invocations for one in _complaints(each, places)]
    broke = any(inside(one, "executionSuccessful") is False for one in invocations)
    counting = [one for one in records(results) if not _is_left_out(one)]
    if broke and not counting and not complaints:
        raise Unreadable("The tool says that it did not succeed.")
    yield from complaints
    for one in counting:
        yield _problem(one, rules, places)


def _complaints(invocation: object, places: _Places) -> Iterator[Problem]:
    """What the tool could not look at: ESLint and Bandit tell files with syntax errors so."""
    for kind in ("toolConfigurationNotifications", "toolExecutionNotifications"):
        for one in records(inside(invocation, kind) or []):
            location = inside(one, "locations", 0, "physicalLocation")
            if one.get("level") == "error":
                yield problem(
                    inside(one, "message", "text"),
                    ProblemSeverity.HIGH,
                    path=places.path_of(location),
                    line=inside(location, "region", "startLine"),
                    column=inside(location, "region", "startColumn"),
                    rule=inside(one, "descriptor", "id"),
                )


def _is_left_out(result: Record) -> bool:
    """A suppression that is under review, or was rejected, suppresses nothing."""
    if result.get("kind") in _NO_PROBLEM or result.get("baselineState") == "absent":
        return True
    suppressions = listed(result.get("suppressions") or [])
    allowed = (inside(one, "status") in (None, "accepted") for one in suppressions)
    return bool(suppressions) and all(allowed)


def _rules(run: Record) -> Mapping[str | int, Record]:
    """By their id, and those of the tool itself by their place too."""
    found: dict[str | int, Record] = {}
    driver, extensions = inside(run, "tool", "driver"), inside(run, "tool", "extensions")
    for part in (driver, *(extensions if isinstance(extensions, list) else ())):
        rules = inside(part, "rules")
        for place, rule in enumerate(rules if isinstance(rules, list) else ()):
            if part is driver:
                found[place] = record(rule)
            if isinstance(key := inside(rule, "id"), str):
                found.setdefault(key, record(rule))
    return found


def _problem(result: Record, rules: Mapping[str | int, Record], places: _Places) -> Problem:
    rule_id = result.get("ruleId") or inside(result, "rule", "id")
    place = result.get("ruleIndex")
    key = rule_id if isinstance(rule_id, str) else place
    rule = rules.get(key, {}) if isinstance(key, str | int) else {}
    location = inside(result, "locations", 0, "physicalLocation")
    return problem(
        _message(result, rule),
        _severity(result, rule),
        path=places.path_of(location),
        line=inside(location, "region", "startLine"),
        column=inside(location, "region", "startColumn"),
        rule=rule_id or rule.get("id"),
    )


def _message(result: Record, rule: Record) -> object:
    message = result.get("message")
    said = inside(message, "text") or inside(message, "markdown")
    template = inside(rule, "messageStrings", str(inside(message, "id")), "text")
    return said or template or inside(rule, "shortDescription", "text")


def _severity(result: Record, rule: Record) -> ProblemSeverity:
    for one in (result, rule):
        score = _score(inside(one, "properties", "security-severity"))
        if score is not None:
            high = ProblemSeverity.HIGH if score >= _HIGH_SCORE else ProblemSeverity.MEDIUM
            return high if score >= _MEDIUM_SCORE else ProblemSeverity.LOW
    level = result.get("level") or inside(rule, "defaultConfiguration", "level")
    return _LEVELS.get(str(level), ProblemSeverity.MEDIUM)


def _score(value: object) -> float | None:
    """As CVSS scores, above 0 up to 10; 0 is none."""
    try:
        score = float(value) if isinstance(value, str | int | float) else 0.0
    except (ValueError, OverflowError):
        return None
    return score if 0 < score <= _MAX_SCORE else None


class _Places:
    """Where the artifacts of a run lie, as the workspace knows them."""

    def __init__(self, run: Record, folder: str) -> None:
        self._folder = folder
        self._artifacts = inside(run, "artifacts")
        self._bases = inside(run, "originalUriBaseIds")

    def path_of(self, location: object) -> str:
        place = inside(location, "artifactLocation")
        index = inside(place, "index")
        if inside(place, "uri") is None and isinstance(index, int):
            place = inside(self._artifacts, index, "location")
        uri, base = inside(place, "uri"), inside(place, "uriBaseId")
        if not isinstance(uri, str) or len(uri) > MAX_NAME_CHARS:
            return ""
        if _SCHEME.match(uri):
            return self._inner(uri) if uri.startswith("file:") else ""
        root = inside(self._bases, str(base), "uri")
        whole = self._inner(f"{root}{uri}") if isinstance(root, str) else ""
        # A base that lies elsewhere is of the machine on which the tool ran.
        return whole or self._inner(uri)

    def _inner(self, uri: str) -> str:
        path = uri[5:] if uri.startswith("file:/") and not uri.startswith("file://") else uri
        return inner_path(unquote(path), self._folder)
