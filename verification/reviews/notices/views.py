"""What reviewers are mailed: their own choice, an example, and the link that ends it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Member, Role
from loomverify.errors import InputError
from verification.reviews.models import Notice
from verification.reviews.notices import lists, mailing, services
from verification.reviews.notices.forms import NoticeForm

PAGE = ["GET", "HEAD", "POST"]


@never_cache
@require_http_methods(PAGE)
@project_page(Role.REVIEWER)
def review_notices(request: AccessRequest) -> HttpResponse:
    preference = services.preference_of(request.access)
    chosen = {"notice": preference.notice, "min_urgency": preference.min_urgency}
    form = NoticeForm(request.POST if request.method == "POST" else None, initial=chosen)
    if request.method == "POST" and form.is_valid():
        services.choose(
            access=request.access,
            notice=Notice(form.cleaned_data["notice"]),
            min_urgency=form.cleaned_data["min_urgency"],
        )
        messages.success(request, "Saved.")
        return redirect("review_notices", project=request.access.project.slug)
    shown = {"form": form, "preference": preference, "is_set_up": mailing.is_set_up()}
    status = 422 if request.method == "POST" else 200
    return render(request, "reviews/notices.html", shown, status=status)


@require_POST
@project_page(Role.REVIEWER)
def review_notices_example(request: AccessRequest) -> HttpResponse:
    try:
        address = services.send_example(access=request.access)
    except InputError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"An example is on its way to {address}.")
    return redirect("review_notices", project=request.access.project.slug)


@csrf_exempt  # mail programs post here without a page of ours; the token is the right to do so
@never_cache
@require_http_methods(PAGE)
def notice_unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """The link in each mail: a page with one button, since mail programs open links by themselves."""
    named = lists.named_by(token)
    members = Member.objects.select_related("project", "user")
    member = members.filter(uuid=named[1]).first() if named else None
    if named is None or member is None:
        return render(request, "reviews/notices_over.html", status=404)
    if request.method == "POST":
        named[0].turn_off(member.uuid)
    shown = {"member": member, "of": named[0], "is_off": request.method == "POST"}
    return render(request, "reviews/notices_unsubscribe.html", shown)
