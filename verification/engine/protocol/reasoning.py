"""Separates a model's answer from the reasoning that it wrote before it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from verification.engine.protocol.objects import Span, objects_in

_TAGS = (
    "think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad",
    "analysis", "deliberation", "rationale", "chain_of_thought", "inner_monologue",
    "internal_monologue", "seed:think", "antml:thinking",
)  # fmt: skip
_TAG = "|".join(map(re.escape, sorted(_TAGS, key=len, reverse=True)))
_PAIRS = (
    (rf"<\s?(?:{_TAG})(?:\s[^<>]{{0,80}})?>", rf"<\s?/\s?(?:{_TAG})\s?>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"◁think▷", r"◁/think▷"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|think(?:_start)?\|>", r"<\|(?:/think|think_end)\|>"),
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    (r"<unused94>", r"<unused95>"),
    (r"<\|channel>\s?thought", r"<channel\|>"),
)
"""How models begin and end their reasoning. Sources: the chat templates of DeepSeek, Qwen, Claude,
Seed, Mistral, Kimi, Sky-T1, Command, Apertus and Gemma."""
_MARK = re.compile(
    "|".join(
        f"(?P<open{n}>{opens})|(?P<close{n}>{ends})" for n, (opens, ends) in enumerate(_PAIRS)
    ),
    re.IGNORECASE,
)
_CHANNEL = re.compile(
    r"<\|channel\|>\s{0,3}([a-z]{1,20})\b[^<\n]{0,200}(?:<\|constrain\|>[^<\n]{0,40})?<\|message\|>",
    re.IGNORECASE,
)
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|call|start)\|>")
_CONTROL_TOKEN = re.compile(
    r"<\|(?:start|end|return|call|begin_of_solution|end_of_solution|START_RESPONSE|END_RESPONSE"
    r"|im_end|eot_id|endoftext)\|>(?:assistant\b)?",
)
_BARE_CHANNELS = re.compile(r"\s{0,9}(?:assistant)?(?:analysis|commentary)(?=[A-Z{\"'])")
"""Harmony with its control tokens lost: `analysisWe need … assistantfinal{…}`."""
_BARE_FINAL = re.compile(r"(?:assistant)?final(?=\s{0,9}[{\[`])|assistantfinal")
_HEADED = (
    re.compile(r"\s{0,9}here(?:'s| is) my thought process:", re.IGNORECASE),
    re.compile(r"here(?:'s| is) my (?:response|answer):", re.IGNORECASE),
)
"""Granite's form."""
_QUOTES = "`\"'“”‘’"


def final_answer(text: str) -> str:
    """Return what follows the reasoning; '' for reasoning without a final answer.

    Everything up to the last closing mark is reasoning, unless an opening mark shows where it
    began. A mark within a complete JSON object, or in quotation marks, is a part of a text.

    Raises:
        Doubt: the text holds marks, and its objects are nested too deeply or too damaged.
    """
    if "<|channel|>" in text:
        text = _final_channel(text)
    if _BARE_CHANNELS.match(text):
        return _after_last(_BARE_FINAL, text)
    begins, answers = _HEADED
    if begins.match(text):
        return _after_last(answers, text)
    return _CONTROL_TOKEN.sub("", _without_marked(text))


def _after_last(mark: re.Pattern[str], text: str) -> str:
    ends = [match.end() for match in mark.finditer(text)]
    return text[ends[-1] :] if ends else ""


def _final_channel(text: str) -> str:
    """Return the final channel's messages, and the text that stands in no message at all.

    Where an answer quotes control tokens, what follows the quote is the rest of the answer.
    """
    spans = objects_in(text).whole
    channels = [mark for mark in _CHANNEL.finditer(text) if not _is_within(mark, spans)]
    if not channels:
        return text
    before = text[: channels[0].start()]
    # A channel whose own mark is damaged is no answer.
    answer = ["" if "<|message|>" in before else before]
    has_final = False
    ends = [*(mark.start() for mark in channels[1:]), len(text)]
    for channel, end in zip(channels, ends, strict=True):
        message, rest = _split_message(text[channel.end() : end])
        if channel[1].casefold() == "final":
            has_final = True
            answer.append(message)
        answer.append(rest)
    return "\n".join(answer) if has_final else ""


def _split_message(text: str) -> tuple[str, str]:
    spans = objects_in(text).whole
    ends = (mark.start() for mark in _END_OF_MESSAGE.finditer(text) if not _is_within(mark, spans))
    end = next(ends, len(text))
    return text[:end], text[end:]


def _without_marked(text: str) -> str:
    """Remove what stands between the marks; before a closing mark alone, everything."""
    marks = list(_own_marks(text))
    kept: list[str] = []
    at, opened = 0, False
    for mark in marks:
        if (mark.lastgroup or "").startswith("open"):
            if not opened:
                kept.append(text[at : mark.start()])
            opened = True
        else:
            if not opened:
                kept.clear()
            opened = False
            at = mark.end()
    return "" if opened else "\n".join([*kept, text[at:]]) if marks else text


def _own_marks(text: str) -> Iterator[re.Match[str]]:
    marks = [mark for mark in _MARK.finditer(text) if not _is_quoted(mark, text)]
    spans = objects_in(text).whole if marks else ()
    return (mark for mark in marks if not _is_within(mark, spans))


def _is_quoted(mark: re.Match[str], text: str) -> bool:
    before, after = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
    return before != "" and before in _QUOTES and after != "" and after in _QUOTES


def _is_within(mark: re.Match[str], spans: Sequence[Span]) -> bool:
    before = bisect_left(spans, mark.start(), key=lambda span: span.start) - 1
    return before >= 0 and mark.start() < spans[before].end
