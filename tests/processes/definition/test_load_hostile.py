"""Files made to break the loader: answered with places, within bounded time and memory."""

from __future__ import annotations

import time
import tracemalloc
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import yaml

from processes.definition.lint import lint
from processes.definition.load import Loaded, load
from processes.definition.model import Level
from tests.processes.files import SMALL, WITH_EVERYTHING
from tests.processes.patching import BUILT_IN, STYLES, places, read, text_of
from tests.tables import check_rows

MAX_CPU_SECONDS = 60.0
"""Far above what any needs (under a second, and several while its memory is traced), far below
what one without a bound would take."""
MAX_MEMORY_BYTES = 400 * 1024 * 1024

HEAD = "name: x\nphases:\n- {id: a, description: d}\n"
IN_PHASE = "name: x\nphases:\n- {id: a, description: d, "
OF_THE_FILE = object()
OTHER_FILES = [
    path for path in (*STYLES, *BUILT_IN) if path.stem in ("anchors", "old-package", "code-change")
]
"""Files with keys that `WITH_EVERYTHING` does not have."""


def nested(levels: int) -> Any:
    value: Any = []
    for _level in range(levels):
        value = [value]
    return value


KINDS: dict[str, Any] = {
    "null": None,
    "empty list": [],
    "empty mapping": {},
    "list": [None, [], {}, "x", 1],
    "mapping": {"a": None, "": [], "id": {}, "name": [], "check": {}},
    "text": "x",
    "no text": "",
    "flag": True,
    "decimal": -1.5,
    "endless": float("inf"),
    "huge": 10**400,
    "deep": nested(60),
    "deeper": nested(150),
    "long": "x" * 5_000,
    "alias": OF_THE_FILE,
}


def with_node(document: Any, place: tuple[Any, ...], node: Any) -> str:
    """Write the document with a node replaced; an alias names its `phases`."""
    parent = document
    for key in place[:-1]:
        parent = parent[key]
    before = parent[place[-1]]
    is_phases = place == ("phases",)
    parent[place[-1]] = {"also": document["name"]} if is_phases else document["phases"]
    if node is not OF_THE_FILE:
        parent[place[-1]] = node
    try:
        return yaml.dump(document, Dumper=yaml.CDumper, sort_keys=False)
    finally:
        parent[place[-1]] = before


def assert_answered(loaded: Loaded, source: str, place: Any) -> None:
    assert (loaded.definition is None) == bool(loaded.errors), place
    lines = source.count("\n") + 1
    assert all(1 <= problem.line <= lines for problem in loaded.problems), place
    assert all(problem.column >= 1 for problem in loaded.problems), place
    stream = {"yaml", "file"}
    pathless = [
        error.code
        for error in loaded.errors
        if not error.path and error.code.split(".")[0] not in stream
    ]
    assert pathless == [], place


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize("path", OTHER_FILES, ids=lambda path: path.stem)
def test_a_node_of_another_kind_is_told_wherever_it_stands(path: Path) -> None:
    document = read(text_of(path))
    kinds = cycle(KINDS.items())
    step = 1 if path in STYLES else 4  # long files that all look alike

    for place, _node in list(places(document))[::step]:
        for _number in range(2):
            kind, node = next(kinds)
            source = with_node(document, place, node)
            assert_answered(load(source), source, (kind, place))


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize("kind", KINDS)
def test_a_node_of_this_kind_is_told_in_every_place_that_is_read(kind: str) -> None:
    document = read(WITH_EVERYTHING)

    for place, _node in places(document):
        source = with_node(document, place, KINDS[kind])
        assert_answered(load(source), source, place)


BOMBS = {
    "a hundred thousand anchors": HEAD
    + "m: ["
    + ",".join(f"&a{i} 1" for i in range(100_000))
    + "]",
    "anchors within the bound": HEAD + "m: [" + ",".join(f"&a{i} x" for i in range(49_000)) + "]",
    "brackets": HEAD + "m: " + "[" * 100_000,
    "braces": HEAD + "m: " + "{a: " * 100_000,
    "question marks": HEAD + "m:\n " + "? " * 100_000,
    "deep blocks": HEAD + "m:\n" + "".join(" " * i + "- \n" for i in range(1, 1_400)),
    "a text of a megabyte": HEAD + "m: " + "x" * 1_000_000,
    "a quoted text of a megabyte": HEAD + 'm: "' + "\\n" * 500_000 + '"',
    "a text of many lines": HEAD + "m: x\n" + " x\n" * 330_000,
    "many documents": "a: 1\n---\n" * 100_000,
    "many empty documents": "---\n" * 250_000,
    "many directives": "%TAG ! tag:x,2020:\n" * 50_000,
    "many aliases": HEAD + "b: &b [x]\nm: [" + "*b, " * 1_001 + "]\n",
    "aliases of much": HEAD + "b: &b [" + "1, " * 49_000 + "]\nm: [" + "*b, " * 900 + "]\n",
    "merges in a chain": HEAD
    + "a0: &a0 {x: 1}\n"
    + "".join(f"a{i}: &a{i} {{<<: *a{i - 1}, y{i}: 1}}\n" for i in range(1, 300)),
    "merges of much": "name: x\nb: &b {"
    + ", ".join(f"k{i}: 1" for i in range(220))
    + "}\nphases:\n"
    + "".join(f"- {{id: p{i}, description: d, <<: *b}}\n" for i in range(100)),
    "keys twice": HEAD + "a: 1\n" * 24_000,
    "unknown keys": HEAD + "".join(f"k{i}: v\n" for i in range(24_000)),
    "a long key above much that is wrong": HEAD
    + "prompt_contracts:\n  remediation_instructions:\n    ? "
    + "k" * 500_000
    + "\n    : ["
    + "[]," * 20_000
    + "]\n",
    "strangers": IN_PHASE + "depends_on: [" + ",".join(f"p{i}" for i in range(49_000)) + "]}\n",
    "gates": IN_PHASE + "gates: [" + ",".join(f"p{i}" for i in range(49_000)) + "]}\n",
    "files": IN_PHASE + "deliverables: [" + ",".join(f"f{i}" for i in range(49_000)) + "]}\n",
    "rings": "name: x\nphases:\n"
    + "".join(
        f"- {{id: p{i}, description: d, depends_on: [{','.join(f'p{j}' for j in range(200))}]}}\n"
        for i in range(200)
    ),
    "twins": HEAD + "verification:\n  rules:\n" + "  - {name: r, check: a, type: regex}\n" * 500,
    "no list ends": HEAD + "m: " + "- " * 100_000,
    "ampersands": "&" * 1_000_000,
    "dashes": "-" * 1_000_000,
    "comments": "# x\n" * 260_000,
}


@pytest.mark.extended
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_bounded_time_and_memory(name: str) -> None:
    source = BOMBS[name]
    tracemalloc.start()
    start = time.process_time()

    loaded = load(source)
    linted = lint(loaded.definition) if loaded.definition else ()

    seconds = time.process_time() - start
    _size, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < MAX_CPU_SECONDS
    assert peak < MAX_MEMORY_BYTES
    assert loaded.problems or linted
    assert all(len(problem.message) < 2_000 for problem in (*loaded.problems, *linted))
    assert all(len(problem.path) < 1_000 for problem in (*loaded.problems, *linted))


KEPT = {
    "": (
        "validity_contract",
        "evidence",
        "memory",
        "workspace_analysis",
        "planner_examples",
        "replanning",
        "tests",
        "auth",
        "dependencies",
        "output_coordination",
    ),
    "phases[0]": ("validity_contract", "iteration", "output_strategy", "finalizer_input_policy"),
    "verification.policy": ("output_contract",),
    "verification.policy.outcome_policy": ("anything",),
    "verification.policy.static_checks": ("syntax_policy",),
    "prompt_contracts": ("executor_constraints",),
}


def kept_cases() -> list[tuple[str, str, Any]]:
    values = cycle([{"deep": [1, {"er": None}]}, [1], "text", 7, True, None])
    return [(where, key, next(values)) for where, keys in KEPT.items() for key in keys]


@check_rows(("where", "key", "value"), kept_cases())
def test_what_has_no_effect_here_is_kept_in_any_shape_and_noted(
    where: str, key: str, value: Any
) -> None:
    document = read(SMALL)
    holder = document
    for step in filter(None, where.split(".")):
        name, _, number = step.partition("[")
        holder = holder.setdefault(name, {})
        holder = holder[int(number[:-1])] if number else holder
    holder[key] = value

    loaded = load(yaml.safe_dump(document, sort_keys=False))

    assert loaded.definition is not None
    notes = [(p.code, p.path) for p in loaded.problems if p.level is Level.NOTE]
    assert notes == [("key.kept", f"{where}.{key}".removeprefix("."))]


RULE = "verification:\n  rules:\n  - {name: r, check: c, "


@check_rows(
    ("source", "path"),
    [
        (HEAD.replace("name: x", f"name: {'x' * 81}"), "name"),
        (f"{HEAD}title: {'x' * 201}\n", "title"),
        (HEAD.replace("id: a", f"id: {'x' * 121}"), "phases[0].id"),
        (HEAD.replace("id: a", 'id: "*"'), "phases[0].id"),
        (f"{IN_PHASE}verification_tier: 0}}\n", "phases[0].verification_tier"),
        (f"{IN_PHASE}max_attempts: 0}}\n", "phases[0].max_attempts"),
        (f"{IN_PHASE}max_attempts: 101}}\n", "phases[0].max_attempts"),
        (f"{IN_PHASE}confidence_floor: 1.01}}\n", "phases[0].confidence_floor"),
        (f"{IN_PHASE}score: {{threshold: 10.5}}}}\n", "phases[0].score.threshold"),
        (f"{IN_PHASE}score: {{max_iterations: 0}}}}\n", "phases[0].score.max_iterations"),
        (f"{IN_PHASE}custom_verifier: {'x' * 201}}}\n", "phases[0].custom_verifier"),
        *(
            (f"{IN_PHASE}{key}: {odd}}}\n", f"phases[0].{key}")
            for key in ("gates_without_sandbox", "may_lower_tier")
            for odd in ("HIGH", "2", "[medium]", "{a: b}", '""', "null")
        ),
        *(
            (
                f"{HEAD}verification: {{policy: {{static_checks: "
                f"{{gates_without_sandbox: {odd}}}}}}}\n",
                "verification.policy.static_checks.gates_without_sandbox",
            )
            for odd in ("HIGH", "[medium]", "null")
        ),
        *(
            (
                f"{HEAD}verification: {{policy: {{static_checks: {{gate_seconds: {{test: {odd}}}}}}}}}\n",
                "verification.policy.static_checks.gate_seconds.test",
            )
            for odd in (0, 1801, "soon", "[5]")
        ),
        *(
            (
                f"{HEAD}verification: {{policy: {{static_checks: "
                f"{{syntax_advisory_paths: {odd}}}}}}}\n",
                f"verification.policy.static_checks.syntax_advisory_paths{place}",
            )
            for odd, place in (
                ("[a, ../b]", "[1]"),
                ("/etc", ""),
                ('[""]', "[0]"),
                (f"[{'x' * 501}]", "[0]"),
                (f"[{'x, ' * 51}]", ""),
                ("{a: b}", ""),
            )
        ),
        (
            HEAD + RULE.replace("name: r", f"name: {'x' * 201}") + "}\n",
            "verification.rules[0].name",
        ),
        (f"{HEAD}{RULE}min_count: -1}}\n", "verification.rules[0].min_count"),
        (f"{HEAD}{RULE}min_count: 1000001}}\n", "verification.rules[0].min_count"),
        (
            f"{HEAD}verification: {{policy: {{max_attempts: 0}}}}\n",
            "verification.policy.max_attempts",
        ),
        (
            f"{HEAD}verification: {{policy: {{semantic_checks: [{'{id: c, check: c}, ' * 501}]}}}}\n",
            "verification.policy.semantic_checks",
        ),
    ],
)
def test_each_bound_that_is_written_down_holds(source: str, path: str) -> None:
    errors = load(source).errors

    assert [error.path for error in errors] == [path]


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (f"{SMALL}schema_version: 3\n", ("schema_version.unknown", 18, 17)),
        (f"{SMALL}    - {{name: no-todo, check: x}}\n", ("rule.duplicate", 18, 7)),
        (f"{SMALL}      examples: {{pass: [TODO]}}\n", ("rule.example", 18, 24)),
        (f"{SMALL}      type: llm\n      min_count: 2\n", ("rule.field_without_effect", 19, 18)),
        (SMALL.replace("check: TODO", "check: (?=x)"), ("rule.pattern.unsupported", 15, 14)),
        (
            f"{SMALL}  policy:\n    outcome_policy:\n      treat_verifier_infra_as_warning: yes\n",
            ("policy.doubt_as_warning", 20, 40),
        ),
    ],
)
def test_a_warning_points_at_what_it_is_about(source: str, place: tuple[str, int, int]) -> None:
    loaded = load(source)
    assert loaded.definition is not None

    found = [*loaded.warnings, *lint(loaded.definition)]

    assert place in [(problem.code, problem.line, problem.column) for problem in found]


@pytest.mark.parametrize(
    "written", ['"a\\nb"', '"a\\tb"', '"a\\x85b"', '"a\\u2028b"', "|\n  a\n  b"]
)
def test_a_name_is_one_line_without_control_characters(written: str) -> None:
    of_rule = SMALL.replace("name: no-todo", f"name: {written}".replace("\n  ", "\n         "))
    of_phase = HEAD.replace("id: a", f"id: {written}") if written[0] == '"' else ""

    found = [(e.code, e.line, e.column) for e in load(of_rule).errors]
    found += [(e.code, e.line, e.column) for e in load(of_phase).errors if of_phase]

    assert found == [("value.one_line", 14, 13), ("value.one_line", 3, 8)][: 1 + bool(of_phase)]


def test_names_that_are_many_are_told_by_the_first_and_their_number() -> None:
    names = ", ".join(f"p{number}" for number in range(12))

    (error,) = load(f"{IN_PHASE}depends_on: [{names}]}}\n").errors

    assert error.message == "There is no phase 'p0', 'p1', 'p2', 'p3', 'p4' and 7 more."
