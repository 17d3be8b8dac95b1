"""The mail of a notice. Sent outside of transactions; addresses start with BASE_URL."""

from __future__ import annotations

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.template.loader import render_to_string

from loomverify.accounts.mails import link
from loomverify.accounts.models import Member
from verification.reviews.notices.lists import address_of, headers_of
from verification.reviews.notices.telling import Told
from verification.reviews.notices.text import one_line

TIMEOUT_SECONDS = 10
FILES = "django.core.mail.backends.filebased.EmailBackend"


def is_set_up() -> bool:
    """Whether mails go anywhere but into a folder that nobody was told of."""
    return bool(settings.ENV.email_url) or settings.EMAIL_BACKEND != FILES


def subject_of(told: Told) -> str:
    """One line; the title of a run only where it is the only new one."""
    project = one_line(told.project.name, 60)
    new = [line for line in told.lines if line.is_new]
    if told.new == 1 and new:
        return f"To review in {project}: {new[0].title}"
    if told.new:
        return f"{told.new} new to review in {project}"
    return f"{told.waiting} to review in {project}"


def send(member: Member, told: Told, *, is_example: bool = False) -> None:
    """Raises OSError or SMTPException: the mail server would not have it."""
    slug = member.project.slug
    away = address_of(member)
    context = {
        "told": told,
        "is_example": is_example,
        "queue": link("review_queue", project=slug),
        "settings": link("review_notices", project=slug),
        "unsubscribe": away,
    }
    subject = subject_of(told)
    EmailMessage(
        subject=f"Example: {subject}" if is_example else subject,
        body=render_to_string("reviews/mail_notice.txt", context),
        to=[member.user.email],
        headers=headers_of(away),
        connection=get_connection(timeout=TIMEOUT_SECONDS),
    ).send()
