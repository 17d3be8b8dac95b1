"""SARIF: 2.1.0, as CodeQL, Semgrep, ruff, Trivy, gosec and many others write it, and 1.0.0.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from verification.engine.reports.contents import Record, as_json, inside, listed, record, records
from verification.engine.reports.model import (
    MAX_NAME_CHARS,
    Problem,
    ProblemReport,
    ProblemSeverity,
    Unreadable,
    name,
)
from verification.engine.reports.problems import sarif_v1
from verification.engine.reports.problems.parsing import SCHEME, collected, path_of_uri, problem

_NO_PROBLEM = frozenset({"pass", "notApplicable", "informational"})
_UNDECIDED = frozenset({"open", "review"})
"""Kinds of results that the tool leaves to people, of whom none has decided yet."""
_LEVELS: Mapping[object, ProblemSeverity] = {
    "error": ProblemSeverity.HIGH,
    "warning": ProblemSeverity.MEDIUM,
    "note": ProblemSeverity.LOW,
}
_NO_LEVEL = "none"
_MAX_SCORE, _HIGH_SCORE, _MEDIUM_SCORE = 10.0, 7.0, 4.0

RunReader = Callable[[Record, str], Iterator[Problem]]


def read(content: bytes, folder: str = "") -> ProblemReport:
    """What is suppressed, or only in an earlier run, is no problem."""
    report = record(as_json(content))
    read_run = _reader_of(report.get("version"))
    runs = listed(report.get("runs"))
    if not runs:
        raise Unreadable("The report holds no run of a tool.")
    return collected(one for run in runs for one in read_run(record(run), folder))


def _reader_of(version: object) -> RunReader:
    """Versions between the two name the same things otherwise: they would look empty."""
    for pattern, reader in _VERSIONS:
        if isinstance(version, str) and pattern.fullmatch(version):
            return reader
    if not isinstance(version, str):
        raise Unreadable("The report does not say which version of SARIF it is.")
    raise Unreadable(f"The report is SARIF {name(version[:40])}: 1.0.0 and 2.1.0 are read.")


def _problems(run: Record, folder: str) -> Iterator[Problem]:
    _check_shape(run)
    results = listed(run["results"])
    invocations = listed(run.get("invocations") or [])
    rules, places = _Rules(run, invocations), _Places(run, folder)
    complaints = [one for each in invocations for one in _complaints(each, places)]
    found = [_problem(one, rules, places) for one in records(results) if not _is_left_out(one)]
    problems = [*complaints, *(one for one in found if one is not None)]
    has_failed = any(inside(one, "executionSuccessful") is False for one in invocations)
    if has_failed and all(one.severity is ProblemSeverity.LOW for one in problems):
        raise Unreadable("The tool says that it did not succeed.")
    yield from problems


def _check_shape(run: Record) -> None:
    """Raise for a run of a tool that did not look, and for one of another version."""
    if run.get("results") is None:
        # An empty list is no problem, says the standard.
        raise Unreadable("A run of the report has no results: the tool did not report.")
    tool = inside(run, "tool")
    has_other_tool = inside(tool, "name") is not None and inside(tool, "driver") is None
    results = records(run["results"])
    if has_other_tool or any(_is_of_other_version(one) for one in results):
        raise Unreadable("The report says that it is SARIF 2.1.0, and is of another version.")


def _is_of_other_version(result: Record) -> bool:
    places = listed(result.get("locations") or [])
    is_old = any(inside(one, key) is not None for one in places for key in sarif_v1.PLACES)
    return is_old or isinstance(result.get("message"), str)


def _complaints(invocation: object, places: _Places) -> Iterator[Problem]:
    """What the tool could not look at: ESLint and Bandit name files with syntax errors so."""
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


def _problem(result: Record, rules: _Rules, places: _Places) -> Problem | None:
    """None for a result of level `none`: the tool found no problem."""
    rule_id = result.get("ruleId") or inside(result, "rule", "id")
    key = rule_id if isinstance(rule_id, str) else result.get("ruleIndex")
    rule = rules.rule_of(key)
    severity = _severity(result, rule, rules.override_of(key, rule))
    if severity is None:
        return None
    location = inside(result, "locations", 0, "physicalLocation")
    return problem(
        _message(result, rule),
        severity,
        path=places.path_of(location),
        line=inside(location, "region", "startLine"),
        column=inside(location, "region", "startColumn"),
        rule=rule_id or rule.get("id"),
    )


def _message(result: Record, rule: Record) -> object:
    message = result.get("message")
    text = inside(message, "text") or inside(message, "markdown")
    template = inside(rule, "messageStrings", str(inside(message, "id")), "text")
    return text or template or inside(rule, "shortDescription", "text")


def _severity(result: Record, rule: Record, override: object) -> ProblemSeverity | None:
    """By its level, in the order that the standard gives (3.27.10), else by its score."""
    if result.get("kind") in _UNDECIDED:
        return ProblemSeverity.LOW
    default = inside(rule, "defaultConfiguration", "level")
    level = result.get("level") or override or default
    if level == _NO_LEVEL:
        return None
    for one in (result, rule):
        score = _score(inside(one, "properties", "security-severity"))
        if score is not None:
            high = ProblemSeverity.HIGH if score >= _HIGH_SCORE else ProblemSeverity.MEDIUM
            return high if score >= _MEDIUM_SCORE else ProblemSeverity.LOW
    return _LEVELS.get(str(level), ProblemSeverity.MEDIUM)


def _score(value: object) -> float | None:
    """As CVSS scores, above 0 up to 10; 0 is none."""
    try:
        score = float(value) if isinstance(value, str | int | float) else 0.0
    except (ValueError, OverflowError):
        return None
    return score if 0 < score <= _MAX_SCORE else None


class _Rules:
    """The rules of a run, by id, and those of the tool itself by their place too."""

    def __init__(self, run: Record, invocations: Sequence[object]) -> None:
        self._rules: dict[str | int, Record] = {}
        self._overrides: dict[str | int, object] = {}
        driver, extensions = inside(run, "tool", "driver"), inside(run, "tool", "extensions")
        for part in (driver, *(extensions if isinstance(extensions, list) else ())):
            rules = inside(part, "rules")
            for place, rule in enumerate(rules if isinstance(rules, list) else ()):
                if part is driver:
                    self._rules[place] = record(rule)
                if isinstance(key := inside(rule, "id"), str):
                    self._rules.setdefault(key, record(rule))
        for invocation in invocations:
            for one in records(inside(invocation, "ruleConfigurationOverrides") or []):
                level = inside(one, "configuration", "level")
                for key in (inside(one, "descriptor", "id"), inside(one, "descriptor", "index")):
                    if isinstance(key, str | int) and level is not None:
                        self._overrides[key] = level

    def rule_of(self, key: object) -> Record:
        return self._rules.get(key, {}) if isinstance(key, str | int) else {}

    def override_of(self, key: object, rule: Record) -> object:
        """The level that the call of the tool gave the rule; None where it gave none."""
        keys = [one for one in (key, rule.get("id")) if isinstance(one, str | int)]
        return next((self._overrides[one] for one in keys if one in self._overrides), None)


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
        if SCHEME.match(uri):
            return path_of_uri(uri, self._folder)
        root = inside(self._bases, str(base), "uri")
        whole = path_of_uri(f"{root}{uri}", self._folder) if isinstance(root, str) else ""
        # A base that lies elsewhere is of the machine on which the tool ran.
        return whole or path_of_uri(uri, self._folder)


_VERSIONS: Sequence[tuple[re.Pattern[str], RunReader]] = (
    (re.compile(r"2\.1(?:\.0)?(?:-rtm\.\d{1,3})?"), _problems),
    (re.compile(r"1\.0(?:\.0)?"), sarif_v1.problems),
)
