"""What languages allow and tree-sitter's grammars do not know: put out of their sight.

Each function returns the text with such places replaced, each by as many characters: a problem that
is left keeps its place. They are asked only about a text in which a grammar found a problem.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_PRIMITIVE_MACRO = re.compile(r"\b(str|bool|char|[iu](?:8|16|32|64|128|size)|f32|f64)(?=!)")
_FRONT_MATTER = re.compile(
    r"(?:#![^\[\n][^\n]*\n)?\s*(?P<fence>-{3,})(?!-)[^\n]*\n(?:.*?\n)?(?P=fence)[ \t]*(?:\n|\Z)",
    re.DOTALL,
)
_NOT_LINE_END = re.compile(r"[^\n]")
# Every piece that opens ends at the end of the text at the latest: so that a search is linear.
_CSS_STRING = r'"(?:[^"\\\n]|\\[\s\S])*+"' + r"|'(?:[^'\\\n]|\\[\s\S])*+'"
_CSS_COMMENT = r"/\*[\s\S]*?(?:\*/|\Z)"
_CSS_PIECE = re.compile(
    rf"(?P<kept>{_CSS_STRING}|{_CSS_COMMENT})"
    r"|(?P<page><!--|-->)"
    r"|\burl\((?P<url>(?:[^\"'()\\\s]|\\.)*+)\)"
    # The condition or the names behind an at-rule.
    rf"|@[-\w]+(?P<prelude>(?:{_CSS_STRING}|{_CSS_COMMENT}|[^\"'{{}};@/]++|/(?!\*))*+)"
    # A property of one's own takes any value, and some old ones have a syntax of their own.
    rf"|--[-\w]*\s*:(?P<own>(?:{_CSS_STRING}|[^\"'{{}};]++)*+)"
    r"|:(?P<filter>\s*(?:progid:|alpha\(|expression\()[^;}]*+)"
    r"|(?<=[{;\s])(?P<hack>\*)(?=[a-z-]+\s*:)"
    r"|(?P<nested>&)"
    # Of keyframes: `6.5%`, `entry 0%`.
    r"|(?P<point>\.)(?=\d+%\s*[,{])"
    r"|(?P<range>\b(?:entry|exit|cover|contain)(?:-crossing)?)(?=\s+\d+%\s*[,{])"
    r"|(?P<foreign>[^\x00-\x7f])"
)
_BRACKET = re.compile(r"[()\[\]]")
_CSS_STAND_INS = {
    "page": " ", "hack": "_", "nested": "a", "point": "0", "range": " ", "foreign": "a",
}  # fmt: skip
_HTML_PIECE = re.compile(
    r"(?P<kept><!--.*?(?:-->|\Z)|<(?P<code>script|style)\b.*?(?:</(?P=code)\s*>|\Z))"
    r"|(?P<start><(?P<field>textarea|title)\b[^<>]*>)(?P<content>.*?)(?=</(?P=field)\s*>|\Z)"
    r"|(?P<tag></?[a-zA-Z](?:\"[^\"]*\"|'[^']*'|[^\"'<>])*+>|<[!?][^<>]*>)"
    r"|(?P<sign>>|<(?=[\s=\d])|&(?!#?\w+;))",
    re.DOTALL | re.IGNORECASE,
)
_HTML_SIGN = re.compile("[<>&]")
_HTML_TAG_BEFORE = re.compile(
    r"(?:^|\s)/?(?:a|abbr|article|aside|b|blockquote|body|br|button|canvas|code|div|em|footer"
    r"|form|h[1-6]|head|header|hr|html|i|iframe|img|input|label|li|link|main|meta|nav|ol|option|p"
    r"|pre|script|section|select|small|span|strong|style|svg|table|t[bdhr]|tbody|textarea|tfoot"
    r"|thead|title|ul|video)(?:\s[^<>]*=[^<>]*|\s*/)?$",
    re.IGNORECASE,
)
"""A tag whose `<` is lost."""
_LOOKED_BACK_CHARS = 300


def hide_new_rust(text: str) -> str:
    """Rust: macros that are called as primitive types are (`str!`), the front matter of scripts."""
    if front := _FRONT_MATTER.match(text):
        text = _NOT_LINE_END.sub(" ", front[0]) + text[front.end() :]
    return _PRIMITIVE_MACRO.sub(lambda match: "m" * len(match[0]), text)


def hide_new_css(text: str) -> str:
    """CSS: conditions of at-rules, addresses without quotes, nesting, and what only some browsers read."""
    return _CSS_PIECE.sub(_hidden_css, text)


def _hidden_css(match: re.Match[str]) -> str:
    kind = match.lastgroup
    whole = match[0]
    if kind is None or kind == "kept":
        return whole
    piece = match[kind]
    start = match.start(kind) - match.start()
    stand_in = _CSS_STAND_INS.get(kind)
    if stand_in:
        new = stand_in * len(piece)
    elif not _fits_together(piece):
        return whole
    elif kind == "prelude":
        if match.string[match.end() : match.end() + 1] not in ("{", ";") or not piece.strip():
            return whole
        new = " " + "a" * (len(piece) - 1)
    else:
        new = "a" * len(piece)
    return f"{whole[:start]}{new}{whole[start + len(piece) :]}"


def _fits_together(piece: str) -> bool:
    """Whether round and square brackets close in the order in which they open."""
    opened: list[str] = []
    for sign in _BRACKET.findall(re.sub(_CSS_STRING, "", piece)):
        if sign in "([":
            opened.append(sign)
        elif not opened or opened.pop() + sign not in ("()", "[]"):
            return False
    return not opened


def hide_signs(text: str) -> str:
    """HTML: `>`, and mostly `<` and `&`, are letters outside of tags, and all of them in fields."""
    return _HTML_PIECE.sub(_hidden_html, text)


def _hidden_html(match: re.Match[str]) -> str:
    if match["content"] is not None:
        return match["start"] + _HTML_SIGN.sub(" ", match["content"])
    if match["sign"] is None:
        return match[0]
    start = match.start()
    before = match.string[max(0, start - _LOOKED_BACK_CHARS) : start].rpartition(">")[2]
    is_of_tag = match["sign"] == ">" and _HTML_TAG_BEFORE.search(before)
    return ">" if is_of_tag else " "


GAPS: Mapping[str, Callable[[str], str]] = {
    "Rust": hide_new_rust,
    "CSS": hide_new_css,
    "HTML": hide_signs,
}
"""By language."""
