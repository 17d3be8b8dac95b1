"""Whether a project of Django is tried by its own runner, and not by pytest."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from verification.engine.gating.components import IGNORED, Component, Read

MAX_READ = 100
MAX_READ_BYTES = 200_000
_SETTINGS = b"DJANGO_SETTINGS_MODULE"
_PYTEST = (b"pytest_django", b"pytest-django", _SETTINGS)
_CONFIGS = (
    "pytest.ini",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "conftest.py",
    "requirements.txt",
)
_TEST = re.compile(r"tests?\.py|tests?_\w+\.py|\w+_tests?\.py")
_BY_DJANGO = re.compile(rb"^(?:from|import)\s+(?:django|rest_framework)\.test\b", re.MULTILINE)
_BY_PYTEST = re.compile(rb"^(?:from|import)\s+pytest\b|^def test_|^async def test_", re.MULTILINE)


def is_tried_by_django(component: Component, paths: Sequence[str], read: Read) -> bool:
    """Its tests are Django's, and nothing speaks of pytest, which would find no settings."""
    if _SETTINGS not in _content(read, component.path("manage.py")):
        return False
    configs = [_content(read, component.path(name)) for name in _CONFIGS]
    if any(one in content for content in configs for one in _PYTEST):
        return False
    contents = [_content(read, path) for path in islice(_tests(component, paths), MAX_READ)]
    is_of_django = any(map(_BY_DJANGO.search, contents))
    return is_of_django and not any(map(_BY_PYTEST.search, contents))


def _tests(component: Component, paths: Sequence[str]) -> Iterator[str]:
    for path in component.all_of(paths):
        if _TEST.fullmatch(posixpath.basename(path)) and IGNORED.isdisjoint(path.split("/")):
            yield path


def _content(read: Read, path: str) -> bytes:
    return (read(path) or b"")[:MAX_READ_BYTES]
