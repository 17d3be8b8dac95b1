"""Places that gates name: how an address marks each, and the lines around it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.urls import reverse

from verification.runs.artefacts import MAX_SHOWN_LINES, Mark, Text, shown_file
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.models import Blob, Run, RunFile

LINES_AROUND = 2


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the work. `url` '' where no such file was submitted."""

    words: str
    url: str = ""
    context: Text | None = None


@dataclass
class Spots:
    """Of the files that `named` tells, those of the run are read at once, when one is asked for.

    `enforcement` is what a marked line weighs.
    """

    run: Run
    enforcement: str
    named: Callable[[], Collection[str]]

    @cached_property
    def files(self) -> dict[str, RunFile]:
        paths = {one for one in self.named() if one}
        rows = RunFile.objects.filter(run=self.run, path__in=paths).select_related("blob__project")
        return {row.path: row for row in rows} if paths else {}

    def of(
        self, path: str, line: int | None, *, column: int | None = None, with_context: bool = False
    ) -> Spot | None:
        if not path:
            return None
        words = ":".join(str(one) for one in (path, line, column if line else None) if one)
        row = self.files.get(path)
        if row is None:
            return Spot(words)
        url = reverse("run_file_page", args=[self.run.project.slug, self.run.uuid, path])
        if not line:
            return Spot(words, url)
        context = self._context(row, line) if with_context else None
        return Spot(words, f"{url}?{self._marked(line)}#L{line}", context)

    def _marked(self, line: int) -> str:
        """How an address marks a line, and begins near it where it stands far down."""
        query = {"places": f"{line}.{self.enforcement}"}
        if line > MAX_SHOWN_LINES:
            query["from"] = str(line - LINES_AROUND)
        return urlencode(query)

    def _context(self, row: RunFile, line: int) -> Text | None:
        content = self.content(row.blob)
        if content is None:
            return None
        first, limit = line - LINES_AROUND, 2 * LINES_AROUND + 1
        text = shown_file(content, [Mark(self.enforcement, line)], first=first, limit=limit)
        holds_it = any(one.number == line for one in text.lines)
        return text if holds_it else None

    @cached_property
    def _contents(self) -> dict[str, bytes | None]:
        return {}

    def content(self, blob: Blob) -> bytes | None:
        """Read once; None where it is no longer stored."""
        if blob.sha256 not in self._contents:
            try:
                self._contents[blob.sha256] = read_blob(blob)
            except EvidenceLost:
                self._contents[blob.sha256] = None
        return self._contents[blob.sha256]
