"""Which mails a member can end by the link in them (RFC 8058); rooms above register theirs here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.core import signing

from loomverify.accounts.mails import link
from loomverify.accounts.models import Member

SALT = "loomverify.reviews.notices"
REVIEWS = "reviews"


@dataclass(frozen=True, slots=True)
class MailList:
    """`about`: what is told, in words. `turn_off` is given the member's name."""

    about: str
    turn_off: Callable[[UUID], object]
    page: str = ""


_lists: dict[str, MailList] = {}


def register(name: str, one: MailList) -> None:
    _lists[name] = one


def token_of(member: Member, name: str = REVIEWS) -> str:
    """What ends these mails to a member, signed; it does not run out."""
    named = str(member.uuid) if name == REVIEWS else f"{name} {member.uuid}"
    return signing.dumps(named, salt=SALT)


def named_by(token: str) -> tuple[MailList, UUID] | None:
    """The mails and the member's name that a token carries. None: it is none of ours."""
    try:
        name, _, member = str(signing.loads(token, salt=SALT)).rpartition(" ")
    except signing.BadSignature:
        return None
    found = _lists.get(name or REVIEWS)
    return (found, UUID(member)) if found else None


def address_of(member: Member, name: str = REVIEWS) -> str:
    return link("notice_unsubscribe", token=token_of(member, name))


def headers_of(address: str) -> dict[str, str]:
    """For mail programs: one click ends the mails, without a page of ours."""
    return {
        "List-Unsubscribe": f"<{address}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
