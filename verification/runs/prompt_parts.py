"""A prompt in its parts: what we say, and the framed texts of the submission. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

BEGIN = re.compile(r"^\[(\S{8,200}) begin (.{1,200})\]$", re.M)
MAX_PARTS = 400


@dataclass(frozen=True, slots=True)
class Part:
    """`is_material`: it comes from the submission; the rest are our own words."""

    title: str
    text: str
    is_material: bool = False


def parts_of_request(stored: str) -> list[Part]:
    """What was sent, as it is kept: instructions, the prompt part by part, the shape asked for."""
    try:
        request = json.loads(stored)
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, Mapping):
        return [Part("Prompt", stored)] if stored else []
    parts = [Part("Instructions", _text(request.get("system")))]
    parts += parts_of_prompt(_text(request.get("prompt")))
    parts.append(Part("Shape of the answer", _text(request.get("schema"))))
    return [part for part in parts if part.text.strip()]


def parts_of_prompt(prompt: str) -> list[Part]:
    """Split at our own headings and frames; what stands within a frame is left alone."""
    first = BEGIN.search(prompt)
    if first is None:
        return list(_headed(prompt, "Prompt"))
    frame = re.compile(
        rf"^\[{re.escape(first[1])} begin ([^\n]+)\]\n(.*?)\n\[{re.escape(first[1])} end \1\]$",
        re.M | re.S,
    )
    found: list[Part] = []
    at, title = 0, "Prompt"
    for framed in frame.finditer(prompt):
        said = list(_headed(prompt[at : framed.start()], title))
        found += said
        found.append(Part(framed[1], framed[2], is_material=True))
        at, title = framed.end(), "Closing words"
        if len(found) > MAX_PARTS:
            break
    return [*found, *_headed(prompt[at:], title)]


def _headed(text: str, title: str) -> Iterator[Part]:
    """Our words, by their headings; a heading without words is left out."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith("# "):
            yield from _said(title, lines)
            title, lines = line[2:].strip(), []
        else:
            lines.append(line)
    yield from _said(title, lines)


def _said(title: str, lines: list[str]) -> Iterator[Part]:
    if text := "\n".join(lines).strip("\n"):
        yield Part(title, text)


def _text(value: Any) -> str:
    if value in (None, "", {}, []):
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
