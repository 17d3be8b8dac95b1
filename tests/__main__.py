"""`make test`: the suite in parallel. `make test TESTS="tests/engine -k scoping"` narrows it."""

from __future__ import annotations

import sys

import pytest

if __name__ == "__main__":
    sys.exit(pytest.main(["-n", "auto", "--dist", "loadgroup", *sys.argv[1:]]))
