"""An event as a mail to a member: what a chat room reads, in plain words."""

from __future__ import annotations

import html
import logging
from smtplib import SMTPException
from uuid import UUID

from django.core.mail import EmailMessage, get_connection

from loomverify.accounts.access import person
from loomverify.accounts.audit import record
from loomverify.accounts.models import Member, Project
from verification.actions.formats import chat
from verification.actions.models import Delivery, Webhook, WebhookFormat
from verification.actions.sending import Answer
from verification.reviews.notices import lists
from verification.reviews.notices.mailing import TIMEOUT_SECONDS, is_set_up
from verification.reviews.notices.text import one_line

logger = logging.getLogger(__name__)

LIST = "events"
SCHEME = "mailto:"
MAX_SUBJECT_CHARS = 190


class MailRefused(Exception):
    """One sentence that says why nobody can be mailed there."""


def member_at(project: Project, url: str) -> Member:
    """The member whose address it is, `mailto:ada@example.com`.

    Raises:
        MailRefused: nobody of the project has it, or there is no mail server.
    """
    if not is_set_up():
        raise MailRefused(
            "No mail server is set up: whoever runs this installation sets EMAIL_URL."
        )
    rows = Member.objects.select_related("user", "project")
    asked = url.removeprefix(SCHEME) if url.startswith(SCHEME) else ""
    found = rows.filter(project=project, user__is_active=True, user__email__iexact=asked)
    member = found.order_by("pk").first() if asked else None
    if member is None:
        raise MailRefused("Name a member of the project by their address: mailto:ada@example.com.")
    return member


def text_of(delivery: Delivery, url: str) -> str:
    """What it says, and below it the address of the page."""
    said = chat.message(delivery.topic, delivery.payload, url)["text"]
    return html.unescape(said).replace("@\u200b", "@")


def send(delivery: Delivery, url: str) -> Answer:
    try:
        member = member_at(delivery.webhook.project, delivery.webhook.url)
    except MailRefused as refused:
        return Answer(None, str(refused))
    away = lists.address_of(member, LIST)
    text = text_of(delivery, url)
    subject = f"{one_line(member.project.name, 60)}: {text.splitlines()[0]}"
    try:
        EmailMessage(
            subject=one_line(subject, MAX_SUBJECT_CHARS),
            body=f"{text}\n-- \nAn admin of the project chose who is mailed this. "
            f"No more of these mails: {away}\n",
            to=[member.user.email],
            headers=lists.headers_of(away) | {"LoomVerify-Event": delivery.topic},
            connection=get_connection(timeout=TIMEOUT_SECONDS),
        ).send()
    except (OSError, SMTPException) as error:
        logger.warning("event_not_mailed delivery=%s error=%s", delivery.uuid, type(error).__name__)
        return Answer(None, f"The mail server did not take it: {type(error).__name__}.")
    return Answer(None)


def turn_off(member: UUID) -> None:
    """Stop every endpoint that mails this member; an admin may start it again."""
    rows = Member.objects.select_related("user", "project")
    found = rows.filter(uuid=member).exclude(user__email="").first()
    if found is None:
        return
    mine = Webhook.objects.filter(
        project=found.project,
        format=WebhookFormat.MAIL,
        url__iexact=f"{SCHEME}{found.user.email}",
        is_enabled=True,
    )
    for webhook in mine:
        if Webhook.objects.filter(pk=webhook.pk, is_enabled=True).update(is_enabled=False):
            diff = {"is_enabled": [True, False]}
            record(person(found.user), "webhook.left", webhook, project=found.project, diff=diff)
