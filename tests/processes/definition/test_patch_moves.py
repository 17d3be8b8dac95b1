from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from processes.definition.patch import Move, Unpatchable, patch
from tests.processes.patching import BUILT_IN, STYLES, is_same, meant, places, read, text_of

LISTED = """\
rules: # all
  # first of all
  - name: a   # why a
    # below a
  - name: b
    check: |
      text

      more

  # --- a part of its own

  # about c
  - name: c
    # the end of c

# what follows
next: 1
"""
MOVED = """\
rules: # all
  # about c
  - name: c
    # the end of c
  # first of all
  - name: a   # why a
    # below a

  # --- a part of its own

  - name: b
    check: |
      text

      more

# what follows
next: 1
"""
files = pytest.mark.parametrize("path", [*STYLES, *BUILT_IN], ids=lambda path: path.stem)


def test_comments_that_belong_to_an_entry_travel_with_it_and_others_stay() -> None:
    assert patch(LISTED, [Move(("rules", "c"), 0)]) == MOVED
    assert patch(MOVED, [Move(("rules", "c"), 2)]) == LISTED


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("k: [a, b,  c]\n", "k: [c, a,  b]\n"),
        ("k:\n- a\n-   b\n- c", "k:\n- c\n- a\n-   b"),
        ("k:\r\n- a\r\n\n- b\r\n- c\r\n", "k:\r\n- c\r\n\n- a\r\n- b\r\n"),
        ("- - a\n  - b\n  - c\n", None),
        ("k:\n  - &x a\n  - *x\n  - *x\n", None),
        ("k:\n  - a\n  - b\n  - |+\n    c\n\n", "k:\n  - |+\n    c\n\n  - a\n  - b\n"),
        ("k: [a, # why a\n  b, c]\n", None),
        ("k: {a: 1, c: 2}\n", None),
    ],
)
def test_an_entry_is_moved_or_it_is_said_why_not(source: str, result: str | None) -> None:
    edit = Move(("k", 2), 0)
    if result is not None:
        assert patch(source, [edit]) == result
        return
    with pytest.raises(Unpatchable) as refused:
        patch(source, [edit])
    assert refused.value.problem.line >= 1


@pytest.mark.parametrize("to", [-1, 3, 10**9])
def test_a_place_that_the_list_has_not_is_refused(to: int) -> None:
    with pytest.raises(Unpatchable, match="Nothing stands"):
        patch(LISTED, [Move(("rules", 0), to)])


def moves_of(document: Any) -> list[Move]:
    lists = [(path, node) for path, node in places(document) if isinstance(node, list)]
    found = []
    for path, node in lists[:: 1 + len(lists) // 12]:
        last = len(node) - 1
        steps = {(0, last), (last, 0), (last // 2, last)}
        found += [Move((*path, at), to) for at, to in steps if at != to and last > 0]
    return found


def moved(source: str, edit: Move) -> str | None:
    """None: refused, since the place cannot be moved alone."""
    try:
        return patch(source, [edit])
    except Unpatchable as refused:
        if refused.problem.code not in ("patch.layout", "patch.alias", "patch.shared"):
            raise
        return None


@files
def test_there_and_back_is_the_same_text(path: Path) -> None:
    source = text_of(path)
    document = read(source)
    done = 0
    for edit in moves_of(document):
        there = moved(source, edit)
        if there is None:
            continue
        back = Move((*edit.path[:-1], edit.to), int(edit.path[-1]))
        assert is_same(read(there), meant(document, edit)), edit
        assert patch(there, [back]) == source, edit
        assert sorted(there) == sorted(source)
        done += 1
    assert done or "rules" not in source


@files
def test_every_rule_of_a_file_can_be_moved_to_the_first_place(path: Path) -> None:
    source = text_of(path)
    rules = (read(source).get("verification") or {}).get("rules") or []

    edits = [Move(("rules", at), 0) for at in range(1, len(rules))]
    refused = [edit for edit in edits if moved(source, edit) is None]

    assert not refused or path.stem in ("anchors", "no-newline"), refused
