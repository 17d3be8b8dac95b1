"""`make test`: the suite in parallel. `make test TESTS="tests/engine -k scoping"` narrows it."""

from __future__ import annotations

import sys

import pytest

if __name__ == "__main__":
    # A module's tests share what they start: an installation, a browser.
    together = ["--dist", "loadscope", "--no-loadscope-reorder"]
    sys.exit(pytest.main(["-n", "auto", *together, *sys.argv[1:]]))
