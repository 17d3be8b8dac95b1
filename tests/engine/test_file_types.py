from __future__ import annotations

from tests.engine.cases import evaluate, told
from tests.tables import check_rows
from verification.engine.checks.file_types import BEGINNINGS

HTML = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>"
ERROR_PAGE = "an HTML page, perhaps the error page of a site that it was fetched from."
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
GZIP = b"\x1f\x8b\x08\0\0\0\0\0"
TELEVISION = (b"\x47" + b"\0" * 187) * 3
ARCHIVE_OF_A_CAMERA = (b"\0" * 4 + b"\x47" + b"\0" * 187) * 3
OFFICE_WITH_PASSWORD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def mismatches(path: str, content: bytes) -> list[str]:
    found = evaluate(files={path: content}, deliverables=[path]).findings
    return [one.message for one in found if one.reason_code == "file_type_mismatch"]


@check_rows("suffix", sorted(BEGINNINGS))
def test_every_known_beginning_fits_its_own_suffix(suffix: str) -> None:
    for beginning in BEGINNINGS[suffix]:
        assert mismatches(f"a.{suffix}", beginning + b"\0\0\0\0") == []


@check_rows(
    ("path", "content"),
    [
        ("a.pdf", b"\n\n%PDF-1.7"),
        ("A.PDF", b"%PDF-1.7"),
        ("a.docx", OFFICE_WITH_PASSWORD),
        ("a.mp4", b"\0\0\0\x20ftypisom"),
        ("a.html", HTML),
        ("a.php", HTML),
        ("a.xml", b"<?xml version='1.0'?><html/>"),
        ("a.ts", b"let a = 1\n"),
        ("a.ts", TELEVISION),
        ("a.mts", ARCHIVE_OF_A_CAMERA),
        ("a.txt", "text".encode("utf-16")),
        ("a.csv", "a,b\n1,2\n".encode("utf-16-le")),
        ("a.txt", b"BZh and other words\nID3 is a format\n"),
        ("a.md", b"# <html> in Markdown"),
        ("a.bin", b"a\0b"),
        ("a", b"a\0b"),
        # Spreadsheets of old are as often pages or tables as what they are called.
        ("a.xls", HTML),
    ],
)
def test_a_file_that_keeps_the_promise_of_its_name(path: str, content: bytes) -> None:
    assert mismatches(path, content) == []


@check_rows(
    ("path", "content", "message"),
    [
        ("report.pdf", HTML, f"Named .pdf, but holds {ERROR_PAGE}"),
        ("data.CSV", HTML, f"Named .csv, but holds {ERROR_PAGE}"),
        ("a.xlsx", b"\xef\xbb\xbf\r\n<!-- made --><html>", f"Named .xlsx, but holds {ERROR_PAGE}"),
        ("notes.md", HTML, f"Named .md, but holds {ERROR_PAGE}"),
        ("app.js", HTML, f"Named .js, but holds {ERROR_PAGE}"),
        ("photo.jpg", PNG, "Named .jpg, but holds a PNG image."),
        ("a.png", b'{"error": "not found"}', "Named .png, but does not start like one."),
        ("a.pdf", b"", None),
        ("a.csv", GZIP, "Named .csv, but holds a gzip archive."),
        ("a.md", b"%PDF-1.7", "Named .md, but holds a PDF document."),
        ("a.txt", b"a\0b", "Named .txt, but holds binary content."),
        ("a.ts", PNG, "Named .ts, but holds a PNG image."),
        ("a.csv", TELEVISION, "Named .csv, but holds an MPEG transport stream."),
    ],
)
def test_a_file_that_breaks_it(path: str, content: bytes, message: str | None) -> None:
    assert mismatches(path, content) == ([message] if message else [])


@check_rows("path", ["a.json", "a.jsonl", "a.yaml", "a.toml", "a.ipynb"])
@check_rows("content", [HTML, PNG, GZIP])
def test_what_certainly_breaks_a_grammar_is_told_once_and_by_it(path: str, content: bytes) -> None:
    conclusion = evaluate(files={path: content}, deliverables=[path])

    assert told(conclusion) == [("syntax", "hard", "syntax_invalid")]
    assert conclusion.findings[0].message.startswith("It holds ")


def test_a_file_too_large_for_its_grammar_is_still_looked_at() -> None:
    path, content = "a.toml", PNG + b"\0" * 5_000_000

    assert mismatches(path, content) == ["Named .toml, but holds a PNG image."]
