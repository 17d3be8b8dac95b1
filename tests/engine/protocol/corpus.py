"""Malformed replies, each with its right reading. One file for each stage; see `replies/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from verification.engine.protocol.reply import Stage

FOLDER = Path(__file__).parent / "replies"
READ = (Stage.STRICT, Stage.EMBEDDED, Stage.REPAIRED, Stage.YAML, Stage.VERDICT_LINE)
UNREAD = ("ambiguous", "restate", "alternate")
NOISE = "⟪noise⟫"


@dataclass(frozen=True, slots=True)
class Malformed:
    """One reply of the corpus. `passed` is None where the right reading is that it holds no verdict."""

    kind: str
    what: str
    text: str
    passed: bool | None
    reading: Mapping[str, Any]

    @property
    def stage(self) -> Stage:
        return Stage.UNREADABLE if self.kind in UNREAD else Stage(self.kind)

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


@cache
def corpus() -> tuple[Malformed, ...]:
    return tuple(one for kind in (*READ, *UNREAD) for one in _of(kind))


def _of(kind: str) -> list[Malformed]:
    entries = yaml.safe_load((FOLDER / f"{kind}.yaml").read_text(encoding="utf-8"))
    return [
        Malformed(kind, entry["what"], _text(entry), entry.get("passed"), entry)
        for entry in entries
    ]


def _text(entry: Mapping[str, Any]) -> str:
    text = str(entry["reply"])
    if noise := entry.get("noise"):
        text = text.replace(NOISE, (noise["of"] * noise["bytes"])[: noise["bytes"]])
    return text
