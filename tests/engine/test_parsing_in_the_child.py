from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import pytest

from tests.engine.cases import evaluate
from tests.engine.grammar_answers import shown
from verification.adapters.probe import ChildProbe

RECORD = json.dumps({"id": 1, "name": "é", "price": 12.5, "tags": ["a", "b"], "none": None})
CELL = json.dumps(
    {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "A" * 20_000}],
        "source": ["x = 1\n"],
    }
)
VERSION = '"metadata": {}, "nbformat": 4, "nbformat_minor": 4'
LARGE = 40_000_000
DEEP = 5_000
DEEP_FILES = {
    "a.json": "[" * DEEP + "]" * DEEP,
    "a.jsonl": "[" * DEEP + "]" * DEEP,
    "a.ipynb": '{"cells": ' + "[" * DEEP + "]" * DEEP + "}",
    "a.yaml": "[" * DEEP + "]" * DEEP,
    "b.yaml": "- " * DEEP + "a",
    "a.toml": "a = " + "[" * DEEP + "]" * DEEP,
    "a.xml": "<a>" * DEEP + "</a>" * DEEP,
    "b.xml": "<!DOCTYPE a [<!ELEMENT a " + "(" * DEEP + "a" + ")" * DEEP + ">]><a/>",
    "a.sql": "select " + "(" * DEEP + "1" + ")" * DEEP,
    "a.js": "x = " + "[" * DEEP + "]" * DEEP,
    "a.ts": "x = " + "[" * DEEP + "]" * DEEP,
    "a.tsx": "x = " + "<a>" * DEEP + "</a>" * DEEP,
    "a.go": "package a\nvar x = " + "(" * DEEP + "1" + ")" * DEEP,
    "a.rs": "fn f() { " + "(" * DEEP + ")" * DEEP + " }",
    "a.java": "class A { int x = " + "(" * DEEP + "1" + ")" * DEEP + "; }",
    "a.sh": "echo " + "$(" * DEEP + "a" + ")" * DEEP,
    "a.py": "x = " + "(" * DEEP + "1" + ")" * DEEP,
    "b.py": "x = " + "-" * 20 * DEEP + "1",
    "z.py": "if\n",
}
TOO_DEEP = "unknown It is nested too deeply to be parsed."


@pytest.fixture
def probe() -> Iterator[ChildProbe]:
    probe = ChildProbe(allowance=lambda files: 60.0)
    yield probe
    probe.close()


def asked(probe: ChildProbe, files: dict[str, str]) -> dict[str, list[str]]:
    rows = probe.syntax([(path, text.encode()) for path, text in files.items()])
    parsed = [row if not isinstance(row, list) else tuple(row) for row in rows]
    return {path: shown(one) for path, one in zip(files, parsed, strict=True)}  # type: ignore[arg-type]


@pytest.mark.extended
def test_deep_nesting_in_any_language_costs_an_answer_at_most(probe: ChildProbe) -> None:
    found = asked(probe, DEEP_FILES)

    unknown = {path for path, told in found.items() if told and told[0].startswith("unknown")}
    assert unknown == {"a.json", "a.jsonl", "a.ipynb", "a.toml", "a.sql", "b.py"}
    assert {found[path][0] for path in unknown - {"b.py"}} == {TOO_DEEP}
    assert found["z.py"] == ["hard 1:3 Expected an expression."]
    assert [path for path, told in found.items() if told and path not in unknown] == ["z.py"]


def test_a_notebook_is_read_as_json_and_its_code_as_python(probe: ChildProbe) -> None:
    text = f'{{"cells": [{CELL}], {VERSION}, "nbformat": 4}}'.replace("x = 1", "print 'a'")

    found = asked(probe, {"a.ipynb": text, "b.ipynb": text[:-1], "c.py": "x = 1\n"})

    assert [one.split(" ")[0] for one in found["a.ipynb"]] == ["advisory", "advisory"]
    assert found["a.ipynb"][1].startswith("advisory Cell 1, line 1, column 7: ")
    assert [one.split(" ")[0] for one in found["b.ipynb"]] == ["hard"]
    assert found["c.py"] == []


def test_a_file_that_takes_too_long_is_unknown_and_spoils_no_other() -> None:
    def allowance(files: Iterable[tuple[str, int]]) -> float:
        return 0.05 if any(path == "slow.py" for path, _ in files) else 60.0

    probe = ChildProbe(allowance=allowance)
    probe.start()
    files = {"a.json": "{", "slow.py": "a;" * 1_000_000, "z.py": "if\n"}

    conclusion = evaluate(files=files, deliverables=["a.json", "z.py"], probe=probe)

    probe.close()
    found = {one.path: (one.verdict, one.enforcement) for one in conclusion.findings}
    assert found == {
        "a.json": ("violated", "hard"),
        "z.py": ("violated", "hard"),
        "slow.py": ("unknown", "advisory"),
    }


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("path", "first", "repeated", "last"),
    [
        ("a.json", "[", f"{RECORD},", "1]"),
        ("a.jsonl", "", f"{RECORD}\n", ""),
        ("a.ipynb", f'{{{VERSION}, "cells": [', f"{CELL},", f"{CELL}]}}"),
        ("a.yaml", "", f"- {RECORD}\n", ""),
        ("a.csv", "one,two,three\n", 'é,"a, b",3\n', ""),
        ("a.tsv", "one\ttwo\tthree\n", "é\ta\t3\n", ""),
        ("a.xml", "<r>", "<item id='1'><name>é</name></item>", "</r>"),
        ("line.json", '"', "x", '"'),
    ],
    ids=["json", "jsonl", "ipynb", "yaml", "csv", "tsv", "xml", "one line"],
)
def test_a_large_file_of_data_gets_a_real_answer(
    probe: ChildProbe, path: str, first: str, repeated: str, last: str
) -> None:
    content = first + repeated * (LARGE // len(repeated)) + last

    assert asked(probe, {path: content}) == {path: []}


def test_many_small_files_of_every_language_share_one_request(probe: ChildProbe) -> None:
    files = {f"{number}/{path}": "" for number in range(20) for path in DEEP_FILES}

    assert len(asked(probe, files)) == len(files)
