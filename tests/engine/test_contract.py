"""What every check promises, whatever it looks at."""

from __future__ import annotations

import json
import re
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import (
    Definition,
    Deliverable,
    Enforcement,
    Expect,
    Phase,
    Rule,
    RuleType,
    Target,
)
from tests.engine.cases import case, evaluate, failed_call, ports, regex
from tests.engine.strategies import cases, gate_reports
from tests.tiers import long_search
from verification.engine import checks
from verification.engine.case import Case, Ports
from verification.engine.climb import climb, conclude
from verification.engine.evidence import (
    Answer,
    Claim,
    EvidenceItem,
    Matches,
    NotInspected,
    Pattern,
    Submission,
    SubmittedFile,
    SyntaxProblem,
    TaskSpec,
    ToolCall,
)
from verification.engine.fakes import FixedClock, InProcessProbe
from verification.engine.finding import Finding, TraceEntry
from verification.engine.gates import GateReport
from verification.engine.gating.findings import ask
from verification.engine.golden.given import RecordedGates
from verification.engine.outcome import Status
from verification.engine.reasons import REASONS
from verification.engine.reports.model import TestCounts
from verification.engine.verifier import VerifierSpec

DOCUMENT = Path(__file__).parents[2] / "docs" / "engine.md"
STABLE_IDS = (
    "submission-not-empty",
    "return-code",
    "tool-calls",
    "deliverables-exist",
    "changed-files",
    "file-types",
    "syntax",
    "regex-rules",
    "unscoped-rules",
    "claims",
    "not-run",
    "loomverify-yaml",
)
BESIDE_CHECKS = ("gates",)
ABOUT_A_FILES_ABSENCE = {"deliverable_missing", "deliverable_empty", "changed_file_missing"}
EVERYTHING: dict[str, Any] = {
    "files": {
        "a.py": "def f(:", "b.json": "{", "c.yaml": "a: [", "d.md": "x", "e.png": "x",
        "blank.md": "\n", "Case.md": "x", "loomverify.yaml": "colour: red\n",
    },
    "deliverables": ["a.py", "missing.md", "d.md", "e.png", "blank.md", "case.md"],
    "rules": [
        regex("no-x", "x", target="deliverables"),
        regex("bad", "(?=x)"),
        regex("of-no-phase", "x", applies_to_phases=()),
    ],
    "tool_calls": (
        ToolCall("edit", False, "no", args=3, files_changed=["../x", "d.md", "gone.md", 7]),
        ToolCall("edit", True, files_changed=["../x", "d.md", "gone.md", "/tmp/x"]),  # noqa: S108
    ),
    "return_code": 2,
    "gates": ["test"],
    "custom_verifier": "totals",
    "output": "x",
    "claims": (Claim("It is so.", "certain!", "recommendation"),),
}  # fmt: skip
REPORTS = (
    GateReport("test", Status.FAILED, exit_code=1),
    GateReport("test", Status.PASSED, exit_code=1),
    GateReport("test", Status.TIMED_OUT),
    GateReport("test", Status.PASSED, tests=TestCounts()),
    GateReport("test", Status.ERROR),
)


@cache
def documented() -> dict[str, set[str]]:
    """The reason codes of each check, from the table of findings."""
    section = DOCUMENT.read_text().split("\n## Findings\n")[1].split("\n## ")[0]
    codes: dict[str, set[str]] = {}
    check_id = ""
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and (cells[0].startswith("`") or codes):
            check_id = cells[0].strip("`") or check_id
            codes.setdefault(check_id, set()).update(re.findall(r"`(\w+)`", cells[3]))
    return codes


def findings_of(check_id: str, asked: Case, reach: Ports) -> list[Finding]:
    seen = checks.CHECKS[check_id].look(asked, reach)
    return [one for one in seen if isinstance(one, Finding)]


def places(findings: Sequence[Finding]) -> list[str]:
    """What a finding is, but for its name."""
    return [json.dumps({**one.to_json(), "fingerprint": ""}, sort_keys=True) for one in findings]


def test_the_ids_of_checks_are_stable() -> None:
    assert checks.IDS == STABLE_IDS


def test_each_check_and_each_of_its_reasons_is_documented() -> None:
    told = documented()

    assert tuple(told) == (*STABLE_IDS, *BESIDE_CHECKS)
    assert all(codes <= set(REASONS) for codes in told.values())


@pytest.mark.parametrize("check_id", checks.IDS)
def test_the_example_shows_what_each_check_finds(check_id: str) -> None:
    asked = case(output="") if check_id == "submission-not-empty" else case(**EVERYTHING)
    findings = findings_of(check_id, asked, ports(EVERYTHING["files"]))

    assert findings
    assert {one.reason_code for one in findings} <= documented()[check_id]


@pytest.mark.parametrize("check_id", checks.IDS)
def test_no_check_finds_fault_with_an_output_alone(check_id: str) -> None:
    assert list(checks.CHECKS[check_id].look(case(), ports())) == []


def test_gates_find_what_is_documented_of_them() -> None:
    asked = case(**{**EVERYTHING, "gates": [report.gate for report in REPORTS]})

    found = ask(asked, replace(ports(), gates=RecordedGates(REPORTS))).findings

    assert found
    assert {one.reason_code for one in found} <= documented()["gates"]


@pytest.mark.extended
@long_search(200)
@given(cases(), st.none() | st.lists(gate_reports(), max_size=4).map(RecordedGates))
def test_every_check_keeps_the_contract(
    whole: tuple[Case, Any], sandbox: RecordedGates | None
) -> None:
    asked, workspace = whole
    reach = Ports(workspace, InProcessProbe(), FixedClock(), gates=sandbox)
    rules = {rule.name for rule in asked.definition.rules}
    allowed = documented()

    for check in checks.CHECKS.values():
        first, again = (list(check.look(asked, reach)) for _ in range(2))
        findings = [one for one in first if isinstance(one, Finding)]

        assert first == again
        assert all(isinstance(one, Finding | TraceEntry) for one in first)
        assert all(one.rule == check.id or one.rule in rules for one in findings)
        assert all(one.message.strip() for one in findings)
        assert {one.reason_code for one in findings} <= allowed[check.id]
        assert len(set(places(findings))) == len(findings), "one finding per problem"


@pytest.mark.extended
@given(cases(), st.none() | st.lists(gate_reports(), max_size=4).map(RecordedGates))
def test_whatever_is_submitted_is_concluded_and_can_be_stored(
    whole: tuple[Case, Any], sandbox: RecordedGates | None
) -> None:
    asked, workspace = whole
    reach = Ports(workspace, InProcessProbe(), FixedClock(), gates=sandbox)

    tiers = list(climb(asked, reach))
    conclusion = conclude(asked, tiers)

    gone = [one.path for one in conclusion.findings if one.reason_code in ABOUT_A_FILES_ABSENCE]
    kinds = [one.path for one in conclusion.findings if one.reason_code == "file_type_mismatch"]
    broken = {one.path for one in conclusion.findings if one.reason_code == "syntax_invalid"}
    assert len(set(gone)) == len(gone), "one finding per problem, whichever check finds it"
    assert broken.isdisjoint(kinds)
    assert len({one.fingerprint for one in conclusion.findings}) == len(conclusion.findings)
    assert all(len(one.fingerprint) == 64 for one in conclusion.findings)
    stored = json.dumps([one.to_json() for one in conclusion.findings], ensure_ascii=False)
    assert stored.encode().decode() == stored
    assert "\0" not in stored


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"output": "x"}, {"output": "\n\nfine\n  x"}),
        (
            {"files": {"a.py": "x = 1\ndef f(:\n"}, "deliverables": ["a.py"]},
            {"files": {"a.py": "# why\n\nx = 1\ndef f(:\n"}, "deliverables": ["a.py"]},
        ),
        (
            {"files": {"a.json": '{"a": }'}, "deliverables": ["a.json"]},
            {"files": {"a.json": '\n\n{"a": }'}, "deliverables": ["a.json"]},
        ),
        (
            {"tool_calls": (failed_call("edit", "no"),)},
            {"tool_calls": (ToolCall("read", True), failed_call("edit", "no"))},
        ),
        (
            {"tool_calls": (ToolCall("edit", True, files_changed=["gone.md"]),)},
            {
                "tool_calls": (
                    ToolCall("x", True),
                    ToolCall("edit", True, files_changed=["gone.md"]),
                )
            },
        ),
    ],
)
def test_a_fingerprint_stays_when_other_things_are_added_above(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    rules = [regex("no-x", "x", expect="no_match")]

    one, other = (evaluate(**about, rules=rules).findings for about in (before, after))

    assert one
    assert [finding.fingerprint for finding in one] == [finding.fingerprint for finding in other]


CALLS, FILES, OUTPUTS, RULES = 10_000, 20_000, 5_000, 500
SECONDS, MEGABYTES = 60, 100
"""Generous: quadratic work over so much would take hours, and gigabytes."""


class CountingProbe:
    """Finds nothing, and counts what it was asked."""

    def __init__(self) -> None:
        self.parsed = self.searched = self.requests = 0

    def start(self) -> None:
        """There is nothing to start."""

    def syntax(
        self, sources: Sequence[tuple[str, bytes]]
    ) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
        self.requests += 1
        self.parsed += len(sources)
        return [()] * len(sources)

    def search(
        self, patterns: Sequence[Pattern], texts: Sequence[bytes], *, seconds: float
    ) -> Sequence[Answer]:
        self.requests += 1
        self.searched += len(texts)
        return [Matches(0)] * len(patterns)


class CountingWorkspace:
    """The same few bytes under every path."""

    def __init__(self) -> None:
        self.read_files = 0

    def read(self, path: str) -> bytes:
        self.read_files += 1
        return b"x = 1\n"


def hostile() -> Case:
    """As much of everything as fits, in the shapes that cost most."""
    calls = tuple(
        ToolCall(
            "web_fetch" if number % 3 else "edit",
            success=bool(number % 2),
            error=f"{'x' * 300}{' outside the' * 20} {number}",
            args={"command": f"rm x{number}"},
            files_changed=[f"/w/p/{number}/a.md", f"{number}.md", f"/{'d/' * 200}f.py"],
        )
        for number in range(CALLS)
    )
    files = tuple(
        SubmittedFile(f"s/{number}/f.py" if number % 2 else f"{'d/' * (number % 200)}{number}.md",
                      "0" * 64, 6)
        for number in range(FILES)
    )  # fmt: skip
    kinds = (f"out/{{}}.md {{}}*.md /a/{'q/' * 50}{{}} {'d/' * 40}{{}} ./x/../{{}}.py").split()
    expected = tuple(kinds[number % 5].format(number) for number in range(OUTPUTS))
    rules = tuple(
        Rule(
            name=f"rule-{number}",
            check=f"y{number}",
            type=RuleType.REGEX,
            target=list(Target)[number % 3],
            expect=list(Expect)[number % 2],
            applies_to_phases=("*",),
        )
        for number in range(RULES)
    )
    other = Phase("other", deliverables=tuple(Deliverable(f"s/{n}/") for n in range(OUTPUTS)))
    phase = Phase("this", is_critical_path=True, gates=("test",))
    return Case(
        definition=Definition("process", (other, phase), rules=rules),
        phase=phase,
        submission=Submission(
            task=TaskSpec("t", "Do it.", expected_outputs=expected),
            output="x\n" * 500_000,
            tool_calls=calls,
            files=files,
            claims=tuple(Claim("", f"{n}", "other", ("e",) * 50) for n in range(OUTPUTS)),
            evidence=tuple(EvidenceItem(f"e{n}", text="x" * 100) for n in range(OUTPUTS)),
            return_code=1,
        ),
        verifier=VerifierSpec(),
        tier=1,
    )


@pytest.fixture(scope="module")
def large() -> Case:
    return hostile()


@pytest.mark.extended
@pytest.mark.parametrize("check_id", checks.IDS)
def test_every_check_is_bounded_in_work_time_and_memory(check_id: str, large: Case) -> None:
    workspace, probe = CountingWorkspace(), CountingProbe()
    reach = Ports(workspace, probe, FixedClock())
    tracemalloc.start()
    started = time.process_time()

    count = sum(1 for _ in checks.CHECKS[check_id].look(large, reach))

    seconds, (_, peak) = time.process_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count <= 2 * CALLS + OUTPUTS + RULES
    assert workspace.read_files <= FILES
    assert probe.parsed <= FILES
    assert probe.requests <= FILES // 100
    assert seconds < SECONDS
    assert peak < MEGABYTES * 1_000_000


@pytest.mark.extended
def test_so_large_a_run_is_concluded_in_bounded_time(large: Case) -> None:
    started = time.process_time()

    tiers = list(climb(large, Ports(CountingWorkspace(), CountingProbe(), FixedClock())))
    conclusion = conclude(large, tiers)

    assert conclusion.verdict == "reject"
    assert time.process_time() - started < SECONDS


def test_a_failed_call_costs_the_same_however_many_follow() -> None:
    calls = tuple(failed_call("edit", "no") for _ in range(CALLS))
    asked = case(tool_calls=calls)
    seen: list[int] = []

    class Watched(tuple):  # type: ignore[type-arg]
        def __getitem__(self, key: Any) -> Any:
            seen.append(1)
            return super().__getitem__(key)

    watched = replace(asked, submission=replace(asked.submission, tool_calls=Watched(calls)))
    findings = findings_of("tool-calls", watched, ports())

    assert len(findings) == CALLS
    assert all(one.enforcement is Enforcement.HARD for one in findings)
    assert not seen, "no failure looks through the calls that follow"
