from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from loomverify.accounts.access import AccessRequest, project_page
from loomverify.accounts.models import Role
from loomverify.accounts.pages import settings_action
from loomverify.errors import InputError
from processes.models import Process
from verification.actions import selectors, services
from verification.actions.deliveries.page import Row
from verification.actions.forms import WebhookForm
from verification.actions.services.subscribing import MAX_PROCESSES

NEW_SECRET = "webhook_secret"  # noqa: S105 - the name of a session entry


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.ADMIN)
def settings_webhooks(request: AccessRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, WebhookForm(processes=_processes(request)))
    form = WebhookForm(request.POST, processes=_processes(request))
    if not form.is_valid():
        return _page(request, form, status=422)
    given = form.cleaned_data
    secret = given.pop("secret")
    try:
        webhook = services.create_webhook(
            project=request.access.project,
            actor=request.access.actor,
            subscription=services.Subscription(**given),
            secret=secret,
        )
    except InputError as error:
        place = str(error.issues[0].loc[1]) if error.issues[0].loc else None
        form.add_error(place, str(error))
        return _page(request, form, status=422)
    request.session[NEW_SECRET] = str(webhook.uuid)
    return redirect("settings_webhooks", project=request.access.project.slug)


def _processes(request: AccessRequest) -> list[str]:
    rows = Process.objects.filter(project=request.access.project).order_by("slug")
    return list(rows.values_list("slug", flat=True)[:MAX_PROCESSES])


def _page(request: AccessRequest, form: WebhookForm, *, status: int = 200) -> HttpResponse:
    project = request.access.project
    new = request.session.pop(NEW_SECRET, None)
    context: dict[str, Any] = {
        "form": form,
        "webhooks": selectors.webhooks_of(project),
        "deliveries": [Row(delivery) for delivery in selectors.last_deliveries(project)],
        "made": project.webhooks.filter(uuid=new).first() if new else None,
    }
    return render(request, "settings/webhooks.html", context, status=status)


@settings_action("settings_webhooks")
def enable_webhook(request: AccessRequest, webhook_id: UUID) -> str:
    _set_enabled(request, webhook_id, is_enabled=True)
    return "Enabled. What waited is sent now."


@settings_action("settings_webhooks")
def disable_webhook(request: AccessRequest, webhook_id: UUID) -> str:
    _set_enabled(request, webhook_id, is_enabled=False)
    return "Disabled. New events are not sent there; those under way wait."


def _set_enabled(request: AccessRequest, webhook_id: UUID, *, is_enabled: bool) -> None:
    services.set_enabled(
        project=request.access.project,
        actor=request.access.actor,
        webhook_id=webhook_id,
        is_enabled=is_enabled,
    )


@settings_action("settings_webhooks")
def test_webhook(request: AccessRequest, webhook_id: UUID) -> str:
    services.send_test(
        project=request.access.project, actor=request.access.actor, webhook_id=webhook_id
    )
    return "A test event is on its way."


@settings_action("settings_webhooks")
def remove_webhook(request: AccessRequest, webhook_id: UUID) -> str:
    services.remove_webhook(
        project=request.access.project, actor=request.access.actor, webhook_id=webhook_id
    )
    return "Removed."
