"""Rules that every test follows: it asserts something, and it does not sleep."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
PYTEST_CALLS = {"fail", "raises", "warns"}
ASSERTING_CALLS = {"django_assert_max_num_queries", "django_assert_num_queries", "expect"}
"""Fixtures of pytest-django, and Playwright's assertion."""
ASSERTING_METHODS = {"validate_response"}
"""Schemathesis."""
WAITING_METHODS = ("wait_for_url", "expect_")
"""Methods of Playwright that raise an error when their condition stays false."""
SLEEP_IN_TEXT = re.compile(r"sleep\([1-9]")
SLEEPS_ALLOWED = {
    ("adapters/git/sshing.py", "_is_open"): "polls a port",
    ("browser/conftest.py", "until"): "polls a condition and lets the browser report meanwhile",
    ("stack.py", "wait_for"): "polls a condition",
    ("adapters/operators.py", "sleeps"): "a child that the adapter must kill",
    ("adapters/operators.py", "leaves_a_fork_and_dies"): "a child that the adapter must kill",
    ("adapters/operators.py", "notes_its_processes"): "a child that the adapter must kill",
    ("adapters/operators.py", "leaves_a_thread"): "a thread that the adapter must kill",
    ("model_server.py", "answer"): "a model that replies slowly",
    ("sandbox/test_in_the_stack.py", ""): "a gate whose worker the test kills",
    (
        "runs/test_relay.py",
        "test_an_event_that_the_database_refuses_holds_up_no_other",
    ): "a query that PostgreSQL cancels after a millisecond",
}
"""The reason for each sleep, by file and function. Constants of a module have no function."""


@dataclass(frozen=True, slots=True)
class Function:
    """What the rules need to know about a function: syntax trees are too large to keep."""

    name: str
    line: int
    asserts: bool
    calls: frozenset[str]
    sleeps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Module:
    path: str
    functions: tuple[Function, ...]
    imports: dict[str, tuple[str, str]]
    """Names that come from other modules of the tests: module and name there."""
    sleeps: tuple[int, ...]
    """Lines outside its functions."""


def test_every_test_asserts_something() -> None:
    modules = read_modules()
    tests = [
        (name, function)
        for name, module in modules.items()
        if name.rpartition(".")[2].startswith("test_")
        for function in module.functions
        if function.name.startswith("test_")
    ]

    silent = [
        f"{modules[name].path}:{function.line} {function.name}"
        for name, function in tests
        if not function.asserts
        and not any(helper_asserts(modules, name, call) for call in function.calls)
    ]

    assert len(tests) > 1_000
    assert silent == [], "Each of these tests needs an assertion."


def helper_asserts(modules: dict[str, Module], module: str, name: str) -> bool:
    """Whether a name in a module is a function of the tests that contains an assertion."""
    while module in modules:
        functions = [one for one in modules[module].functions if one.name == name]
        if functions:
            return all(function.asserts for function in functions)
        module, name = modules[module].imports.get(name, ("", ""))
    return False


def test_no_test_sleeps() -> None:
    sleeps = [
        (module.path, name, line)
        for module in read_modules().values()
        if not module.path.startswith("benchmarks/")
        for name, lines in (
            ("", module.sleeps),
            *((function.name, function.sleeps) for function in module.functions),
        )
        for line in lines
    ]

    unexplained = [
        f"{path}:{line} {function}"
        for path, function, line in sleeps
        if (path, function) not in SLEEPS_ALLOWED
    ]

    assert ("stack.py", "wait_for") in {(path, function) for path, function, _ in sleeps}
    assert unexplained == [], "Each of these sleeps can wait for a condition instead."


@cache
def read_modules() -> dict[str, Module]:
    """Parse each file of the tests once, by module name."""
    was_enabled = gc.isenabled()
    gc.disable()  # a syntax tree is many small objects and no cycles: parsing takes a quarter
    try:
        return {module_name(path): read_module(path) for path in sorted(TESTS.rglob("*.py"))}
    finally:
        if was_enabled:
            gc.enable()


def module_name(path: Path) -> str:
    parts = path.relative_to(TESTS.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_module(path: Path) -> Module:
    functions: list[Function] = []
    imports: dict[str, tuple[str, str]] = {}
    outside: list[ast.AST] = []
    waiting: list[ast.AST] = list(ast.parse(path.read_bytes()).body)
    for node in waiting:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append(read_function(node))
        elif isinstance(node, ast.ClassDef):
            waiting.extend(node.body)
        else:
            outside.append(node)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests"):
            for alias in node.names:
                imports[alias.asname or alias.name] = (node.module or "", alias.name)
    return Module(
        path=path.relative_to(TESTS).as_posix(),
        functions=tuple(functions),
        imports=imports,
        sleeps=tuple(line for node in outside for line in sleep_lines(ast.walk(node))),
    )


def read_function(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    """Read a function. The functions inside it count as its own lines."""
    nodes = list(ast.walk(function))
    return Function(
        name=function.name,
        line=function.lineno,
        asserts=any(map(is_assertion, nodes)),
        calls=frozenset(
            node.func.id
            for node in nodes
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ),
        sleeps=tuple(sleep_lines(nodes)),
    )


def is_assertion(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    if not isinstance(node, ast.Call):
        return False
    match node.func:
        case ast.Name(name):
            return name in ASSERTING_CALLS
        case ast.Attribute(ast.Name("pytest"), name):
            return name in PYTEST_CALLS
        case ast.Attribute(_, name):
            return name in ASSERTING_METHODS or name.startswith(WAITING_METHODS)
    return False


def sleep_lines(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Yield the lines that name a function that sleeps, in Python, SQL or a script in a string.

    `asyncio.sleep(0)` is no sleep: it lets other tasks run.
    """
    harmless: set[ast.AST] = set()
    for node in nodes:
        match node:
            case ast.Call(ast.Attribute(_, "sleep") as function, [ast.Constant(0)]):
                harmless.add(function)  # `ast.walk` yields a node before its children
            case ast.Attribute(_, "sleep" | "wait_for_timeout") if node not in harmless:
                yield node.lineno
            case ast.Constant(str(text)) if SLEEP_IN_TEXT.search(text):
                yield node.lineno
