"""Markdown as HTML that runs nothing, loads nothing and leaves the page's frame alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from verification.adapters.viewing_text import HIDDEN, CannotShow, decoded, revealed

MAX_CHARACTERS: Final = 300_000
MAX_MARKUP_CHARACTERS: Final = 3_000_000
HEADINGS: Final = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}
TAGS: Final = frozenset(
    [
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "s",
        "span",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
ATTRIBUTES: Final = {"a": {"href", "title"}, "ol": {"start"}}
CLASSES: Final = {"td": {"num"}, "th": {"num"}, "span": {"tag", "faint"}}
SCHEMES: Final = frozenset({"http", "https", "mailto"})
FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)


def shown(content: bytes, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[bytes]]:
    text, note = decoded(content)
    text, lines_left = _bounded(text.replace("\r\n", "\n"))
    tokens = _parser().parse(_with_front_matter(text))
    _tame(tokens)
    raw = _parser().renderer.render(tokens, _parser().options, {})
    if len(raw) > MAX_MARKUP_CHARACTERS:
        raise CannotShow("This makes too large a page to show.")
    return {"html": revealed(_cleaned(raw)), "lines_left": lines_left, "note": note}, []


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _bounded(text: str) -> tuple[str, int]:
    if len(text) <= MAX_CHARACTERS:
        return text, 0
    cut = text.rfind("\n", 0, MAX_CHARACTERS) + 1 or MAX_CHARACTERS
    return text[:cut], text.count("\n", cut) + (not text.endswith("\n"))


def _with_front_matter(text: str) -> str:
    """What stands between two rules at the top is shown as it is written."""
    found = FRONT_MATTER.match(text)
    if found is None or "~~~~" in found[1]:
        return text
    return f"~~~~\n{found[1]}\n~~~~\n{text[found.end() :]}"


def _tame(tokens: Sequence[Token]) -> None:
    for token in tokens:
        token.tag = HEADINGS.get(token.tag, token.tag)
        if token.type in ("th_open", "td_open") and "right" in str(token.attrGet("style")):
            token.attrs = {"class": "num"}
        if token.children:
            token.children = _tamed(token.children)


def _tamed(tokens: Sequence[Token]) -> list[Token]:
    """Links lead outside or nowhere; an image is its words and its address."""
    found: list[Token] = []
    is_kept: list[bool] = []
    for token in tokens:
        if token.type == "image":
            found.append(_words("image", _plain(token.children or []), token.attrGet("src")))
        elif token.type == "link_open":
            is_kept.append(leads_outside(str(token.attrGet("href"))))
            found.append(_link(token) if is_kept[-1] else _words("link", "", token.attrGet("href")))
        elif token.type != "link_close" or (is_kept and is_kept.pop()):
            found.append(token)
    return found


def leads_outside(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if parts.scheme not in SCHEMES or HIDDEN.search(address):
        return False
    return bool(parts.path) if parts.scheme == "mailto" else bool(parts.hostname)


def _link(token: Token) -> Token:
    token.attrs = {"href": str(token.attrGet("href")), "title": str(token.attrGet("href"))}
    return token


def _words(kind: str, text: str, address: object) -> Token:
    """What is named and not loaded, or not followed."""
    said = f"{kind} {address}" if not text else f"{kind} {address}: {text}"
    token = Token("html_inline", "", 0)
    token.content = f'<span class="tag">{escape(said[:500])}</span> '
    return token


def _plain(tokens: Sequence[Token]) -> str:
    return "".join(token.content for token in tokens)[:200]


def _cleaned(markup: str) -> str:
    return nh3.clean(
        markup,
        tags=set(TAGS),
        clean_content_tags={"script", "style"},
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        allowed_classes={tag: set(names) for tag, names in CLASSES.items()},
        url_schemes=set(SCHEMES),
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        strip_comments=True,
    )
