"""Back to the page that a form was sent from."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme


def back(request: HttpRequest, otherwise: str) -> HttpResponse:
    """Where the form's `next` says, as long as that is an address of ours; else `otherwise`."""
    target = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(target, allowed_hosts=None)
    return HttpResponseRedirect(target if is_ours else otherwise)  # no view is looked up by name
