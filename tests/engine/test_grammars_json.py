from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.grammar_answers import answers
from tests.tables import check_rows

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
MARK = "note 1:1 The file starts with a byte order mark."
WIDE = "advisory 1:1 The file is UTF-16, and JSON is UTF-8: many parsers refuse it."
WITH_COMMENTS = "Parsers of JSON with comments read the file."
JSON_LINES = "It is JSON Lines, one value in each line: no JSON, and the suffix is .jsonl."
STREAM = "It holds 2 JSON values, one after the other: only parsers of a stream read it."
TEMPLATE = "It holds template marks, so this does not count: "


@pytest.mark.extended
@given(VALUES)
def test_whatever_json_writes_is_json_without_a_remark(value: object) -> None:
    assert answers("a.json", json.dumps(value)) == []


@pytest.mark.extended
@given(st.lists(VALUES, min_size=1))
def test_a_value_in_each_line_is_json_lines(values: list[object]) -> None:
    assert answers("a.jsonl", "".join(f"{json.dumps(one)}\n" for one in values)) == []


@check_rows(
    ("content", "told"),
    [
        ('{"a": 1,\n "b" 2}', ["hard 2:6 Expecting ':' delimiter."]),
        ("\ufeff{}", [MARK]),
        ('\ufeff{"é" 1}', [MARK, "hard 1:6 Expecting ':' delimiter."]),
        ("{}".encode("utf-16"), [WIDE]),
        ('{"a": 1}'.encode("utf-16-le"), [WIDE]),
        ('{"a": 1}'.encode("utf-16-be"), [WIDE]),
        (b'{"\xc3\xa9": "\xe9"}', ["hard 1:8 The file is not valid UTF-8."]),
        (" \n", ["hard 2:1 The file holds nothing but white space."]),
        ("[NaN,\n -Infinity]", ["advisory 1:2 NaN is not JSON.", "advisory 2:2 -Infinity is not JSON."]),
        ('{"a": 1,\n"\\u0061": 2}', ['advisory 2:1 The key "a" stands twice in one object.']),
        ('[{"a": 1}, {"a": 2}]', []),
        ("[" + "1" * 10_000 + "]", []),
        ('["\\ud800"]', ["advisory 1:3 A text holds half of a surrogate pair: many parsers refuse it."]),
        ('["\\uD83D\\uDE00", "\\\\ud800", "\\u0000"]', []),
        ('["a\0"]', ["hard 1:4 Invalid control character."]),
        ('{"a": 1} // why', [f"advisory 1:10 Comments are not JSON. {WITH_COMMENTS}"]),
        ('{"a": 1, // b\n/* c */ "a": 2,\n}', [
            f"advisory 1:10 Comments are not JSON. {WITH_COMMENTS}",
            'advisory 2:9 The key "a" stands twice in one object.',
        ]),
        ('{ // a\n "b" 2}', ["hard 2:6 Expecting ':' delimiter."]),
        ('{} /* a', ["hard 1:4 Comments are not JSON."]),
        ('{"a": "http://b}', ["hard 1:7 Unterminated string starting."]),
        # JSON Lines in a file of the other suffix.
        ('{"a": 1}\n\n[2]\r\n3\n', [f"advisory 3:1 {JSON_LINES}"]),
        ('{\n"a": 1\n}\n{\n"b": 2\n}', [f"advisory 4:1 {STREAM}"]),
        ('{"a": 1}\n{"b": 2\n', ["hard 2:1 Extra data."]),
        ('{"a": 1} {"b": 2}\n{"c": 3}\n', ["hard 1:10 Extra data."]),
        ('{"a": 1}\n}\n', ["hard 2:1 Extra data."]),
        ('{"a": 1}\nThat is all.\n', ["hard 2:1 Extra data."]),
        ("{'a': 1}", ["hard 1:2 Expecting property name enclosed in double quotes."]),
        ('{"a": 1,\n}', ["hard 1:8 A comma stands before the closing }."]),
        ("[1, ]", ["hard 1:3 A comma stands before the closing ]."]),
        ("```json\n{}\n```", ["hard 1:1 The file starts with a Markdown fence, which is not JSON."]),
        ("[" * 5_000 + "]" * 5_000, ["unknown It is nested too deeply to be parsed."]),
        ("{" + "/* " * 500_000, ["hard 1:2 Comments are not JSON."]),
        ('{"a": "' + '\\"' * 500_000, ["hard 1:7 Unterminated string starting."]),
        ('"' + "x" * 1_000_000, ["hard 1:1 Unterminated string starting."]),
    ],
)  # fmt: skip
def test_what_is_said_about_json(content: str | bytes, told: list[str]) -> None:
    assert answers("a.json", content) == told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"a": {{ value }}}', "note 1:8 " + TEMPLATE),
        ('{% if a %}\n{}{% endif %}', "note 1:2 " + TEMPLATE),
        ('{"port": ${PORT}}', "note 1:10 " + TEMPLATE),
        # Marks inside of texts are no reason for what is broken elsewhere.
        ('{"a": "{{ x }}" "b"}', "hard 1:17 "),
        # Braces doubled for a format string that was never filled in.
        ('{{"a": 1}}', "hard 1:2 "),
    ],
)  # fmt: skip
def test_a_template_is_not_blamed_for_what_it_is(content: str, told: str) -> None:
    [found] = answers("a.json", content)

    assert found.startswith(told)


@pytest.mark.parametrize(
    "path",
    [
        "tsconfig.json", "web/tsconfig.build.json", ".vscode/settings.json", "a.jsonc", "A.JSONC",
        "appsettings.Development.json", ".devcontainer/devcontainer.json",
    ],
)  # fmt: skip
def test_files_known_for_comments_may_hold_them(path: str) -> None:
    content = '{\n  // why\n  "a": "// not a comment", /* b */\n  "c": [1, 2,],\n}'

    assert answers(path, content) == []
    assert answers("other.json", content) == [
        f"advisory 2:3 Comments are not JSON. {WITH_COMMENTS}"
    ]


@pytest.mark.parametrize(
    ("path", "counts"), [("babel.config.json", "advisory"), ("a.json", "hard")]
)
def test_files_known_for_json5_may_hold_it(path: str, counts: str) -> None:
    [answer] = answers(path, "{presets: ['env']}")

    assert answer.startswith(counts)


def test_a_text_of_many_remarks_stays_short() -> None:
    assert len(answers("a.json", "[" + "NaN," * 100_000 + "1]")) == 10


def test_a_remark_in_a_very_long_text_has_no_place() -> None:
    content = '{"a": 1, "a": 2, "b": "' + "x" * 2_000_000 + '"}'

    assert answers("a.json", content) == ['advisory The key "a" stands twice in one object.']


@pytest.mark.quick_rows(4)
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"a": 1}\n{"b": 2}\r\n', []),
        ('{"a": "\u2028"}\n', []),
        ("\ufeff{}\n", [MARK]),
        (
            '{"a": 1}\n\n\n{"b": 2}\n\n',
            ["note 2 An empty line stands between records: some parsers refuse it."],
        ),
        ('{"a": 1}\n{"b" 2}\n', ["hard 2:6 Expecting ':' delimiter."]),
        ('{"a": 1,}\n{b}\n', [
            "hard 1:8 A comma stands before the closing }.",
            "hard 2:2 Expecting property name enclosed in double quotes.",
        ]),
        ('{"a": NaN}\n', ["advisory 1:7 NaN is not JSON."]),
        ('{\n "a": 1\n}\n', [
            "hard 1:1 The file holds one JSON value over several lines, not one value in each line."
        ]),
        (" \n", ["advisory The file holds no records."]),
        (b'{}\n"\xe9"\n', ["hard 2:2 The file is not valid UTF-8."]),
        ("{}\n" + "[" * 5_000, ["unknown It is nested too deeply to be parsed."]),
    ],
)  # fmt: skip
def test_what_is_said_about_json_lines(content: str | bytes, told: list[str]) -> None:
    assert answers("a.jsonl", content) == told
    assert answers("a.ndjson", content) == told


@pytest.mark.parametrize("line", ["{", '{"a": {{ b }}}', '{"a": 1, "a": 2}'])
def test_a_file_of_broken_lines_is_not_told_line_by_line_for_ever(line: str) -> None:
    assert len(answers("a.jsonl", f"{line}\n" * 100_000)) == 10
