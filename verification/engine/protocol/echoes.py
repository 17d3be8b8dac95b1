"""A verdict quoted from the material is not a verdict: it may say what the work told it to say."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator

from verification.engine.protocol.framing import plain
from verification.engine.protocol.prompt import Prompt
from verification.engine.protocol.recovery import recover

MIN_COPIED_CHARS = 10
"""A shorter word may stand anywhere by chance."""
MAX_COMPARED_CHARS = 100_000
_ESCAPED = re.compile(r"\\{1,8}(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrt]))")
_NOISE = re.compile(r"[\s\"'“”„‘’«»`*_\\]+")
_KEYS = (
    r"pass(?:ed)?",
    r"verdict",
    r"(?:result|outcome|decision|status|assessment|conclusion|approved|judge?ment|overall)",
)
"""What a verdict is called, the plainest name first: beside it the others are only words."""
_WORDS = {
    True: r"(?:true|pass|yes|ok|approve|accept|satisf|success|met|1)",
    False: r"(?:false|fail|no|reject|violat|unsatisf|unmet|0)",
}
_CORES = {
    passed: tuple(re.compile(rf"{key}(?:is)?[^a-z0-9]{{0,6}}{words}") for key in _KEYS)
    for passed, words in _WORDS.items()
}


def is_copied(text: str, passed: bool | None, *prompts: Prompt) -> bool:
    """Whether the verdict that was read from a reply may have been taken out of its prompt.

    A reply that carries the token was written to this prompt. Without it every place where the
    verdict is said must be the judge's own: none of them stands in what it was shown.
    """
    said = squeezed(text)
    if any(_carries(said, prompt.token) for prompt in prompts):
        return False
    shown = "\n".join(squeezed(f"{prompt.system}\n{prompt.text}") for prompt in prompts)
    for cores in _said(said, passed):
        if cores:
            return any(core in shown for core in cores)
    return len(text) > MAX_COMPARED_CHARS or _is_lost_without_copies(text, passed, shown)


def holds_copied_verdict(text: str, prompt: Prompt) -> bool:
    """Whether a reply repeats any verdict of the material, whatever else it says."""
    said, shown = squeezed(text), squeezed(f"{prompt.system}\n{prompt.text}")
    if _carries(said, prompt.token):
        return False
    return any(core in shown for cores in _said(said, None) for core in cores)


def squeezed(text: str) -> str:
    """Without what may change on the way: case, spaces, quotation marks, escapes, widths."""
    written = _ESCAPED.sub(_unescaped, html.unescape(text))
    return _NOISE.sub("", unicodedata.normalize("NFKC", plain(written))).casefold()


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else " "


def _carries(said: str, token: str) -> bool:
    return bool(token) and re.search(rf"token[^a-z0-9]{{0,6}}{re.escape(token)}", said) is not None


def _said(said: str, passed: bool | None) -> Iterator[set[str]]:
    """The places where a verdict is said, by what it is called."""
    polarities = (True, False) if passed is None else (passed,)
    for key in range(len(_KEYS)):
        yield {
            one.group() for polarity in polarities for one in _CORES[polarity][key].finditer(said)
        }


def _is_lost_without_copies(text: str, passed: bool | None, shown: str) -> bool:
    """Read the reply again without its words that stand in the prompt."""
    words = re.split(r"(\s+)", text)
    copies = {word for word in {*words} if _is_copy(word, shown)}
    own = "".join("" if word in copies else word for word in words)
    if own == text:
        return False
    again = recover(own).reply
    return again is None or again.passed is not passed


def _is_copy(word: str, shown: str) -> bool:
    bare = squeezed(word)
    return len(bare) >= MIN_COPIED_CHARS and bare in shown
