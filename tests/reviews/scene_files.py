"""Work of every kind that reviewers look at: one file for each viewer."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from functools import cache

from openpyxl import Workbook
from PIL import Image, ImageDraw

MARKDOWN = """\
# Market for coffee grinders in 2025

## Size

Revenue rose by **4 %** to 1.21 bn EUR. TODO: name the source.

## Sellers

| Seller | Share | Source |
|---|---:|---|
| Alder | 31 % | annual report, p. 12 |
| Birch | 22 % | none |
| Cedar | 9 % | [survey](https://example.org/survey) |

- Prices fell in the second half.
- Nobody sells below 80 EUR any more.

```python
share = revenue_of("Alder") / revenue_of_all()
```
"""
CSV = "month,units,revenue,source\n" + "".join(
    f"2025-{month:02},{9000 + 137 * month},{(9000 + 137 * month) * 94.5:.2f},"
    f"{'' if month == 7 else 'tax office'}\n"
    for month in range(1, 13)
)
CODE = '''\
def share(own: float, whole: float) -> float:
    """Part of the whole, 0 to 1."""
    if whole == 0:
        return 0  # FIXME: nothing sold is not a share of zero
    return own / whole


def rising(figures: list[float]) -> bool:
    return all(a <= b for a, b in zip(figures, figures[1:]))
'''
FIGURES = {
    "market": "coffee grinders",
    "year": 2025,
    "revenue": {"value": 1_210_000_000, "currency": "EUR", "source": None},
    "sellers": [
        {"name": "Alder", "share": 0.31},
        {"name": "Birch", "share": 0.22, "source": ""},
        {"name": "Cedar", "share": 0.09, "source": "https://example.org/survey"},
    ],
    "checked": False,
}


@cache
def files() -> Mapping[str, bytes]:
    """Each path with its content: text, code, tables, a tree, a picture, a document, the rest."""
    return {
        "size.md": MARKDOWN.encode(),
        "sales.csv": CSV.encode(),
        "sales.xlsx": _workbook(),
        "figures.json": json.dumps(FIGURES, indent=2).encode(),
        "share.py": CODE.encode(),
        "notes.txt": b"Asked Alder twice, no answer.\nBirch has no report for 2025.\n",
        "chart.png": _chart(),
        "survey.pdf": _document("Survey of 2025: 412 answers, 9 % for Cedar."),
        "raw.bin": bytes(range(256)) * 8,
    }


def _workbook() -> bytes:
    book, kept = Workbook(), io.BytesIO()
    sales = book.active
    assert sales is not None
    sales.title = "Sales"
    for line in CSV.splitlines():
        sales.append(line.split(","))
    book.create_sheet("Sellers").append(["Alder", 0.31, "=B1*2"])
    book.save(kept)
    return kept.getvalue()


def _chart() -> bytes:
    picture, kept = Image.new("RGB", (640, 320), "#fbfaf7"), io.BytesIO()
    pen = ImageDraw.Draw(picture)
    for month in range(12):
        top = 280 - 14 * month - (60 if month == 6 else 0)
        pen.rectangle((30 + 50 * month, top, 60 + 50 * month, 290), fill="#3d6b8c")
    pen.line((20, 290, 630, 290), fill="#222222", width=2)
    picture.save(kept, "PNG")
    return kept.getvalue()


def _document(sentence: str) -> bytes:
    """A PDF of one page, by hand: what a viewer needs and no more."""
    drawn = f"BT /F1 18 Tf 72 720 Td ({sentence}) Tj ET".encode()
    parts = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    written, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(written))
        written += b"%d 0 obj%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n"
    size = len(parts) + 1
    return (
        written
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
        + end % (size, len(written))
    )
