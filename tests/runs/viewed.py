"""Contents of every kind, as agents submit them."""

from __future__ import annotations

import io
from typing import Any

import openpyxl
import pypdfium2 as pdfium  # type: ignore[import-untyped]
from PIL import Image

MARKDOWN = b"""# The report

Sales **rose** in two quarters, as [the table](https://figures.example/q2) says.

| quarter | sales |
|---------|------:|
| Q1      |   120 |
| Q2      |   155 |
"""
TABLE = b"quarter,sales\nQ1,120\nQ2,155\nQ3\n"
TREE = b'{"total": 275, "quarters": [{"name": "Q1", "sales": 120}], "total": 1e400}'


def workbook(**sheets: list[list[Any]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in (sheets or {"Sales": [["quarter", "sales"], ["Q1", 120]]}).items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def picture(kind: str = "PNG", size: tuple[int, int] = (40, 30), **options: Any) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", size, "teal").save(content, kind, **options)
    return content.getvalue()


def pdf(pages: int = 2) -> bytes:
    document = pdfium.PdfDocument.new()
    for _ in range(pages):
        document.new_page(300, 400)
    content = io.BytesIO()
    document.save(content)
    return content.getvalue()
