"""Which lines the tests ran, by file: the new ones that no test ran stand with their code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from verification.runs.artefacts import MAX_SHOWN_LINES, Line, Mark, Text, shown_file
from verification.runs.gating.spots import LINES_AROUND, Spots

MAX_FILES = 100
MAX_EXCERPTS = 10
MAX_MARKED = 50
UNRUN = "advisory"
"""How a line that no test ran is marked: it is no fault."""

Range = tuple[int, int]
Counts = Mapping[str, tuple[int, int]]
"""By path: lines that were run, and all that could be."""


@dataclass(frozen=True, slots=True)
class CoveredFile:
    """`unrun` are its new lines that no test ran, as (words, address)."""

    path: str
    url: str
    covered: int
    lines: int
    unrun: Sequence[tuple[str, str]] = ()
    excerpts: Sequence[Text] = ()

    @property
    def share(self) -> float | None:
        return self.covered / self.lines if self.lines else None


def covered_files(
    spots: Spots, files: Counts, unrun: Sequence[tuple[str, int, int]], part: slice
) -> list[CoveredFile]:
    """A part of all: those with new lines that no test ran come first, then those run least."""
    ranges: dict[str, list[Range]] = {}
    for path, first, last in unrun:
        ranges.setdefault(path, []).append((first, last))
    paths = [*ranges, *sorted(set(files) - set(ranges), key=lambda one: _order(files, one))]
    return [
        _file(spots, files, path, ranges.get(path, []), with_excerpt=number < MAX_EXCERPTS)
        for number, path in enumerate(paths[part])
    ]


def _order(files: Counts, path: str) -> tuple[float, str]:
    covered, lines = files[path]
    return (covered / lines if lines else 1.0, path)


def _file(
    spots: Spots, files: Counts, path: str, ranges: Sequence[Range], *, with_excerpt: bool
) -> CoveredFile:
    spot = spots.of(path, None)
    url = spot.url if spot else ""
    lines = list(_marked(ranges))
    places = ",".join(f"{line}.{UNRUN}" for line in lines)
    return CoveredFile(
        path,
        f"{url}?places={places}" if url and places else url,
        *files.get(path, (0, 0)),
        [
            (f"{first}" if first == last else f"{first}-{last}", f"#L{first}" if url else "")
            for first, last in ranges
        ],
        list(_excerpts(spots, path, lines)) if with_excerpt and lines else [],
    )


def _marked(ranges: Sequence[Range]) -> Iterator[int]:
    left = MAX_MARKED
    for first, last in ranges:
        for line in range(first, min(last, first + left - 1) + 1):
            yield line
            left -= 1


def _excerpts(spots: Spots, path: str, lines: Sequence[int]) -> Iterator[Text]:
    """The lines with those around them; what stands far from each other is apart."""
    row = spots.files.get(path)
    content = spots.content(row.blob) if row else None
    if content is None:
        return
    first = max(1, lines[0] - LINES_AROUND)
    limit = min(lines[-1] + LINES_AROUND - first + 1, MAX_SHOWN_LINES)
    marks = [Mark(UNRUN, line) for line in lines]
    whole = shown_file(content, marks, first=first, limit=limit)
    near = {at for line in lines for at in range(line - LINES_AROUND, line + LINES_AROUND + 1)}
    apart: list[list[Line]] = []
    for line in (one for one in whole.lines if one.number in near):
        if not apart or apart[-1][-1].number < line.number - 1:
            apart.append([])
        apart[-1].append(line)
    yield from (Text(tuple(one)) for one in apart if any(line.enforcement for line in one))
