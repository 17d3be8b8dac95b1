"""Pages of a PDF as pictures, with their words beside them. No script and no form of it ever runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pypdfium2 as pdfium  # type: ignore[import-untyped]

from verification.adapters.viewing_image import painted_bytes
from verification.adapters.viewing_text import CannotShow

PAGES_AT_ONCE: Final = 4
WIDTH_PIXELS: Final = 1_100
MAX_PIXELS: Final = 3_000_000
MAX_WORDS_CHARACTERS: Final = 8_000


def shown(content: bytes, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[bytes]]:
    """Up to four pages, from page `page` on."""
    try:
        document = pdfium.PdfDocument(content)
        count = len(document)
    except pdfium.PdfiumError as error:
        locked = "password" in str(error).lower()
        raise CannotShow(
            "This PDF is locked with a password." if locked else "This PDF is broken."
        ) from error
    if not count:
        raise CannotShow("This PDF has no pages.")
    first = min(max(1, int(asked.get("page") or 1)), count)
    pages, pictures = [], []
    for number in range(first, min(count, first + PAGES_AT_ONCE - 1) + 1):
        page, picture = _page(document, number)
        pages.append(page)
        pictures.extend(picture)
    return {"pages": pages, "first": first, "count": count}, pictures


def _page(document: Any, number: int) -> tuple[dict[str, Any], list[bytes]]:
    try:
        page = document[number - 1]
        width, height = page.get_size()
        if not (0 < width < math.inf and 0 < height < math.inf):
            return {"number": number, "type": ""}, []
        scale = min(WIDTH_PIXELS / width, math.sqrt(MAX_PIXELS / (width * height)))
        if max(width, height) * scale > MAX_PIXELS / 100 or min(width, height) * scale < 1:
            return {"number": number, "type": ""}, []
        kind, picture = painted_bytes(page.render(scale=scale).to_pil())
        words = page.get_textpage().get_text_bounded()[:MAX_WORDS_CHARACTERS]
    except pdfium.PdfiumError:
        return {"number": number, "type": ""}, []
    return {"number": number, "type": kind, "words": words}, [picture]
