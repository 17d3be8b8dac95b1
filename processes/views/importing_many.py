"""Several files at once, or a folder of them: shown for what each would be, then stored."""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import redirect, render

from loomverify.accounts.access import AccessRequest
from loomverify.errors import Conflict, InputError
from processes import selectors, services
from processes.checking import Checked, check
from processes.definition.load import load
from processes.definition.stream import MAX_SOURCE_BYTES
from processes.models import ProcessVersion
from processes.views.access import number_in

MAX_FILES = 50
MAX_BYTES = 10 * 1024 * 1024
LINT_SECONDS = 5
"""For all files together; what is left is stored with its warnings all the same."""
ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file and what it would be. `clash`: another of the files has the name that it gives."""

    name: str
    source: bytes
    checked: Checked
    newest: ProcessVersion | None
    clash: str = ""

    @property
    def slug(self) -> str:
        return self.checked.definition.name if self.checked.definition else ""

    @property
    def is_good(self) -> bool:
        return self.checked.definition is not None and not self.clash

    @property
    def is_same(self) -> bool:
        return self.newest is not None and self.newest.source_text.encode() == self.source

    @property
    def is_stored(self) -> bool:
        return self.is_good and not self.is_same

    @property
    def kept(self) -> str:
        return base64.b64encode(self.source).decode()


def preview_many(request: AccessRequest, uploads: Sequence[UploadedFile[bytes]]) -> HttpResponse:
    """Raises: InputError, there are too many files, or they hold too much."""
    files = [one for one in uploads if str(one.name).lower().endswith(ENDINGS)]
    if len(files) > MAX_FILES:
        raise InputError("import.too_many", f"At most {MAX_FILES} files at once.")
    if sum(one.size or 0 for one in files) > MAX_BYTES:
        raise InputError("import.too_large", "All files together may hold at most 10 MiB.")
    if not files:
        raise InputError("import.empty", "None of the files ends with .yaml or .yml.")
    read = [(str(one.name), bytes(one.read(MAX_SOURCE_BYTES + 1))) for one in files]
    candidates = _candidates(request, read)
    context = {
        "candidates": candidates,
        "stored": sum(one.is_stored for one in candidates),
        "ignored": len(uploads) - len(files),
    }
    return render(request, "processes/process_import_many.html", context)


def _candidates(request: AccessRequest, read: list[tuple[str, bytes]]) -> list[Candidate]:
    until = time.monotonic() + LINT_SECONDS
    checked = [_checked(source, until) for _name, source in read]
    slugs = [one.definition.name if one.definition else "" for one in checked]
    newest = selectors.newest_versions(request.access.project, set(slugs))
    found = []
    for at, ((name, source), one) in enumerate(zip(read, checked, strict=True)):
        twin = slugs.index(slugs[at]) if slugs[at] else at
        clash = read[twin][0] if twin != at else ""
        found.append(Candidate(name, source, one, newest.get(slugs[at]), clash))
    return found


def _checked(source: bytes, until: float) -> Checked:
    if time.monotonic() < until:
        return check(source)
    loaded = load(source)
    return Checked(loaded.definition, loaded.errors, loaded.warnings, loaded.notes)


def store_many(request: AccessRequest, sources: Sequence[bytes]) -> HttpResponse:
    """Each file in a transaction of its own: what cannot be stored holds nothing else back."""
    seen = request.POST.getlist("newest")
    note = request.POST.get("note", "").replace("\0", "")[:300]
    stored, left = [], []
    for at, source in enumerate(sources[:MAX_FILES]):
        newest = number_in(seen[at]) if at < len(seen) else None
        try:
            version, is_new = services.import_version(
                project=request.access.project,
                source_text=source,
                seen_newest=newest,
                actor=request.access.actor,
                role=request.access.role,
                note=note,
            )
        except (Conflict, InputError) as error:
            left.append(str(error))
        else:
            stored += [f"{version.process.slug} v{version.number}"] if is_new else []
    if stored:
        messages.success(request, f"Stored: {', '.join(stored)}.")
    for told in left:
        messages.warning(request, f"Not stored: {told}"[:500])
    return redirect("process_list", project=request.access.project.slug)
