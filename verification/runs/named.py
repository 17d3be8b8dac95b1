"""What the address of a page names; 404 where the project has none such."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404

from loomverify.accounts.access import AccessRequest
from verification.runs.models import Run, RunFile
from verification.runs.run_page import run_of


def run_named(request: AccessRequest, run_id: UUID) -> Run:
    """The run with what its page shows of it."""
    found = run_of(request.access.project, run_id)
    if found is None:
        raise Http404
    return found


def file_named(run: Run, path: str) -> RunFile:
    if "\x00" in path:
        raise Http404
    row = RunFile.objects.select_related("blob__project").filter(run=run, path=path).first()
    if row is None:
        raise Http404
    return row
