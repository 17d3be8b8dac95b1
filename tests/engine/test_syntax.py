from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.engine.cases import case, evaluate, ports, told
from verification.engine.case import Ports
from verification.engine.checks import CHECKS
from verification.engine.checks.syntax import MAX_LOSSES
from verification.engine.evidence import CouldNotInspect, NotInspected, SyntaxProblem
from verification.engine.fakes import FixedClock, InProcessProbe, MemoryWorkspace
from verification.engine.finding import Finding
from verification.engine.verifier import Limits

SECONDS = Limits().syntax_seconds


class SlowProbe(InProcessProbe):
    """Takes as many seconds for each file as the file says, and loses those that say so."""

    def __init__(self, clock: FixedClock) -> None:
        self.clock = clock
        self.asked: list[str] = []

    def syntax(
        self, sources: Sequence[tuple[str, bytes]]
    ) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
        self.asked += [path for path, _ in sources]
        self.clock.advance(sum(float(content.split()[0]) for _, content in sources))
        if any(b"lost" in content for _, content in sources):
            raise CouldNotInspect("It took too long.")
        return [[] for _ in sources]


def looked(
    files: dict[str, str], deliverables: Sequence[str] = ()
) -> tuple[SlowProbe, dict[str, Finding]]:
    clock = FixedClock()
    probe = SlowProbe(clock)
    asked = case(files=files, deliverables=deliverables)
    found = CHECKS["syntax"].look(asked, Ports(MemoryWorkspace(files), probe, clock))
    return probe, {one.path: one for one in found if isinstance(one, Finding)}


@pytest.mark.parametrize(
    ("path", "content", "declared", "counts"),
    [
        ("a.json", "{", True, "hard"),
        ("a.json", "{", False, "advisory"),
        ("a.json", "[NaN]", True, "advisory"),
        ("a.json", "\ufeff{}", True, "observe"),
        ("a.csv", "a,b\n1\n", True, "advisory"),
        ("a.js", "f(1;", True, "advisory"),
        ("a.sql", "select * form t", True, "advisory"),
        ("a.yaml", "a: {{ b }}/c\n", True, "observe"),
    ],
)
def test_an_answer_counts_by_its_certainty_and_by_what_was_declared(
    path: str, content: str, declared: bool, counts: str
) -> None:
    conclusion = evaluate(files={path: content}, deliverables=[path] if declared else [])

    assert told(conclusion) == [("syntax", counts, "syntax_invalid")]


@pytest.mark.parametrize("before", ['{"a": 1, "a": 2}\n' * 30, "[NaN]\n" * 30, "[1]\n\n" * 30])
def test_what_is_certain_is_found_behind_any_number_of_remarks(before: str) -> None:
    conclusion = evaluate(files={"a.jsonl": f'{before}{{"a": '}, deliverables=["a.jsonl"])

    assert conclusion.verdict == "reject"
    assert ("syntax", "hard", "syntax_invalid") in told(conclusion)


@pytest.mark.parametrize(
    ("path", "verdict", "counts"),
    [("a.json", "undecided", "hard"), ("a.sql", "accept", "advisory")],
)
def test_a_lost_answer_matters_where_it_could_have_been_hard(
    path: str, verdict: str, counts: str
) -> None:
    clock = FixedClock()

    conclusion = evaluate(files={path: "1 lost"}, deliverables=[path], probe=SlowProbe(clock))

    assert told(conclusion) == [("syntax", counts, "infra_verifier_error")]
    assert conclusion.verdict == verdict


def test_what_was_declared_is_parsed_before_others_use_up_the_time() -> None:
    files = {f"{number}.csv": f"{SECONDS} x" + " " * 3_999_990 for number in range(3)}

    probe, found = looked({**files, "z.json": "0 x"}, deliverables=["z.json"])

    assert probe.asked[0] == "z.json"
    assert "z.json" not in found
    assert [one.message for one in found.values()] == [
        "Could not be parsed: The other files took too long."
    ]


def test_a_run_is_delayed_by_a_bounded_time_whatever_is_lost() -> None:
    files = {f"{number}.json": "10 lost" for number in range(100)}

    probe, found = looked(files)

    assert len(found) == 100
    assert len(probe.asked) <= len(files) + MAX_LOSSES
    assert {one.verdict for one in found.values()} == {"unknown"}


def test_findings_come_in_the_order_of_the_files() -> None:
    files = {"a.csv": "a,b\n1\n", "b.json": "{", "c.csv": "a,b\n1\n"}

    found = CHECKS["syntax"].look(case(files=files, deliverables=["b.json"]), ports(files))

    assert [one.path for one in found if isinstance(one, Finding)] == ["a.csv", "b.json", "c.csv"]


def test_a_dense_source_of_20_mb_is_unknown_and_never_parsed() -> None:
    files = {"a.py": "1," * 10_000_000, "b.json": "0 x"}

    probe, found = looked(files, deliverables=["a.py"])

    assert probe.asked == ["b.json"]
    assert [(one.verdict, one.enforcement) for one in found.values()] == [("unknown", "advisory")]
    assert found["a.py"].message == "Too large to be parsed."
