"""Property tests that search longer in `make test-all` than in `make test`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

Test = TypeVar("Test", bound=Callable[..., Any])

QUICK_SHARE = 8
tier: str | None = None
"""What `tests.plugin` was asked for, before it imports any test."""


def long_search(examples: int, **options: Any) -> Callable[[Test], Test]:
    """Search among `examples` examples: an eighth of them in `make test`, all in `make test-all`.

    The test belongs to both tiers. `make test-all` searches with another seed, so that it finds
    other examples.
    """
    count = max(10, examples // QUICK_SHARE) if tier == "quick" else examples
    options.setdefault("suppress_health_check", [HealthCheck.too_slow])

    def decorate(test: Test) -> Test:
        searching = settings(max_examples=count, deadline=None, **options)(test)
        return pytest.mark.search(searching)  # type: ignore[no-any-return]

    return decorate
