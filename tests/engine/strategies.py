"""Whole cases, sensible and absurd ones alike."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from processes.definition.model import (
    Definition,
    Deliverable,
    Enforcement,
    Expect,
    GatesWithoutSandbox,
    Phase,
    ProcessPolicy,
    Rule,
    RuleType,
    Severity,
    Target,
    ToolSuccessPolicy,
)
from tests.engine.cases import OTHER_PHASE, PHASE
from verification.engine.case import Case
from verification.engine.evidence import Claim, EvidenceItem, Submission, TaskSpec, ToolCall
from verification.engine.fakes import MemoryWorkspace
from verification.engine.gates import GateReport
from verification.engine.gating.findings import FAILED
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts
from verification.engine.verifier import LEGACY_FLAGS, Flags, PhaseScope, VerifierSpec


def _json(floats: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | st.integers() | floats | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        ),
        max_leaves=8,
    )


JSON = _json(st.floats())
"""As Python reads it, NaN and infinities among its numbers."""
STRICT_JSON = _json(st.floats(allow_nan=False, allow_infinity=False))
GLOBAL = Flags(phase_scope_default=PhaseScope.GLOBAL)
FLAGS = st.sampled_from(
    [
        Flags(),
        GLOBAL,
        LEGACY_FLAGS,
        Flags(regex_default_advisory=False),
        Flags(allow_partial_verified=False),
        Flags(unconfirmed_supporting_threshold=0.0),
    ]
)
PATHS = st.sampled_from(
    [
        "a.md",
        "a.py",
        "b.json",
        "c.yaml",
        "d.csv",
        "e.png",
        "src/f.py",
        "src/",
        ".",
        "gone.md",
        "A.MD",
        "*.md",
        "**/*.py",
        "[",
        "{a,b}.md",
        "../x",
        "/etc/passwd",
        "~/.ssh/id",
        "C:\\x\\a.py",
        "/work/a.md",
        "file:///w/a.md",
        "$OUT/b.json",
    ]
) | st.text(max_size=12)
CONTENTS = st.sampled_from(
    [b"", b"\n", b"x", b"TODO", b"{", b'{"a": 1}', b"a: [", b"def f(:\n", b"\0\1", b"\xff\xfea\0"]
) | st.binary(max_size=12)
TEXTS = st.sampled_from(["", "x", "TODO", "x\nx", "é x"]) | st.text(max_size=20)
SCOPES = st.sampled_from([(), ("*",), (PHASE,), (OTHER_PHASE,), (OTHER_PHASE, PHASE)])


RULES = st.lists(
    st.builds(
        Rule,
        name=st.sampled_from("abcdef"),
        check=st.sampled_from(["x", "TODO", "(?=x)", "^$", "(", "é"]) | st.text(max_size=6),
        type=st.sampled_from(RuleType),
        severity=st.sampled_from(Severity),
        enforcement=st.sampled_from([None, *Enforcement]),
        target=st.sampled_from(Target),
        applies_to_phases=SCOPES,
        expect=st.sampled_from(Expect),
        min_count=st.none() | st.integers(0, 3),
        requires_exact_cardinality=st.booleans(),
        failure_class=st.sampled_from(["", "hard_integrity", "recoverable_placeholder"]),
    ),
    max_size=5,
    unique_by=lambda rule: rule.name,
)


TOOL_CALLS = st.lists(
    st.builds(
        ToolCall,
        tool=st.sampled_from(["edit", "bash", "web_fetch", "delete_file"]) | st.text(max_size=8),
        success=st.booleans(),
        error=st.sampled_from(["", "HTTP 404", "path is outside the workspace"]) | TEXTS,
        args=JSON,
        result=JSON,
        files_changed=st.lists(PATHS, max_size=4) | JSON,
    ),
    max_size=4,
)
CLAIMS = st.lists(
    st.builds(
        Claim,
        text=TEXTS,
        label=st.sampled_from(["confirmed", "inferred", "Unsupported"]) | st.text(max_size=4),
        section=st.sampled_from(["recommendation", "supporting"]) | st.text(max_size=4),
        evidence=st.lists(st.sampled_from(["e1", "e9"]), max_size=2).map(tuple),
    ),
    max_size=4,
)


def gate_reports() -> st.SearchStrategy[GateReport]:
    counts = st.integers(0, 2)
    return st.builds(
        GateReport,
        gate=st.sampled_from(sorted(FAILED)),
        status=st.sampled_from(Status),
        component=st.sampled_from(["", "web"]),
        exit_code=st.none() | st.sampled_from([0, 1, 4, 5, 137, -9]),
        tests=st.none() | st.builds(TestCounts, counts, counts, counts, counts),
        detail=st.sampled_from(["", "It did not end well."]),
        is_guess=st.booleans(),
        is_word=st.booleans(),
    )


@st.composite
def cases(draw: st.DrawFn, flags: st.SearchStrategy[Flags] = FLAGS) -> tuple[Case, Any]:
    """A case of tier 1, and the files of its workspace."""
    workspace = MemoryWorkspace(draw(st.dictionaries(PATHS, CONTENTS, max_size=5)))
    phases = tuple(
        Phase(
            name,
            deliverables=tuple(map(Deliverable, draw(st.lists(PATHS, max_size=3)))),
            is_critical_path=draw(st.booleans()),
            is_synthesis=draw(st.booleans()),
            advisory=draw(st.booleans()),
            gates=draw(st.sampled_from([(), (), (), ("test",)])),
            gates_without_sandbox=draw(st.sampled_from([None, *GatesWithoutSandbox])),
            custom_verifier=draw(st.sampled_from(["", "", "", "totals"])),
        )
        for name in (OTHER_PHASE, PHASE)
    )
    definition = Definition(
        name="process",
        phases=phases,
        rules=tuple(draw(RULES)),
        policy=ProcessPolicy(tool_success_policy=draw(st.sampled_from(ToolSuccessPolicy))),
    )
    submission = Submission(
        task=TaskSpec("t", "Do it.", expected_outputs=tuple(draw(st.lists(PATHS, max_size=3)))),
        output=draw(TEXTS),
        tool_calls=tuple(draw(TOOL_CALLS)),
        files=workspace.files,
        claims=tuple(draw(CLAIMS)),
        evidence=draw(st.sampled_from([(), (EvidenceItem("e1", text="x"),)])),
        return_code=draw(st.sampled_from([None, 0, 1, -9])),
    )
    spec = VerifierSpec(flags=draw(flags))
    return Case(definition, phases[1], submission, spec, tier=1), workspace
