"""The tokens of the style sheet keep WCAG AA in both themes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from tests.tables import check_rows

STATIC = Path(settings.BASE_DIR) / "static"
TOKEN = re.compile(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
TOKENS = {
    name: (light, dark)
    for name, light, dark in TOKEN.findall((STATIC / "loomverify.css").read_text())
}
GROUNDS = ("paper", "sheet", "sunk")
INKS = ("ink", "soft", "faint", "accent", "pass", "warn", "part", "fail", "open")
PAIRS = [
    *((ink, ground) for ink in INKS for ground in GROUNDS),
    *((tone, f"{tone}-ground") for tone in ("pass", "warn", "part", "fail", "open")),
    *((ink, f"{tone}-ground") for ink in ("ink", "soft") for tone in ("pass", "warn", "part", "fail", "open")),
    *((ink, "accent-ground") for ink in ("ink", "soft", "faint", "fail", "warn")),
    ("on-accent", "accent"),
]  # fmt: skip


def luminance(color: str) -> float:
    channels = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@check_rows("theme", [0, 1], ids=["light", "dark"])
@check_rows(("ink", "ground"), PAIRS)
def test_text_stands_out_from_its_ground(ink: str, ground: str, theme: int) -> None:
    assert contrast(TOKENS[ink][theme], TOKENS[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_the_edge_of_a_field_stands_out(theme: int) -> None:
    assert contrast(TOKENS["edge"][theme], TOKENS["sheet"][theme]) >= 3


INLINE = r"\sstyle=|<style|\son[a-z]+=|<script(?! src=)"


def test_no_template_needs_an_inline_script_or_style() -> None:
    templates = [*Path(settings.BASE_DIR).glob("templates/**/*.html")]

    offenders = [
        path.name
        for path in templates
        if re.search(INLINE, re.sub(r"\{%.*?%\}", "", path.read_text(), flags=re.DOTALL))
    ]

    assert templates
    assert offenders == []


def test_nothing_is_loaded_from_elsewhere() -> None:
    texts = [path.read_text() for path in STATIC.iterdir()]

    assert not any(re.search(r"https?://(?!www\.w3\.org)", text) for text in texts)
