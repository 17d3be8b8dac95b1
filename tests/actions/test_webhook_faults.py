"""Receivers with faults, for real: each attempt ends in time, and says why in words of ours."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loomverify import addresses
from loomverify.accounts.models import Project
from tests.actions.conftest import hooked
from tests.actions.faulty import FAULTS, faulty, self_signed
from tests.actions.receiver import Receiver
from tests.actions.test_webhook_worker import happen, states, work
from tests.stack import wait_for
from verification.actions import services, tasks  # noqa: F401 - as a worker imports them
from verification.actions.models import Delivery, DeliveryState
from verification.actions.outbound import OUTBOUND
from verification.actions.sending import Answer, post
from verification.actions.targets import Target, TargetUnknown, find_target

NO_HTTP = "What came back was no answer of HTTP."
CUT = "The connection was cut before an answer came."
LATE = "No answer within 0.5 s."


@pytest.fixture(autouse=True)
def _in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verification.actions.sending.TIMEOUT_SECONDS", 0.5)


def sent_to(port: int, scheme: str = "http") -> tuple[Answer, float]:
    begun = time.monotonic()
    url = f"{scheme}://localhost:{port}/hook"
    answer = post(Target(url, ("127.0.0.1",)), headers={}, body=b"{}")
    return answer, time.monotonic() - begun


@pytest.mark.extended
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("headers that trickle", LATE),
        ("a body that trickles", LATE),
        ("endless 1xx", LATE),
        ("nothing", LATE),
        ("a reset in the middle", CUT),
        ("half an answer", NO_HTTP),
        ("garbage", NO_HTTP),
        ("endless headers", NO_HTTP),
        ("no status", NO_HTTP),
    ],
)
def test_an_answer_that_is_none_is_left_in_time_with_its_reason(fault: str, error: str) -> None:
    with faulty(FAULTS[fault]) as port:
        answer, seconds = sent_to(port)

    assert answer == Answer(None, error)
    assert seconds < 3


def test_of_a_large_answer_no_more_is_read_than_it_takes_to_know_its_status() -> None:
    with faulty(FAULTS["a large answer"]) as port:
        answer, seconds = sent_to(port)

    assert answer == Answer(200)
    assert seconds < 3


@pytest.mark.extended
@pytest.mark.parametrize(
    ("fault", "error"),
    [("garbage", "No connection by TLS could be made."), ("nothing", LATE)],
)
def test_what_speaks_no_tls_is_left_in_time(fault: str, error: str) -> None:
    with faulty(FAULTS[fault]) as port:
        answer, seconds = sent_to(port, "https")

    assert answer == Answer(None, error)
    assert seconds < 3


def test_a_certificate_that_nobody_trusts_is_told_of(tmp_path: Path) -> None:
    with faulty(FAULTS["garbage"], self_signed(tmp_path)) as port:
        answer, _seconds = sent_to(port, "https")

    assert answer.status is None
    assert answer.error.startswith("Its certificate is not trusted: ")


@pytest.fixture
def _over() -> Iterator[None]:
    yield
    OUTBOUND.wait(60)


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_over")
@pytest.mark.parametrize("fault", ["headers that trickle", "endless 1xx", "garbage"])
def test_an_endpoint_with_faults_holds_up_no_other(
    project: Project, receiver: Receiver, empty_queue: None, fault: str
) -> None:
    with faulty(FAULTS[fault]) as port:
        bad = hooked(project, f"http://127.0.0.1:{port}/hook")
        good = hooked(project, receiver.url)
        happen(project, 3)
        services.sweep()

        work()

        wait_for(lambda: states(good) == [DeliveryState.DELIVERED] * 3, "what the other gets")
        wait_for(lambda: bad.deliveries.exclude(last_error="").exists(), "why it failed")
        assert states(bad) == [DeliveryState.PENDING] * 3
        assert OUTBOUND.wait(10)


@pytest.mark.django_db
def test_what_breaks_by_itself_is_a_failed_attempt_that_says_so(
    project: Project,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("t0ken")

    hooked(project, receiver.url)
    happen(project)
    monkeypatch.setattr("verification.actions.services.deliveries.post", broken)
    [delivery] = Delivery.objects.all()

    with caplog.at_level(logging.ERROR):
        state = services.deliver(delivery_id=delivery.pk, attempt=1)

    delivery.refresh_from_db()
    assert (state, delivery.lease_until) == (DeliveryState.PENDING, None)
    assert delivery.last_error == "It failed by itself: KeyError."
    assert "t0ken" not in caplog.text


def test_a_name_that_nobody_answers_for_is_left_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def stuck(*_: Any, **__: Any) -> Any:
        over.wait(60)
        raise socket.gaierror

    monkeypatch.setattr(addresses, "LOOKUP_SECONDS", 0.1)
    monkeypatch.setattr(addresses, "_LOOKUPS", threading.BoundedSemaphore(1))
    monkeypatch.setattr(socket, "getaddrinfo", stuck)
    try:
        for _ in range(2):  # the second finds no place to look it up
            begun = time.monotonic()
            with pytest.raises(TargetUnknown, match="Nothing said in time"):
                find_target("https://slow.example.com/", loopback_allowed=False)
            assert time.monotonic() - begun < 2
    finally:
        over.set()
