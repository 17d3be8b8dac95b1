"""Which conflict markers a text shows, and which were left in it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Enforcement
from tests.engine.cases import evaluate, regex
from tests.tables import check_rows
from verification.engine.checks.conflict_examples import MAX_BYTES, mask_conflict_examples

CONFLICT = "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> topic\n"
BUILTIN = r"(?m)^<<<<<<< \S[^\n]*\n(?s:.*?)^=======\r?\n(?s:.*?)^>>>>>>> \S"
START = r"(?m)^\s*<<<<<<< "
INDENTED = "".join(f"    {line}\n" for line in CONFLICT.splitlines())

EXAMPLES = [
    ("a.md", f"# Merging\n\n```text\n{CONFLICT}```\n"),
    ("a.md", f"~~~\n{CONFLICT}~~~\n"),
    ("a.md", f"````md\n```\n{CONFLICT}```\n````\n"),
    ("a.md", f"```diff\r\n{CONFLICT}```\r\n".replace("\n", "\r\n")),
    ("a.MARKDOWN", f"```\n{CONFLICT}```"),
    ("a.md", f"1. Do it:\n\n   ```\n{INDENTED}   ```\n\n```\n{CONFLICT}```\n"),
    ("a.md", f"- ```sh\n  git merge\n  ```\n\n```text\n{CONFLICT}```\n"),
    ("a.md", f"<pre>\n{CONFLICT}</pre>\n"),
    ("a.md", f"Like this:\n\n{INDENTED}\nEnd.\n"),
    ("a.md", f"```\n{CONFLICT}x\n{CONFLICT}```\n"),
    ("a.md", "A line of `<` begins it:\n\n```\n<<<<<<< HEAD\n```\n\nMore.\n"),
    ("a.rst", f"It looks so::\n\n{INDENTED}\nEnd.\n"),
    ("a.rst", f".. code-block:: text\n   :linenos:\n\n{INDENTED}\nEnd.\n"),
    ("a.adoc", f"[source,text]\n----\n{CONFLICT}----\n"),
    ("a.adoc", f"....\n{CONFLICT}....\n"),
    ("a.asciidoc", f"```text\n{CONFLICT}```\n"),
]
LEFT = [
    ("a.md", CONFLICT),
    ("a.md", f"```text\nfine\n```\n\n{CONFLICT}"),
    ("a.md", f"```\n{CONFLICT}```\n\n{CONFLICT}\n```\nmore\n```\n"),
    # It reaches over the border of a block, or over several.
    ("a.md", "<<<<<<< HEAD\n```sh\na\n```\n=======\n```sh\nb\n```\n>>>>>>> topic\n"),
    ("a.md", "```sh\n<<<<<<< HEAD\na\n```\n=======\nb\n```\n>>>>>>> topic\n```\n"),
    ("a.md", "```sh\n<<<<<<< HEAD\na\n```\n\n```sh\n=======\nb\n>>>>>>> topic\n```\n"),
    # A fence that nothing closes, or that is none.
    ("a.md", f"```text\n{CONFLICT}"),
    ("a.md", f"text ```\n{CONFLICT}```\nfine\n```\n"),
    ("a.md", f"    ```\n{CONFLICT}    ```\n"),
    ("a.md", f"- ```sh\n  git merge\n  ```\n\n{CONFLICT}\n```sh\nx\n```\n"),
    # The line below a title is no delimiter.
    ("a.adoc", f"Title\n-----\n\n{CONFLICT}\nOther\n-----\n"),
    ("a.adoc", f"////\n{CONFLICT}////\n"),
    ("a.rst", f"Title\n=======\n\n{CONFLICT}"),
    ("a.rst", f".. note::\n\n{CONFLICT}"),
    # Nothing is fenced in other files.
    ("a.py", f"```\n{CONFLICT}```\n"),
    ("a.txt", f"```\n{CONFLICT}```\n"),
]


def are_found(path: str, text: str, pattern: str = BUILTIN, **fields: Any) -> bool:
    rule = regex("conflicts", pattern, target="deliverables", **fields)
    return bool(evaluate(files={path: text}, rules=[rule]).findings)


@check_rows("pattern", [BUILTIN, START])
@check_rows(("path", "text"), EXAMPLES, ids=repr)
def test_a_conflict_within_one_literal_block_is_an_example(
    path: str, text: str, pattern: str
) -> None:
    assert not are_found(path, text, pattern, enforcement=Enforcement.HARD)


@check_rows("pattern", [BUILTIN, START])
@check_rows(("path", "text"), LEFT, ids=repr)
def test_any_other_conflict_is_found(path: str, text: str, pattern: str) -> None:
    assert are_found(path, text, pattern)


@pytest.mark.parametrize("line", range(1, 9))
def test_a_conflict_that_moves_over_a_fence_is_an_example_only_within_it(line: int) -> None:
    lines = ["a", *CONFLICT.splitlines(), "b", "c"]
    fenced = ["```", *lines[:line], "```", *lines[line:]]

    assert are_found("a.md", "\n".join(fenced)) is (line < 6)


def test_a_rule_that_asks_for_an_example_sees_it() -> None:
    text = f"```text\n{CONFLICT}```\n"

    assert not are_found("a.md", text, expect="match")
    assert not are_found("a.md", text, min_count=1)


def test_a_rule_about_something_else_sees_all_of_an_example() -> None:
    assert are_found("a.md", f"```text\n{CONFLICT}```\n", "HEAD")


def test_a_long_text_has_no_examples() -> None:
    text = f"```text\n{CONFLICT}```\n{'x' * MAX_BYTES}"

    assert are_found("a.md", text)


@given(
    st.lists(
        st.sampled_from(["```", "~~~", "<<<<<<< a", "=======", ">>>>>>> b", "----", "", "    x"])
    )
)
def test_what_is_masked_keeps_its_place(lines: list[str]) -> None:
    content = "\n".join(lines).encode()

    for path in ("a.md", "a.rst", "a.adoc"):
        masked = mask_conflict_examples(path, content)
        assert len(masked) == len(content)
        assert all(now in (was, 0) for was, now in zip(content, masked, strict=True))
