"""An endpoint that is a member's address: events of topics and processes as mails."""

from __future__ import annotations

from datetime import time, timedelta
from smtplib import SMTPException
from typing import Any, NoReturn

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import InputError
from tests.actions.conftest import hooked
from tests.builders import make_process, make_project, make_user, signed_in
from verification.actions.models import Delivery, ReportSettings, Webhook
from verification.actions.services import endpoints
from verification.runs import outbox

pytestmark = pytest.mark.django_db
FINISHED: dict[str, Any] = {
    "run": "3c0f6f0e-6a0b-4f0e-8f43-0d7a4f4d9d0b", "process": "small-work", "phase": "build",
    "task": "a <b> & c@d", "verdict": "reject", "reason_code": "tests_failed",
}  # fmt: skip
ADA = "mailto:ada@example.com"


@pytest.fixture
def project() -> Project:
    project = make_project("loom")
    user = make_user(project, Role.VIEWER)
    user.email = "Ada@example.com"
    user.save()
    return project


def told(project: Project, topic: str = outbox.RUN_FINISHED, **payload: Any) -> None:
    outbox.add(topic, project_id=project.pk, payload=FINISHED | payload)
    outbox.dispatch()
    served()


def served() -> None:
    for pk in Webhook.objects.values_list("pk", flat=True):
        until = timezone.now() + timedelta(seconds=5)
        Webhook.objects.filter(pk=pk).update(busy_until=until)
        endpoints.serve(webhook_id=pk, taken_until=until)


def test_a_member_is_mailed_of_the_topics_and_processes_that_were_named(project: Project) -> None:
    make_process(project, slug="other-work")
    hooked(project, ADA, format="mail", processes=["small-work"])

    told(project)
    told(project, process="other-work")
    told(project, outbox.ACTION_HELD)

    [sent] = mail.outbox
    assert sent.to == ["Ada@example.com"]
    assert sent.subject == "Loom: Rejected: a <b> & c@d (small-work, build): tests failed."
    assert f"/p/loom/runs/{FINISHED['run']}/\n" in sent.body
    assert sent.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert Delivery.objects.get().state == "delivered"


def test_whoever_leaves_by_the_link_in_a_mail_is_mailed_no_more(project: Project) -> None:
    webhook = hooked(project, ADA, format="mail")
    told(project)
    address = mail.outbox[0].extra_headers["List-Unsubscribe"].strip("<>")

    assert "what happens" in Client().get(address).content.decode()
    Client().post(address, {"List-Unsubscribe": "One-Click"})
    told(project)

    webhook.refresh_from_db()
    assert not webhook.is_enabled
    assert len(mail.outbox) == 1
    assert AuditEntry.objects.get(verb="webhook.left").object_id == str(webhook.uuid)


@pytest.mark.parametrize(
    "url", ["mailto:eve@example.com", "ada@example.com", "mailto:", "https://a.example"]
)
def test_nobody_but_a_member_is_mailed(project: Project, url: str) -> None:
    eve = make_user(make_project("theirs"), Role.ADMIN)
    eve.email = "eve@example.com"
    eve.save()

    with pytest.raises(InputError) as refused:
        hooked(project, url, format="mail")

    assert refused.value.code == "webhook.url_refused"


def test_without_a_mail_server_nobody_is_subscribed(project: Project, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"

    with pytest.raises(InputError, match="EMAIL_URL"):
        hooked(project, ADA, format="mail")


def test_who_is_a_member_no_more_is_told_nothing(project: Project) -> None:
    hooked(project, ADA, format="mail")
    project.members.all().delete()

    told(project)

    assert not mail.outbox
    assert "Name a member" in Delivery.objects.get().last_error


def test_what_the_mail_server_refuses_is_tried_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooked(project, ADA, format="mail")

    def refused(*_: object, **__: object) -> NoReturn:
        raise SMTPException("ada@example.com is unknown")

    with monkeypatch.context() as patched:
        patched.setattr(mail.EmailMessage, "send", refused)
        told(project)
    waiting = Delivery.objects.get()
    Delivery.objects.update(next_at=timezone.now())
    served()

    assert (waiting.state, waiting.attempts) == ("pending", 1)
    assert waiting.last_error == "The mail server did not take it: SMTPException."
    assert len(mail.outbox) == 1


def test_in_quiet_hours_mails_wait_and_nothing_is_lost(project: Project) -> None:
    hooked(project, ADA, format="mail")
    now = timezone.now()
    quiet = ReportSettings.objects.create(
        project=project,
        quiet_begins=(now - timedelta(hours=1)).time(),
        quiet_ends=(now + timedelta(hours=1)).time(),
    )

    told(project)
    held = len(mail.outbox)
    ReportSettings.objects.filter(pk=quiet.pk).update(quiet_begins=time(1), quiet_ends=time(1))
    served()

    assert (held, len(mail.outbox)) == (0, 1)


def test_an_admin_subscribes_a_member_on_the_page_and_sends_a_test(project: Project) -> None:
    admin = signed_in(make_user(project, Role.ADMIN))
    path = f"/p/{project.slug}/settings/webhooks/"
    fields = {"url": ADA, "format": "mail", "topics": [outbox.ACTION_PROPOSED]}

    answer = admin.post(path, fields, follow=True)
    webhook = Webhook.objects.get()
    admin.post(f"{path}{webhook.uuid}/test/")
    served()

    assert "signing secret" not in answer.content.decode()
    assert mail.outbox[0].subject.startswith("Loom: A test of LoomVerify")
    shown = admin.get(reverse("delivery_detail", args=[project.slug, Delivery.objects.get().uuid]))
    assert "A test of LoomVerify" in shown.content.decode()
