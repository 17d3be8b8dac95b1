"""The mails of this room. Sent outside of transactions; addresses start with BASE_URL."""

from __future__ import annotations

import logging
from collections.abc import Callable
from smtplib import SMTPException
from typing import Any, ParamSpec

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from loomverify.accounts.models import Invitation, User

logger = logging.getLogger(__name__)

P = ParamSpec("P")


def link(name: str, **kwargs: Any) -> str:
    return settings.BASE_URL + reverse(name, kwargs=kwargs)


def is_sent(send: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> bool:
    """Send a mail; False, and a line in the log, when the mail server would not have it."""
    try:
        send(*args, **kwargs)
    except (OSError, SMTPException):
        logger.exception("mail_failed mail=%s", send.__name__)
        return False
    return True


def send_invitation(invitation: Invitation, token: str, invited_by: str) -> None:
    context = {
        "invitation": invitation,
        "invited_by": invited_by,
        "link": link("invitation", token=token),
    }
    subject = f"Invitation to {invitation.project.name} on LoomVerify"
    _send(invitation.email, subject, "accounts/mail_invitation.txt", context)


def send_password_reset(user: User) -> None:
    context = {
        "user": user,
        "link": link(
            "password_reset_confirm",
            uidb64=urlsafe_base64_encode(force_bytes(user.pk)),
            token=default_token_generator.make_token(user),
        ),
        "hours": settings.PASSWORD_RESET_TIMEOUT // 3600,
    }
    _send(user.email, "A new password for LoomVerify", "accounts/mail_password_reset.txt", context)


def send_email_change(user: User, email: str, token: str) -> None:
    context = {"user": user, "link": link("email_change", token=token)}
    _send(email, "Confirm your address for LoomVerify", "accounts/mail_email_change.txt", context)


def _send(to: str, subject: str, template: str, context: dict[str, Any]) -> None:
    subject = " ".join(subject.split())  # a header is one line
    send_mail(subject, render_to_string(template, context), None, [to])
