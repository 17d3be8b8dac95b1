"""Addresses and words of the pages of trials, for their tests."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import urlencode

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.models import Project
from verification.trials.models import Trial

LIVE: dict[str, Any] = {"headers": {"HX-Request": "true", "HX-Target": "trial-live"}}


def url(trial: Trial, name: str = "trial", *ids: object, **query: object) -> str:
    found = reverse(name, args=[trial.project.slug, trial.uuid, *ids])
    return f"{found}?{urlencode(query)}" if query else found


def list_url(project: Project, **query: str) -> str:
    return f"{reverse('trial_list', args=[project.slug])}?{urlencode(query)}"


def start_url(project: Project, **query: object) -> str:
    return f"{reverse('trial_start', args=[project.slug])}?{urlencode(query)}"


def text_of(html: bytes | str) -> str:
    html = html.decode() if isinstance(html, bytes) else html
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def page(client: Client, path: str, **extra: Any) -> str:
    """What stands on a page for people."""
    answer = client.get(path, **extra)
    assert answer.status_code == 200, answer.status_code
    return text_of(answer.content)


def queries(client: Client, path: str) -> int:
    client.get(path)  # what is kept from then on is not what is counted
    with CaptureQueriesContext(
        connection,
    ) as caught:
        assert client.get(path).status_code == 200
    return len(caught)


def links(html: bytes, pattern: str) -> dict[str, str]:
    """The words of links whose address fits, by address."""
    found = re.findall(rf'<a[^>]*href="([^"]*{pattern}[^"]*)"[^>]*>(.*?)</a>', html.decode(), re.S)
    return {unescape(address): text_of(words) for address, words in found}
