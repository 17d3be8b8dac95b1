"""Where the report's links lead."""

from __future__ import annotations

from django.conf import settings
from django.urls import reverse

from verification.actions.report.values import Link, Page

NAMES = {
    Page.RUNS: ("run_list", ""),
    Page.RUN: ("run_detail", "run"),
    Page.QUEUE: ("review_queue", ""),
    Page.ACTIONS: ("action_list", ""),
    Page.REMEDIATIONS: ("remediation_list", ""),
    Page.REPLAY: ("golden_replay", "replay"),
    Page.AGREEMENT: ("review_agreement", ""),
}


def path_of(link: Link, slug: str) -> str:
    """The address on this site."""
    name, argument = NAMES[link.page]
    path = reverse(name, kwargs={"project": slug, **({argument: link.key} if argument else {})})
    return f"{path}?{link.query}" if link.query else path


def address_of(link: Link, slug: str) -> str:
    """The whole address, for mails and files."""
    return f"{settings.BASE_URL}{path_of(link, slug)}"
