"""Loaded before Django's settings are: tests have a database and a data folder of their own.

What the machine does not offer is skipped with its reason, and is an error when
`LOOMVERIFY_REQUIRE` (comma list: chromium, redis, docker, sshd) names it.
"""

from __future__ import annotations

import gc
import os
import shutil
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.adapters.git.sshing import sshd
from tests.chromium import chromium
from tests.postgres import ensure_test_database
from tests.sandbox.engine import lacking_engine

EDGE_SECONDS = 10.0

ensure_test_database()
# No run is drawn for review but where a test asks for it.
os.environ["LOOMVERIFY_REVIEW_SAMPLE_RATE"] = "0"

# The same examples each time, however slow the machine: what holds today is no matter of luck.
# `HYPOTHESIS_PROFILE=search` looks for new ones, and for more of them.
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    required = {name.strip() for name in os.environ.get("LOOMVERIFY_REQUIRE", "").split(",")}
    for marker, name, reason in _missing():
        concerned = [item for item in items if item.get_closest_marker(marker)]
        if concerned and name in required:
            raise pytest.UsageError(f"LOOMVERIFY_REQUIRE names {name}: {reason}.")
        for item in concerned:
            item.add_marker(pytest.mark.skip(reason=reason))


def _missing() -> Iterator[tuple[str, str, str]]:
    if chromium() is None:
        yield "browser", "chromium", "Chromium is not installed"
    if shutil.which("redis-server") is None:
        yield "redis", "redis", "redis-server is not installed"
    if sshd() is None:
        yield "sshd", "sshd", "openssh-server is not installed"
    if lacking := lacking_engine():
        yield "docker", "docker", lacking


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: looking through them again and again frees nothing."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """What takes seconds sees one hour of one day: near the end of an hour it begins in the next."""
    left = 3600 - time.time() % 3600
    if left < EDGE_SECONDS:
        time.sleep(left)
