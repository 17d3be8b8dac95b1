"""Plugin: `make test` meets each page, API operation, check and reason code at least once.

Workers record what the tests reach. At the end the run lists what no test reached, and fails.
A page or an operation counts when it is answered without an error, a check or a reason code when
an evaluation has a finding with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

KINDS = ("page", "operation", "check", "reason code")
OUTPUT = "loomverify_behaviours"
CONVERTER = re.compile(r"<(?:\w+:)?(\w+)>")
"""A parameter in Django's notation, `<uuid:run_id>`, which OpenAPI writes as `{run_id}`."""

reached: dict[str, set[str]] = {kind: set() for kind in KINDS}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--behaviours", action="store_true", help="fail where a behaviour is not reached"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--behaviours"):
        return
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        record_conclusions()
        record_answers()
    config.pluginmanager.register(_Report(), "tests.behaviours.report")


def record_conclusions() -> None:
    """Record the reason codes and checks of each conclusion."""
    from verification.engine.checks.registry import CHECKS
    from verification.engine.climb import Conclusion
    from verification.engine.decision import SCORE_RULE
    from verification.engine.outcome import Source

    create = Conclusion.__init__

    def recording(conclusion: Conclusion, *arguments: Any, **fields: Any) -> None:
        create(conclusion, *arguments, **fields)
        for finding in conclusion.findings:
            reached["reason code"].add(finding.reason_code)
            if finding.rule in CHECKS:
                reached["check"].add(finding.rule)
            elif finding.source is Source.DETERMINISTIC and finding.rule != SCORE_RULE:
                reached["check"].add("regex-rules")  # its findings carry the names of rules
        reached["reason code"].add(conclusion.reason_code)
        reached["reason code"].add(conclusion.accounted.terminal)

    setattr(Conclusion, "__init__", recording)  # noqa: B010


def record_answers() -> None:
    """Record pages and operations as the test client and the live server answer them."""
    from django.core.handlers.base import BaseHandler

    answer = BaseHandler.get_response

    def recording(handler: BaseHandler, request: Any) -> Any:
        response = answer(handler, request)
        match = request.resolver_match
        if match is not None and response.status_code < 400:
            if "api/v1/" in match.route:
                path = CONVERTER.sub(r"{\1}", match.route)
                reached["operation"].add(f"{request.method} /{path}")
            else:
                reached["page"].add(match.view_name)
        return response

    setattr(BaseHandler, "get_response", recording)  # noqa: B010


def expected() -> dict[str, set[str]]:
    """Every page, operation, check and reason code of the product."""
    from django.urls import get_resolver

    import verification.engine.checks  # noqa: F401 - registers the checks
    from loomverify.api import api
    from verification.engine.checks.registry import CHECKS
    from verification.engine.reasons import REASONS

    return {
        "page": set(_page_names(get_resolver().url_patterns)),
        "operation": set(_operations(api.get_openapi_schema()["paths"])),
        "check": set(CHECKS),
        "reason code": set(REASONS),
    }


def _page_names(patterns: Iterable[Any]) -> Iterator[str]:
    """Yield the names of our own pages, without the API and Django's admin."""
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            if not pattern.app_name:
                yield from _page_names(pattern.url_patterns)
        elif pattern.name:
            yield pattern.name


def _operations(paths: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    for path, item in paths.items():
        yield from (f"{method.upper()} {path}" for method in item)


class _Report:
    """Collects from the workers, and reports what is missing."""

    def __init__(self) -> None:
        self.expected: dict[str, set[str]] = {}
        self.missing: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        config = session.config
        if hasattr(config, "workerinput"):
            output = {kind: sorted(names) for kind, names in reached.items()}
            wanted = {kind: sorted(names) for kind, names in expected().items()}
            config.workeroutput[OUTPUT] = (output, wanted)  # type: ignore[attr-defined]
            return
        if not self.expected:
            self.expected = expected()
        self.missing = [
            f"{kind} {name}"
            for kind in KINDS
            for name in sorted(self.expected[kind] - reached[kind])
        ]
        if self.missing and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_testnodedown(self, node: Any) -> None:
        output, wanted = getattr(node, "workeroutput", {}).get(OUTPUT, ({}, {}))
        for kind, names in output.items():
            reached[kind].update(names)
        for kind, names in wanted.items():
            self.expected[kind] = set(names)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for kind in KINDS:
            wanted = self.expected.get(kind, set())
            terminalreporter.write_line(
                f"{kind}s reached: {len(wanted & reached[kind])} of {len(wanted)}"
            )
        for missing in self.missing:
            terminalreporter.write_line(f"not reached: {missing}")
