from __future__ import annotations

import pytest

from tests.engine.grammar_answers import answers
from tests.tables import check_rows

TEMPLATE = "It holds template marks, so this does not count: "
LIBYAML_REFUSES = "libyaml refuses this, and the YAML 1.2 parser (py-yaml12) reads it: "
LIBYAML_READS = "The YAML 1.2 parser (py-yaml12) refuses this, and libyaml reads it: "
FOR_1_2 = "for the parser of YAML 1.2. libyaml refuses it: "
NO_TOKEN = "While scanning for the next token, found character that cannot start any token."
TOO_NEW = "It needs TOML 1.1, which many parsers do not read yet: "


@check_rows(
    "content",
    [
        "a: 1\n---\nb: 2\n...\n",
        "a: !secret b\n",
        "a: {{ b }}\n",
        "a: &x 1\nb: *x\n",
        "a:\tb\n-1:\t\t-2\n",
        "a: [\n  'b'\n]\nc:\n  d: {\n    'e': [\n      'f'\n  ]}\n  g: |\n    ]\n    h\n",
        "<<: {a: 1}\n<<: {b: 1}\n",
        "1: a\n'1': b\n",
        "on: [push]\nrun: ${{ matrix.a }}\n",
        "\ufeffa: 1\n",
        "a: 1\n".encode("utf-16"),
        "a: 1\n".encode("utf-16-le"),
        "[" * 5_000 + "]" * 5_000,
        "- " * 5_000 + "a",
        "a: " + "x" * 1_000_000,
        " \n",
        "",
    ],
)
def test_yaml_without_a_remark(content: str | bytes) -> None:
    assert answers("a.yaml", content) == []


@check_rows(
    ("content", "expected"),
    [
        ("a: [1\nb: 2\n", "hard 2:2 While parsing a flow sequence, did not find expected ',' or ']'."),
        ("é: b: c\n", "hard 1:5 Mapping values are not allowed in this context."),
        ("a: b\n\tc: d\n", "hard 2:1 While scanning a plain scalar, found a tab character that violates indentation."),
        ("a: \0\n", "hard 1:4 U+0000: control characters are not allowed."),
        (b"a: 1\nb: \xe9\n", "hard 2:4 The file is not valid UTF-8."),
        ("a: 1\nb:\n  a: 2\na: 3\n", 'advisory 4:1 The key "a" stands twice in one mapping.'),
        ("b: *x\n", "advisory 1:4 The alias *x has no anchor before it."),
        ("- &a 1\n---\n- *a\n", "advisory 3:3 The alias *a has no anchor before it."),
        # Both refuse it, as an indentation; other parsers read white space.
        ("a: [\n\t1\n\t]\n", "advisory 3:1 While scanning a plain scalar, found a tab character that violates indentation."),
        # The parsers of the two versions differ.
        ("a:\n\t# why\n  b: 1\n", f"advisory 2:1 {LIBYAML_REFUSES}While scanning for the next token, found character that cannot start any token."),
        ("- a\n-\tb\n", f"advisory 2:2 {LIBYAML_REFUSES}While scanning for the next token, found character that cannot start any token."),
        ("a: &x8.3 1\nb: *x8.3\n", f"advisory 1:7 {LIBYAML_REFUSES}While scanning an anchor, did not find expected alphabetic or numeric character."),
        ("%FOO x\n---\na\n", f"advisory 1:5 {LIBYAML_REFUSES}While scanning a directive, found unknown directive name."),
        ("%YAML 1.3\n---\na\n", f"advisory 1:1 {LIBYAML_REFUSES}Found incompatible YAML document."),
        ("a: '\x80'\n", f"advisory 1:5 {LIBYAML_REFUSES}U+0080: control characters are not allowed."),
        ("a: '\x1b'\n", f"advisory 1:5 {LIBYAML_REFUSES}U+001B: control characters are not allowed."),
        ("a: [\n  'b',\n]\nc: &d.e f\n", f"advisory 4:6 {LIBYAML_REFUSES}While scanning an anchor, did not find expected alphabetic or numeric character."),
        ("?\ta\n: &b.c\td\n", f"advisory 1:2 {LIBYAML_REFUSES}{NO_TOKEN}"),
        ("a: 1\nb: [c,\nd]\n", f"advisory 3:1 {LIBYAML_READS}Invalid indentation in flow construct."),
        # What json.dumps writes into a text.
        ('a: "\\ud83d\\ude00"\n', "advisory 1:7 Both YAML parsers refuse surrogate pairs in escapes, as JSON has them: While parsing a quoted scalar, found invalid Unicode character escape code."),
        ('a: "\\ud83d"\nb: [\n', "hard 1:7 While parsing a quoted scalar, found invalid Unicode character escape code."),
        # libyaml stops at what is only unknown to it; what both refuse comes later.
        ("%FOO x\n---\na: b: c\n", "hard 3:5 Mapping values are not allowed in this context."),
    ],
)  # fmt: skip
def test_what_is_said_about_yaml(content: str | bytes, expected: str) -> None:
    assert answers("a.yaml", content) == answers("a.yml", content) == [expected]


# Each alias holds two of the alias before it: a million times the text.
LAUGHS = "- &a0 [x, x]\n" + "".join(f"- &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 25))
LONG = "a: " + "x" * 3_000_000 + "\n"


@check_rows(
    ("content", "expected"),
    [
        (LAUGHS, []),
        (LAUGHS + "- \"*\"\n- '*.txt'\n- \"0 */2 * *\"\n- 'a &b'\n- !x\n  &c d\n- '&'\n- {a: *a1, \"*\": &d e}\n", []),
        (LAUGHS + "-\tx\n", [f"advisory 26:2 {LIBYAML_REFUSES}{NO_TOKEN}"]),
        (LAUGHS + "a: b\n", ["hard 26:1 While parsing a block collection, did not find expected '-' indicator."]),
        # Each anchor would be copied with all anchors in it.
        ("!t &a [" * 200 + "x, " * 20_000 + "]" * 200, []),
        ("- " * 90_000 + "a", []),
        ("? " * 40_000 + "a", []),
        ("[" + ": " * 5_000 + "]", ["hard 1:2 While parsing a flow node, did not find expected node content."]),
        ("[" * 300 + ":x" + "]" * 300, [f"unknown It is nested too deeply {FOR_1_2}While parsing a flow node, did not find expected node content (line 1)."]),
        (LONG, []),
        (LONG + "b: [\n\t1\n\t]\n", ["advisory 4:1 While scanning a plain scalar, found a tab character that violates indentation."]),
        (LONG + "[", [f"unknown It is too large {FOR_1_2}While scanning a simple key, could not find expected ':' (line 3)."]),
    ],
)  # fmt: skip
def test_hostile_yaml_is_parsed_within_bounds(content: str, expected: list[str]) -> None:
    assert answers("a.yaml", content) == expected


@pytest.mark.parametrize(
    ("content", "counts"),
    [
        ("a: {{ b }}\n  c: : {% if d %}\n", "note"),
        ("{{- if .Values.on }}\na: 1\n{{- end }}\n", "note"),
        ("name: {{ x }}/y\n", "note"),
        # Expressions that stand in YAML, and are no reason for it to be broken.
        ('a: "{{ x }}"\nb: [\n', "hard"),
        ("steps:\n  - run: ${{ matrix.a }}\n   bad", "hard"),
        # What only one of the parsers refuses.
        ("a: [b,\nc]\nd: {{ e }}\n", "note"),
    ],
)
def test_a_templated_yaml_is_not_blamed_for_what_it_is(content: str, counts: str) -> None:
    [found] = answers("a.yaml", content)

    assert found.startswith(counts)
    assert (TEMPLATE in found) == (counts == "note")


@pytest.mark.parametrize(
    "content",
    [
        "a = 1",
        "a = 2026-01-01T10:00:00Z\nb = 2026-01-01\nc = 07:32:00.5\r\n",
        "a = nan\nb = inf\n[c]\n[[d]]\n",
        'a = """\nx""""\n',
        " \n",
    ],
)
def test_toml_without_a_remark(content: str) -> None:
    assert answers("a.toml", content) == []


@check_rows(
    ("content", "told"),
    [
        ("a = 1\na = 2\n", "hard 2:6 Cannot overwrite a value."),
        ("[a.b]\n[a.b]\n", "hard 2:5 Cannot declare a.b twice."),
        ("a = 2026-13-01\n", "hard 1:9 Expected newline or end of document after a statement."),
        ('a = """x', "hard 1:9 Unterminated string."),
        ("\ufeffa = 1\n", "note 1:1 The file starts with a byte order mark."),
        ("a = 1\n".encode("utf-16"), "hard 1:1 The file is UTF-16, and TOML is UTF-8."),
        (b"a = 'x'\nb = '\xe9'\n", "hard 2:6 The file is not valid UTF-8."),
        ("a = 07:32\n", f"advisory 1:6 {TOO_NEW}Expected newline or end of document after a statement."),
        ('a = "\\e[0m"\nb = "\\x41"\n', f"advisory 1:8 {TOO_NEW}Unescaped '\\' in a string."),
        ("a = {\n  b = 1, # why\n  c = [1,\n2],\n}\n", f"advisory 1:6 {TOO_NEW}Invalid initial character for a key part."),
        ("a = 1979-05-27T07:32-07:00\n", f"advisory 1:15 {TOO_NEW}Expected newline or end of document after a statement."),
        ("a = 1979-05-27 07:32Z\n", f"advisory 1:16 {TOO_NEW}Expected newline or end of document after a statement."),
        # Neither 1.0 nor 1.1.
        ("a = {,}\n", "hard 1:6 Invalid initial character for a key part."),
        ("a = 07:32\nb = {\n c = 1,\n}\n d\n", "hard 5:3 Expected '=' after a key in a key/value pair."),
        ('a = "' + '\\"' * 500_000, "hard 1:1000006 Unterminated string."),
        ("a = {\n b = 1,,\n}\n", "hard 1:6 Invalid initial character for a key part."),
        ("a = {{ x }}\n", f"note 1:6 {TEMPLATE}Invalid initial character for a key part."),
        ("{% if x %}\na = 1\n{% endif %}\n", f"note 1:1 {TEMPLATE}Invalid statement."),
        ("a = '{{ x }}'\nb\n", "hard 2:2 Expected '=' after a key in a key/value pair."),
        ("a = " + "1" * 10_000, "unknown It holds a number that is too long to be read."),
        ("a = " + "[" * 5_000 + "]" * 5_000, "unknown It is nested too deeply to be parsed."),
    ],
)  # fmt: skip
def test_what_is_said_about_toml(content: str | bytes, told: str) -> None:
    assert answers("a.toml", content) == [told]
