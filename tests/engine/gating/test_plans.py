from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tests.engine.gating.plan_texts import ARCHITECTS_PLAN
from tests.tables import check_rows
from verification.engine.gating.plain import is_plain
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


@check_rows("end", ["", "```\n", "```\n\nNothing else is to be run.\n"])
def test_a_plan_of_install_and_test_blocks_names_both_though_the_last_is_not_closed(
    end: str,
) -> None:
    assert commands_of(ARCHITECTS_PLAN + end) == {
        "install": ("pip install -r requirements.txt",),
        "test": ("pytest -x --tb=short",),
    }


@check_rows(
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
         {"test": ("inner",), "lint": ("x",)}),
        ("### 3. Test Commands\n```bash\nnpm test\n```", {"test": ("npm test",)}),
        ("## 2.1 **Build commands**\n```\nmake\n```", {"build": ("make",)}),
        ("Test commands:\n- `pytest -x`\n- `pytest slow`.\n* `tox` - all\n\nLint: no",
         {"test": ("pytest -x", "pytest slow", "tox")}),
        ("## Test\n- `parse`\n- `write`\n", {}),
        ("Test Commands: pytest -x", {"test": ("pytest -x",)}),
        ("Test: pytest -x", {}),
        ("Test commands: see below", {}),
        ("- Test commands:\n\n    ```bash\n    pytest\n    ```\nBuild: `x`",
         {"test": ("pytest",), "build": ("x",)}),
        ("  1. Setup:\n\t```sh\n\tnpm ci\n\t```", {"install": ("npm ci",)}),
        ("````markdown\n# Plan\n## Test Commands\n```bash\npytest\n```\n````\n",
         {"test": ("pytest",)}),
        ("An example:\n````markdown\n## Test Commands\n```bash\npytest\n```\n````\n", {}),
        ("Test commands:\n- `first`\n\n- `second`\n\n1. `other`\n",
         {"test": ("first", "second")}),
        ("Test commands:\n1. `first`\n\n2. `second`\n\nThen more.",
         {"test": ("first", "second")}),
        ("Test commands:\n- `pytest`\n- Lint: `x`", {"test": ("pytest",), "lint": ("x",)}),
        ("Test commands:\n- `pytest`\n- twice", {"test": ("pytest",)}),
        ("Test commands:\n- pytest -x\n- npm test\n", {"test": ("pytest -x", "npm test")}),
        ("Test commands:\n- pytest -x\n- and what else there is\n", {}),
        ("**Test command:**\n\n`pytest -x`\n", {"test": ("pytest -x",)}),
        ("Test commands:\n`first`\n`second` (slow)\nBuild: `x`",
         {"test": ("first", "second"), "build": ("x",)}),
        ("Test commands:\npytest -x\n\nAll of them pass.", {"test": ("pytest -x",)}),
        ("Test commands:\npytest -x\nas far as it goes\n", {}),
        ("## Test\n`parse`\n", {}),
        ("Test commands: `pytest -x` (from the root)", {"test": ("pytest -x",)}),
        ("Test commands: `first`, `second` and `third`.", {"test": ("first", "second", "third")}),
        ("Test commands: `npm test` or `yarn test`", {}),
        ("Test commands: run `first` and `second`", {}),
        ("Test: `parse` and `write`", {}),
    ],
)  # fmt: skip
def test_what_is_a_command_and_what_is_not(plan: str, found: dict[str, tuple[str, ...]]) -> None:
    assert commands_of(plan) == found


@check_rows(
    "command",
    ["pytest", "pytest -x tests/unit", "pytest -k name", "python -m pytest", "npm test",
     "npm run test:unit", "go test ./...", "cd app && npm ci && npm test", "make check",
     "cargo test --workspace", "./run.sh --all", "python3 manage.py test", "mvn -q test"],
)  # fmt: skip
def test_plain_words_that_can_only_be_a_command_are_one(command: str) -> None:
    assert commands_of(f"Test commands: {command}\n") == {"test": (command,)}


@check_rows(
    "prose",
    ["make sure that it works", "go through all tests", "go test it all.", "pytest is used",
     "pytest, then ruff", "python tests", "node tests are run", "none", "cd app", "npm", "&&",
     "make tests pass", "pytest -x.", "run pytest", "x" * 1_000, "pytest `a`", ""],
)  # fmt: skip
def test_plain_words_that_could_be_prose_are_no_command(prose: str) -> None:
    assert not is_plain(prose)


@given(st.text(max_size=400))
def test_no_words_make_the_question_fail(text: str) -> None:
    assert is_plain(text) in (True, False)


PIECES = ["Test commands:", "## Build", "**Lint:**", "pytest -x", "npm test", "make", "`", "```",
          "~~~", "$ ", "- ", "    ", " ", "\n", "\n\n", " \\\n", "# ", "and", "x"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@example("Test commands: `pytest -x`\n\n## Build commands\n\n    make\n")
def test_every_command_of_any_plan_is_in_its_text(plan: str) -> None:
    commands = [command for gate in commands_of(plan).values() for command in gate]

    assert "" not in commands
    assert [word for one in commands for word in one.split() if word not in plan] == []


def test_a_hostile_plan_is_read_in_linear_time() -> None:
    for plan in (
        "test " * 100_000,
        "**" * 200_000,
        "test" + " " * 400_000 + "x",
        "`" * 400_000,
        "````\n```\n" * 10_000,
        "test commands:\n" + "- `x\n" * 40_000,
        "# 1.1.1 " * 20_000,
        "test commands: " + "pytest a." * 20_000,
    ):
        assert commands_of(plan) == {}
