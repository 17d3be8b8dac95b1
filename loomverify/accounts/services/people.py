from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from loomverify.accounts import mails
from loomverify.accounts.access import Actor, person
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project, User
from loomverify.errors import Conflict, InputError, NotFound

RESET_INTERVAL_SECONDS = 60
EMAIL_CHANGE_SECONDS = 4 * 3600
MAX_USERNAME_CHARS = 150
MAX_FULL_NAME_CHARS = 150
EMAIL_CHANGE_SALT = "loomverify.accounts.email-change"


def create_user(
    *, username: str, full_name: str, email: str, password: str, project: Project | None
) -> User:
    """Create a person, inside the caller's transaction.

    Raises:
        InputError: `user.name.invalid`.
        Conflict: `user.name.taken`, `user.email.taken`.
    """
    _check_username(username)
    if User.objects.filter(username__iexact=username).exists():
        raise Conflict("user.name.taken", "This user name is taken.", loc=("username",))
    if User.objects.filter(email__iexact=email).exists():
        message = "Somebody with this address has an account: sign in to accept."
        raise Conflict("user.email.taken", message, loc=())
    try:
        with transaction.atomic():
            user = User.objects.create_user(
                username,
                email=email,
                password=password,
                first_name=full_name.strip()[:MAX_FULL_NAME_CHARS],
            )
    except IntegrityError as error:
        message = "This user name was taken just now."
        raise Conflict("user.name.taken", message, loc=("username",)) from error
    record(person(user), "user.created", user, project=project)
    return user


def set_password(*, user: User, password: str, actor: Actor, verb: str) -> None:
    """Set a validated password; `verb` is user.password_changed or user.password_reset."""
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        record(actor, verb, user, project=None)


def request_password_reset(*, email: str) -> None:
    """Mail a link to whoever has this address; say nothing about whether anybody has."""
    user = User.objects.filter(email__iexact=email, is_active=True).exclude(email="").first()
    if user is None or not user.has_usable_password():
        return
    now = timezone.now()
    waited = Q(reset_mailed_at=None) | Q(
        reset_mailed_at__lte=now - timedelta(seconds=RESET_INTERVAL_SECONDS)
    )
    if User.objects.filter(waited, pk=user.pk).update(reset_mailed_at=now) == 1:
        mails.is_sent(mails.send_password_reset, user)


def change_details(*, user: User, full_name: str) -> None:
    """Change the name that others see."""
    full_name = " ".join(full_name.split())
    if len(full_name) > MAX_FULL_NAME_CHARS or "\x00" in full_name:
        message = f"At most {MAX_FULL_NAME_CHARS} characters."
        raise InputError("user.full_name.invalid", message, loc=("full_name",))
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=user.pk)
        before = locked.get_full_name()
        if before == full_name:
            return
        locked.first_name, locked.last_name = full_name, ""
        locked.save(update_fields=["first_name", "last_name"])
        diff = {"full_name": [before, full_name]}
        record(
            person(user),
            "user.changed",
            locked,
            project=None,
            diff=diff,
        )


def request_email_change(*, user: User, email: str) -> bool:
    """Mail a link to the new address, which proves it. False: the mail could not be sent."""
    token = signing.dumps([user.pk, user.email, email], salt=EMAIL_CHANGE_SALT)
    return mails.is_sent(mails.send_email_change, user, email, token)


def change_email(*, user: User, token: str) -> str:
    """Take over the address that a mailed link proves.

    Raises:
        NotFound: the link is too old, somebody else's, or used.
        Conflict: `user.email.taken`.
    """
    try:
        pk, before, email = signing.loads(
            token, salt=EMAIL_CHANGE_SALT, max_age=EMAIL_CHANGE_SECONDS
        )
    except signing.BadSignature as error:
        raise NotFound("email_change.over", "This link is not, or no longer, valid.") from error
    with transaction.atomic():
        try:
            with transaction.atomic():
                won = User.objects.filter(pk=user.pk, email=before).update(email=email)
        except IntegrityError as error:
            message = "Another account has this address."
            raise Conflict("user.email.taken", message) from error
        if pk != user.pk or not won:
            raise NotFound("email_change.over", "This link is not, or no longer, valid.")
        diff = {"email": [before, email]}
        record(person(user), "user.changed", user, project=None, diff=diff)
    return str(email)


def set_active(*, user: User, is_active: bool, actor: Actor) -> bool:
    """Let an account sign in, or no longer. False: it was so already."""
    with transaction.atomic():
        others = User.objects.filter(pk=user.pk, is_active=not is_active)
        won = others.update(is_active=is_active) == 1
        if won:
            diff = {"is_active": [not is_active, is_active]}
            record(actor, "user.changed", user, project=None, diff=diff)
    return won


def _check_username(username: str) -> None:
    try:
        UnicodeUsernameValidator()(username)
    except ValidationError:
        username = ""
    # With an @ it could be somebody else's address.
    if not username or len(username) > MAX_USERNAME_CHARS or "@" in username:
        message = f"1 to {MAX_USERNAME_CHARS} letters, digits, and . + - _ only."
        raise InputError("user.name.invalid", message, loc=("username",))
