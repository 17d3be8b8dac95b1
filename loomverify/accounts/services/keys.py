from __future__ import annotations

import hashlib
import secrets
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import ApiKey, Project, Role
from loomverify.errors import InputError, NotFound

KEY_PREFIX = "lv_"
RANDOM_BYTES = 32
MAX_NAME_CHARS = 80
SHOWN_CHARS = len(KEY_PREFIX) + 4


def new_secret() -> str:
    """`lv_` and 43 url-safe characters."""
    return KEY_PREFIX + secrets.token_urlsafe(RANDOM_BYTES)


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def create_api_key(
    *,
    project: Project,
    name: str,
    role: Role,
    actor: Actor,
    expires_at: datetime | None = None,
    secret: str = "",
) -> tuple[ApiKey, str]:
    """Create a key; the secret is returned this once and only its hash is stored.

    Raises:
        InputError: `key.name.invalid`, `key.expiry.past`.
    """
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME_CHARS or "\x00" in name:
        message = f"A name of 1 to {MAX_NAME_CHARS} characters."
        raise InputError("key.name.invalid", message, loc=("name",))
    if expires_at is not None and expires_at <= timezone.now():
        raise InputError("key.expiry.past", "A key cannot expire in the past.", loc=("expires_at",))
    secret = secret or new_secret()
    with transaction.atomic():
        key = ApiKey.objects.create(
            project=project,
            name=name,
            prefix=secret[:SHOWN_CHARS],
            sha256=digest(secret),
            role=role,
            created_by=actor.user,
            expires_at=expires_at,
        )
        diff = {"role": [None, role.value]}
        if expires_at is not None:
            diff["expires_at"] = [None, expires_at.isoformat(timespec="minutes")]
        record(actor, "key.created", key, project=project, diff=diff)
    return key, secret


def revoke_api_key(*, project: Project, key_id: UUID, actor: Actor) -> bool:
    """Take a key out of force, for good. False: it had been revoked already.

    Raises:
        NotFound: the project has no such key.
    """
    with transaction.atomic():
        keys = ApiKey.objects.filter(project=project, uuid=key_id)
        key = keys.first()
        if key is None:
            raise NotFound("key.unknown", "There is no such key.")
        won = keys.filter(revoked_at=None).update(revoked_at=timezone.now()) == 1
        if won:
            record(actor, "key.revoked", key, project=project)
    return won
