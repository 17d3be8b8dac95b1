from __future__ import annotations

import json
import re
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project
from tests.builders import make_project
from tests.reviewing import make_review
from tests.reviews.noticing import NOON, waiting
from verification.actions import services as webhooks
from verification.actions.models import Delivery
from verification.reviews.notices import digests
from verification.reviews.notices.digests import Seen, sweep
from verification.runs import outbox
from verification.runs.models import OutboxEvent, Review, ReviewState

pytestmark = pytest.mark.django_db
DOCS = (Path(__file__).resolve().parents[2] / "docs" / "webhooks.md").read_text()
HOUR = timedelta(hours=1)
AT = NOON + timedelta(seconds=3)


@pytest.fixture
def project() -> Project:
    return make_project("looms")


def payloads() -> list[dict[str, Any]]:
    events = OutboxEvent.objects.filter(topic="review.digest").order_by("id")
    return list(events.values_list("payload", flat=True))


def test_a_digest_counts_what_waits_and_names_the_most_urgent(
    project: Project, settings: LazySettings
) -> None:
    settings.BASE_URL = "https://verify.example.com"
    old = waiting(project, seconds=5 * 86400, urgency=0)
    new = waiting(project, seconds=600, urgency=100)
    waiting(project, seconds=900, state=ReviewState.HELD)
    waiting(project, seconds=86400, state=ReviewState.DECIDED, told_at=NOON - HOUR / 2)

    assert sweep(seen=Seen(), now=AT) == 1

    [told] = payloads()
    assert (told["waiting"], told["held_back"], told["opened"], told["decided"]) == (2, 1, 1, 1)
    assert told["oldest_at"] == old.created_at.isoformat()
    assert told["url"] == "https://verify.example.com/p/looms/review/"
    assert [one["review"] for one in told["top"]] == [str(old.uuid), str(new.uuid)]
    assert told["top"][1]["url"] == f"https://verify.example.com/p/looms/review/{new.uuid}/"


def test_the_documented_payload_is_the_one_sent(project: Project) -> None:
    waiting(project, seconds=60)
    section = DOCS.split("### A digest of what waits")[1].split("\n#")[0]
    [example] = (json.loads(one) for one in re.findall(r"```json\n(.*?)```", section, re.DOTALL))

    told = digests.digest(project, since=NOON - HOUR, until=NOON)

    assert [*told] == [*example]
    assert [*told["top"][0]] == [*example["top"][0]]
    assert {name: type(value) for name, value in told.items()} == {
        name: type(value) for name, value in example.items()
    }


def test_there_is_one_an_hour_and_only_when_something_changed(project: Project) -> None:
    waiting(project, seconds=60)

    assert sweep(seen=Seen(), now=AT) == 1
    assert sweep(seen=Seen(), now=AT + HOUR / 2) == 0
    assert sweep(seen=Seen(), now=AT + HOUR) == 0
    make_review(project, created_at=NOON + timedelta(minutes=70))
    assert sweep(seen=Seen(), now=AT + 2 * HOUR) == 1
    Review.objects.filter(created_at__gt=NOON).update(state=ReviewState.EXPIRED)
    assert sweep(seen=Seen(), now=AT + 3 * HOUR) == 1

    assert [(one["since"], one["opened"], one["waiting"]) for one in payloads()] == [
        ((NOON - HOUR).isoformat(), 1, 1),
        (NOON.isoformat(), 1, 2),
        ((NOON + 2 * HOUR).isoformat(), 0, 1),
    ]


def test_nothing_waits_and_nothing_is_said(project: Project) -> None:
    waiting(project, seconds=60, state=ReviewState.DECIDED)
    waiting(project, seconds=60, state=ReviewState.HELD)
    make_review(project, created_at=NOON + timedelta(seconds=1))

    assert sweep(seen=Seen(), now=AT) == 0


def test_the_hour_s_last_seconds_are_waited_for(project: Project) -> None:
    waiting(project, seconds=60)
    seen = Seen()

    assert sweep(seen=seen, now=NOON + timedelta(seconds=1)) == 0
    assert sweep(seen=seen, now=NOON + timedelta(seconds=2)) == 1


def test_a_relay_that_dealt_with_the_hour_asks_nothing_more(project: Project) -> None:
    waiting(project, seconds=60)
    seen = Seen()
    sweep(seen=seen, now=AT)

    with CaptureQueriesContext(connection) as asked:
        sweep(seen=seen, now=AT + timedelta(minutes=50))

    assert len(asked) == 0


def test_a_blind_review_s_reasons_stay_here(project: Project) -> None:
    waiting(project, seconds=60, is_blind=True, reasons=["tests_failed"])

    told = digests.digest(project, since=NOON - HOUR, until=NOON)

    assert told["top"][0]["reasons"] == []
    assert "tests_failed" not in json.dumps(told)


def test_a_digest_reaches_the_webhooks_of_its_own_project_that_want_it(project: Project) -> None:
    other = make_project()
    for owner, topic in (
        (project, "review.digest"),
        (project, "run.finished"),
        (other, "review.digest"),
    ):
        webhooks.create_webhook(
            project=owner,
            actor=SYSTEM,
            subscription=webhooks.Subscription(f"http://127.0.0.1:9/{topic}", [topic]),
        )
    waiting(project, seconds=60)

    sweep(seen=Seen(), now=AT)
    outbox.dispatch()

    [delivery] = Delivery.objects.all()
    assert (delivery.topic, delivery.webhook.project) == ("review.digest", project)
    assert delivery.payload["waiting"] == 1


def test_ten_are_named_at_most_in_a_constant_number_of_queries(project: Project) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as asked:
            told = digests.digest(project, since=NOON - HOUR, until=NOON)
        assert len(told["top"]) == min(10, told["waiting"])
        return len(asked)

    waiting(project, seconds=60)
    few = cost()
    for _ in range(11):
        waiting(project, seconds=60)

    assert cost() == few


@pytest.mark.django_db(transaction=True)
def test_two_relays_at_the_same_moment_write_one(project: Project) -> None:
    waiting(project, seconds=60)
    together = threading.Barrier(4)

    def relay() -> None:
        try:
            together.wait()
            sweep(seen=Seen(), now=AT)
        finally:
            connection.close()

    threads = [threading.Thread(target=relay) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(payloads()) == 1
