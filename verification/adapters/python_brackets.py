"""Where a bracket of broken Python was opened and never closed.

A parser meets the trouble lines later, where the next statement does not fit; the author looks for
the bracket.
"""

from __future__ import annotations

import re

from verification.engine.evidence import SyntaxProblem

MAX_OPEN = 1_000
_TOKEN = re.compile(
    r"#[^\n]*"
    r'|"""(?:\\.|[^\\])*?(?:"""|\Z)'
    r"|'''(?:\\.|[^\\])*?(?:'''|\Z)"
    r'|"(?:\\.|[^"\\\n])*(?:"|$)'
    r"|'(?:\\.|[^'\\\n])*(?:'|$)"
    r"|[()\[\]{}]",
    re.DOTALL | re.MULTILINE,
)
_CLOSES = {")": "(", "]": "[", "}": "{"}


def unclosed_bracket(text: str) -> SyntaxProblem | None:
    """The innermost bracket that is open at the end; None where all fit, or one fits no other."""
    opened: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        shown = token.group()
        if shown in ("(", "[", "{"):
            opened.append(token)
            if len(opened) > MAX_OPEN:
                return None
        elif shown in _CLOSES and (not opened or opened.pop().group() != _CLOSES[shown]):
            return None
    if not opened:
        return None
    bracket = opened[-1]
    line = text.count("\n", 0, bracket.start()) + 1
    column = bracket.start() - text.rfind("\n", 0, bracket.start())
    return SyntaxProblem(f"`{bracket.group()}` was never closed.", line, column)
