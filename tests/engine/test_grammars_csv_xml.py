from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.grammar_answers import answers
from tests.tables import check_rows

CELLS = st.text("abc 1,;\t\"'\né", min_size=1).filter(str.strip)
LATIN = "advisory 2:1 The file is not valid UTF-8: it was read as Latin-1."
TEMPLATE = "It holds template marks, so this does not count: "
BOMB = "unknown Its entities would grow without bound, so they were not followed."
ENCODED = "It names an encoding in which it is not written."
LAUGHS = '<!DOCTYPE a [<!ENTITY a0 "ha ha ha ha ">' + "".join(
    f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">' for number in range(1, 12)
)


@check_rows(
    "content",
    [
        "a,b\n1,2\n",
        "a,b\r1,2\r",
        "a,b\n\n1,2\n\n",
        'a,b\n"x\ny",2\n',
        'a,b\n5" pipe,2\n',
        "# made by hand, twice, yesterday\na,b\n# not, a, row\n1,2\n",
        "#id,name\n1,2\n",
        "a;b\n1,5;2\n3;4\n",
        "Name, first name;age\nX;3\nY;4\n",
        "sep=;\na;b\n1;2\n",
        "a|b\n1|2\n",
        "one\ntwo\n",
        "\ufeffa,b\n1,2\n",
        "a,b\n1,2\n".encode("utf-16"),
        "a,b\n" + "x" * 1_000_000 + ",2\n",
    ],
)
def test_csv_without_a_remark(content: str | bytes) -> None:
    assert answers("a.csv", content) == []


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=2))
def test_whatever_csv_writes_is_csv(rows: list[tuple[str, ...]]) -> None:
    written = io.StringIO()
    csv.writer(written).writerows([("one", "two", "three"), *rows])

    assert answers("a.csv", written.getvalue()) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a,b\n1,2,3\n4,5\n6\n", [
            "advisory 2 This row has 3 fields, where the first has 2 fields.",
            "advisory 4 This row has 1 field, where the first has 2 fields.",
        ]),
        ('a,b\n"x\ny",2\n3,4,5\n', ["advisory 4 This row has 3 fields, where the first has 2 fields."]),
        ("sep=;\na;b\n1;2\n3\n", ["advisory 4 This row has 1 field, where the first has 2 fields."]),
        ('a,b\n1,"x\n2,y\n', ["advisory 2 A quote opens in this row and never closes."]),
        ("a,b\n", ["note The file holds one row only, perhaps a header without data."]),
        (" \n", ["advisory The file holds no rows."]),
        (b"a,b\n\xe9,2\n", [LATIN]),
        ("a,b\n" + "x,y\n" * 5_000 + "\0,2\n", ["advisory 5002 The file holds NUL characters."]),
    ],
)  # fmt: skip
def test_what_is_said_about_csv(content: str | bytes, told: list[str]) -> None:
    assert answers("a.csv", content) == told


def test_a_table_of_ragged_rows_is_told_in_a_few_lines() -> None:
    found = answers("a.csv", "a,b\n" + "1\n" * 100)

    assert found[-1] == "advisory 91 further rows have another number of fields than the first."
    assert len(found) == 10


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a\tb\n1\t2\n", []),
        ('a\tb\n"x\t2\ny"\t3\n', []),
        ('a\tb\n"x\ty"\t2\n1\t2\n', []),
        ("a\tb\n1\n", ["advisory 2 This row has 1 field, where the first has 2 fields."]),
    ],
)
def test_what_is_said_about_tsv(content: str, told: list[str]) -> None:
    assert answers("a.tsv", content) == told


@pytest.mark.parametrize(
    "content",
    [
        "<a/>",
        "\ufeff<?xml version='1.0'?>\n<a>é</a>",
        "<a>\xe9</a>".encode("utf-16"),
        "<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>".encode("latin-1"),
        "<?xml version='1.0' encoding='shift_jis'?><a>\u3042</a>".encode("shift_jis"),
        # What stands outside is never fetched, and its absence is no fault.
        '<!DOCTYPE a SYSTEM "http://192.0.2.1/a.dtd"><a>&nbsp;</a>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        '<!DOCTYPE a [<!ENTITY b "x">]><a c="&b;">&b;</a>',
        "<a>{{ name }}</a>",
        "<a>" * 5_000 + "</a>" * 5_000,
    ],
)
def test_xml_without_a_remark(content: str | bytes) -> None:
    assert answers("a.xml", content) == []


@check_rows(
    ("content", "told"),
    [
        ("<a>\n<é><b></é></a>", "hard 2:9 Mismatched tag."),
        ("<a>&nbsp;</a>", "hard 1:4 Undefined entity."),
        ("<a>&</a>", "hard 1:5 Not well-formed (invalid token)."),
        ("<a>\0</a>", "hard 1:4 Not well-formed (invalid token)."),
        ("<a/><b/>", "hard 1:5 Junk after document element."),
        ("<a>", "hard 1:4 No element found."),
        (" \n", "hard 1:1 The file holds nothing but white space."),
        ("\n<?xml version='1.0'?><a/>", "hard 2:1 XML or text declaration not at start of entity."),
        ("<!DOCTYPE html>\n<html><br></html>", "hard 2:13 Mismatched tag."),
        (b"<a>\xc3\xa9\xe9</a>", "hard 1:5 The file is not valid UTF-8."),
        ("<x:a/>", "advisory 1:1 Unbound prefix."),
        ("<?xml version='1.0' encoding='utf-16'?><a/>", f"advisory 1:31 {ENCODED}"),
        ("<?xml version='1.1'?><a>&#1;</a>", "advisory 1:25 Reference to invalid character number."),
        ("<?xml version='1.0' encoding='klingon'?><a/>", "unknown It names an encoding that is not known here: klingon."),
        ("<?xml version='1.0' encoding='zlib'?><a/>", "unknown It names an encoding that is not known here: zlib."),
        (b"<?xml version='1.0' encoding='euc-kr'?><a>\xff</a>", "unknown It cannot be read in the encoding that it names: euc-kr."),
        ("<a {{ attributes }}/>", f"note 1:4 {TEMPLATE}Not well-formed (invalid token)."),
        ("<a>{% if x %}<b>{% else %}<c>{% endif %}</b></a>", f"note 1:43 {TEMPLATE}Mismatched tag."),
        ("<a>{{ name }}<b></a>", "hard 1:19 Mismatched tag."),
        (f"{LAUGHS}]><a>&a11;</a>", BOMB),
        ('<!DOCTYPE a [<!ENTITY x "&y;"><!ENTITY y "&x;">]><a/>', BOMB),
    ],
)  # fmt: skip
def test_what_is_said_about_xml(content: str | bytes, told: str) -> None:
    assert answers("a.xml", content) == [told]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('<svg xmlns="http://www.w3.org/2000/svg"><path d=""/></svg>', []),
        ("<svg><path></svg>", ["hard 1:14 Mismatched tag."]),
        ("<html/>", ["advisory The root element is html, not svg."]),
    ],
)
def test_an_image_of_lines_is_xml(content: str, told: list[str]) -> None:
    assert answers("a.svg", content) == told
