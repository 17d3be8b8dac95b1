"""What a form of a draft says, written into the draft's text."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse

from loomverify.accounts.access import AccessRequest
from loomverify.errors import Conflict, InputError
from processes import services
from processes.checking import check
from processes.models import Draft
from processes.views.access import back_to, lock_version_of

Change = Callable[[str], str]
SAVED, STALE, REFUSED = 302, 409, 422


def saved(request: AccessRequest, draft: Draft, form: Form, change: Change) -> int:
    """Return the status to answer with; what is refused stands beside its field then."""
    try:
        services.edit_draft(
            draft=draft,
            change=lambda source: need_loading(change(source)),
            lock_version=lock_version_of(request),
        )
    except Conflict:
        return STALE
    except InputError as error:
        key = str(error.issues[0].loc[-1]).rsplit(".", 1)[-1] if error.issues[0].loc else ""
        form.add_error(key if key in form.fields else None, str(error))
        return REFUSED
    return SAVED


def shown_lock(request: AccessRequest, stored: Draft, status: int) -> int:
    """The state of the draft that a form goes by: one that is refused stays as late as it was."""
    is_new = request.method != "POST" or status == STALE
    return stored.lock_version if is_new else lock_version_of(request)


def acted(
    request: AccessRequest, draft: Draft, change: Change, said: str, *, back: str
) -> HttpResponse:
    """Answer a button that changes a draft: by the page to go back to, and what came of it."""
    try:
        services.edit_draft(draft=draft, change=lambda source: need_loading(change(source)))
    except InputError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, said)
    return back_to(back, draft)


def need_loading(source: str) -> str:
    """Return the text that an edit made.

    Raises:
        InputError: it would not load any more.
    """
    errors = check(source).errors
    if errors:
        raise InputError(errors[0].code, errors[0].message, loc=(errors[0].path,))
    return source
