"""Where a pinned text comes from: what was submitted with a run, or what somebody pasted."""

from __future__ import annotations

from dataclasses import dataclass

from loomverify.errors import InputError
from verification.runs.artefacts import decode
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.models import Run, RunFile, Submission

MAX_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Source:
    """A run's output; with `path` a file of it, with `evidence` a piece of its evidence."""

    run: Run
    path: str = ""
    evidence: str = ""

    @property
    def words(self) -> str:
        if self.path:
            return self.path
        return f"evidence {self.evidence}" if self.evidence else "output"


def text_of(source: Source) -> str:
    """Return a copy of what was submitted.

    Raises:
        InputError: the run has no such thing, or it is no text that could be pinned.
    """
    if source.path and source.evidence:
        message = "Name a file or a piece of evidence, not both."
        raise InputError("example.place", message, loc=("body", "evidence"))
    if source.path:
        return pinnable(_file(source.run, source.path), place="path")
    submission = Submission.objects.filter(run=source.run).first()
    body = submission.body if submission else {}
    if not source.evidence:
        return pinnable(str(body.get("output") or ""), place="run")
    for one in body.get("evidence") or ():
        if one.get("id") == source.evidence:
            return pinnable(str(one.get("text") or ""), place="evidence")
    raise _refused("evidence", "example.unknown", "No such evidence was submitted with this run.")


def pinnable(text: str, *, place: str = "text") -> str:
    """Return the text.

    Raises:
        InputError: it is empty or too large, or the database cannot hold it.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise _refused(place, "example.encoding", "It holds half of a character.") from None
    if not text.strip():
        raise _refused(place, "example.empty", "There is no text in it.")
    if "\0" in text:
        raise _refused(place, "example.character", "It holds a NUL character.")
    if size > MAX_BYTES:
        message = f"It has {size:,} bytes: a pinned text may have {MAX_BYTES:,}. Paste the part."
        raise _refused(place, "example.too_large", message)
    return text


def _file(run: Run, path: str) -> str:
    row = None
    if "\0" not in path:
        row = RunFile.objects.select_related("blob__project").filter(run=run, path=path).first()
    if row is None:
        raise _refused("path", "example.unknown", "No such file was submitted with this run.")
    if row.size > MAX_BYTES:
        message = (
            f"It has {row.size:,} bytes: a pinned text may have {MAX_BYTES:,}. Paste the part."
        )
        raise _refused("path", "example.too_large", message)
    try:
        text = decode(read_blob(row.blob))
    except EvidenceLost:
        raise _refused("path", "example.lost", "Its content is no longer stored.") from None
    if text is None:
        raise _refused("path", "example.no_text", "It is no text.")
    return text


def _refused(place: str, code: str, message: str) -> InputError:
    return InputError(code, message, loc=("body", place))
