from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from loomverify.accounts.models import User


def user_called(name: str) -> User | None:
    """Who signs in with this user name or e-mail address, in capitals or not."""
    if not name or "\x00" in name:
        return None
    by_name = User.objects.filter(username__iexact=name).first()
    if "@" not in name:
        return by_name
    return User.objects.filter(email__iexact=name).first() or by_name


def attempt_name(request: HttpRequest | None, credentials: dict[str, Any] | None) -> str:
    """Under which name a failed sign-in counts: one for all ways to write the same user."""
    given = (credentials or {}).get("username")
    if given is None and request is not None:
        given = request.POST.get("username", "")
    given = str(given or "")
    user = user_called(given)
    return user.username if user else given.lower().replace("\x00", "")[:255]


class NameOrEmailBackend(ModelBackend):
    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        if not username or password is None:
            return None
        user = user_called(username)
        if user is None:
            User().set_password(password)  # takes as long as for a user that exists
            return None
        return user if user.check_password(password) and self.user_can_authenticate(user) else None
