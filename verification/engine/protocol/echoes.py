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
_NOISE = re.compile(r"[\s\"'“”„‘’«»`*_\\]+")
_KEYS = (
    r"(?:pass|passed|verdict|result|outcome|decision|status|assessment|conclusion|approved"
    r"|judge?ment|overall)"
)
_PASSES = r"(?:true|pass|yes|ok|approve|accept|satisf|success|met|1)"
_FAILS = r"(?:false|fail|no|reject|violat|unsatisf|unmet|0)"
_CORES = {
    passed: re.compile(rf"{_KEYS}(?:is)?[^a-z0-9]{{0,6}}{words}")
    for passed, words in ((True, _PASSES), (False, _FAILS))
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
    cores = {core for polarity in _polarities(passed) for core in _said(said, polarity)}
    if cores:
        return any(core in shown for core in cores)
    return _is_lost_without_copies(text, passed, shown)


def holds_copied_verdict(text: str, prompt: Prompt) -> bool:
    """Whether a reply repeats any verdict of the material, whatever else it says."""
    said, shown = squeezed(text), squeezed(f"{prompt.system}\n{prompt.text}")
    if _carries(said, prompt.token):
        return False
    return any(core in shown for passed in (True, False) for core in {*_said(said, passed)})


def squeezed(text: str) -> str:
    """Without what may change on the way: case, spaces, quotation marks, escapes, widths."""
    plainly = html.unescape(plain(text)).replace("\\n", " ").replace("\\t", " ")
    return _NOISE.sub("", unicodedata.normalize("NFKC", plainly)).casefold()


def _carries(said: str, token: str) -> bool:
    return bool(token) and re.search(rf"token[^a-z0-9]{{0,6}}{re.escape(token)}", said) is not None


def _polarities(passed: bool | None) -> tuple[bool, ...]:
    return (True, False) if passed is None else (passed,)


def _said(said: str, passed: bool) -> Iterator[str]:
    return (match.group() for match in _CORES[passed].finditer(said))


def _is_lost_without_copies(text: str, passed: bool | None, shown: str) -> bool:
    """Read the reply again without its words that stand in the prompt."""
    words = re.split(r"(\s+)", text)
    own = "".join("" if _is_copy(word, shown) else word for word in words)
    if own == text:
        return False
    again = recover(own).reply
    return again is None or again.passed is not passed


def _is_copy(word: str, shown: str) -> bool:
    bare = squeezed(word)
    return len(bare) >= MIN_COPIED_CHARS and bare in shown
