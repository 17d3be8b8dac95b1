from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHOWING = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for room in ("loomverify", "processes", "verification")
    for path in (ROOT / room).rglob("*.py")
    if ">>> " in path.read_text()
)


@pytest.mark.parametrize("module", SHOWING)
def test_what_a_docstring_shows_is_so(module: str) -> None:
    ended = doctest.testmod(import_module(module))

    assert ended.attempted
    assert not ended.failed
