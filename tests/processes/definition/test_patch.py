from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import event, given
from hypothesis import strategies as st

from processes.definition.patch import Append, Edit, Remove, SetValue, Unpatchable, patch
from processes.definition.stream import MAX_SOURCE_BYTES, Unreadable
from tests.processes.files import SMALL
from tests.processes.patching import is_same, meant, places, read
from tests.tables import check_rows
from tests.tiers import long_search

LISTED = """\
rules:
  # first of all
  - a   # why a
  - b

  # about c

  # about c too
  - c
next: 1
"""


@check_rows(
    ("old", "value", "new"),
    [
        ("k: old # why\n", "new", "k: new # why\n"),
        ("k:   old\t\n", "new", "k:   new\t\n"),
        ("k: 'old'\n", "it's", "k: 'it''s'\n"),
        ('k: "old"\n', 'say "x"\t\\', 'k: "say \\"x\\"\\t\\\\"\n'),
        ("k: old\n", "yes", 'k: "yes"\n'),
        ("k: old\n", "1.0", 'k: "1.0"\n'),
        ("k: old\n", "null", 'k: "null"\n'),
        ("k: old\n", "- a", 'k: "- a"\n'),
        ("k: old\n", r"\d: x", "k: '\\d: x'\n"),
        ("k: old\n", "", 'k: ""\n'),
        ("k: old\n", "a\nb", "k: |-\n  a\n  b\n"),
        ("k: 'old' # why\n", "a\nb\n", "k: | # why\n  a\n  b\n"),
        ("k: old\n", "a\r\nb", 'k: "a\\r\\nb"\n'),
        ('k: "a\\nb"\n', "c\nd", 'k: "c\\nd"\n'),
        ("k:\n    n: old\n", "two\nlines\n", None),
        ("k: |\n    old\n\nnext: 1\n", "new\nlines\n", "k: |\n    new\n    lines\n\nnext: 1\n"),
        ("k: |-  # why\n  old\n", "new", "k: |-  # why\n  new\n"),
        ("k: >\n  some old\n  words\n", "other words\n", "k: >\n  other words\n"),
        ("k: >\n  old\n", "a\nb\n", "k: >\n  a\n\n  b\n"),
        ("k: >\n  old\n", " led\n", "k: |2\n   led\n"),
        ("k: |\n  old\n", 7, "k: 7\n"),
        ("k: yes\n", False, "k: no\n"),
        ("k: True\n", False, "k: False\n"),
        ("k: ~\n", None, "k: ~\n"),
        ("k:\n", "new", "k: new\n"),
        ("k: # why\n", "new", "k: new # why\n"),
        ("k: &a old\n", "new", "k: &a new\n"),
        ("k: !!str 1\n", "2", 'k: !!str "2"\n'),
        ("k: !!str 1\n", 2, "k: 2\n"),
        ("k: old\n", ["a"], "k:\n  - a\n"),
        ("k: old # why\n", {"a": 1}, "k: # why\n  a: 1\n"),
        ("k:\n- a\n- b\n", "new", "k: new\n"),
        ("k: # why\n- a\n", "new", "k: new # why\n"),
        ("k: [a,  'b']\n", ["a", "b", "c"], "k: [a,  'b',  'c']\n"),
        ("k: [a,  'b', c]\n", ["a", "c"], "k: [a,  c]\n"),
        ("k: [a]\n", [], "k: []\n"),
        ('{"k":1}', 2, '{"k":2}'),
        ("k: 1.5\n", 1e20, "k: 1.0e+20\n"),
        ("\ufeffk: old\r\nn: 1\r\n", "a\nb", "\ufeffk: |-\r\n  a\r\n  b\r\nn: 1\r\n"),
    ],
)
def test_a_new_value_is_written_as_the_old_one_was(old: str, value: Any, new: str | None) -> None:
    path = ("k",) if new else ("k", "n")

    result = patch(old, [SetValue(path, value)])

    assert result == (new or "k:\n    n: |\n        two\n        lines\n")


@check_rows(
    ("old", "path", "new"),
    [
        (LISTED, ("rules", 0), LISTED.replace("  # first of all\n  - a   # why a\n", "")),
        (LISTED, ("rules", 2), LISTED.replace("  # about c too\n  - c\n", "")),
        (LISTED, ("next",), LISTED.replace("next: 1\n", "")),
        ("a:\n  - b: 1\n    # of c\n    c: 2\n", ("a", 0, "b"), "a:\n  - # of c\n    c: 2\n"),
        ("a: # why\n  - b\nc: 1\n", ("a", 0), "a: [] # why\nc: 1\n"),
        ("a:\n  b: 1\n", ("a", "b"), "a: {}\n"),
        ("a: 1\n", ("a",), "{}\n"),
        ("a: [b, c, d]\n", ("a", 0), "a: [c, d]\n"),
        ("a: [b, c, d]\n", ("a", 2), "a: [b, c]\n"),
        ("a: [ b ]\n", ("a", 0), "a: []\n"),
        ("a: [\n  b, # of b\n  c, # of c\n]\n", ("a", 1), "a: [\n  b, # of b\n]\n"),
        ("a: [\n  b, # of b\n  c\n]\n", ("a", 1), "a: [\n  b # of b\n]\n"),
        ("a: 1\nb: 2", ("b",), "a: 1"),
        ("a: |\n  x\nb: 2", ("b",), "a: |\n  x\n"),
    ],
)
def test_what_is_removed_goes_with_its_own_comments(
    old: str, path: tuple[str | int, ...], new: str
) -> None:
    assert patch(old, [Remove(path)]) == new


@check_rows(
    ("old", "value", "new"),
    [
        ("k:\n- a\n- b # why\nn: 1\n", "c", "k:\n- a\n- b # why\n- c\nn: 1\n"),
        ("k:\n    - 'a'\n", "c", "k:\n    - 'a'\n    - 'c'\n"),
        (
            "k:\n  -   a: 1\n",
            {"a": 2, "b": [3]},
            "k:\n  -   a: 1\n  -   a: 2\n      b:\n        -   3\n",
        ),
        ("k:\n  -\n    a: 1\n", {"a": 2, "b": 3}, "k:\n  -\n    a: 1\n  -\n    a: 2\n    b: 3\n"),
        ("k:\n  - {a: 1}\n", {"a": "x"}, "k:\n  - {a: 1}\n  - {a: x}\n"),
        ("k:\n  - a: 1\n\n  - a: 2\n", {"a": 3}, "k:\n  - a: 1\n\n  - a: 2\n\n  - a: 3\n"),
        (
            "k:\n  - a\n    # - old\n# next\nn: 1\n",
            "b",
            "k:\n  - a\n    # - old\n  - b\n# next\nn: 1\n",
        ),
        ("k:\n  - a", "b", "k:\n  - a\n  - b"),
        ("k:\n  - |\n    a", "b", "k:\n  - |-\n    a\n  - b"),
        ("k: []\n", "a", "k: [a]\n"),
        ("k: []\n", {"a": 1}, "k:\n  - a: 1\n"),
        ("k:\n", "a", "k:\n  - a\n"),
        ("n: 1\n", "a", "n: 1\nk:\n  - a\n"),
        ("k: [a, b]\n", "c d", "k: [a, b, c d]\n"),
        ("k: [\n  a,\n  b, # why\n]\n", "c", "k: [\n  a,\n  b, # why\n  c,\n]\n"),
        ("k: [\n  a # why\n]\n", "c", "k: [\n  a, # why\n  c\n]\n"),
        ('{"k":["a","b"]}', {"x": 1}, '{"k":["a","b",{"x": 1}]}'),
    ],
)
def test_a_new_entry_looks_like_those_before_it(old: str, value: Any, new: str) -> None:
    assert patch(old, [Append(("k",), value)]) == new


def test_a_missing_key_is_made_with_all_that_leads_to_it() -> None:
    result = patch(SMALL, [SetValue(("verification", "policy", "mode"), "static_first")])

    assert result == SMALL + "  policy:\n    mode: static_first\n"


@pytest.mark.parametrize(
    "path",
    [
        ("verification", "rules", 0, "check"),
        ("verification", "rules", "no-todo", "check"),
        ("rules", "no-todo", "check"),
        ("rules", -1, "check"),
    ],
)
def test_a_rule_is_found_by_number_and_by_name(path: tuple[str | int, ...]) -> None:
    assert patch(SMALL, [SetValue(path, "TBD")]) == SMALL.replace("TODO", "TBD")


SHARED = """\
base: &base
  deep: [1, 2]
  own: &own x
copy: *base
merged:
  <<: *base
  own: z
again: *own
alone: &alone {y: 1}
"""


@check_rows(
    ("edit", "code", "line"),
    [
        (SetValue(("base", "deep", 0), 7), "patch.shared", 1),
        (SetValue(("base", "new"), 7), "patch.shared", 1),
        (SetValue(("base",), 7), "patch.shared", 1),
        (Remove(("base",)), "patch.shared", 1),
        (Append(("base", "deep"), 7), "patch.shared", 1),
        (SetValue(("copy", "deep", 0), 7), "patch.alias", 4),
        (Append(("copy", "deep"), 7), "patch.alias", 4),
        (SetValue(("copy",), 7), "patch.alias", 4),
        (SetValue(("merged", "deep"), 7), "patch.merged", 6),
        (SetValue(("merged", "<<"), 7), "patch.merged", 6),
        (Remove(("merged", "own")), "patch.merged", 6),
        (Remove(("nothing",)), "patch.missing", 1),
        (Remove(("merged", "own", "deeper")), "patch.missing", 7),
        (Append(("merged",), 7), "patch.kind", 6),
        (SetValue((), {}), "patch.root", 1),
        (SetValue(("x",), float("nan")), "patch.value", 1),
        (SetValue(("x",), {1: 2, "y": object()}), "patch.value", 1),
        (SetValue(("x",), 10**5000), "patch.value", 1),
        (SetValue(("x",), "\ud800"), "patch.value", 1),
        (SetValue(("\0",), "x"), "patch.value", 1),
        (SetValue(("\ud800",), "x"), "patch.value", 1),
    ],
)
def test_what_cannot_be_edited_alone_is_refused_with_its_place(
    edit: Edit, code: str, line: int
) -> None:
    with pytest.raises(Unpatchable) as refused:
        patch(SHARED, [edit])

    assert (refused.value.problem.code, refused.value.problem.line) == (code, line)
    assert refused.value.problem.message.endswith(".")


def test_what_only_names_something_may_go_and_an_anchor_that_nobody_names_stays() -> None:
    result = patch(SHARED, [Remove(("copy",)), SetValue(("alone", "y"), 2)])

    assert result == SHARED.replace("copy: *base\n", "").replace("{y: 1}", "{y: 2}")


def test_a_key_that_stands_twice_is_set_where_it_counts_and_never_removed() -> None:
    source = "a: 1\nb: 2\na: 3\n"

    assert patch(source, [SetValue(("a",), 4)]) == "a: 1\nb: 2\na: 4\n"
    with pytest.raises(Unpatchable, match="twice"):
        patch(source, [Remove(("a",))])


def test_two_rules_of_one_name_are_told_apart_by_number_only() -> None:
    source = "rules:\n- {name: a, check: x}\n- {name: a, check: y}\n"

    with pytest.raises(Unpatchable, match="say which") as refused:
        patch(source, [Remove(("rules", "a"))])
    assert refused.value.problem.line == 3


def nested(levels: int) -> Any:
    value: Any = "x"
    for _level in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        nested(200),
        nested(99),
        ["x"] * 60_000,
        {str(number): "x" for number in range(40_000)},
        "x" * MAX_SOURCE_BYTES,
    ],
)
def test_the_bounds_of_a_file_hold_for_an_edited_one(value: Any) -> None:
    with pytest.raises(Unpatchable):
        patch("a: 1\nb: [[1]]\n", [SetValue(("b", 0, 0), value)])


@pytest.mark.extended
def test_edits_without_end_are_refused_before_they_take_long() -> None:
    source = "".join(f"k{number}: [a, b, c]\n" for number in range(5_000))

    with pytest.raises(Unpatchable, match="too long") as refused:
        patch(source, [SetValue((f"k{number}", 0), "z") for number in range(100)])

    assert 0 < refused.value.edit < 100


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0")
    | st.sampled_from("\n '\"#:-,[]{}&*!|>%@ "),
    max_size=12,
)
SCALARS = (
    TEXTS
    | st.sampled_from(
        ["yes", "1", "1.0", "null", "~", "<<", "=", "- a", "? b", "0x1f", "2026-11-21"]
    )
    | st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
DOCUMENTS = st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4)


@st.composite
def sources(draw: st.DrawFn) -> str:
    """A document as PyYAML writes it in some style, with comments between lines where they fit."""
    document = draw(DOCUMENTS)
    text = yaml.dump(
        document,
        Dumper=yaml.CSafeDumper,
        default_flow_style=draw(st.sampled_from([False, None, True])),
        default_style=draw(st.sampled_from([None, None, "'", '"', "|", ">"])),
        indent=draw(st.sampled_from([2, 3, 4])),
        width=draw(st.sampled_from([10, 80])),
        allow_unicode=draw(st.booleans()),
        explicit_start=draw(st.booleans()),
        line_break=draw(st.sampled_from(["\n", "\r\n"])),
        sort_keys=False,
    )
    lines = text.splitlines(keepends=True) if draw(st.booleans()) else [text]
    at = draw(st.integers(0, len(lines)))
    remark = draw(st.sampled_from(["# remark\n", "\n", "    # deep\n"]))
    commented = "".join([*lines[:at], remark, *lines[at:]])
    return commented if _reads_as(commented, document) else text


def _reads_as(text: str, document: Any) -> bool:
    try:
        return is_same(read(text), document)
    except (yaml.YAMLError, ValueError):
        return False


@st.composite
def edits_of(draw: st.DrawFn, document: Any) -> Edit:
    found = list(places(document))
    path, node = draw(st.sampled_from(found))
    value = draw(VALUES)
    kinds: list[Edit] = [
        SetValue(path, value),
        Remove(path),
        SetValue((*path[:-1], "new key"), value),
    ]
    if isinstance(node, list):
        kinds += [Append(path, value)] * 2
    if not isinstance(path[-1], str):
        del kinds[2]
    return draw(st.sampled_from(kinds))


@pytest.mark.extended
@long_search(400)
@given(source=sources(), data=st.data())
def test_an_edit_does_what_was_meant_or_is_refused(source: str, data: st.DataObject) -> None:
    document = read(source)
    edit = data.draw(edits_of(document))

    try:
        result = patch(source, [edit])
    except Unpatchable as refused:
        event(refused.problem.code)
        return

    assert is_same(read(result), meant(document, edit))


@pytest.mark.extended
@long_search(150)
@given(source=sources())
def test_what_stands_there_may_be_set_again_everywhere(source: str) -> None:
    for path, old in places(read(source)):
        assert patch(source, [SetValue(path, old)]) == source


@long_search(300)
@given(
    source=st.text(alphabet="ab:-[]{}&*!|>'\"#%\n \t,?<\r\ufeff\x85", max_size=60),
    path=st.lists(st.sampled_from(["a", "b", "<<", "", 0, 1, -1]), max_size=4),
    value=VALUES,
    kind=st.sampled_from([SetValue, Append, Remove]),
)
def test_no_text_and_no_edit_is_a_traceback(
    source: str, path: list[str | int], value: Any, kind: Any
) -> None:
    edit = Remove(tuple(path)) if kind is Remove else kind(tuple(path), value)

    try:
        result = patch(source, [edit])
    except (Unpatchable, Unreadable):
        return

    assert isinstance(result, str)
