"""Plugin for every test run, with or without Django: tiers, requirements, order, summary.

Tiers: a test with the marker `extended`, `docker`, `faults` or `browser` belongs to
`make test-all`, every other test to `make test`; so do the browser tests marked `story`. The option `--tier` chooses one of them; without it, all tests run.
A test with the marker `search` belongs to both, see `tests.tiers`. Of a parametrised test with
the marker `quick_rows(n)`, n rows belong to `make test` and the others to `make test-all`.

Requirements: a test whose marker names something that the machine lacks is skipped. When
`LOOMVERIFY_REQUIRE` (comma list: chromium, redis, docker, sshd) names it, the run fails instead.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import durations, tiers

EXTENDED = ("extended", "docker", "faults", "browser")
MODULE_MARKS = re.compile(r"^pytestmark = (\[.*?\]|[^\n]*)", re.MULTILINE | re.DOTALL)

# `make test` has the same examples in each run, on slow machines too: it does not depend on luck.
# `HYPOTHESIS_PROFILE=search` looks for new examples, and for more of them.
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", COMMON, derandomize=True, max_examples=20)
settings.register_profile("same", COMMON, derandomize=True, max_examples=50)
settings.register_profile("extended", COMMON, database=None, max_examples=50)
settings.register_profile("search", COMMON, max_examples=1000)
PROFILES = {"quick": "quick", "extended": "extended", None: "same"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tier",
        choices=("quick", "extended"),
        help="quick: what `make test` runs. extended: the rest. Default: both.",
    )
    parser.addoption(
        "--record", action="store_true", help="write tests/durations.json, see tests.durations"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    tiers.tier = config.getoption("--tier")
    profile = os.environ.get("HYPOTHESIS_PROFILE", PROFILES[tiers.tier])
    settings.load_profile(profile)
    if config.getoption("--record"):
        config.pluginmanager.register(durations.Recorder(), "tests.durations.recorder")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Do not import files of which `make test` runs nothing: that takes seconds."""
    if tiers.tier != "quick" or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    return True if is_extended_as_a_whole(text) else None


def is_extended_as_a_whole(text: str) -> bool:
    """Whether a module's own marks leave all of its tests to `make test-all`."""
    marks = MODULE_MARKS.search(text)
    is_extended = marks is not None and any(f"pytest.mark.{name}" in marks[1] for name in EXTENDED)
    return is_extended and "pytest.mark.story" not in text


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _select_tier(config, items)
    _skip_missing_requirements(items)
    # The longest files first: no worker is left with a long file at the end. The files of the
    # browser follow each other, since they share one.
    seconds = durations.read()["files"]

    def order(item: pytest.Item) -> tuple[bool, float, str]:
        file = item.nodeid.partition("::")[0]
        return item.get_closest_marker("browser") is None, -seconds.get(file, 0), file

    items.sort(key=order)


def _select_tier(config: pytest.Config, items: list[pytest.Item]) -> None:
    if tiers.tier is None:
        return
    left_out = _rows_left_out(items)
    selected: list[pytest.Item] = []
    deselected: list[pytest.Item] = []
    for item in items:
        is_extended = item in left_out or _is_extended(item)
        is_selected = is_extended == (tiers.tier == "extended") or item.get_closest_marker("search")
        (selected if is_selected else deselected).append(item)
    config.hook.pytest_deselected(items=deselected)
    items[:] = selected


def _is_extended(item: pytest.Item) -> bool:
    names = {marker.name for marker in item.iter_markers()}
    return "story" not in names and not names.isdisjoint(EXTENDED)


def _rows_left_out(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the rows that `quick_rows` leaves to `make test-all`. It keeps rows at even steps."""
    rows: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("quick_rows"):
            rows[item.nodeid.partition("[")[0]].append(item)
    left_out: set[pytest.Item] = set()
    for test in rows.values():
        marker = test[0].get_closest_marker("quick_rows")
        assert marker is not None
        kept = kept_rows(len(test), marker.args[0])
        left_out.update(item for number, item in enumerate(test) if number not in kept)
    return left_out


def kept_rows(rows: int, count: int) -> set[int]:
    """Return the numbers of `count` rows at even steps, or of all where there are fewer."""
    count = min(count, rows)
    return {number * rows // count for number in range(count)}


def _skip_missing_requirements(items: list[pytest.Item]) -> None:
    required = {name.strip() for name in os.environ.get("LOOMVERIFY_REQUIRE", "").split(",")}
    for marker, (name, missing) in REQUIREMENTS.items():
        concerned = [item for item in items if item.get_closest_marker(marker)]
        reason = missing() if concerned else ""
        if reason and name in required:
            raise pytest.UsageError(f"LOOMVERIFY_REQUIRE names {name}: {reason}.")
        if reason:
            for item in concerned:
                item.add_marker(pytest.mark.skip(reason=reason))


def _missing_chromium() -> str:
    from tests.chromium import chromium

    return "" if chromium() else "Chromium is not installed"


def _missing_redis() -> str:
    return "" if shutil.which("redis-server") else "redis-server is not installed"


def _missing_sshd() -> str:
    from tests.adapters.git.sshing import sshd

    return "" if sshd() else "openssh-server is not installed"


def _missing_docker() -> str:
    from tests.sandbox.engine import lacking_engine

    return lacking_engine()


REQUIREMENTS: Mapping[str, tuple[str, Callable[[], str]]] = {
    "browser": ("chromium", _missing_chromium),
    "redis": ("redis", _missing_redis),
    "sshd": ("sshd", _missing_sshd),
    "docker": ("docker", _missing_docker),
}
"""By marker: the name in `LOOMVERIFY_REQUIRE`, and why the machine lacks it, '' where it has it."""


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end: the collector need not look at them again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the skips by their reason in the last lines."""
    reasons = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"skipped {count}: {reason}")
