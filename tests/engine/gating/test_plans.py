from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.engine.gating.plans import MAX_COMMAND_CHARS, MAX_LINES, commands_of

FENCED = """\
# Plan

Install Commands:
```bash
pip install -r requirements.txt
```

**Test Commands:**

```sh
$ pytest -x \\
    --tb=short
12 passed in 0.1 s
$ pytest tests/slow   # the rest
```

### Build command

    make all
    # then
    make dist

- Lint: `ruff check .`
- Run steps: `python main.py`.
"""


def test_headings_in_each_shape_name_their_commands() -> None:
    assert commands_of(FENCED) == {
        "install": ("pip install -r requirements.txt",),
        "test": ("pytest -x --tb=short", "pytest tests/slow   # the rest"),
        "build": ("make all", "make dist"),
        "lint": ("ruff check .",),
        "run": ("python main.py",),
    }


@pytest.mark.parametrize(
    ("plan", "found"),
    [
        ("## Test\n```bash\nnpm test\n```", {"test": ("npm test",)}),
        ("**Type check**\n```shell\nmypy .\n```", {"types": ("mypy .",)}),
        ("__Setup__:\n~~~console\n$ npm ci\n~~~", {"install": ("npm ci",)}),
        ("1. Build: `cargo build`", {"build": ("cargo build",)}),
        ("TEST COMMANDS:\n\n\n```\ngo test ./...\n```", {"test": ("go test ./...",)}),
        ("Test:\n```\na\n```\n", {}),
        ("## Test\n```python\nassert True\n```", {}),
        ("## Test\n    not code", {}),
        ("Test the parser well.", {}),
        ("Type: `str`", {}),
        ("Run it: slowly", {}),
        ("Test: see below", {}),
        ("```bash\nTest Commands:\nrm -rf .\n```", {}),
        ("```\n# Test commands:\n```\n```bash\npytest\n```", {}),
        ("Test commands:\n```bash\n# nothing\n```\n## Test\n```sh\npytest\n```",
         {"test": ("pytest",)}),
        ("Test commands:\n```bash\nfirst\n```\n**Tests**\n```sh\nsecond\n```",
         {"test": ("first",)}),
        ("Test commands:\n```bash\nunclosed", {"test": ("unclosed",)}),
        ("Test commands:\n```bash\na\0b\n```", {}),
        (f"Test commands:\n```bash\n{'x' * (MAX_COMMAND_CHARS + 1)}\n```", {}),
        ("Test commands:\n```bash\n" + "x\n" * (MAX_LINES + 1) + "```", {}),
        ("Test commands:\n````bash\n```\ninner\n```\n````\nLint commands:\n```sh\nx\n```",
         {"test": ("```", "inner", "```"), "lint": ("x",)}),
    ],
)  # fmt: skip
def test_what_is_a_command_and_what_is_not(plan: str, found: dict[str, tuple[str, ...]]) -> None:
    assert commands_of(plan) == found


@given(st.text(alphabet="Test Comands:`~#*\n$ -\\x", max_size=300))
def test_no_plan_raises_and_every_command_stood_in_it(plan: str) -> None:
    for commands in commands_of(plan).values():
        for command in commands:
            assert command
            assert all(word in plan for word in command.split())


def test_a_hostile_plan_is_read_in_linear_time() -> None:
    for plan in ("test " * 100_000, "**" * 200_000, "test" + " " * 400_000 + "x", "`" * 400_000):
        assert commands_of(plan) == {}
