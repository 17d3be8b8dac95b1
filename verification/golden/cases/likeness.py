"""Near duplicates: a sketch of what is submitted, and how alike two sketches are."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SKETCH_SIZE = 64
SHINGLE_WORDS = 3
MAX_CHARS = 1_000_000
"""Of all texts together: what stands behind them plays no part."""
ALIKE = 0.8
MAX_COMPARED = 50
"""So many that agree in one place are looked at."""
MAX_APART = SKETCH_SIZE - int(ALIKE * SKETCH_SIZE)
"""In so many places two sketches that are alike may differ, at most."""

_WORD = re.compile(r"\w+")


def sketch(texts: Iterable[str]) -> list[int]:
    """Return 64 signed numbers of 64 bits, always the same for the same words.

    The share of places in which two sketches agree estimates the share of word sequences that
    their texts have in common. Empty: there is not a word.
    """
    # numpy is not loaded before somebody compares: the web starts without it.
    from verification.golden.cases.minhash import smallest

    hashes = set(_hashes(texts))
    return smallest(sorted(hashes), SKETCH_SIZE) if hashes else []


def likeness(one: Sequence[int], other: Sequence[int]) -> float:
    """Estimate, 0 to 1, how much two sketches have in common; 0 where one is empty."""
    if not one or not other:
        return 0.0
    return sum(a == b for a, b in zip(one, other, strict=True)) / SKETCH_SIZE


@dataclass(frozen=True, slots=True)
class Sketched:
    """A case by its name, what is submitted exactly, and about."""

    name: str
    input_sha256: str
    sketch: Sequence[int]

    def likeness_to(self, other: Sketched) -> float:
        is_same = self.input_sha256 == other.input_sha256
        return 1.0 if is_same else likeness(self.sketch, other.sketch)


class Alike:
    """Many cases, in which those that are much alike are found without comparing all with all.

    Two sketches that are alike differ in few places, so that they agree in one of the first few
    of them.
    """

    def __init__(self, cases: Iterable[Sketched]) -> None:
        self._by_part: dict[tuple[int, int | str], list[Sketched]] = defaultdict(list)
        for one in cases:
            for part in _parts(one):
                self._by_part[part].append(one)

    def near(self, case: Sketched, limit: int = 5) -> list[str]:
        """Name others that are alike, most alike first."""
        others: dict[str, Sketched] = {}
        for part in _parts(case):
            others |= {one.name: one for one in self._by_part[part][:MAX_COMPARED]}
        others.pop(case.name, None)
        found = [(-case.likeness_to(one), one.name) for one in others.values()]
        return [name for said, name in sorted(found) if -said >= ALIKE][:limit]


def _parts(case: Sketched) -> Iterator[tuple[int, int | str]]:
    yield -1, case.input_sha256
    yield from enumerate(case.sketch[: MAX_APART + 1])


def submitted_texts(run: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what people and agents wrote: no ids, and no content that is not text."""
    task = run["task"]
    yield from (task.get(name) or "" for name in ("description", "plan", "acceptance_criteria"))
    yield from (run.get(name) or "" for name in ("output", "diff"))
    yield from run.get("alternatives") or ()
    for name in ("claims", "evidence"):
        yield from (one.get("text") or "" for one in run.get(name) or ())
    for one in run.get("tool_calls") or ():
        yield f"{one['tool']} {one.get('error') or ''}"
    for path in sorted(files):
        yield path
        yield files[path][:MAX_CHARS].decode(errors="ignore")


def _hashes(texts: Iterable[str]) -> Iterator[int]:
    room = MAX_CHARS
    for text in texts:
        words = _WORD.findall(text[:room].lower())
        room -= min(room, len(text))
        for start in range(max(1, len(words) - SHINGLE_WORDS + 1) if words else 0):
            shingle = " ".join(words[start : start + SHINGLE_WORDS])
            yield int.from_bytes(
                hashlib.blake2b(shingle.encode(errors="replace"), digest_size=8).digest(), "big"
            )
