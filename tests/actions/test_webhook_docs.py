from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tables import check_rows
from verification.actions.services import deliveries
from verification.actions.signing import sign
from verification.runs import outbox

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "webhooks.md").read_text()
SECRET = "whsec_of-the-receiver"
BODY = b'{"topic":"run.finished"}'
NOW = 1_767_225_600


@pytest.fixture(scope="module")
def is_from_loomverify() -> Callable[..., bool]:
    [snippet] = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)
    names: dict[str, Any] = {}
    exec(snippet, names)  # noqa: S102 - our own documentation
    check: Callable[..., bool] = names["is_from_loomverify"]
    return check


def signed(**changes: str) -> dict[str, str]:
    return {
        "LoomVerify-Timestamp": str(NOW),
        "LoomVerify-Signature": sign(SECRET, timestamp=NOW, body=BODY),
    } | changes


def test_the_documented_check_accepts_what_we_sign(
    is_from_loomverify: Callable[..., bool],
) -> None:
    assert is_from_loomverify(signed(), BODY, SECRET, NOW + 10)


@pytest.mark.parametrize(
    ("headers", "body", "secret", "now"),
    [
        (signed(), BODY + b" ", SECRET, NOW),
        (signed(), BODY, "another secret", NOW),
        (signed(), BODY, SECRET, NOW + 301),
        (signed(**{"LoomVerify-Timestamp": str(NOW + 1)}), BODY, SECRET, NOW),
        (signed(**{"LoomVerify-Timestamp": "soon"}), BODY, SECRET, NOW),
        (signed(**{"LoomVerify-Signature": ""}), BODY, SECRET, NOW),
        ({}, BODY, SECRET, NOW),
    ],
)
def test_the_documented_check_refuses_everything_else(
    is_from_loomverify: Callable[..., bool],
    headers: dict[str, str],
    body: bytes,
    secret: str,
    now: int,
) -> None:
    assert not is_from_loomverify(headers, body, secret, now)


@check_rows("topic", outbox.TOPICS)
def test_every_topic_is_documented(topic: str) -> None:
    assert f"| `{topic}` |" in DOCS


def test_the_documented_waits_are_the_ones_kept() -> None:
    waits = [deliveries.retry_delay_seconds(number, spread=0.5) for number in range(1, 8)]

    assert waits == [5, 20, 80, 320, 1280, 3600, 3600]
    assert "5 s, 20 s, 80 s, about 5 min, about 21 min, then hourly" in DOCS
